// How fast the parts of steps run: what predictions are made of.
#include "profiler/probe_session.h"
#include "profiler/rotation.h"
#include "profiler/step_parts.h"

enum { ROUNDS = 11 };

static struct status measure(struct probe *probe, const struct step_parts_request *request)
{
    struct step_parts *parts = NULL;
    probe_progress(probe, "choosing products");
    TRY(step_parts_create(&parts, request));
    probe_progress(probe, "reading weights");
    for (unsigned i = 0; i < ROUNDS && step_parts_sample(parts, &probe->limit); i++) {
    }
    unsigned rounds = step_parts_rounds(parts);
    struct status status = rounds > 0 ? step_parts_report(&probe->run->machine, parts, 0, rounds)
                                      : limit_heed(&probe->limit);
    step_parts_destroy(parts);
    return status;
}

struct status probe_reads(struct probe *probe, struct probe_session *session)
{
    struct step_parts_request request = {.team = session->team,
                                         .arena = &probe->arena,
                                         .isa = probe->host->isa,
                                         .limit = probe->limit,
                                         .kv_format = LINE_F16,
                                         .decode = true,
                                         .prefill = true};
    if (!probe->dram || probe->run->machine.weight_read_count > 0 ||
        !probe_has_time_for(probe, "reads of", "weights")) {
        return status_ok();
    }
    for (int i = 0; i < LINE_FORMATS; i++) {
        request.formats[i] = probe_format_asked(probe, (enum line_format)i);
    }
    rotation_fill(session->team, &probe->arena, &probe->limit);
    struct status status = probe_in_time(probe, measure(probe, &request), "reads of", "weights");
    TRY(probe_interrupted(probe));
    struct status filled = ceilings_fill(session->ceilings);
    return status_is_ok(status) ? probe_in_time(probe, filled, "all after", "reads of weights")
                                : status;
}
