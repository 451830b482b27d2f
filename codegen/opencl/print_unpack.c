// SPDX-License-Identifier: Apache-2.0
// How the block form reads the records of a block:
//   SoA, AoP   where they lie: neighbours in a leaf are neighbours in memory
//   AoSoA      where they lie: a block never crosses one of the layout, and NAME_In points to its first record
//   AoS        where they lie if one record loop reads the leaf and the driver's compiler has vectors for it: it
//   reads all of the struct; or, with NAME_Part, the
//              struct is one word. Else through arrays over the block, NAME_Of
// A vector loop that reads every second float of an array gathers: 4 times the time of one that reads the pairs as
// words, and a copy record by record is quicker too.
#include "codegen/opencl/print_unpack.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_expr.h"
#include "base/costs_cpu.h"

#include <inttypes.h>
#include <string.h>

// --- Which leaves go through arrays ---

typedef struct leaf_reads {
    uint32_t loop, times;       // the last record loop that reads the leaf; how many do, twice if in a loop around them
    bool gaps;                  // in that loop, which reads only some of the struct in words of this size
} leaf_reads;

enum { SIZES = 9 };             // of scalars: 1, 2, 4, 8

typedef struct field_reads {
    ir_func *func;
    uint32_t loop;              // number of the record loop that is looked at
    uint32_t weight;            // 2 in a loop around it
    leaf_reads **leaf;          // by param and leaf
    uint64_t (*bytes)[SIZES];   // by param and size of scalar: those of the struct that the loop reads, a bit each
} field_reads;

static uint64_t bits(uint64_t offset, uint64_t count) { return (count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << offset; }

// The bytes of an element; none when it is not known which.
static uint64_t bytes_read(const hdst__record *record, const hdst__leaf *leaf, const ir_expr *element)
{
    const uint64_t size = hdst__scalar_size(leaf->kind);
    if (record->size > 64 || (element && element->op != IR_CONST)) return 0;
    return bits(hdst__leaf_offset(leaf, element ? element->bits : 0), size);
}

static bool note_read(ir_expr **slot, void *user)
{
    field_reads *reads = user;
    const ir_expr *e = *slot;
    if (e->op != IR_FIELD) return true;
    const hdst__record *record = reads->func->params[e->param].record;
    const hdst__leaf *leaf = &record->leaves[e->leaf];
    leaf_reads *at = &reads->leaf[e->param][e->leaf];
    if (leaf->kind != HDST__TEXT) reads->bytes[e->param][hdst__scalar_size(leaf->kind)] |= bytes_read(record, leaf, e->a);
    if (at->loop == reads->loop) return true;
    at->loop = reads->loop;
    at->times += reads->weight;
    return true;
}

static bool covers(const hdst__record *record, uint64_t bytes) { return record->size <= 64 && bytes == bits(0, record->size); }

static void note_loop(field_reads *reads, ir_block *body)
{
    reads->loop++;
    for (size_t i = 0; i < reads->func->param_count; i++) memset(reads->bytes[i], 0, sizeof reads->bytes[i]);
    hdst__ir_visit_exprs(body, note_read, reads);
    for (size_t i = 0; i < reads->func->param_count; i++) {
        const hdst__record *record = reads->func->params[i].record;
        for (size_t l = 0; l < record->leaf_count; l++)
            if (reads->leaf[i][l].loop == reads->loop && record->leaves[l].kind != HDST__TEXT)
                reads->leaf[i][l].gaps = !covers(record, reads->bytes[i][hdst__scalar_size(record->leaves[l].kind)]);
    }
}

static void note_reads(field_reads *reads, ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        if (s->kind == IR_RECORDS || s->kind == IR_ACCUM_BLOCK) {
            if (s->kind == IR_ACCUM_BLOCK) note_loop(reads, &(ir_block){&s, 1, 1});
            else if (s->vectorize) note_loop(reads, &s->body);
            continue;
        }
        const uint32_t outer = reads->weight;
        if (s->kind == IR_FOR || s->kind == IR_LOOP) reads->weight = 2;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) note_reads(reads, nested[n]);
        reads->weight = outer;
    }
}

static field_reads reads_of(hdst__arena *arena, ir_func *func)
{
    field_reads reads = {.func = func, .weight = 1, .leaf = HDST__NEW_ARRAY(arena, leaf_reads *, func->param_count)};
    reads.bytes = hdst__arena_alloc(arena, (func->param_count + 1) * sizeof *reads.bytes);
    for (size_t i = 0; i < func->param_count; i++) reads.leaf[i] = HDST__NEW_ARRAY(arena, leaf_reads, func->params[i].record->leaf_count);
    note_reads(&reads, &func->body);
    return reads;
}

static bool is_whole(const hdst__record *record, const hdst__leaf *leaf)
{
    return record->size == hdst__scalar_size(leaf->kind) && hdst__leaf_is_aligned(record, leaf);
}

static bool is_near(const hdst__record *record, const hdst__leaf *leaf)
{
    return hdst__leaf_is_aligned(record, leaf) && record->size / hdst__scalar_size(leaf->kind) <= HDST__CPU_STRIDED_VALUES;
}

// The struct is one word, of which a shift makes the field.
static bool is_part_of_word(const hdst__record *record, const hdst__leaf *leaf)
{
    const uint64_t size = record->size;
    return (size == 2 || size == 4 || size == 8) && leaf->elements == 1 && leaf->kind != HDST__BOOL && hdst__leaf_is_aligned(record, leaf);
}

static bool wants_array(const hdst__record *record, const hdst__leaf *leaf, const leaf_reads *reads)
{
    if (reads->times == 0 || is_whole(record, leaf)) return false;
    return reads->times > 1 || !is_near(record, leaf) || (reads->gaps && !is_part_of_word(record, leaf));
}

static uint64_t bytes_of(const hdst__leaf *leaf) { return leaf->elements * hdst__scalar_size(leaf->kind); }

void hdst__unpacking_create(hdst__printer *p)
{
    hdst__unpacking *u = HDST__NEW(p->arena, hdst__unpacking);
    const hdst__unpacking *outer = p->unpacking;
    u->array = HDST__NEW_ARRAY(p->arena, bool *, p->func->param_count);
    u->from_word = HDST__NEW_ARRAY(p->arena, bool *, p->func->param_count);
    u->has_part = outer ? outer->has_part : HDST__NEW_ARRAY(p->arena, bool *, p->func->param_count);
    u->prefetches = outer && outer->prefetches;
    u->prefetches_structs = outer && outer->prefetches_structs;
    p->unpacking = u;
}

static bool marks(bool *const *of, uint32_t param, size_t leaf) { return of[param] && of[param][leaf]; }

static bool is_unpacked(const hdst__printer *p, uint32_t param, size_t leaf) { return marks(p->unpacking->array, param, leaf); }
bool hdst__has_part(const hdst__printer *p, uint32_t param, size_t leaf)
{
    return p->unpacking && marks(p->unpacking->has_part, param, leaf);
}
static bool is_from_word(const hdst__printer *p, uint32_t param, size_t leaf) { return marks(p->unpacking->from_word, param, leaf); }

uint64_t hdst__unpack_bytes(const hdst__printer *p, uint32_t block)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p->func->param_count && p->unpacking; i++)
        for (size_t l = 0; p->unpacking->array[i] && l < p->func->params[i].record->leaf_count; l++)
            if (p->unpacking->array[i][l]) bytes += bytes_of(&p->func->params[i].record->leaves[l]) * block;
    return bytes;
}

// Whether the leaves of this size that go through arrays are all of the struct: then the loop that copies them is one of vectors.
static bool copies_all(const hdst__printer *p, uint32_t param, uint64_t size)
{
    const hdst__record *record = p->func->params[param].record;
    uint64_t bytes = 0;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (p->unpacking->array[param][l] && hdst__scalar_size(record->leaves[l].kind) == size) bytes += record->leaves[l].elements * size;
    return bytes == record->size;
}

static void plan_words(hdst__printer *p, uint32_t param, const leaf_reads *reads)
{
    const hdst__record *record = p->func->params[param].record;
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        if (reads[l].times == 0 || is_whole(record, leaf) || !is_part_of_word(record, leaf)) continue;
        const bool copied = p->unpacking->array[param] && p->unpacking->array[param][l];
        p->unpacking->from_word[param][l] = copied ? !copies_all(p, param, hdst__scalar_size(leaf->kind)) : reads[l].gaps;
        p->unpacking->has_part[param][l] |= p->unpacking->from_word[param][l];
    }
}

void hdst__plan_unpack(hdst__printer *p, ir_func *func)
{
    if (p->options->input->layout != HDST__AOS) return;
    const field_reads reads = reads_of(p->arena, func);
    for (uint32_t i = 0; i < func->param_count; i++) {
        const hdst__record *record = func->params[i].record;
        if (func->params[i].kind != IR_INPUT) continue;
        p->unpacking->array[i] = HDST__NEW_ARRAY(p->arena, bool, record->leaf_count);
        p->unpacking->from_word[i] = HDST__NEW_ARRAY(p->arena, bool, record->leaf_count);
        if (!p->unpacking->has_part[i]) p->unpacking->has_part[i] = HDST__NEW_ARRAY(p->arena, bool, record->leaf_count);
        for (size_t l = 0; l < record->leaf_count; l++) p->unpacking->array[i][l] = wants_array(record, &record->leaves[l], &reads.leaf[i][l]);
        if (hdst__unpack_bytes(p, func->block) > HDST__CPU_UNPACKED_BYTES) p->unpacking->array[i] = NULL;
        plan_words(p, i, reads.leaf[i]);
    }
}

// --- Filling the arrays ---

static void print_copies(hdst__printer *p, uint32_t param, size_t l)
{
    const char *name = p->leaf_name[param][l];
    const uint64_t elements = p->func->params[param].record->leaves[l].elements;
    if (p->unpacking->from_word[param][l]) {
        hdst__write_line(&p->out, "%sOf[0][r] = %sPart(i + r);", name, name);
        return;
    }
    if (elements > HDST__CPU_UNPACKED_ELEMENTS) {
        hdst__write_line(&p->out, "for (int e = 0; e < %" PRIu64 "; e++) %sOf[e][r] = %s(i + r, e);", elements, name, name);
        return;
    }
    for (uint64_t e = 0; e < elements; e++) hdst__write_line(&p->out, "%sOf[%" PRIu64 "][r] = %s(i + r, %" PRIu64 ");", name, e, name, e);
}

// The driver's compiler has vectors for it.
static bool copies_in_vectors(const hdst__printer *p, uint32_t param, size_t l)
{
    const hdst__record *record = p->func->params[param].record;
    const hdst__leaf *leaf = &record->leaves[l];
    return p->unpacking->from_word[param][l] || (is_near(record, leaf) && copies_all(p, param, hdst__scalar_size(leaf->kind)));
}

// One loop over the block for the leaves that are copied as vectors, one record by record for the others.
static void print_unpack_loop(hdst__printer *p, uint32_t param, bool in_vectors)
{
    const hdst__record *record = p->func->params[param].record;
    bool any = false;
    for (size_t l = 0; l < record->leaf_count; l++) {
        if (!p->unpacking->array[param][l] || copies_in_vectors(p, param, l) != in_vectors) continue;
        if (!any) hdst__write_line(&p->out, "%s\nfor (int r = 0; r < BLOCK; r++) {", in_vectors ? "VECTOR_LOOP(16, 1)" : "SCALAR_LOOP");
        any = true;
        p->out.indent++;
        print_copies(p, param, l);
        p->out.indent--;
    }
    if (any) hdst__write_line(&p->out, "}");
}

static void print_arrays(hdst__printer *p, uint32_t param)
{
    const hdst__record *record = p->func->params[param].record;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (p->unpacking->array[param][l])
            hdst__write_line(&p->out, "%s %sOf[%" PRIu64 "][BLOCK] ALIGNED;", hdst__scalar_cl_name(record->leaves[l].kind), p->leaf_name[param][l],
                             record->leaves[l].elements);
    print_unpack_loop(p, param, true);
    print_unpack_loop(p, param, false);
}

static void print_pointers(hdst__printer *p, uint32_t param)
{
    const hdst__record *record = p->func->params[param].record;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (hdst__leaf_is_used(&p->func->params[param], l) && record->leaves[l].kind != HDST__TEXT)
            hdst__write_line(&p->out, "__global const %s *%sIn = &%s(i, 0);", hdst__scalar_cl_name(record->leaves[l].kind), p->leaf_name[param][l],
                             p->leaf_name[param][l]);
}

// The processor follows arrays, not the jumps between those of a block: what lies two blocks of the layout ahead is
// asked for (measured: sums of pairs 1.6 times as fast). An address past the end does no harm.
static void print_prefetch(hdst__printer *p, uint32_t param)
{
    const hdst__storage *input = p->options->input;
    const hdst__record *record = p->func->params[param].record;
    for (size_t l = 0; l < record->leaf_count; l++) {
        const uint64_t size = hdst__scalar_size(record->leaves[l].kind), step = input->leaf[l].element_stride / size;
        if (!hdst__leaf_is_used(&p->func->params[param], l) || record->leaves[l].kind == HDST__TEXT) continue;
        if (record->leaves[l].elements > HDST__CPU_UNPACKED_ELEMENTS) continue;
        const uint64_t ahead = 2 * input->leaf[l].block_stride / size;
        for (uint64_t e = 0; e < record->leaves[l].elements; e++)
            hdst__write_line(&p->out, "PREFETCH(%sIn + %" PRIu64 ", %" PRIu64 ")", p->leaf_name[param][l], ahead + e * step, size);
    }
}

// Structs of which little is computed come as fast as memory gives them, and what the processor asks for by itself is not enough to keep it at work
// (measured: the largest of 100M pairs in 0.75 of the time).
static void print_prefetch_of_structs(hdst__printer *p, uint32_t param)
{
    const uint64_t size = p->func->params[param].record->size, bytes = p->func->block * size;
    if (param < p->first_read_input || !bytes || bytes > HDST__CPU_AHEAD_BLOCK_BYTES) return;
    const char *unless = hdst__combine_asks_ahead(p) ? "if (!combines) " : "";
    hdst__write_line(&p->out, "%sPREFETCH_BYTES(%sAt + i * %" PRIu64 " + %d, %" PRIu64 ")", unless, p->param_name[param], size, HDST__CPU_AHEAD_BYTES, bytes);
}

// While a core adds records to its table nobody reads on, and the processor does not ask for what comes next: that is asked for before.
static void print_prefetch_of_columns(hdst__printer *p, uint32_t param)
{
    const hdst__record *record = p->func->params[param].record;
    for (size_t l = 0; l < record->leaf_count; l++) {
        const hdst__leaf *leaf = &record->leaves[l];
        const uint64_t bytes = p->func->block * hdst__scalar_size(leaf->kind);
        if (!hdst__leaf_is_used(&p->func->params[param], l) || leaf->kind == HDST__TEXT || leaf->elements > HDST__CPU_UNPACKED_ELEMENTS) continue;
        for (uint64_t e = 0; e < leaf->elements; e++)
            hdst__write_line(&p->out, "PREFETCH_BYTES((__global const uchar *)&%s(i + 2 * BLOCK, %" PRIu64 "), %" PRIu64 ")", p->leaf_name[param][l], e, bytes);
    }
}

void hdst__print_unpack(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        if (p->func->params[i].kind != IR_INPUT) continue;
        if (p->options->input->layout == HDST__AOSOA) {
            print_pointers(p, i);
            if (p->unpacking->prefetches) print_prefetch(p, i);
        }
        if (p->options->input->layout == HDST__AOS && (p->unpacking->prefetches_structs || hdst__writes_dense_strips(p))) print_prefetch_of_structs(p, i);
        if (p->options->input->layout == HDST__SOA && hdst__writes_dense_strips(p)) print_prefetch_of_columns(p, i);
        if (p->unpacking->array[i]) print_arrays(p, i);
    }
}

// --- Reading ---

const char *hdst__block_field_text(hdst__printer *p, const ir_expr *field)
{
    const hdst__storage *input = p->options->input;
    const char *name = p->leaf_name[field->param][field->leaf], *element = hdst__index_text(p, field->a, HDST__WHOLE);
    if (!p->in_row && is_unpacked(p, field->param, field->leaf)) return hdst__arena_printf(p->arena, "%sOf[%s][r]", name, element);
    if (!p->in_row && is_from_word(p, field->param, field->leaf)) return hdst__arena_printf(p->arena, "%sPart(%s)", name, p->record);
    if (input->layout != HDST__AOSOA) return hdst__arena_printf(p->arena, "%s(%s, %s)", name, p->record, element);
    const uint64_t step = input->leaf[field->leaf].element_stride / hdst__scalar_size(input->record->leaves[field->leaf].kind);
    if (!field->a) return hdst__arena_printf(p->arena, "%sIn[r]", name);
    if (field->a->op != IR_CONST) return hdst__arena_printf(p->arena, "%sIn[(%s) * %" PRIu64 " + r]", name, element, step);
    if (!field->a->bits) return hdst__arena_printf(p->arena, "%sIn[r]", name);
    return hdst__arena_printf(p->arena, "%sIn[%" PRIu64 " + r]", name, field->a->bits * step);
}

// --- Values that lie side by side over the block ---

const char *hdst__block_pointer_text(hdst__printer *p, const ir_expr *e)
{
    if (e->op == IR_VAR) return p->array_name[e->var];
    if (e->op == IR_ELEM) return hdst__arena_printf(p->arena, "%s[%s]", p->var_name[e->var], hdst__index_text(p, e->a, HDST__WHOLE));
    const char *name = p->leaf_name[e->param][e->leaf];
    const hdst__storage *input = p->options->input;
    if (input->layout != HDST__AOSOA) return hdst__arena_printf(p->arena, "&%s(i, %s)", name, hdst__index_text(p, e->a, HDST__WHOLE));
    const uint64_t step = input->leaf[e->leaf].element_stride / hdst__scalar_size(e->kind);
    return hdst__arena_printf(p->arena, "%sIn + %" PRIu64, name, (e->a ? e->a->bits : 0) * step);
}
