// SPDX-License-Identifier: Apache-2.0
// GPU form: values that lie side by side and are read one after another are loaded four at a time. Where neighbours
// in a warp read rows of records, each load costs as many steps as there are lanes, whatever its width.
//
// In a loop over the lanes of dot and sum: for l = 0 to 16 { ... p.x[first + l] ... c[j].x[first + l] ... }, records and rows in C structs.
// In a loop that a work-group makes together: an element of four records that follow one another, in the other layouts.
#include "codegen/opencl/printer.h"

#include <inttypes.h>

enum { WIDTH = 4, WIDEST = 16 };

// --- What is loaded ---

const char *hdst__vector_text(hdst__printer *p, const ir_expr *e)
{
    const bool broadcast = e->op == IR_BROADCAST;
    for (size_t i = 0; i < p->vector_count; i++) {
        const hdst__vector_read *v = &p->vector[i];
        const ir_expr *of = v->of;
        if (of->op != e->op || of->param != e->param || of->leaf != e->leaf || !hdst__ir_expr_equal(of->a, e->a)) continue;
        if (v->of_records) return hdst__arena_printf(p->arena, "%s.s%" PRIu32, v->name, e->record);
        if (of->record == e->record && (!broadcast || hdst__ir_expr_equal(of->b, e->b))) return hdst__arena_printf(p->arena, "%s[%s]", v->name, p->var_name[v->lane]);
    }
    return NULL;
}

static hdst__vector_read *note(hdst__printer *p, const ir_expr *e)
{
    static const char *const names[HDST__VECTOR_READS] = {"ahead0", "ahead1", "ahead2", "ahead3", "ahead4", "ahead5", "ahead6", "ahead7"};
    if (p->vector_count == HDST__VECTOR_READS || hdst__vector_text(p, e)) return NULL;
    hdst__vector_read *v = &p->vector[p->vector_count];
    *v = (hdst__vector_read){.of = e, .name = names[p->vector_count]};
    p->vector_count++;
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
    return e->op == IR_BROADCAST || (p->options->input->layout == HDST__AOS && !p->word_count[e->param]);
}

// first + lane, where first is a multiple of four.
static bool is_from_multiple(const hdst__printer *p, const ir_expr *index, uint32_t lane)
{
    if (!index || index->op != IR_ADD || index->b->op != IR_VAR || index->b->var != lane) return false;
    if (index->a->op == IR_CONST) return index->a->bits % WIDTH == 0;
    return index->a->op == IR_VAR && p->by_fours && p->by_fours[index->a->var];
}

static bool find_lane_read(ir_expr **slot, void *user)
{
    const lane_search *s = user;
    const ir_expr *e = *slot, *index = e->op == IR_FIELD ? e->a : e->op == IR_BROADCAST ? e->b : NULL;
    if (!index || !is_from_multiple(s->p, index, s->loop->var) || !suits(s->p, e) || (e->op == IR_BROADCAST && e->a && hdst__ir_expr_reads(e->a, s->loop->var))) return true;
    hdst__vector_read *v = note(s->p, e);
    if (v) v->lane = s->loop->var;
    return true;
}

static void print_lane_read(hdst__printer *p, const hdst__vector_read *v, uint64_t lanes)
{
    const ir_expr *e = v->of, *index = e->op == IR_FIELD ? e->a : e->b;
    const char *type = hdst__cl_name(e->kind), *space = e->op == IR_BROADCAST && p->local_broadcast[e->param] ? "__local" : "__global";
    const char *row = e->op == IR_FIELD ? hdst__record_text(p, e->record) : hdst__index_text(p, e->a, HDST__WHOLE), *first = hdst__expr_text(p, index->a, HDST__OPERAND), *values = "";
    for (uint64_t l = 0; l < lanes; l += WIDTH) {
        hdst__write_line(&p->out, "const %s%d %s_%" PRIu64 " = *(%s const %s%d *)&%s(%s, %s + %" PRIu64 ");", type, WIDTH, v->name, l, space, type, WIDTH, hdst__leaf_name(p, e->param, e->leaf), row,
                         first, l);
        for (uint64_t k = 0; k < WIDTH; k++) values = hdst__arena_printf(p->arena, "%s%s%s_%" PRIu64 ".s%" PRIu64, values, l + k ? ", " : "", v->name, l, k);
    }
    hdst__write_line(&p->out, "const %s %s[%" PRIu64 "] = {%s};", type, v->name, lanes, values);
}

bool hdst__print_lane_vectors(hdst__printer *p, const ir_stmt *loop)
{
    const uint64_t lanes = loop->hi->op == IR_CONST ? loop->hi->bits : 0;
    if (!p->gpu || p->func->together || p->plain_loops || p->vector_count || loop->step != 1 || !hdst__ir_is_const(loop->lo, 0) || lanes == 0 || lanes > HDST__LANES || lanes % WIDTH) return false;
    lane_search s = {p, loop};
    hdst__ir_visit_exprs((ir_block *)&loop->body, find_lane_read, &s);
    if (p->vector_count == 0) return false;
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    for (size_t i = 0; i < p->vector_count; i++) print_lane_read(p, &p->vector[i], lanes);
    return true;
}

void hdst__end_lane_vectors(hdst__printer *p)
{
    p->vector_count = 0;
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- Over records ---

static bool find_record_read(ir_expr **slot, void *user)
{
    hdst__printer *p = user;
    const ir_expr *e = *slot;
    if (e->op != IR_FIELD || e->kind == HDST__BOOL || (e->a && !hdst__spread_is_shared(p, e->a))) return true;
    hdst__vector_read *v = note(p, e);
    if (v) v->of_records = true;
    return true;
}

void hdst__print_record_vectors(hdst__printer *p, ir_block *body)
{
    if (p->options->input->layout == HDST__AOS) return;
    hdst__ir_visit_exprs(body, find_record_read, p);
    for (size_t i = 0; i < p->vector_count; i++) {
        const ir_expr *e = p->vector[i].of;
        const char *type = hdst__scalar_cl_name(e->kind);
        hdst__write_line(&p->out, "const %s%d %s = *(__global const %s%d *)&%s(base + at, %s);", type, WIDTH, p->vector[i].name, type, WIDTH, hdst__leaf_name(p, e->param, e->leaf),
                         hdst__index_text(p, e->a, HDST__WHOLE));
    }
}
