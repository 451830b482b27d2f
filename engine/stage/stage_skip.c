// SPDX-License-Identifier: Apache-2.0
// --on-error skip: once a record was seen to fail, a stage runs another form of its function, in which records with errors take no part
// (codegen/pass/skip_failed.c), and keeps it.
// The run in which that happened starts again, for nothing of it was given away yet. Stages without errors never pay for this.
#include "engine/stage/stage.h"

#include "accum/reduce.h"
#include "accum/first_level.h"
#include "codegen/pass/passes.h"

#include <stdio.h>
#include <string.h>

void hdst__stage_tell_skipped(hdst__stage *stage, const hdst_error *first)
{
    if (stage->skips) return;
    stage->skips = true;
    hdst__log_write(&stage->runtime->log, HDST__LOG_WARN, "%s:%u:%u: %s; records with errors are left out", first->file, first->line, first->column,
                    first->message);
}

// What came of the records so far carries their number from level to level, so the outputs hold longer records from now on.
static const char *skip_in_fold(hdst__stage *stage, ir_func *func)
{
    ir_func *upper = hdst__ir_copy_func(&stage->skip_arena, func);
    const char *why = NULL;
    const hdst__record *counted = hdst__skip_fold_record(&stage->skip_arena, func->params[0].record, &why);
    if (!counted) return why;
    const char *wrong = hdst__passes_skip_fold(func, counted, false);
    if (!wrong) wrong = hdst__passes_skip_fold(upper, counted, true);
    stage->skip_upper = upper;
    hdst__output *outputs[] = {&stage->output, &stage->partial};
    for (size_t i = 0; i < 2; i++) {
        hdst__output_destroy(outputs[i]);
        hdst__output_init(outputs[i], stage->runtime->allocator, &stage->runtime->memory, counted->size);
    }
    return wrong;
}

hdst_status hdst__stage_skip(hdst__stage *stage, const hdst_error *first, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena_init(&stage->skip_arena, stage->runtime->allocator, &out_of_memory);
    hdst__arena_compiles(&stage->skip_arena, stage->runtime->cancel);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&stage->skip_arena);
        return hdst__arena_error(&stage->skip_arena, "a kernel that skips records", error);
    }
    ir_func *func = hdst__ir_copy_func(&stage->skip_arena, stage->spec.func);
    const char *wrong = stage->spec.kind == HDST__STAGE_FOLD ? skip_in_fold(stage, func) : hdst__passes_skip(func, &stage->skip_param);
    stage->skip_arena.out_of_memory = NULL;
    hdst__arena_compiled(&stage->skip_arena);
    if (wrong) return hdst__error_set(error, HDST_E_INTERNAL, "the compiler made a function that does not verify: %s", wrong);
    stage->skip_func = func;
    char why[1024];
    snprintf(why, sizeof why, "%s:%u:%u: %s", first->file, first->line, first->column, first->message);
    hdst__mode_set(&stage->mode, HDST__MODE_SKIP_FAILED, why);
    hdst__stage_tell_skipped(stage, first);
    return HDST_OK;
}

static uint64_t skipped_by_fold(const hdst__stage *stage)
{
    if (stage->reader.records == 0) return 0;
    const hdst__record *counted = stage->skip_upper->params[0].record;
    uint64_t taken;             // beside the first
    memcpy(&taken, stage->output.records + counted->leaves[counted->leaf_count - 1].offset, sizeof taken);
    return stage->reader.records - 1 - taken;
}

uint64_t hdst__stage_skipped(const hdst__stage *stage)
{
    if (stage->spec.kind == HDST__STAGE_FOLD) return skipped_by_fold(stage);
    const hdst__launch_plan *plan = stage->plan;
    const int64_t *table = plan->table->host ? plan->table->host : stage->table;
    for (size_t i = 0; i < plan->tables->accum_count; i++)
        if (plan->tables->accum[i].param == stage->skip_param) {
            if (stage->merged) return hdst__partial_read(stage->merged, i, 0, 0, 0);
            if (!plan->tables->first_level) return hdst__table_read(plan->tables, plan->rows, table, i, 0, 0, 0);
            const hdst__first_level level = hdst__first_level_of(plan->tables, plan->rows, table, plan->scale);
            return hdst__first_level_read(plan->tables, plan->rows, &level, i, 0, 0, 0);
        }
    return 0;
}
