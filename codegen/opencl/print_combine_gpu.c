// SPDX-License-Identifier: Apache-2.0
// GPU: records with equal keys become one as they are made (codegen/opencl/print_combine_gpu.h).
#include "codegen/opencl/print_combine_gpu.h"

#include "base/costs_gpu.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_text_copies.h"

#include <inttypes.h>

enum { WORD = 8, HALF = 4 };

const hdst__arg hdst__gather_args[HDST__GATHER_ARGS] = {{.kind = HDST__ARG_SKIP}, {.kind = HDST__ARG_COUNT}, {.kind = HDST__ARG_OUTPUT},
                                                        {.kind = HDST__ARG_PLACES}, {.kind = HDST__ARG_COMBINED}};

// There are atomic operations of 32 bits, and an addition of 64.
static bool leaf_suits(const hdst__combining *combining, uint32_t l)
{
    const hdst__leaf *leaf = &combining->record->leaves[l];
    const uint64_t bytes = hdst__scalar_size(leaf->kind);
    if (l == combining->key) return true;
    return bytes == HALF || (bytes == WORD && combining->op[l] != HDST__MIN && combining->op[l] != HDST__MAX);
}

bool hdst__combines_on_gpu(const hdst__printer *p)
{
    const hdst__combining *combining = p->options->combining;
    if (!combining || combining->in_rows || !p->gpu || !p->text_copies) return false;
    if (p->output.way != IR_OUTPUT_COUNTED || p->cooperative || p->tiles) return false;
    for (uint32_t l = 0; l < combining->record->leaf_count; l++)
        if (!leaf_suits(combining, l)) return false;
    return p->options->facts.has_int64_atomics && hdst__combining_suits(p);
}

// --- Values, whose identity is 0 ---

// What a value is turned by, and back: the least of numbers is the largest of those that are turned around.
static uint32_t turn_of(const hdst__leaf *leaf, hdst__accumulate_op op)
{
    const uint32_t sign = hdst__kind_is_signed(leaf->kind) ? UINT32_C(1) << 31 : 0;
    switch (op) {
    case HDST__MIN: return ~sign;
    case HDST__MAX: return sign;
    case HDST__AND: return UINT32_MAX;
    case HDST__SUM:
    case HDST__OR:
    case HDST__XOR: break;
    }
    return 0;
}

static void write_turns(hdst__writer *out, const hdst__combining *combining)
{
    hdst__write_text(out, "#define COMBINED_TURN do {");
    for (uint32_t l = 0; l < combining->record->leaf_count; l++) {
        const hdst__leaf *leaf = &combining->record->leaves[l];
        const uint32_t turn = l == combining->key ? 0 : turn_of(leaf, combining->op[l]);
        for (uint64_t at = leaf->offset; turn && at < leaf->offset + hdst__scalar_size(leaf->kind); at += HALF)
            hdst__write(out, " own[%" PRIu64 "] ^= %" PRIu32 "ul << %u;", at / WORD, turn, at % WORD ? 32u : 0u);
    }
    hdst__write_line(out, " } while (0)");
}

static const char *name_of(hdst__accumulate_op op)
{
    return op == HDST__SUM ? "add" : op == HDST__XOR ? "xor" : op == HDST__MIN || op == HDST__MAX ? "max" : "or";
}

static void write_sum(hdst__writer *out, uint64_t word, bool is_local)
{
    if (!is_local) {
        hdst__write(out, " atom_add((volatile __global ulong *)(row + %" PRIu64 "), own[%" PRIu64 "]);", 2 * word, word);
        return;
    }
    hdst__write(out, " { const uint part = (uint)own[%" PRIu64 "], old = atomic_add(row + %" PRIu64 ", part); ", word, 2 * word);
    hdst__write(out, "const uint high = (uint)(own[%" PRIu64 "] >> 32) + ((uint)(old + part) < old); ", word);
    hdst__write(out, "if (high) atomic_add(row + %" PRIu64 ", high); }", 2 * word + 1);
}

// A row and a record are words of 64 bits, here halves of them.
static void write_additions(hdst__writer *out, const hdst__combining *combining, bool is_local)
{
    hdst__write(out, "#define COMBINED_ADD_%s do {", is_local ? "LOCAL" : "GLOBAL");
    for (uint32_t l = 0; l < combining->record->leaf_count; l++) {
        const hdst__leaf *leaf = &combining->record->leaves[l];
        const uint64_t bytes = hdst__scalar_size(leaf->kind);
        if (l == combining->key) continue;
        if (bytes == WORD && combining->op[l] == HDST__SUM) {
            write_sum(out, leaf->offset / WORD, is_local);
            continue;
        }
        for (uint64_t at = leaf->offset; at < leaf->offset + bytes; at += HALF)
            hdst__write(out, " atomic_%s(row + %" PRIu64 ", (uint)(own[%" PRIu64 "] >> %u));", name_of(combining->op[l]), at / HALF, at / WORD,
                        at % WORD ? 32u : 0u);
    }
    hdst__write_line(out, " } while (0)");
}

static uint32_t hot_bits(const hdst__record *record)
{
    uint32_t bits = 1;
    while ((record->size << (bits + 1)) <= HDST__GPU_COMBINE_HOT_BYTES) bits++;
    return bits;
}

void hdst__write_gpu_combine_macros(const hdst__printer *p, hdst__writer *out)
{
    if (!hdst__combines_on_gpu(p)) return;
    const hdst__combining *combining = p->options->combining;
    const hdst__record *record = combining->record;
    hdst__write_line(out, "#define COMBINED_RECORD_WORDS %" PRIu64, record->size / WORD);
    hdst__write_line(out, "#define COMBINED_ROW_WORDS %" PRIu64, hdst__combined_row_bytes(combining) / WORD);
    hdst__write_line(out, "#define COMBINED_KEY %" PRIu64, record->leaves[combining->key].offset / WORD);
    hdst__write_line(out, "#define COMBINED_HOT_BITS %" PRIu32, hot_bits(record));
    write_turns(out, combining);
    write_additions(out, combining, false);
    write_additions(out, combining, true);
}

// --- A record ---

void hdst__print_own_store(hdst__printer *p, const ir_stmt *stmt)
{
    const hdst__leaf *leaf = &p->func->params[stmt->param].record->leaves[stmt->leaf];
    const char *value = hdst__expr_text(p, stmt->value, HDST__WHOLE);
    const uint64_t word = leaf->offset / WORD;
    if (leaf->kind == HDST__TEXT) hdst__write_line(&p->out, "own_text(own + %" PRIu64 ", %s, " HDST__TEXT_COPY ");", word, value);
    else if (hdst__scalar_size(leaf->kind) == WORD) hdst__write_line(&p->out, "own[%" PRIu64 "] = (ulong)(%s);", word, value);
    else if (leaf->offset % WORD) hdst__write_line(&p->out, "own[%" PRIu64 "] = (uint)own[%" PRIu64 "] | (ulong)(uint)(%s) << 32;", word, word, value);
    else hdst__write_line(&p->out, "own[%" PRIu64 "] = own[%" PRIu64 "] >> 32 << 32 | (uint)(%s);", word, word, value);
}

// Where records go that are none of the table's.
static const char *output_of(const hdst__printer *p)
{
    for (size_t i = 0; i < p->func->param_count; i++)
        if (p->func->params[i].kind == IR_OUTPUT) return hdst__arena_printf(p->arena, "%sAt", p->param_name[i]);
    return "";
}

// Of a record that came before its lane found no room, nothing again in the next turn.
void hdst__print_gpu_combine(hdst__printer *p, const ir_stmt *emit)
{
    const char *comes = emit->cond ? hdst__arena_printf(p->arena, "(%s) && ", hdst__expr_text(p, emit->cond, HDST__WHOLE)) : "";
    hdst__write_line(&p->out, "if (%s++emitted >= mark && !stopped && !made_emit(own, hot, combined, (uint)combined_bits, places, room, %s))", comes,
                     output_of(p));
    hdst__write_line(&p->out, "    stopped = emitted;");
}
