// SPDX-License-Identifier: Apache-2.0
// What a stage will do and why, as a text for people.
#include "engine/common/run_stats.h"
#include "engine/memory/host_copies.h"
#include "engine/stage/launch_shape.h"
#include "engine/stage/stage.h"
#include "engine/device/device_list.h"
#include "accum/addends.h"
#include "accum/fixed_point.h"
#include "base/costs_cpu.h"

#include <inttypes.h>

static const char *layout_name(hdst__layout layout)
{
    static const char *const names[] = {"aos", "soa", "aosoa", "aop"};
    return names[layout];
}

// Before the first run it is an estimate.
static void explain_partial(const hdst__dataset_cache *cache, hdst__buffer *out)
{
    const uint64_t resident = hdst__partial_cache_resident(cache);
    const uint64_t copies = hdst__host_copies_count(cache);
    hdst__buffer_printf(out, ", resident: %.0f %% (%" PRIu64 " of %" PRIu64 " segments%s), ", 100.0 * (double)resident / (double)cache->count, resident,
                        cache->count, cache->chosen ? "" : ", as it looks now");
    if (copies) hdst__buffer_printf(out, "%" PRIu64 " are copied from the host in every run, ", copies);
    hdst__buffer_printf(out, "the rest is read again in every run (%s)\n", cache->why);
}

static void explain_input(const hdst__stage *stage, hdst__buffer *out)
{
    const hdst__reader *reader = &stage->reader;
    const hdst__dataset_cache *cache = stage->spec.cache;
    char bytes[24];
    if (reader->open_end) hdst__buffer_puts(out, "  input: all");
    else hdst__buffer_printf(out, "  input: %" PRIu64, reader->records);
    hdst__buffer_printf(out, " records of %s%s, layout %s", reader->record->name, reader->open_end ? " that come" : "", layout_name(reader->layout));
    if (reader->record->leaf_count == 0) hdst__buffer_puts(out, ", which hold nothing: no memory is read\n");
    else if (cache && cache->part) hdst__buffer_printf(out, ", resident on %" PRIu32 " devices, a part with each\n", cache->parts);
    else if (cache && cache->each) explain_partial(cache, out);
    else if (cache && cache->streamed) hdst__buffer_printf(out, ", read again in every run (%s)\n", cache->why);
    else if (cache) hdst__buffer_printf(out, ", resident in %" PRIu64 " segment%s%s\n", cache->count, cache->count == 1 ? "" : "s",
                                        cache->returns ? ", again since memory was short" : "");
    else if (stage->plan) hdst__buffer_printf(out, ", streamed through segments of %" PRIu64 " records (%s)\n", stage->plan->piece->capacity,
                                              hdst__bytes_text(hdst__storage_bytes(stage->plan->piece), bytes));
    else hdst__buffer_puts(out, ", streamed\n");
}

// Who finds where lines of a text end.
static void explain_lines(const hdst__stage *stage, hdst__buffer *out)
{
    if (!stage->plan || stage->spec.cache) return;
    const char *why = hdst__line_spans_refusal(stage->device, &stage->plan->reader, stage->plan->piece);
    if (!why) hdst__buffer_puts(out, "  lines: the device finds them in the bytes of a segment, whose line ends the host only counts\n");
    else if (*why) hdst__buffer_printf(out, "  lines: the host finds them, as %s\n", why);
}

static void explain_cell(const hdst__launch_plan *plan, const hdst__cell *cell, const char *name, const hdst__leaf *leaf, hdst__buffer *out)
{
    static const char *const classes[] = {"one word", "one 64-bit word", "two 64-bit words", "superaccumulators at once"};
    hdst__buffer_printf(out, "    %s%s%s: %s", name, leaf->path[0] ? "." : "", leaf->path, cell->fast ? "fast, rounded at each addition"
                        : classes[cell->precision]);
    if (cell->scale < 0 || cell->fast) {
        hdst__buffer_puts(out, "\n");
        return;
    }
    const hdst__addends *seen = &plan->addends[cell->scale];
    if (cell->precision != HDST__CLASS_SUPERACCUMULATOR) hdst__buffer_printf(out, " at 2^%d", (int)plan->scale[cell->scale]);
    if (plan->too_often[cell->scale]) hdst__buffer_puts(out, ", for a record may add too often to one cell");
    else if (seen->count == 0) hdst__buffer_puts(out, ", a guess: the sample had no addends");
    else hdst__buffer_printf(out, ": %" PRIu64 " sampled addends lie below 2^%d, their last bits at 2^%d or above", seen->count,
                             (int)seen->highest + 1, (int)seen->lowest_bit);
    hdst__buffer_puts(out, "\n");
}

// What became of the float sums, as the kernel says it: a form may have exact ones only, and the interpreter has.
static const char *explain_sums(const hdst__launch_plan *plan)
{
    const uint32_t fast = plan->kernel ? plan->kernel->fast_sums : 0;
    if (fast && fast == plan->tables->scale_count) return "float sums are fast: their bits depend on the device and on the cut of the work";
    if (fast) return "float sums are fast where it says so, with bits that depend on the device and on the cut of the work, and exact elsewhere";
    if (!plan->device->options->fast_sums || !plan->tables->scale_count) return "float sums are exact, the first words only decide the speed";
    return plan->kernel ? "fast sums were asked for, but this form has exact ones only" : "fast sums were asked for, but the interpreter's are exact";
}

static void explain_tables(const hdst__launch_plan *plan, hdst__buffer *out)
{
    char device[24], strip[24];
    if (!plan->tables) return;
    hdst__buffer_printf(out, "  accumulators: %s on the device, %s a strip; %s\n",
                        hdst__bytes_text((plan->first_level_words + plan->device_words) * sizeof(int64_t), device),
                        hdst__bytes_text(plan->private_words * sizeof(int64_t), strip), explain_sums(plan));
    if (plan->kernel && plan->kernel->one_group_per_strip && plan->flush < HDST__FLUSH_ADDS)
        hdst__buffer_printf(out, "    strips are added to the device's every %" PRIu64 " records, before a word could overflow\n", plan->flush);
    for (size_t i = 0; i < plan->tables->accum_count; i++) {
        const hdst__accum *accum = &plan->tables->accum[i];
        const ir_param *param = &plan->func->params[accum->param];
        for (size_t leaf = 0; leaf < param->record->leaf_count; leaf++) explain_cell(plan, &accum->cell[leaf], param->name, &param->record->leaves[leaf], out);
    }
}

static void explain_kernel(const hdst__launch_plan *plan, hdst__buffer *out)
{
    hdst__buffer_printf(out, "  slices: up to %" PRIu64 " records, %u in flight; %u work-items (%s)\n", plan->slice_most,
                        plan->executor ? plan->executor->slots : hdst__plan_slices_in_flight(plan), plan->items, plan->items_why);
    if (plan->kernel && plan->kernel->splits_few)
        hdst__buffer_printf(out, "    of fewer than %" PRIu64 " records: a strip per core, of %d records at least\n",
                            (uint64_t)plan->items * HDST__CPU_STRIP_STEP, HDST__CPU_FEW_RECORDS);
    if (plan->kernel && plan->kernel->batch_records && plan->rounds_batches)
        hdst__buffer_printf(out, "    of up to %" PRIu32 " records: one strip, whose sums are rounded as they leave its registers\n",
                            plan->kernel->batch_records);
    if (!plan->kernel || !plan->kernel->why) return;
    for (const char *line = plan->kernel->why; *line;) {
        size_t length = 0;
        while (line[length] && line[length] != '\n') length++;
        hdst__buffer_printf(out, "  kernel: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void explain_output(const hdst__stage *stage, hdst__buffer *out)
{
    if (!stage->plan || !stage->plan->output_param) return;
    if (stage->spec.consumer) hdst__buffer_puts(out, "  output: slice by slice to what takes it; it is nowhere in whole\n");
    if (stage->plan->combined[0])
        hdst__buffer_printf(out, "  records with short keys became one on the device as they were made: %" PRIu64 " to %" PRIu64 ", beside %" PRIu64
                            " that were left\n", stage->plan->combined[0], stage->plan->combined[2], stage->plan->combined[1]);
    if (stage->plan->in_window) hdst__buffer_puts(out, "  output: written by the kernels where it stays\n");
    hdst__mode_explain(&stage->mode, HDST__MODE_COUNTED_OUTPUT, out);
    hdst__mode_explain(&stage->mode, HDST__MODE_OUTPUT_IN_FILE, out);
    if (!stage->spec.keep_output || stage->spec.consumer || stage->mode.is[HDST__MODE_OUTPUT_IN_FILE]) return;
    hdst__mode_explain(&stage->mode, HDST__MODE_OUTPUT_ON_HOST, out);
    if (!stage->mode.is[HDST__MODE_OUTPUT_ON_HOST])
        hdst__buffer_puts(out, stage->keeps_parts ? "  output: stays on the devices for the next stage, a part with each\n"
                          : "  output: stays on the device for the next stage\n");
}

// What leaving out levels means here.
static void explain_levels(const hdst__stage *stage, hdst__buffer *out)
{
    const hdst__hpr hpr = hdst__engine_settings(stage->engine)->hpr;
    const bool tables = stage->plan && stage->plan->tables;
    if (hpr >= HDST__HPR_DEVICE || (stage->spec.kind == HDST__STAGE_MAP && !tables)) return;
    hdst__buffer_printf(out, "  hpr %s: ", hdst__hpr_name(hpr));
    if (tables && hpr == HDST__HPR_NONE) hdst__buffer_puts(out, "blocks have no tables, each addend goes to the device's, which counts as the node's step\n");
    else if (tables) hdst__buffer_puts(out, "only blocks combine before the device's table, which counts as the node's step\n");
    else if (stage->spec.kind == HDST__STAGE_FOLD) hdst__buffer_puts(
        out, "of no effect, the tree of 64 records to one is fixed as its result's bits depend on it\n");
    else hdst__buffer_puts(out, "of no effect, no level combines before the last one\n");
}

static void explain_memory(const hdst__stage *stage, hdst__buffer *out)
{
    const hdst__budget *budgets[] = {&stage->runtime->memory, &stage->device->budget};
    for (size_t i = 0; i < (stage->device->facts.target == HDST__TARGET_INTERP ? 1 : 2); i++) {
        char used[24], limit[24];
        hdst__buffer_printf(out, "  %s: %s of %s\n", budgets[i]->name, hdst__bytes_text(budgets[i]->used, used), hdst__bytes_text(budgets[i]->limit, limit));
    }
}

static void explain_devices(const hdst__stage *stage, hdst__buffer *out)
{
    const hdst__device_info *info = stage->device->info;
    hdst__buffer_printf(out, "  device: %u %s (%s)\n", info->index, info->name, hdst__device_class_name(info->class_));
    hdst__stage_explain_workers(stage, out);
}

void hdst__stage_explain_devices(hdst__stage *stage, hdst__buffer *out)
{
    pthread_mutex_lock(&stage->runtime->mutex);
    if (stage->device) explain_devices(stage, out);
    pthread_mutex_unlock(&stage->runtime->mutex);
}

hdst_status hdst__stage_explain(hdst__stage *stage, const hdst__stage_values *values, hdst__buffer *out, hdst_error *error)
{
    static const char *const kinds[] = {"map", "associative reduce, a fixed tree of 64 records to one",
        "reduce in input order, in the interpreter (it is not associative)"};
    hdst_status status = hdst__stage_prepare(stage, values, error);
    if (status != HDST_OK) return status;
    pthread_mutex_lock(&stage->runtime->mutex);
    hdst__buffer_printf(out, "stage %s: %s\n", stage->spec.func->name, kinds[stage->spec.kind]);
    explain_devices(stage, out);
    explain_input(stage, out);
    explain_lines(stage, out);
    hdst__mode_explain(&stage->mode, HDST__MODE_SKIP_FAILED, out);
    if (stage->plan) {
        explain_kernel(stage->plan, out);
        hdst__plan_tuning_explain(stage->plan, out);
        explain_tables(stage->plan, out);
        hdst__mode_explain(&stage->mode, HDST__MODE_TABLE_OF_WORDS, out);
        hdst__mode_explain(&stage->mode, HDST__MODE_SUPERACCUMULATORS, out);
        hdst__mode_explain(&stage->mode, HDST__MODE_ROUND_ON_HOST, out);
        explain_output(stage, out);
    }
    explain_levels(stage, out);
    explain_memory(stage, out);
    hdst__stage_explain_run(stage, out);
    pthread_mutex_unlock(&stage->runtime->mutex);
    return out->failed ? hdst__error_memory(error, "a text") : HDST_OK;
}
