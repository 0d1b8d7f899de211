#include "profiler/run_job.h"

#include <assert.h>

enum dtype_id run_matrix_type(enum dtype_id recipe, const struct model_matrix *matrix)
{
    return recipe == DTYPE_STORED ? matrix->dtype : recipe;
}

static struct status check(const struct model *model, const struct model_matrix *matrix)
{
    enum line_format format;
    if (matrix->count == 0 || line_find(&format, dtype_name(matrix->dtype))) {
        return status_ok();
    }
    return status_error(STATUS_INVALID,
                        "%s: %s is stored as %s, for which there are no kernels; --dtype gives all "
                        "tensors one type",
                        model->name, model_role_name(matrix->role), dtype_name(matrix->dtype));
}

struct status run_stored_supported(const struct model *model)
{
    TRY(check(model, &model->embedding));
    TRY(check(model, &model->positions));
    TRY(check(model, &model->head));
    TRY(check(model, &model->projections[0]));
    TRY(check(model, &model->projections[1]));
    for (uint32_t b = 0; b < model->block_count; b++) {
        for (uint32_t i = 0; i < model->blocks[b].matrix_count; i++) {
            TRY(check(model, &model->blocks[b].matrices[i]));
        }
    }
    return status_ok();
}

enum line_format run_line_format(enum dtype_id dtype)
{
    enum line_format format = LINE_F32;
    bool found = line_find(&format, dtype_name(dtype));
    assert(found); // run_request.c accepts no other
    (void)found;
    return format;
}

enum line_format run_weight_format(const struct run_job *job)
{
    return run_line_format(dtype_for_row(job->dtype, job->k));
}
