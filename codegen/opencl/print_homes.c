// SPDX-License-Identifier: Apache-2.0
// Where the variables of printed statements are declared: each in the innermost block that holds all its uses, if that
// block sets it first; else at the top.
#include "codegen/opencl/print_homes.h"

#include <string.h>

typedef struct place {          // a block, on the way to the statement that is looked at
    const ir_block *block;
    const struct place *outer;
    uint32_t depth;
} place;

typedef struct search {
    hdst__arena *arena;
    hdst__homes *found;
    const place **common;       // by variable: the innermost block around all uses so far
    const ir_block **set_in;    // the block whose statement is the first use, if that one sets it
    uint8_t *own_loops;         // counted loops over it around the statement
    const place *here;
} search;

static const place *innermost_around(const place *a, const place *b)
{
    while (a != b) {
        if (a->depth >= b->depth) a = a->outer;
        else b = b->outer;
    }
    return a;
}

static void use(search *s, uint32_t var, bool sets)
{
    hdst__homes *found = s->found;
    if (found->references[var]++ == 0) {
        s->common[var] = s->here;
        s->set_in[var] = sets ? s->here->block : NULL;
    } else {
        s->common[var] = innermost_around(s->common[var], s->here);
    }
    found->in_own_loops[var] += s->own_loops[var] > 0;
}

static bool use_in_expr(ir_expr **expr, void *user)
{
    if ((*expr)->op == IR_VAR || (*expr)->op == IR_ELEM) use(user, (*expr)->var, false);
    return true;
}

static void look(search *s, ir_block *block)
{
    place *here = HDST__NEW(s->arena, place);
    *here = (place){block, s->here, s->here ? s->here->depth + 1 : 0};
    s->here = here;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        const bool counts = stmt->kind == IR_FOR;
        hdst__ir_visit_own_exprs(stmt, use_in_expr, s);
        if (counts) s->own_loops[stmt->var]++;
        if (hdst__ir_writes(stmt, stmt->var)) use(s, stmt->var, stmt->kind == IR_SET);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++) look(s, nested[n]);
        if (counts) s->own_loops[stmt->var]--;
    }
    s->here = here->outer;
}

// Those of one record loop after another are made once for a form, however many there are.
struct hdst__record_homes {
    size_t vars;
    hdst__homes homes;
    uint8_t *access;
    search search;
};

static struct hdst__record_homes *new_homes(hdst__arena *arena, size_t vars)
{
    struct hdst__record_homes *made = HDST__NEW(arena, struct hdst__record_homes);
    *made = (struct hdst__record_homes){.vars = vars, .access = HDST__NEW_ARRAY(arena, uint8_t, vars)};
    made->homes = (hdst__homes){.home = HDST__NEW_ARRAY(arena, const ir_block *, vars), .declared = HDST__NEW_ARRAY(arena, bool, vars),
        .references = HDST__NEW_ARRAY(arena, uint32_t, vars), .in_own_loops = HDST__NEW_ARRAY(arena, uint32_t, vars)};
    made->search = (search){.arena = arena, .found = &made->homes, .common = HDST__NEW_ARRAY(arena, const place *, vars),
        .set_in = HDST__NEW_ARRAY(arena, const ir_block *, vars), .own_loops = HDST__NEW_ARRAY(arena, uint8_t, vars)};
    return made;
}

static void clear(struct hdst__record_homes *made)
{
    memset(made->homes.home, 0, made->vars * sizeof *made->homes.home);
    memset(made->homes.declared, 0, made->vars * sizeof *made->homes.declared);
    memset(made->homes.references, 0, made->vars * sizeof *made->homes.references);
    memset(made->homes.in_own_loops, 0, made->vars * sizeof *made->homes.in_own_loops);
    memset(made->access, 0, made->vars * sizeof *made->access);
}

static void find(hdst__printer *p, struct hdst__record_homes *made, ir_block *body)
{
    const search *s = &made->search;
    p->homes = &made->homes;
    look(&made->search, body);
    for (size_t v = 0; v < p->func->var_count; v++)
        if (p->homes->references[v] && s->set_in[v] == s->common[v]->block) p->homes->home[v] = s->set_in[v];
}

void hdst__find_homes(hdst__printer *p, ir_block *body)
{
    find(p, new_homes(p->arena, p->func->var_count + 1), body);
}

const uint8_t *hdst__find_homes_in_records(hdst__printer *p, ir_block *body)
{
    hdst__homes *outer = p->homes;
    if (outer->of_records) clear(outer->of_records);
    else outer->of_records = new_homes(p->arena, p->func->var_count + 1);
    find(p, outer->of_records, body);
    hdst__ir_accesses(body, outer->of_records->access);
    return outer->of_records->access;
}
