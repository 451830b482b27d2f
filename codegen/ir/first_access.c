// SPDX-License-Identifier: Apache-2.0
// What statements do first with a variable, or with each: set it, or perhaps read what it was before.
#include "codegen/ir/ir.h"

static ir_meeting meeting_in(const ir_stmt *s, uint32_t var);

ir_meeting hdst__ir_first_meeting(const ir_block *block, uint32_t var)
{
    ir_meeting found = IR_MEETS_NOT;
    for (size_t i = 0; i < block->count && found == IR_MEETS_NOT; i++) found = meeting_in(block->items[i], var);
    return found;
}

static ir_meeting branch_meeting(const ir_stmt *s, uint32_t var)
{
    if (s->cond && hdst__ir_expr_reads(s->cond, var)) return IR_MAY_READ;
    const ir_meeting yes = hdst__ir_first_meeting(&s->then, var), no = hdst__ir_first_meeting(&s->otherwise, var);
    return yes == IR_MAY_READ || no == IR_MAY_READ ? IR_MAY_READ : yes == IR_SETS && no == IR_SETS ? IR_SETS : IR_MEETS_NOT;
}

// A loop may make no turn: what it sets counts for what stands in its body only. Where no turn reads what was before, no later one does either.
static ir_meeting loop_meeting(const ir_stmt *s, uint32_t var)
{
    if (!hdst__ir_stmt_reads(s, var)) return IR_MEETS_NOT;
    const ir_expr *control[] = {s->lo, s->hi, s->cond};
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        if (control[i] && hdst__ir_expr_reads(control[i], var)) return IR_MAY_READ;
    if (hdst__ir_block_reads(&s->head, var) || hdst__ir_block_reads(&s->after, var)) return IR_MAY_READ;
    return hdst__ir_first_meeting(&s->body, var) == IR_MAY_READ ? IR_MAY_READ : IR_MEETS_NOT;
}

static ir_meeting meeting_in(const ir_stmt *s, uint32_t var)
{
    switch (s->kind) {
    case IR_RECORDS: return hdst__ir_first_meeting(&s->body, var);
    case IR_IF: return branch_meeting(s, var);
    case IR_FOR: case IR_LOOP: return loop_meeting(s, var);
    default: return hdst__ir_stmt_reads(s, var) ? IR_MAY_READ : s->kind == IR_SET && s->var == var ? IR_SETS : IR_MEETS_NOT;
    }
}

// --- All variables at once ---

static bool note_read(ir_expr **slot, void *user)
{
    uint8_t *access = user;
    const ir_expr *e = *slot;
    if ((e->op == IR_VAR || e->op == IR_ELEM) && !access[e->var]) access[e->var] = IR_READ_FIRST;
    return true;
}

static bool note_reads(ir_stmt *s, void *user) { return hdst__ir_visit_own_exprs(s, note_read, user); }

static bool note_write(ir_stmt *s, void *user)
{
    uint8_t *access = user;
    if (!hdst__ir_writes(s, s->var)) return true;
    if (!access[s->var]) access[s->var] = IR_READ_FIRST;        // perhaps set, in a branch or an element: what was there may be read later
    access[s->var] |= IR_WRITTEN;
    return true;
}

void hdst__ir_accesses(const ir_block *block, uint8_t *access)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block one = {&s, 1, 1};
        hdst__ir_visit_stmts(&one, note_reads, access);
        if (s->kind == IR_SET) access[s->var] |= access[s->var] ? IR_WRITTEN : IR_SET_FIRST | IR_WRITTEN;
        else hdst__ir_visit_stmts(&one, note_write, access);
    }
}

// --- First meetings of all variables ---

typedef struct meetings {
    hdst__arena *arena;
    uint8_t *found;             // by variable: an ir_meeting
    bool *sets;                 // by variable: a branch that is through sets it
    uint32_t *met;              // those found, in order
    size_t count, capacity;
} meetings;

static void meet(meetings *m, uint32_t var, ir_meeting what)
{
    if (m->found[var] != IR_MEETS_NOT) return;
    m->found[var] = (uint8_t)what;
    HDST__PUSH(m->arena, m->met, m->count, m->capacity, var);
}

static bool meet_read(ir_expr **slot, void *user)
{
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) meet(user, (*slot)->var, IR_MAY_READ);
    return true;
}

static void meet_block(meetings *m, const ir_block *block);

typedef struct met {
    uint32_t var;
    ir_meeting what;
} met;

// What a nested block meets, taken back: whoever asks puts it together with what the others meet.
static met *meet_apart(meetings *m, const ir_block *block, size_t *count)
{
    const size_t first = m->count;
    meet_block(m, block);
    *count = m->count - first;
    met *all = HDST__NEW_ARRAY(m->arena, met, *count);
    for (size_t i = 0; i < *count; i++) {
        all[i] = (met){m->met[first + i], (ir_meeting)m->found[m->met[first + i]]};
        m->found[all[i].var] = IR_MEETS_NOT;
    }
    m->count = first;
    return all;
}

static void meet_branches(meetings *m, const ir_stmt *s)
{
    size_t yes_count, no_count;
    const met *yes = meet_apart(m, &s->then, &yes_count), *no = meet_apart(m, &s->otherwise, &no_count);
    for (size_t i = 0; i < yes_count; i++) {
        if (yes[i].what == IR_MAY_READ) meet(m, yes[i].var, IR_MAY_READ);
        else m->sets[yes[i].var] = true;
    }
    for (size_t i = 0; i < no_count; i++)
        if (no[i].what == IR_MAY_READ || m->sets[no[i].var]) meet(m, no[i].var, no[i].what);
    for (size_t i = 0; i < yes_count; i++) m->sets[yes[i].var] = false;
}

static void meet_loop(meetings *m, ir_stmt *s)
{
    size_t count;
    hdst__ir_visit_exprs(&s->head, meet_read, m);
    hdst__ir_visit_exprs(&s->after, meet_read, m);
    const met *body = meet_apart(m, &s->body, &count);
    for (size_t i = 0; i < count; i++)
        if (body[i].what == IR_MAY_READ) meet(m, body[i].var, IR_MAY_READ);
}

static void meet_block(meetings *m, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        hdst__ir_visit_own_exprs(s, meet_read, m);
        if (s->kind == IR_RECORDS) meet_block(m, &s->body);
        else if (s->kind == IR_IF) meet_branches(m, s);
        else if (s->kind == IR_FOR || s->kind == IR_LOOP) meet_loop(m, s);
        else if (s->kind == IR_SET) meet(m, s->var, IR_SETS);
    }
}

const uint8_t *hdst__ir_first_meetings(hdst__arena *arena, const ir_block *block, size_t var_count)
{
    meetings m = {.arena = arena, .found = HDST__NEW_ARRAY(arena, uint8_t, var_count + 1), .sets = HDST__NEW_ARRAY(arena, bool, var_count + 1)};
    meet_block(&m, block);
    return m.found;
}
