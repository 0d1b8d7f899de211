// What a report shows of a ceiling.
#include "profiler/ceiling_session.h"
#include "profiler/host_facts.h"

#include <stdio.h>
#include <string.h>

static struct reading not_measured(void)
{
    return reading_absent(ABSENT_NOT_ASKED, "not measured", NULL);
}

void ceiling_describe_stream(struct result_bandwidth *out, struct ceilings *session,
                             const struct ceiling *ceiling)
{
    memset(out, 0, sizeof *out);
    if (session->page_bytes == 0) {
        session->page_bytes = arena_page_bytes(session->arena);
    }
    (void)snprintf(out->level, sizeof out->level, "%s", memory_level_name(ceiling->level));
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", ceiling->stream->kernel);
    (void)snprintf(out->variant, sizeof out->variant, "%s", ceiling->stream->variant);
    (void)snprintf(out->placement, sizeof out->placement, "%s", arena_placement(session->arena));
    (void)host_cpu_list(out->cpus, sizeof out->cpus, session->team);
    out->threads = session->threads;
    out->working_set_bytes = ceiling->working_set_bytes;
    out->page_bytes = session->page_bytes;
    out->bytes_per_s = not_measured();
}

void ceiling_describe_compute(struct result_compute *out, struct ceilings *session,
                              const struct ceiling *ceiling)
{
    memset(out, 0, sizeof *out);
    (void)snprintf(out->dtype, sizeof out->dtype, "%s", ceiling->dtype);
    (void)snprintf(out->kind, sizeof out->kind, "fma");
    (void)snprintf(out->class_, sizeof out->class_, "%s", ceiling->chain->class_);
    (void)snprintf(out->backend, sizeof out->backend, "lmroof");
    out->threads = session->threads;
    out->integer_operations = ceiling->chain->integer_operations;
    out->verified = true; // only verified kernels are chosen
    out->flop_per_s = not_measured();
    out->core_hz = not_measured();
    out->theoretical_flop_per_s =
        reading_absent(ABSENT_UNSUPPORTED, "no sourced table for this microarchitecture", NULL);
}
