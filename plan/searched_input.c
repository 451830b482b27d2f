// SPDX-License-Identifier: Apache-2.0
// Readers that look for the text of a filter (plan/searched_input.h).
#include "plan/searched_input.h"

#include "plan/map_spec.h"
#include "plan/stage_call.h"

#include <string.h>

void hdst__searched_input_note(hdst__searched_input *searched, const hdst_dataset *first)
{
    const ir_func *func = first->mark.func;
    if (first->op != &hdst__op_filter || !first->spec || !first->spec->function->body) return;
    searched->is_wanted = hdst__ir_needed_text(func, &searched->needed);
    searched->filter = func->name;
    if (!searched->is_wanted || searched->needed.text) return;
    const ir_param *param = &func->params[searched->needed.param];
    searched->what = hdst__plan_param_of(func, param, first);
    searched->record = param->record;
}

static bool has_gpu(hdst__engine *engine)
{
    hdst_error error = HDST_ERROR_INIT;
    if (hdst__engine_has_device(engine, &error) != HDST_OK) return true;        // the stage tells why
    return hdst__engine_has_gpu(engine);
}

// The text of this run; one of no bytes: there is none, or it is any text's.
static hdst_status take_text(hdst__searched_input *searched, hdst_error *error)
{
    const hdst__text_value *constant = searched->needed.text;
    hdst__text_span *text = &searched->search.text;
    const void *rows = NULL;
    uint64_t count = 0;
    *text = (hdst__text_span){0};
    if (constant) *text = hdst__text_span_of(constant->at, constant->length);
    if (constant) return HDST_OK;
    const hdst_status status = hdst__plan_param_rows(&searched->what, &rows, &count, error);
    if (status == HDST_OK && rows && count) memcpy(text, (const char *)rows + searched->record->leaves[searched->needed.param_leaf].offset, sizeof *text);
    return status;
}

hdst_status hdst__searched_input_read(hdst__searched_input *searched, const hdst__node *node, hdst__reader *reader, hdst_error *error)
{
    searched->is_used = false;
    if (!searched->is_wanted || reader->fill != hdst__bound_source_fill || !hdst__bound_source_finds(reader->user)) return HDST_OK;
    if (has_gpu(node->dataset->object.context->engine)) return HDST_OK;
    hdst_status status = take_text(searched, error);
    if (status == HDST_OK && !searched->bound) status = hdst__source_bind_search(reader->user, &searched->search, &searched->bound, error);
    if (status != HDST_OK || searched->search.text.length == 0) return status;
    searched->search.small_letters = searched->needed.small_letters;
    searched->is_used = true;
    reader->user = searched->bound;
    return HDST_OK;
}

void hdst__searched_input_explain(const hdst__searched_input *searched, hdst__buffer *out)
{
    if (searched->is_used) hdst__buffer_printf(out, "  reader: looks for the text that '%s' wants; lines without it come empty\n", searched->filter);
}

void hdst__searched_input_release(hdst__searched_input *searched)
{
    hdst__source_unbind(searched->bound);
    searched->bound = NULL;
}
