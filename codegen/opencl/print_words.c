// SPDX-License-Identifier: Apache-2.0
// GPU form over an array of structs: a lane loads its record as vectors of two or four 32-bit words, and takes its
// fields out of them. A load for each field would touch every cache line once for each of them, and compilers do not
// join such loads, because they cannot know that the records are aligned.
#include "codegen/opencl/print_words.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

typedef struct reach {
    const hdst__printer *p;
    uint32_t param;
    uint64_t words;             // a bit each: those that fields read in whole and at a constant place lie in
} reach;

// Where a field lies, in words from the start of the record; false when it is not whole words at a known place.
static bool find_word(const hdst__printer *p, const ir_expr *e, uint32_t *first, uint32_t *count)
{
    if (e->op != IR_FIELD || (e->a && e->a->op != IR_CONST)) return false;
    const hdst__leaf *leaf = &p->func->params[e->param].record->leaves[e->leaf];
    uint64_t size = hdst__scalar_size(leaf->kind), left = e->a ? e->a->bits : 0, offset = leaf->offset;
    if (leaf->kind == HDST__TEXT || (size != 4 && size != 8)) return false;
    for (uint32_t d = leaf->dims; d-- > 0; left /= leaf->dim[d].count) offset += left % leaf->dim[d].count * leaf->dim[d].stride;
    *first = (uint32_t)(offset / 4);
    *count = (uint32_t)(size / 4);
    return offset % size == 0;
}

static bool add_words(ir_expr **slot, void *user)
{
    reach *r = user;
    uint32_t first, count;
    if ((*slot)->param == r->param && find_word(r->p, *slot, &first, &count)) r->words |= ((UINT64_C(1) << count) - 1) << first;
    return true;
}

static uint64_t words_read(const hdst__printer *p, uint32_t param)
{
    reach r = {p, param, 0};
    ir_block body = p->func->body;
    hdst__ir_visit_exprs(&body, add_words, &r);
    return r.words;
}

static uint32_t vector_of(uint32_t words) { return words % 4 == 0 ? 4 : 2; }

static const char *vector_name(const hdst__printer *p, uint32_t param, uint32_t record, uint32_t word)
{
    return hdst__arena_printf(p->arena, "%sRecord%" PRIu32 "Word%" PRIu32, p->param_name[param], record, word);
}

void hdst__plan_words(hdst__printer *p)
{
    p->word_count = HDST__NEW_ARRAY(p->arena, uint32_t, p->func->param_count);
    for (uint32_t i = 0; i < p->func->param_count && p->options->input->layout == HDST__AOS; i++) {
        const ir_param *param = &p->func->params[i];
        const uint64_t words = param->record->size / 4;
        if (param->kind != IR_INPUT || param->record->size % 8 != 0 || words > HDST__GPU_RECORD_WORDS) continue;
        if (__builtin_popcountll(words_read(p, i)) < 2) continue;
        p->word_count[i] = (uint32_t)words;
    }
}

// Records that no kernel of the function reads again, beside rows that many of them look up.
static bool are_streamed(const ir_func *func)
{
    bool looks_up = false;
    for (size_t i = 0; i < func->param_count; i++) looks_up |= func->params[i].is_lookup;
    return looks_up && !func->emits;
}

static void print_record(hdst__printer *p, uint32_t param, uint32_t record)
{
    const uint32_t words = p->word_count[param], vector = vector_of(words);
    const uint64_t read = words_read(p, param);
    for (uint32_t w = 0; w < words; w += vector) {
        if (!(read >> w & ((1u << vector) - 1))) continue;
        const char *at = hdst__arena_printf(p->arena, "%sAt + (%s) * %" PRIu32 " + %" PRIu32, p->param_name[param], hdst__record_text(p, record),
            words * 4, w * 4);
        const char *from = hdst__arena_printf(p->arena, "(__global const uint%" PRIu32 " *)(%s)", vector, at), *name = vector_name(p, param, record, w);
        if (are_streamed(p->func)) hdst__write_line(&p->out, "const uint%" PRIu32 " %s = streamed_uint%" PRIu32 "(%s);", vector, name, vector, from);
        else hdst__write_line(&p->out, "const uint%" PRIu32 " %s = *%s;", vector, name, from);
    }
}

void hdst__print_words(hdst__printer *p)
{
    const uint32_t records = p->func->lane_records ? p->func->lane_records : 1;
    for (uint32_t i = 0; i < p->func->param_count; i++)
        for (uint32_t r = 0; r < records && p->word_count[i]; r++) print_record(p, i, r);
}

const char *hdst__word_text(hdst__printer *p, const ir_expr *field)
{
    const uint32_t words = p->word_count[field->param], vector = vector_of(words);
    uint32_t first, count;
    if (!words || p->func->together || !find_word(p, field, &first, &count)) return NULL;      // together: the records are other lanes'
    const char *from = vector_name(p, field->param, field->record, first / vector * vector);
    const char *part = count == 1 ? hdst__arena_printf(p->arena, "%s.s%" PRIu32, from, first % vector)
                                  : hdst__arena_printf(p->arena, "%s.s%" PRIu32 "%" PRIu32, from, first % vector, first % vector + 1);
    if (field->kind == HDST__U32) return part;
    return hdst__arena_printf(p->arena, "as_%s(%s)", hdst__cl_name(field->kind), part);
}
