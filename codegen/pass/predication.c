// SPDX-License-Identifier: Apache-2.0
// Control that differs from record to record becomes masks: a bool per record says whether it takes part, assignments keep the old value where it does not,
// additions add what changes nothing, checks hold. A loop that records leave at different turns goes on while any record is in it. What is left is control that
// is the same for all records of the block, so that pass_block_form can put the records innermost and a compiler can vectorise them.
//
// Before: loop { while lt(d, 4); n = n + 1; if (lt(n, p.most)) { d = mul(d, d) } else { break } }
// After:  live = true; any = true
//         loop { while any
//           any = false
//           live = and(live, lt(d, 4)); n = select(live, n + 1, n)
//           taken = and(live, lt(n, p.most)); other = and(live, not(lt(n, p.most)))
//           d = mul(d, d)                                   // of those that are out nobody looks at d
//           live = and(live, not(other))
//           ... three more turns
//           reduce any or= live
//         }
//
// Turns are repeated four times, so that values stay in registers for as many of them, when the body is small and has no loop of its own.
// A loop that is the same for all, but stands under a mask, is asked for too: nobody may have come to it, and it may have no end.
// An index under a mask is 0 where the mask says no: it may have been proven in range for the others only.
// Not masked: what emits, and additions to rows that differ inside such loops; the additions, one by one, are the work there, not the loop.
#include "codegen/pass/block_form.h"
#include "base/costs_cpu.h"

static const uint32_t NO_MASK = UINT32_MAX;     // every record takes part

typedef struct masker {
    ir_func *func;
    size_t *reads;              // by variable: of the whole function, as it was
    size_t var_count;           // variables that it had
    bool *counts_alike;         // by variable: counts a loop in step for all records that are in it
} masker;

typedef struct mask_place {     // where a statement stands
    uint32_t mask;              // variable, or NO_MASK
    uint32_t live;              // the mask of the masked loop around; NO_MASK: `break` leaves a loop as it is
    const hdst__mask_region *region;
    bool in_loop;
    bool maybe_empty;           // nobody may be in the mask (any more)
} mask_place;

static void mask_block(masker *m, ir_block *block, const mask_place *place);

// --- Small things ---

static ir_expr *var(masker *m, uint32_t v) { return hdst__ir_var(m->func, v); }
static ir_expr *both(masker *m, ir_expr *a, ir_expr *b) { return hdst__ir_binary(m->func, IR_AND, HDST__BOOL, a, b); }
static ir_expr *negated(masker *m, ir_expr *a) { return hdst__ir_unary(m->func, IR_NOT, HDST__BOOL, a); }
static ir_expr *truth(masker *m, bool value) { return hdst__ir_const(m->func, HDST__BOOL, value); }

static ir_expr *among(masker *m, uint32_t mask, ir_expr *cond) { return mask == NO_MASK ? cond : both(m, var(m, mask), cond); }

static void push(masker *m, ir_block *out, ir_stmt *s) { hdst__ir_push(m->func, out, s); }
static void set(masker *m, ir_block *out, uint32_t v, ir_expr *value) { push(m, out, hdst__ir_set(m->func, v, value)); }

static uint32_t new_mask(masker *m, const char *name) { return hdst__block_new_var(m->func, name, HDST__BOOL, true); }

static void append(masker *m, ir_block *to, const ir_block *more)
{
    for (size_t i = 0; i < more->count; i++) push(m, to, more->items[i]);
}

static bool differs(const masker *m, const ir_expr *e)
{
    if (!e) return false;
    if (e->op == IR_FIELD || e->op == IR_RECORD_INDEX) return true;
    if (e->op == IR_VAR || e->op == IR_ELEM) {
        if (e->var < m->var_count && m->counts_alike[e->var]) return e->op == IR_ELEM && differs(m, e->a);
        if (m->func->vars[e->var].varying) return true;
    }
    return differs(m, e->a) || differs(m, e->b) || differs(m, e->c);
}

// --- What can be masked ---

static bool is_scattered(const masker *m, const ir_stmt *s) { return differs(m, s->index) || differs(m, s->index2); }

static bool can_mask(const masker *m, ir_stmt *s, bool in_varying_loop)
{
    switch (s->kind) {
    case IR_SET: case IR_SET_ELEM: case IR_CHECK: case IR_BREAK: return true;
    case IR_STORE: return !m->func->emits;
    case IR_ACCUM: return !in_varying_loop || !is_scattered(m, s);
    case IR_IF: case IR_FOR: case IR_LOOP: break;
    default: return false;
    }
    if (s->kind == IR_FOR && (s->vectorize || s->scalar_why)) return false;     // over the elements of a row
    const bool varying_loop = in_varying_loop || (s->kind != IR_IF && hdst__ir_loop_varies(s));
    ir_block *nested[HDST__IR_NESTED];
    for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++)
        for (size_t i = 0; i < nested[n]->count; i++)
            if (!can_mask(m, nested[n]->items[i], varying_loop)) return false;
    return true;
}

// What one record emits stands together: branches that emit can go, loops cannot.
static bool gives(const ir_stmt *s) { return hdst__ir_emits(s) || hdst__ir_stores(s); }

static bool can_flatten(const masker *m, ir_stmt *s)
{
    if (s->kind == IR_EMIT || s->kind == IR_STORE) return true;
    if (!gives(s)) return can_mask(m, s, false);
    if (s->kind != IR_IF) return false;
    for (size_t i = 0; i < s->then.count; i++)
        if (!can_flatten(m, s->then.items[i])) return false;
    for (size_t i = 0; i < s->otherwise.count; i++)
        if (!can_flatten(m, s->otherwise.items[i])) return false;
    return true;
}

// Branches that only assign and add are left to pass_if_conversion_of_effects and its selects, unless they stand under a mask.
static bool is_simple(const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->items[i]->kind != IR_SET && block->items[i]->kind != IR_CHECK && block->items[i]->kind != IR_ACCUM) return false;
    return true;
}

// --- Plain statements under a mask ---

typedef struct guard {
    masker *m;
    uint32_t mask;
} guard;

static void guard_index(const guard *g, ir_expr **index)
{
    ir_expr *e = *index;
    if (!e || e->op == IR_CONST || !differs(g->m, e)) return;
    *index = hdst__ir_select(g->m->func, var(g->m, g->mask), e, hdst__ir_const(g->m->func, e->kind, 0));
}

static bool guard_access(ir_expr **slot, void *user)
{
    ir_expr *e = *slot;
    if (e->op == IR_ELEM || e->op == IR_FIELD || e->op == IR_BROADCAST) guard_index(user, &e->a);
    if (e->op == IR_BROADCAST) guard_index(user, &e->b);
    return true;
}

static void guard_indices(masker *m, ir_stmt *s, uint32_t mask)
{
    guard g = {m, mask};
    hdst__ir_visit_own_exprs(s, guard_access, &g);
    if (s->kind == IR_CHECK) return;
    guard_index(&g, &s->index);
    guard_index(&g, &s->index2);
}

static ir_expr *old_value(masker *m, const ir_stmt *s)
{
    ir_expr *old = var(m, s->var);
    if (s->kind != IR_SET_ELEM) return old;
    old->op = IR_ELEM;
    old->a = hdst__ir_copy(m->func, s->index);
    return old;
}

static void mask_plain(masker *m, ir_block *out, ir_stmt *s, const mask_place *place)
{
    const uint32_t mask = place->mask;
    push(m, out, s);
    if (mask == NO_MASK) return;
    guard_indices(m, s, mask);
    switch (s->kind) {
    case IR_SET:
        if (!hdst__mask_keeps(place->region, s->var, m->reads[s->var])) return;
        s->value = hdst__ir_select(m->func, var(m, mask), s->value, old_value(m, s));
        return;
    case IR_SET_ELEM: s->value = hdst__ir_select(m->func, var(m, mask), s->value, old_value(m, s)); return;
    case IR_ACCUM: s->value = hdst__ir_select(m->func, var(m, mask), s->value, hdst__accum_identity(m->func, s)); return;
    case IR_STORE:          // what is not emitted in the end gives its place to the next
        if (!m->func->emits) s->cond = var(m, mask);
        return;
    case IR_EMIT: s->cond = s->cond ? both(m, var(m, mask), s->cond) : var(m, mask); return;
    case IR_CHECK: s->cond = hdst__ir_binary(m->func, IR_OR, HDST__BOOL, negated(m, var(m, mask)), s->cond); return;
    default: return;
    }
}

// --- Branches ---

// Whether the loop around is left from in here, through a mask.
static bool may_leave(const ir_stmt *s, const mask_place *place)
{
    ir_stmt *item = (ir_stmt *)s;
    return place->live != NO_MASK && hdst__ir_block_exits(&(ir_block){&item, 1, 1});
}

static bool add_node(ir_expr **slot, void *user)
{
    (void)slot;
    ++*(size_t *)user;
    return true;
}

static size_t nodes_of(const ir_block *block)
{
    size_t nodes = 0;
    hdst__ir_visit_exprs((ir_block *)block, add_node, &nodes);
    return nodes;
}

static bool has_loop(const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (s->kind == IR_FOR || s->kind == IR_LOOP) return true;
        if (s->kind == IR_IF && (has_loop(&s->then) || has_loop(&s->otherwise))) return true;
    }
    return false;
}

static void note_any(masker *m, ir_block *out, uint32_t any, uint32_t mask)
{
    ir_stmt *reduce = hdst__ir_set(m->func, any, var(m, mask));
    reduce->kind = IR_REDUCE;
    reduce->acc = HDST__OR;
    push(m, out, reduce);
}

// any = false; reduce any or= mask
static uint32_t ask_whether_any(masker *m, ir_block *out, uint32_t mask)
{
    const uint32_t any = hdst__block_new_var(m->func, "any", HDST__BOOL, false);
    set(m, out, any, truth(m, false));
    note_any(m, out, any, mask);
    return any;
}

static void mask_branch(masker *m, ir_block *out, ir_stmt *branch, bool when, uint32_t mask, const mask_place *place, const ir_block *around, size_t at)
{
    ir_block *body = when ? &branch->then : &branch->otherwise;
    // What emits must not stand in a branch.
    const bool ask = (has_loop(body) || nodes_of(body) >= HDST__CPU_ASKED_BRANCH_NODES) && !(m->func->emits && gives(branch));
    mask_place inside = {mask, place->live, NULL, place->in_loop, !ask || hdst__ir_block_exits(body)};
    inside.region = hdst__mask_region_enter(m->func, place->region, around, at, body, place->in_loop);
    ir_block *to = out;
    if (ask) {
        ir_stmt *test = hdst__ir_if(m->func, var(m, ask_whether_any(m, out, mask)));
        push(m, out, test);
        to = &test->then;
    }
    mask_block(m, body, &inside);
    append(m, to, body);
}

static void mask_if(masker *m, ir_block *out, ir_stmt *s, const mask_place *place, const ir_block *around, size_t at)
{
    ir_stmt probe = *s;             // guards the condition's indices
    probe.kind = IR_IF;
    probe.then = probe.otherwise = (ir_block){0};
    if (place->mask != NO_MASK) guard_indices(m, &probe, place->mask);
    const uint32_t cond = new_mask(m, "cond"), taken = new_mask(m, "taken"), other = s->otherwise.count ? new_mask(m, "other") : NO_MASK;
    set(m, out, cond, probe.cond);
    set(m, out, taken, among(m, place->mask, var(m, cond)));
    if (s->otherwise.count) set(m, out, other, among(m, place->mask, negated(m, var(m, cond))));
    const bool leaves = may_leave(s, place);
    if (s->then.count) mask_branch(m, out, s, true, taken, place, around, at);
    if (s->otherwise.count) mask_branch(m, out, s, false, other, place, around, at);
    if (leaves && place->mask != place->live) set(m, out, place->mask, both(m, var(m, place->mask), var(m, place->live)));
}

// A branch that all records of the mask take or do not take.
static void keep_if(masker *m, ir_block *out, ir_stmt *s, const mask_place *place)
{
    const bool leaves = may_leave(s, place);
    mask_block(m, &s->then, place);
    mask_block(m, &s->otherwise, place);
    push(m, out, s);
    if (leaves && place->mask != place->live) set(m, out, place->mask, both(m, var(m, place->mask), var(m, place->live)));
}

// --- Loops ---

typedef struct masked_loop {
    ir_stmt *loop;
    uint32_t live, any;
    ir_block turn;
} masked_loop;

static masked_loop open_loop(masker *m, ir_block *out, ir_stmt *s, const mask_place *place, ir_expr *enters)
{
    masked_loop l = {s, new_mask(m, "live"), 0, {0}};
    set(m, out, l.live, among(m, place->mask, enters ? enters : truth(m, true)));
    l.any = ask_whether_any(m, out, l.live);
    return l;
}

static mask_place inside_loop(masker *m, const masked_loop *l, const mask_place *place, const ir_block *around, size_t at)
{
    ir_block *whole = HDST__NEW(m->func->arena, ir_block);
    hdst__ir_push(m->func, whole, l->loop);
    const bool left = l->loop->kind == IR_LOOP || hdst__ir_loop_exits(l->loop);      // within a turn
    return (mask_place){l->live, l->live, hdst__mask_region_enter(m->func, place->region, around, at, whole, place->in_loop), true, left};
}

static void leave_unless(masker *m, ir_block *out, uint32_t live, ir_expr *cond) { set(m, out, live, both(m, var(m, live), cond)); }

static bool sets_alike(const masker *m, const ir_block *block)      // would cut a record loop in two
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt *s = block->items[i];
        if (s->kind == IR_SET && !differs(m, s->value)) return true;
    }
    return false;
}

static bool has_control(const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const ir_stmt_kind kind = block->items[i]->kind;
        if (kind == IR_IF || kind == IR_FOR || kind == IR_LOOP || kind == IR_ACCUM) return true;
    }
    return false;
}

static unsigned turns_of(const masker *m, const ir_block *turn)
{
    return has_control(turn) || sets_alike(m, turn) || nodes_of(turn) > HDST__CPU_MASKED_TURN_NODES ? 1 : HDST__CPU_MASKED_TURNS;
}

// any = false; the turn, as often as wanted; reduce any or= live
static void fill(masker *m, ir_block *body, const masked_loop *l, unsigned turns, uint32_t counter, uint64_t step)
{
    set(m, body, l->any, truth(m, false));
    for (unsigned t = 0; t < turns; t++) {
        ir_block copy = t + 1 == turns && !t ? l->turn : hdst__ir_copy_block(m->func, &l->turn);
        if (t && counter != NO_MASK) {
            const hdst__kind kind = m->func->vars[counter].kind;
            ir_expr *ahead = hdst__ir_binary(m->func, IR_ADD, kind, var(m, counter), hdst__ir_const(m->func, kind, t * step));
            hdst__ir_substitute(m->func, &copy, counter, ahead);
        }
        append(m, body, &copy);
    }
    note_any(m, body, l->any, l->live);
}

static void close_loop(masker *m, ir_block *out, const masked_loop *l)
{
    ir_stmt *loop = hdst__ir_stmt(m->func, IR_LOOP, l->loop->span);
    loop->cond = var(m, l->any);
    fill(m, &loop->body, l, turns_of(m, &l->turn), NO_MASK, 0);
    push(m, out, loop);
}

static void mask_loop(masker *m, ir_block *out, ir_stmt *s, const mask_place *place, const ir_block *around, size_t at)
{
    masked_loop l = open_loop(m, out, s, place, NULL);
    const mask_place inside = inside_loop(m, &l, place, around, at);
    mask_block(m, &s->head, &inside);
    append(m, &l.turn, &s->head);
    if (s->cond) {
        ir_stmt *leave = hdst__ir_set(m->func, l.live, s->cond);
        guard_indices(m, leave, l.live);
        leave_unless(m, &l.turn, l.live, leave->value);
    }
    mask_block(m, &s->body, &inside);
    append(m, &l.turn, &s->body);
    mask_block(m, &s->after, &inside);
    append(m, &l.turn, &s->after);
    close_loop(m, out, &l);
}

// All records count alike, some leave earlier: the loop stays a counted one, and ends early when all have left.
static void count_to(masker *m, ir_block *out, const masked_loop *l, ir_expr *lo, ir_expr *hi, unsigned turns)
{
    ir_stmt *loop = hdst__ir_for(m->func, l->loop->var, lo, hi, l->loop->step * turns);
    loop->span = l->loop->span;
    loop->unroll = turns;
    ir_stmt *leave = hdst__ir_if(m->func, negated(m, var(m, l->any)));
    push(m, &leave->then, hdst__ir_stmt(m->func, IR_BREAK, l->loop->span));
    push(m, &loop->body, leave);
    fill(m, &loop->body, l, turns, l->loop->var, l->loop->step);
    push(m, out, loop);
}

static void mask_for_in_step(masker *m, ir_block *out, ir_stmt *s, const mask_place *place, const ir_block *around, size_t at)
{
    masked_loop l = open_loop(m, out, s, place, NULL);
    const mask_place inside = inside_loop(m, &l, place, around, at);
    m->counts_alike[s->var] = true;
    mask_block(m, &s->body, &inside);
    l.turn = s->body;
    ir_expr *from = s->lo;
    if (turns_of(m, &l.turn) > 1 && hdst__jam_fits(s, HDST__CPU_MASKED_TURNS)) {
        const uint32_t end = hdst__block_new_var(m->func, "end", s->lo->kind, false);
        set(m, out, end, hdst__jam_end(m->func, s, HDST__CPU_MASKED_TURNS));
        count_to(m, out, &l, s->lo, var(m, end), HDST__CPU_MASKED_TURNS);
        from = var(m, end);
    }
    count_to(m, out, &l, from, s->hi, 1);
}

// The counter and its end are a record's own; where all begin alike they count alike until they leave.
static void mask_for(masker *m, ir_block *out, ir_stmt *s, const mask_place *place, const ir_block *around, size_t at)
{
    const bool alike = !differs(m, s->lo);
    ir_stmt *start = hdst__ir_set(m->func, s->var, s->lo), *end = hdst__ir_set(m->func, s->var, s->hi);
    if (place->mask != NO_MASK) guard_indices(m, start, place->mask);
    if (place->mask != NO_MASK) guard_indices(m, end, place->mask);
    push(m, out, start);
    ir_expr *more = hdst__ir_binary(m->func, IR_LT, HDST__BOOL, var(m, s->var), end->value);
    masked_loop l = open_loop(m, out, s, place, hdst__ir_copy(m->func, more));
    const mask_place inside = inside_loop(m, &l, place, around, at);
    m->counts_alike[s->var] = alike;
    mask_block(m, &s->body, &inside);
    l.turn = s->body;
    const hdst__kind kind = s->lo->kind;
    ir_expr *next = hdst__ir_binary(m->func, IR_ADD, kind, var(m, s->var), hdst__ir_const(m->func, kind, s->step));
    if (!alike) {
        set(m, &l.turn, s->var, next);
        leave_unless(m, &l.turn, l.live, more);
        close_loop(m, out, &l);
        return;
    }
    hdst__ir_substitute_expr(m->func, &more, s->var, next);
    leave_unless(m, &l.turn, l.live, more);
    ir_stmt *loop = hdst__ir_stmt(m->func, IR_LOOP, s->span);
    loop->cond = var(m, l.any);
    fill(m, &loop->body, &l, 1, NO_MASK, 0);
    set(m, &loop->body, s->var, hdst__ir_copy(m->func, next));
    push(m, out, loop);
}

static bool has_few_turns(const ir_stmt *s)
{
    return s->kind == IR_FOR && s->lo->op == IR_CONST && s->hi->op == IR_CONST && s->hi->bits - s->lo->bits <= HDST__CPU_RUN_THROUGH_TURNS;
}

// A loop that all records of the mask run through alike. Where there are none nothing may hold for it, not even that it ends.
static void keep_loop(masker *m, ir_block *out, ir_stmt *s, const mask_place *place)
{
    const bool ask = place->mask != NO_MASK && place->maybe_empty && !has_few_turns(s);
    const mask_place inside = {place->mask, NO_MASK, place->region, true, place->maybe_empty && !ask};
    ir_block *nested[HDST__IR_NESTED];
    if (s->kind == IR_FOR) m->counts_alike[s->var] = true;
    if (ask) {
        ir_stmt *test = hdst__ir_if(m->func, var(m, ask_whether_any(m, out, place->mask)));
        push(m, out, test);
        out = &test->then;
    }
    for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) mask_block(m, nested[n], &inside);
    push(m, out, s);
}

static void mask_control(masker *m, ir_block *out, ir_stmt *s, const mask_place *place, const ir_block *around, size_t at)
{
    const bool flatten = m->func->emits && s->kind == IR_IF && gives(s);
    const bool varies = s->kind == IR_IF ? flatten || differs(m, s->cond) : hdst__ir_loop_varies(s);
    if (!varies) {
        if (s->kind == IR_IF) keep_if(m, out, s, place);
        else keep_loop(m, out, s, place);
    } else if (place->mask == NO_MASK && !flatten && !can_mask(m, s, false)) {
        push(m, out, s);
    } else if (s->kind == IR_IF) {
        const bool simple = is_simple(&s->then) && is_simple(&s->otherwise) && nodes_of(&s->then) + nodes_of(&s->otherwise) <= HDST__CPU_PLAIN_BRANCH_NODES;
        if (simple && place->mask == NO_MASK) push(m, out, s);
        else mask_if(m, out, s, place, around, at);
    } else if (s->kind == IR_LOOP) {
        mask_loop(m, out, s, place, around, at);
    } else if (differs(m, s->lo) || differs(m, s->hi)) {
        mask_for(m, out, s, place, around, at);
    } else {
        mask_for_in_step(m, out, s, place, around, at);
    }
}

static void mask_break(masker *m, ir_block *out, ir_stmt *s, const mask_place *place)
{
    if (place->live == NO_MASK) push(m, out, s);
    else leave_unless(m, out, place->live, place->mask == place->live ? truth(m, false) : negated(m, var(m, place->mask)));
}

static void mask_block(masker *m, ir_block *block, const mask_place *place)
{
    ir_block out = {0};
    const ir_block before = *block;
    for (size_t i = 0; i < before.count; i++) {
        ir_stmt *s = before.items[i];
        switch (s->kind) {
        case IR_IF: case IR_FOR: case IR_LOOP: mask_control(m, &out, s, place, &before, i); break;
        case IR_BREAK: mask_break(m, &out, s, place); i = before.count; break;      // what stands behind it never runs
        default: mask_plain(m, &out, s, place); break;
        }
    }
    *block = out;
}

static bool count_read(ir_expr **slot, void *user)
{
    masker *m = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) m->reads[(*slot)->var]++;
    return true;
}

static ir_block part_of(masker *m, size_t first, size_t end)
{
    ir_block part = {0};
    for (size_t i = first; i < end; i++) push(m, &part, m->func->body.items[i]);
    return part;
}

void hdst__pass_predication(ir_func *func)
{
    masker m = {.func = func, .var_count = func->var_count};
    m.reads = HDST__NEW_ARRAY(func->arena, size_t, func->var_count + 1);
    m.counts_alike = HDST__NEW_ARRAY(func->arena, bool, func->var_count + 1);
    hdst__ir_visit_exprs(&func->body, count_read, &m);
    size_t first = 0, end = 0;
    if (!hdst__ir_emit_range(func, &first, &end)) first = end = 0;
    while (first < end && !func->placed && can_flatten(&m, func->body.items[first])) first++;
    ir_block parts[] = {part_of(&m, 0, first), part_of(&m, first, end), part_of(&m, end, func->body.count)};      // the middle is done record by record
    mask_block(&m, &parts[0], &(mask_place){NO_MASK, NO_MASK, NULL, false, false});
    mask_block(&m, &parts[2], &(mask_place){NO_MASK, NO_MASK, NULL, false, false});
    func->body = (ir_block){0};
    for (size_t i = 0; i < 3; i++) append(&m, &func->body, &parts[i]);
}
