// SPDX-License-Identifier: Apache-2.0
// GPU form: values that lie side by side and are read one after another are loaded four at a time. Where neighbours
// in a warp read rows of records, each load costs as many steps as there are lanes, whatever its width.
//
// In a loop over the lanes of dot and sum: for l = 0 to 16 { ... p.x[first + l] ... c[j].x[first + l] ... }, records and
// rows in C structs.
// In a loop that a work-group makes together: an element of four records that follow one another, in the other layouts.
#include "codegen/opencl/print_vectors.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"

#include <inttypes.h>

enum { WIDTH = 4, WIDEST = 16, MOST_READS = 8 };

typedef struct vector_read {            // values that were loaded together
    const ir_expr *of;                  // the field or broadcast
    const char *name;
    uint32_t lane;                      // the loop's variable that chooses among them
    bool of_records;                    // else: the record does
} vector_read;

struct hdst__vectors {
    vector_read read[MOST_READS];
    size_t count;
    const ir_stmt *loop;                // over lanes, that they were loaded for
    bool *by_fours;                     // by variable: it counts a loop from a multiple of four in such steps
    size_t counters;                    // variables that there is room for
};

hdst__vectors *hdst__vectors_create(hdst__arena *arena) { return HDST__NEW(arena, hdst__vectors); }

// --- What is loaded ---

// The vector that has the record.
static const char *name_from(hdst__printer *p, const vector_read *v, uint32_t record)
{
    return record < WIDTH ? v->name : hdst__arena_printf(p->arena, "%s_%" PRIu32, v->name, record / WIDTH);
}

const char *hdst__vector_text(hdst__printer *p, const ir_expr *e)
{
    const bool broadcast = e->op == IR_BROADCAST;
    for (size_t i = 0; i < p->vectors->count; i++) {
        const vector_read *v = &p->vectors->read[i];
        const ir_expr *of = v->of;
        if (of->op != e->op || of->param != e->param || of->leaf != e->leaf || !hdst__ir_expr_equal(of->a, e->a)) continue;
        if (v->of_records) return hdst__arena_printf(p->arena, "%s.s%" PRIu32, name_from(p, v, e->record), e->record % WIDTH);
        if (of->record == e->record && (!broadcast || hdst__ir_expr_equal(of->b, e->b)))
            return hdst__arena_printf(p->arena, "%s[%s]", v->name, p->var_name[v->lane]);
    }
    return NULL;
}

static vector_read *note(hdst__printer *p, const ir_expr *e)
{
    static const char *const names[MOST_READS] = {"ahead0", "ahead1", "ahead2", "ahead3", "ahead4", "ahead5", "ahead6", "ahead7"};
    hdst__vectors *vectors = p->vectors;
    if (vectors->count == MOST_READS || hdst__vector_text(p, e)) return NULL;
    vector_read *v = &vectors->read[vectors->count];
    *v = (vector_read){.of = e, .name = names[vectors->count]};
    vectors->count++;
    return v;
}

// --- Over lanes ---

typedef struct lane_search {
    hdst__printer *p;
    const ir_stmt *loop;
} lane_search;

// In a C struct every fourth element lies at a multiple of a vector.
static bool suits(const hdst__printer *p, const ir_expr *e)
{
    const ir_param *param = &p->func->params[e->param];
    const hdst__leaf *leaf = &param->record->leaves[e->leaf];
    if (hdst__scalar_size(leaf->kind) * WIDTH != WIDEST || param->record->size % WIDEST || leaf->offset % WIDEST || !hdst__leaf_is_dense(leaf)) return false;
    if (e->op == IR_BROADCAST) return true;
    return p->options->input->layout == HDST__AOS && e->param >= p->first_read_input && !(p->word_count && p->word_count[e->param]);
}

// first + lane, where first is a multiple of four. Some lanes may read nothing: their elements must be there all the same.
static bool is_from_multiple(const hdst__printer *p, const ir_expr *index, const ir_stmt *loop, const hdst__leaf *leaf)
{
    if (!index || index->op != IR_ADD || index->b->op != IR_VAR || index->b->var != loop->var) return false;
    if (index->a->op == IR_CONST) return index->a->bits % WIDTH == 0 && index->a->bits + loop->hi->bits <= leaf->elements;
    return index->a->op == IR_VAR && index->a->var < p->vectors->counters && p->vectors->by_fours[index->a->var];
}

static bool is_from_before(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    const ir_stmt *loop = user;
    return (e->op != IR_VAR && e->op != IR_ELEM) || (e->var != loop->var && !hdst__ir_block_writes(&loop->body, e->var));
}

// A row of a table is another one in each turn where the loop works out which.
static bool is_one_row(const ir_expr *row, const ir_stmt *loop)
{
    return !row || hdst__ir_visit_expr((ir_expr **)&row, is_from_before, (void *)loop);
}

static bool find_lane_read(ir_expr **slot, void *user)
{
    const lane_search *s = user;
    const ir_expr *e = *slot, *index = e->op == IR_FIELD ? e->a : e->op == IR_BROADCAST ? e->b : NULL;
    if (!index || !suits(s->p, e)) return true;
    if (!is_from_multiple(s->p, index, s->loop, &s->p->func->params[e->param].record->leaves[e->leaf])) return true;
    if (e->op == IR_BROADCAST && !is_one_row(e->a, s->loop)) return true;
    vector_read *v = note(s->p, e);
    if (v) v->lane = s->loop->var;
    return true;
}

static void print_lane_read(hdst__printer *p, const vector_read *v, uint64_t lanes)
{
    const ir_expr *e = v->of, *index = e->op == IR_FIELD ? e->a : e->b;
    const char *type = hdst__cl_name(e->kind), *space = e->op == IR_BROADCAST && hdst__broadcast_is_local(&p->func->params[e->param]) ? "__local" : "__global";
    const char *row = e->op == IR_FIELD ? hdst__record_text(p, e->record) : hdst__index_text(p, e->a, HDST__WHOLE);
    const char *first = hdst__expr_text(p, index->a, HDST__OPERAND), *leaf = hdst__leaf_name(p, e->param, e->leaf), *values = "";
    for (uint64_t l = 0; l < lanes; l += WIDTH) {
        hdst__write_line(&p->out, "const %s%d %s_%" PRIu64 " = *(%s const %s%d *)&%s(%s, %s + %" PRIu64 ");", type, WIDTH, v->name, l, space, type,
            WIDTH, leaf, row, first, l);
        for (uint64_t k = 0; k < WIDTH; k++)
            values = hdst__arena_printf(p->arena, "%s%s%s_%" PRIu64 ".s%" PRIu64, values, l + k ? ", " : "", v->name, l, k);
    }
    hdst__write_line(&p->out, "const %s %s[%" PRIu64 "] = {%s};", type, v->name, lanes, values);
}

// How many turns a loop over lanes has; 0: it is none.
static uint64_t lanes_of(const ir_stmt *loop)
{
    const uint64_t lanes = loop->hi->op == IR_CONST ? loop->hi->bits : 0;
    return loop->step == 1 && hdst__ir_is_const(loop->lo, 0) && lanes <= HDST__LANES && lanes % WIDTH == 0 ? lanes : 0;
}

// Opens a block with the loads in front of a loop over lanes, if there are any.
static void begin_lane_vectors(hdst__printer *p, const ir_stmt *loop)
{
    const uint64_t lanes = lanes_of(loop);
    if (p->func->together || p->plain_loops || p->vectors->count || lanes == 0) return;
    lane_search s = {p, loop};
    hdst__ir_visit_exprs((ir_block *)&loop->body, find_lane_read, &s);
    if (p->vectors->count == 0) return;
    p->vectors->loop = loop;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    for (size_t i = 0; i < p->vectors->count; i++) print_lane_read(p, &p->vectors->read[i], lanes);
}

static void end_lane_vectors(hdst__printer *p, const ir_stmt *loop)
{
    if (p->vectors->loop != loop) return;
    p->vectors->loop = NULL;
    p->vectors->count = 0;
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- Over records ---

typedef struct record_search {
    hdst__printer *p;
    bool (*is_shared)(const hdst__printer *p, const ir_expr *e);
} record_search;

static bool find_record_read(ir_expr **slot, void *user)
{
    const record_search *s = user;
    const ir_expr *e = *slot;
    if (e->op != IR_FIELD || e->kind == HDST__BOOL || (e->a && !s->is_shared(s->p, e->a))) return true;
    vector_read *v = note(s->p, e);
    if (v) v->of_records = true;
    return true;
}

static void print_record_read(hdst__printer *p, const vector_read *v, uint32_t record)
{
    const ir_expr *e = v->of;
    const char *type = hdst__scalar_cl_name(e->kind), *leaf = hdst__leaf_name(p, e->param, e->leaf);
    const char *at = record ? hdst__arena_printf(p->arena, "at + %" PRIu32, record) : "at";
    hdst__write_line(&p->out, "const %s%d %s = *(__global const %s%d *)&%s(base + %s, %s);", type, WIDTH, name_from(p, v, record), type, WIDTH, leaf, at,
        hdst__index_text(p, e->a, HDST__WHOLE));
}

void hdst__begin_record_vectors(hdst__printer *p, ir_block *body, uint32_t records, bool (*is_shared)(const hdst__printer *p, const ir_expr *e))
{
    record_search s = {p, is_shared};
    if (p->options->input->layout == HDST__AOS || records % WIDTH) return;
    hdst__ir_visit_exprs(body, find_record_read, &s);
    for (size_t i = 0; i < p->vectors->count; i++)
        for (uint32_t record = 0; record < records; record += WIDTH) print_record_read(p, &p->vectors->read[i], record);
}

void hdst__end_record_vectors(hdst__printer *p) { p->vectors->count = 0; }

// --- Loops ---

static bool is_multiple_of_four(const ir_expr *e) { return e->op == IR_CONST && e->bits % 4 == 0; }

// Loops of one function come after those of another, so there is room for the variables of the one that is printed.
static void note_counter(hdst__printer *p, const ir_stmt *loop)
{
    hdst__vectors *vectors = p->vectors;
    if (vectors->counters < p->func->var_count) {
        vectors->counters = p->func->var_count;
        vectors->by_fours = HDST__NEW_ARRAY(p->arena, bool, vectors->counters);
    }
    vectors->by_fours[loop->var] = loop->step % 4 == 0 && is_multiple_of_four(loop->lo);
}

void hdst__begin_gpu_loop(hdst__printer *p, const ir_stmt *loop)
{
    begin_lane_vectors(p, loop);
    note_counter(p, loop);
    if (loop->unroll_hint > 1) hdst__write_line(&p->out, "#pragma unroll %" PRIu32, loop->unroll_hint);
}

void hdst__end_gpu_loop(hdst__printer *p, const ir_stmt *loop)
{
    p->vectors->by_fours[loop->var] = false;
    end_lane_vectors(p, loop);
}
