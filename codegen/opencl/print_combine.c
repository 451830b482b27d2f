// SPDX-License-Identifier: Apache-2.0
// CPU: records with equal keys become one before they leave a core (codegen/opencl/print_combine.h).
#include "codegen/opencl/print_combine.h"

#include "base/costs_cpu.h"
#include "codegen/opencl/print_combine_rows.h"

#include <inttypes.h>

enum { WORD = 8, LINE = 64, MOST_BYTES = 256 };        // of a record: more would be moved rather than found

static bool leaf_suits(const hdst__combining *combining, uint32_t l)
{
    const hdst__leaf *leaf = &combining->record->leaves[l];
    if (leaf->elements != 1) return false;
    if (combining->in_rows) return hdst__leaf_is_aligned(combining->record, leaf) && leaf->kind != HDST__TEXT;
    if (l == combining->key) return leaf->kind == HDST__TEXT && leaf->offset % WORD == 0;
    return hdst__leaf_is_aligned(combining->record, leaf);          // numbers that may meet in any grouping: else nobody asks for it
}

// A record that was combined cannot be taken back, so none may fail.
static bool may_combine(const hdst__printer *p) { return p->options->combining && !p->gpu && !p->text_copies && hdst__combining_suits(p); }

bool hdst__combines(const hdst__printer *p)
{
    if (!may_combine(p)) return false;
    return p->options->combining->in_rows ? p->output.way == IR_OUTPUT_BOUNDED : p->output.at_most;
}

bool hdst__combining_suits(const hdst__printer *p)
{
    const hdst__combining *combining = p->options->combining;
    const hdst__record *record = combining->record;
    if (p->has_checks || p->tables->accum_count) return false;
    for (size_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind == IR_OUTPUT && (param->given || param->record->size != record->size)) return false;
    }
    for (uint32_t l = 0; l < record->leaf_count; l++)
        if (!leaf_suits(combining, l)) return false;
    if (combining->in_rows) return p->options->facts.has_double;
    return record->size % WORD == 0 && record->align >= WORD && record->size <= MOST_BYTES;
}

bool hdst__combines_dense(const hdst__printer *p)
{
    return may_combine(p) && p->options->combining->in_rows && p->output.way == IR_OUTPUT_DENSE;
}

// A power of two, so that small rows do not lie in two cache lines.
uint64_t hdst__combined_row_bytes(const hdst__combining *combining)
{
    const uint64_t row = combining->in_rows ? WORD * (combining->record->leaf_count + hdst__combined_key_words(combining)) : combining->record->size;
    uint64_t bytes = 2 * WORD;
    while (bytes < row) bytes *= 2;
    return bytes;
}

static uint32_t read_input(const hdst__printer *p)
{
    uint32_t i = p->first_read_input;
    while (i < p->func->param_count && p->func->params[i].kind != IR_INPUT) i++;
    return i;
}

// Of C structs no larger than a cache line. Columns are asked for by blocks (print_unpack.c).
bool hdst__combine_asks_ahead(const hdst__printer *p)
{
    if (!hdst__combines(p) || !p->options->combining->in_rows || p->options->input->layout != HDST__AOS || !hdst__writes_dense_strips(p)) return false;
    const uint32_t input = read_input(p);
    return input < p->func->param_count && p->func->params[input].record->size <= LINE;
}

// Sums wrap, so they are of unsigned numbers.
static void write_value(hdst__writer *out, const hdst__leaf *leaf, hdst__accumulate_op op)
{
    static const char *const sign[] = {[HDST__SUM] = "+", [HDST__AND] = "&", [HDST__OR] = "|", [HDST__XOR] = "^"};
    const bool picks = op == HDST__MIN || op == HDST__MAX;
    const char *type = picks ? hdst__scalar_cl_name(leaf->kind) : hdst__unsigned_cl_name(hdst__scalar_size(leaf->kind));
    hdst__write(out, " { __global %s *a = (__global %s *)((__global uchar *)row + %" PRIu64 "); const %s b = *(__global const %s *)((__global const uchar *)"
                "record + %" PRIu64 "); ", type, type, leaf->offset, type, type, leaf->offset);
    if (picks) hdst__write(out, "*a = %s(*a, b); }", op == HDST__MIN ? "min" : "max");
    else hdst__write(out, "*a = (%s)(*a %s b); }", type, sign[op]);
}

void hdst__write_combine_macros(const hdst__printer *p, hdst__writer *out)
{
    if (!hdst__combines(p)) return;
    const hdst__combining *combining = p->options->combining;
    const hdst__record *record = combining->record;
    if (combining->in_rows) {
        hdst__write_combined_rows_macros(combining, hdst__combined_row_bytes(combining), out);
        hdst__write_line(out, "#define COMBINED_AHEAD %" PRIu64, hdst__combine_asks_ahead(p) ? p->func->params[read_input(p)].record->size : 0);
        return;
    }
    hdst__write_line(out, "#define COMBINED_RECORD_WORDS %" PRIu64, record->size / WORD);
    hdst__write_line(out, "#define COMBINED_ROW_WORDS %" PRIu64, hdst__combined_row_bytes(combining) / WORD);
    hdst__write_line(out, "#define COMBINED_KEY %" PRIu64, record->leaves[combining->key].offset / WORD);
    hdst__write(out, "#define COMBINE_VALUES do {");
    for (uint32_t l = 0; l < record->leaf_count; l++)
        if (l != combining->key) write_value(out, &record->leaves[l], combining->op[l]);
    hdst__write_line(out, " } while (0)");
}

static const char *output_name(const hdst__printer *p)
{
    for (size_t i = 0; i < p->func->param_count; i++)
        if (p->func->params[i].kind == IR_OUTPUT) return p->param_name[i];
    return "";
}

void hdst__print_combine_begin(hdst__printer *p)
{
    hdst__write_line(&p->out, "const ulong own_table = combined_take(combined, combined_tables);");
    hdst__write_line(&p->out, "__global ulong *own_head = combined + COMBINED_HEAD * own_table;");
    hdst__write_line(&p->out, "__global ulong *own_rows = combined_rows(combined, combined_tables, combined_bits, own_table);");
    hdst__write_line(&p->out, "const bool combines = own_table < combined_tables && combined_pays(own_head);");
    hdst__write_line(&p->out, "ulong uncombined = place;");
}

static void print_call(hdst__printer *p)
{
    if (p->options->combining->in_rows) {
        const uint32_t input = read_input(p);
        const char *ahead = !hdst__combine_asks_ahead(p) ? "0"
            : hdst__arena_printf(p->arena, "%sAt + (i + %d * BLOCK) * %" PRIu64, p->param_name[input], HDST__CPU_COMBINE_AHEAD_BLOCKS,
                                 p->func->params[input].record->size);
        hdst__write_line(&p->out, "    place = uncombined = combine_rows(own_head, own_rows, %sAt, uncombined, place, %s);", output_name(p), ahead);
        return;
    }
    hdst__write_line(&p->out, "    place = uncombined = combine_records(own_head, own_rows, combined_bits, (__global ulong *)%sAt, uncombined, place);",
        output_name(p));
}

void hdst__print_combine(hdst__printer *p)
{
    hdst__write_line(&p->out, "if (combines && place - uncombined >= COMBINED_BATCH)");
    print_call(p);
}

void hdst__print_combine_end(hdst__printer *p)
{
    hdst__write_line(&p->out, "if (combines)");
    print_call(p);
    hdst__write_line(&p->out, "combined_leave(combined, combined_tables, own_table);");
}
