// SPDX-License-Identifier: Apache-2.0
// Where the variables of printed statements are declared: each in the innermost block that holds all its uses, if that block sets it first; else at the top.
#include "codegen/opencl/printer.h"

#include <string.h>

typedef struct place {          // a block, on the way to the statement that is looked at
    const ir_block *block;
    const struct place *outer;
    uint32_t depth;
} place;

typedef struct homes {
    hdst__printer *p;
    const place **common;       // by variable: the innermost block around all uses so far
    const ir_block **set_in;    // the block whose statement is the first use, if that one sets it
    uint8_t *own_loops;         // counted loops over it around the statement
    const place *here;
} homes;

static const place *innermost_around(const place *a, const place *b)
{
    while (a != b) {
        if (a->depth >= b->depth) a = a->outer;
        else b = b->outer;
    }
    return a;
}

static void use(homes *h, uint32_t var, bool sets)
{
    hdst__homes *found = &h->p->homes;
    if (found->references[var]++ == 0) {
        h->common[var] = h->here;
        h->set_in[var] = sets ? h->here->block : NULL;
    } else {
        h->common[var] = innermost_around(h->common[var], h->here);
    }
    found->in_own_loops[var] += h->own_loops[var] > 0;
}

static bool use_in_expr(ir_expr **expr, void *user)
{
    if ((*expr)->op == IR_VAR || (*expr)->op == IR_ELEM) use(user, (*expr)->var, false);
    return true;
}

static void look(homes *h, ir_block *block)
{
    place *here = HDST__NEW(h->p->arena, place);
    *here = (place){block, h->here, h->here ? h->here->depth + 1 : 0};
    h->here = here;
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *stmt = block->items[i];
        const bool counts = stmt->kind == IR_FOR;
        hdst__ir_visit_own_exprs(stmt, use_in_expr, h);
        if (counts) h->own_loops[stmt->var]++;
        if (hdst__ir_writes(stmt, stmt->var)) use(h, stmt->var, stmt->kind == IR_SET);
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(stmt, nested); n < count; n++) look(h, nested[n]);
        if (counts) h->own_loops[stmt->var]--;
    }
    h->here = here->outer;
}

static hdst__homes new_homes(hdst__arena *arena, size_t vars)
{
    return (hdst__homes){.home = HDST__NEW_ARRAY(arena, const ir_block *, vars), .declared = HDST__NEW_ARRAY(arena, bool, vars),
                         .references = HDST__NEW_ARRAY(arena, uint32_t, vars), .in_own_loops = HDST__NEW_ARRAY(arena, uint32_t, vars)};
}

// What one record loop after another uses: it is made once for a form, however many there are.
typedef struct hdst__home_search {
    size_t vars;
    hdst__homes homes;
    uint8_t *access;
    homes search;
} search;

static search *new_search(hdst__arena *arena, size_t vars)
{
    search *s = HDST__NEW(arena, search);
    *s = (search){.vars = vars, .homes = new_homes(arena, vars), .access = HDST__NEW_ARRAY(arena, uint8_t, vars)};
    s->search = (homes){.common = HDST__NEW_ARRAY(arena, const place *, vars), .set_in = HDST__NEW_ARRAY(arena, const ir_block *, vars), .own_loops = HDST__NEW_ARRAY(arena, uint8_t, vars)};
    return s;
}

static search *clear_search(hdst__printer *p)
{
    const size_t vars = p->func->var_count + 1;
    if (!p->home_search || p->home_search->vars < vars) return p->home_search = new_search(p->arena, vars);
    search *s = p->home_search;
    memset(s->homes.home, 0, vars * sizeof *s->homes.home);
    memset(s->homes.declared, 0, vars * sizeof *s->homes.declared);
    memset(s->homes.references, 0, vars * sizeof *s->homes.references);
    memset(s->homes.in_own_loops, 0, vars * sizeof *s->homes.in_own_loops);
    memset(s->access, 0, vars * sizeof *s->access);
    return s;
}

static void find(hdst__printer *p, homes *h, ir_block *body)
{
    h->p = p;
    look(h, body);
    for (size_t v = 0; v < p->func->var_count; v++)
        if (p->homes.references[v] && h->set_in[v] == h->common[v]->block) p->homes.home[v] = h->set_in[v];
}

void hdst__print_homes(hdst__printer *p, ir_block *body)
{
    search *s = clear_search(p);
    p->homes = s->homes;
    p->home_search = NULL;      // these stay: record loops in it have their own
    p->by_fours = HDST__NEW_ARRAY(p->arena, bool, p->func->var_count + 1);
    find(p, &s->search, body);
}

const uint8_t *hdst__print_homes_in_records(hdst__printer *p, ir_block *body)
{
    search *s = clear_search(p);
    p->homes = s->homes;
    find(p, &s->search, body);
    hdst__ir_accesses(body, s->access);
    return s->access;
}
