#include "tests/unit/forward_reference.h"
#include "workloads/model_file.h"

#include <omp.h>

#include <stdlib.h>
#include <unistd.h>

void fixture_load(struct model *out, const char *config)
{
    char path[] = "/tmp/lmroof-forward-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, config, strlen(config)), (ssize_t)strlen(config));
    (void)close(fd);
    struct status status = model_load(out, path);
    (void)unlink(path);
    ASSERT_OK(status);
}

struct forward_params fixture_params_of(const struct model *model, enum dtype_id dtype,
                                        enum line_format kv, unsigned threads)
{
    struct forward_params params = {
        .model = model, .dtype = dtype, .kv_format = kv, .batch = 1, .threads = threads};
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        params.ways[op] = (struct forward_way){.isa = isa_detect(), .prefetch_bytes = 1024};
    }
    return params;
}

void fixture_setup(struct fixture *f, const struct forward_params *params)
{
    ASSERT_OK(forward_create(&f->forward, params));
    size_t bytes = forward_thread_bytes(f->forward);
    for (unsigned t = 0; t < params->threads; t++) {
        f->memory[t] = aligned_alloc(64, bytes);
        f->before[t] = aligned_alloc(64, bytes);
        assert_non_null(f->memory[t]);
        assert_non_null(f->before[t]);
        forward_fill(f->forward, t, f->memory[t]);
        memcpy(f->before[t], f->memory[t], bytes);
    }
}

void fixture_teardown(struct fixture *f)
{
    for (unsigned t = 0; t < f->forward->params.threads; t++) {
        free(f->memory[t]);
        free(f->before[t]);
    }
    forward_destroy(f->forward);
}

void fixture_run(struct fixture *f, const struct forward_probe *probe)
{
#pragma omp parallel num_threads((int)f->forward->params.threads)
    forward_run(f->forward, (unsigned)omp_get_thread_num(), f->memory, probe);
}
