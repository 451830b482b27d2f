// SPDX-License-Identifier: Apache-2.0
// The verifier: is a function well formed? It runs after every pass, so that a pass that breaks a rule of codegen/ir/ir.h is named at once.
#include "codegen/ir/shared_family.h"
#include "codegen/ir/sum_loop.h"
#include "codegen/ir/text_value.h"

typedef struct verifier {
    const ir_func *func;
    const char *wrong;          // the first thing found
    unsigned loops;             // around the statement
    bool in_records;
    uint32_t joint;             // of the last addition that shares a test
    bool *looping;              // by variable: counts a loop around the statement
    uint32_t *bounding;         // by variable: how many loops around the statement have it in their bounds
    uint8_t *set;               // block form, by variable: who sets it, as SET_BY_
} verifier;

enum { SET_BY_RECORD_COUNTER = 1, SET_BY_OTHERS = 2 };     // a counted loop within a record loop; anything else

static bool fail(verifier *v, const char *what, const char *where)
{
    if (!v->wrong) v->wrong = hdst__arena_printf(v->func->arena, "%s: %s in '%s'", v->func->name, what, where);
    return false;
}

#define REQUIRE(condition, what, where)                                                                                \
    do {                                                                                                               \
        if (!(condition)) return fail(v, (what), (where));                                                             \
    } while (0)

// --- Expressions ---

static int operand_count(ir_op op)
{
    switch (op) {
    case IR_CONST: case IR_VAR: case IR_LENGTH: case IR_RECORD_INDEX: case IR_GROUP_VALUE: return 0;
    case IR_FIELD: case IR_BROADCAST: return 0;         // their indices are looked at apart
    case IR_ELEM: case IR_NEG: case IR_BITNOT: case IR_NOT: case IR_ABS: case IR_SQRT: case IR_CANONICAL: case IR_ISNAN: case IR_CONVERT: case IR_BITCAST:
    case IR_CTZ: case IR_TEXT_LENGTH: case IR_TEXT_VIEW:
    case IR_FIXED: case IR_FITS: case IR_KEY_MIN: case IR_KEY_MAX: return 1;
    case IR_FMA: case IR_SELECT: case IR_TEXT_SLICE: case IR_TEXT_BITS: return 3;
    default: return 2;
    }
}

static bool leaf_is(verifier *v, uint32_t param, uint32_t leaf, ir_param_kind kind, hdst__kind type, const char *where)
{
    REQUIRE(param < v->func->param_count, "no such parameter", where);
    const ir_param *p = &v->func->params[param];
    REQUIRE(p->kind == kind, "wrong kind of parameter", where);
    REQUIRE(leaf < p->record->leaf_count, "no such leaf", where);
    REQUIRE(p->record->leaves[leaf].kind == type, "leaf of another type", where);
    return true;
}

static bool is_index(const ir_expr *e) { return !e || hdst__kind_is_integer(e->kind); }

static bool integer_or_bool(hdst__kind kind) { return hdst__kind_is_integer(kind) || kind == HDST__BOOL; }

static bool variable(verifier *v, uint32_t var, bool array, hdst__kind kind, const char *where)
{
    REQUIRE(var < v->func->var_count, "no such variable", where);
    REQUIRE((v->func->vars[var].elements != 0) == array, array ? "a scalar used as an array" : "an array used as a scalar", where);
    REQUIRE(v->func->vars[var].kind == kind, "variable of another type", where);
    REQUIRE(v->in_records || !v->func->block || (!v->func->vars[var].varying && !v->func->vars[var].per_record),
            "varying variable outside of a record loop", where);
    REQUIRE(v->in_records || v->set[var] != SET_BY_RECORD_COUNTER, "variable that only counts within record loops, outside of one", where);
    return true;
}

static bool access_ok(verifier *v, const ir_expr *e, const char *where)
{
    switch (e->op) {
    case IR_VAR: return variable(v, e->var, false, e->kind, where);
    case IR_ELEM:
        REQUIRE(is_index(e->a), "index is no integer", where);
        return variable(v, e->var, true, e->kind, where);
    case IR_FIELD:
        REQUIRE(is_index(e->a), "index is no integer", where);
        REQUIRE(!v->func->block || v->in_records, "input read outside of a record loop", where);
        return leaf_is(v, e->param, e->leaf, IR_INPUT, e->kind, where);
    case IR_BROADCAST:
        REQUIRE(is_index(e->a) && is_index(e->b), "index is no integer", where);
        return leaf_is(v, e->param, e->leaf, IR_BROADCAST_TABLE, e->kind, where);
    case IR_LENGTH:
        REQUIRE(e->param < v->func->param_count, "no such parameter", where);
        REQUIRE(e->kind == HDST__U64, "length is not u64", where);
        return true;
    case IR_GROUP_VALUE: REQUIRE(e->kind == (e->bits == IR_PIECE_FROM ? HDST__U32 : HDST__I64), "type of what a work-group has", where); return true;
    case IR_RECORD_INDEX:
        REQUIRE(e->kind == HDST__U64, "record_index is not u64", where);
        REQUIRE(!v->func->block || v->in_records, "record_index outside of a record loop", where);
        return true;
    default: return true;
    }
}

static bool unary_ok(verifier *v, const ir_expr *e, const char *where)
{
    hdst__kind a = e->a->kind;
    switch (e->op) {
    case IR_NEG: case IR_ABS: REQUIRE(e->kind == a && a != HDST__BOOL && a != HDST__TEXT, "operand type", where); break;
    case IR_BITNOT: REQUIRE(e->kind == a && hdst__kind_is_integer(a), "operand type", where); break;
    case IR_NOT: REQUIRE(e->kind == HDST__BOOL && a == HDST__BOOL, "operand type", where); break;
    case IR_SQRT: case IR_CANONICAL: REQUIRE(e->kind == a && hdst__kind_is_float(a), "operand type", where); break;
    case IR_CTZ: REQUIRE(e->kind == a && (a == HDST__U32 || a == HDST__U64), "operand type", where); break;
    case IR_TEXT_LENGTH: REQUIRE(e->kind == HDST__U32 && a == HDST__TEXT, "operand type", where); break;
    case IR_TEXT_VIEW: REQUIRE(e->kind == HDST__TEXT && a == HDST__TEXT && e->bits <= HDST__TEXT_UPPER, "operand type", where); break;
    case IR_CONVERT: REQUIRE(e->kind != HDST__TEXT && a != HDST__TEXT, "operand type", where); break;
    case IR_ISNAN: REQUIRE(e->kind == HDST__BOOL && hdst__kind_is_float(a), "operand type", where); break;
    case IR_BITCAST: REQUIRE(hdst__scalar_size(e->kind) == hdst__scalar_size(a), "bit cast between sizes", where); break;
    case IR_FIXED:
        REQUIRE(e->kind == HDST__I64 && e->bits < 2, "result type", where);
        return leaf_is(v, e->param, e->leaf, IR_ACCUM_TABLE, a, where);
    case IR_FITS:
        REQUIRE(e->kind == HDST__BOOL, "result type", where);
        return leaf_is(v, e->param, e->leaf, IR_ACCUM_TABLE, a, where);
    case IR_KEY_MIN: case IR_KEY_MAX: REQUIRE(e->kind == HDST__U64, "result type", where); break;
    default: break;
    }
    return true;
}

static bool binary_ok(verifier *v, const ir_expr *e, const char *where)
{
    hdst__kind a = e->a->kind, b = e->b->kind;
    if (e->op == IR_SHL || e->op == IR_SHR) {
        REQUIRE(e->kind == a && hdst__kind_is_integer(a) && b == HDST__U32, "operand types of a shift", where);
        return true;
    }
    if (e->op == IR_TEXT_BYTE || e->op == IR_TEXT_WORD) {
        const hdst__kind kind = e->op == IR_TEXT_BYTE ? HDST__U8 : HDST__U64;
        REQUIRE(a == HDST__TEXT && b == HDST__U32 && e->kind == kind, "operand types of a text", where);
        return true;
    }
    if (e->op == IR_TEXT_TOKENS) {
        REQUIRE(e->kind == HDST__TEXT && a == HDST__TEXT && b == HDST__U64 && e->b->op == IR_CONST, "operand types of a text", where);
        return true;
    }
    REQUIRE(a == b && a != HDST__TEXT, "operands of two types", where);
    if (e->op >= IR_LT && e->op <= IR_NE) {
        REQUIRE(e->kind == HDST__BOOL, "comparison is not bool", where);
        return true;
    }
    REQUIRE(e->kind == a, "result type", where);
    if (e->op == IR_AND || e->op == IR_OR || e->op == IR_XOR) REQUIRE(integer_or_bool(a), "operand type", where);
    else REQUIRE(a != HDST__BOOL && a != HDST__TEXT, "operand type", where);
    REQUIRE(e->op != IR_REM || hdst__kind_is_integer(a), "operand type", where);
    return true;
}

static bool ternary_ok(verifier *v, const ir_expr *e, const char *where)
{
    if (e->op == IR_TEXT_BITS) {
        REQUIRE(e->kind == HDST__U64 && e->a->kind == HDST__TEXT && e->b->kind == HDST__U32 && e->c->kind == HDST__U64, "operand types of a text", where);
        return true;
    }
    if (e->op == IR_TEXT_SLICE) {
        REQUIRE(e->kind == HDST__TEXT && e->a->kind == HDST__TEXT && e->b->kind == HDST__U32 && e->c->kind == HDST__U32, "operand types of a text", where);
        return true;
    }
    REQUIRE(e->kind == e->b->kind && e->b->kind == e->c->kind, "operands of two types", where);
    if (e->op == IR_SELECT) REQUIRE(e->a->kind == HDST__BOOL, "condition is not bool", where);
    else REQUIRE(e->a->kind == e->kind && hdst__kind_is_float(e->kind), "operand type", where);
    return true;
}

static bool expr_ok(ir_expr **slot, void *user)
{
    verifier *v = user;
    const ir_expr *e = *slot;
    const char *where = hdst__ir_op_name(e->op);
    REQUIRE((int)e->kind < HDST__SCALAR_KINDS, "no scalar", where);
    int count = operand_count(e->op);
    REQUIRE((count < 1 || e->a) && (count < 2 || e->b) && (count < 3 || e->c), "operand missing", where);
    if (!access_ok(v, e, where)) return false;
    if (e->op == IR_ELEM) return true;
    if (count == 1) return unary_ok(v, e, where);
    if (count == 2) return binary_ok(v, e, where);
    return count == 3 ? ternary_ok(v, e, where) : true;
}

// --- Statements ---

static bool block_ok(verifier *v, const ir_block *block);

static bool nested_ok(verifier *v, const ir_stmt *s, bool is_loop)
{
    ir_block *nested[HDST__IR_NESTED];
    v->loops += is_loop;
    bool ok = true;
    for (int i = 0, count = hdst__ir_nested((ir_stmt *)s, nested); i < count; i++) ok = ok && block_ok(v, nested[i]);
    v->loops -= is_loop;
    return ok;
}

typedef struct bound_reads {
    uint32_t *bounding, change;
} bound_reads;

static bool count_bound(ir_expr **slot, void *user)
{
    const bound_reads *b = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) b->bounding[(*slot)->var] += b->change;
    return true;
}

// From here on (1) nothing that a loop's bounds read may be written; from here on (minus 1) it may again.
static void count_bounds(verifier *v, const ir_stmt *s, uint32_t change)
{
    bound_reads b = {v->bounding, change};
    ir_expr *bounds[] = {s->lo, s->hi};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) hdst__ir_visit_expr(&bounds[i], count_bound, &b);
}

static bool find_loop(ir_stmt *s, void *user)
{
    (void)user;
    return s->kind != IR_FOR && s->kind != IR_LOOP;
}

// The driver's compiler is asked to unroll innermost loops of a GPU's form, which has neither blocks nor rows.
static bool unroll_hint_ok(verifier *v, const ir_stmt *s, const char *where)
{
    ir_block body = s->body;
    REQUIRE(!v->func->block && !v->func->rows, "to be unrolled in another form than a GPU's", where);
    REQUIRE(hdst__ir_visit_stmts(&body, find_loop, NULL), "to be unrolled, with a loop inside", where);
    return true;
}

static bool for_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(s->lo && s->hi && s->step >= 1, "bounds missing", where);
    if (s->unroll_hint && !unroll_hint_ok(v, s, where)) return false;
    REQUIRE(!s->vectorize || v->func->rows, "marked in another form than rows", where);
    REQUIRE(s->lo->kind == s->hi->kind && hdst__kind_is_integer(s->lo->kind), "type of the bounds", where);
    if (!variable(v, s->var, false, s->lo->kind, where)) return false;
    REQUIRE(!v->bounding[s->var], "what a loop's bounds read is written in it", where);
    v->looping[s->var] = true;
    count_bounds(v, s, 1);
    bool ok = nested_ok(v, s, true);
    count_bounds(v, s, UINT32_MAX);
    v->looping[s->var] = false;
    return ok;
}

// Where its accumulator is, it can be added to so.
static bool placed_ok(verifier *v, const ir_stmt *s, const char *where)
{
    const ir_placement *placement = v->func->params[s->param].placement;
    const bool by_constants = placement && (placement->place == IR_PLACE_REGISTERS || placement->place == IR_PLACE_RUN);
    REQUIRE(!by_constants || !s->index2 || s->index2->op == IR_CONST ||
        s->kind == IR_ACCUM_SUPERACCUMULATOR, "a register by number", where);
    if (s->home == IR_HOME_PLACE) return true;
    REQUIRE(s->kind == IR_ACCUM && v->func->together && v->func->tables, "a place of a work-group's loop elsewhere", where);
    REQUIRE(placement && placement->place == IR_PLACE_GROUP, "a place of its own, of an accumulator that is not in a group's table", where);
    REQUIRE(s->home != IR_HOME_REGISTER || s->home_register < IR_HOME_REGISTERS, "no such register", where);
    REQUIRE(s->home != IR_HOME_TILE || (v->func->tables->has_tile && v->func->tables->tile == s->param), "there is no such tile", where);
    return true;
}

static bool accum_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(s->value && is_index(s->index) && is_index(s->index2), "value or index", where);
    REQUIRE(s->kind == IR_ACCUM || v->func->block || v->func->rows, "in scalar form", where);
    if (s->kind != IR_ACCUM_WORDS) return leaf_is(v, s->param, s->leaf, IR_ACCUM_TABLE, s->value->kind, where) && placed_ok(v, s, where);
    REQUIRE(s->value->kind == HDST__I64 || s->value->kind == HDST__U64, "word type", where);
    REQUIRE(s->param < v->func->param_count && v->func->params[s->param].kind == IR_ACCUM_TABLE, "no such accumulator", where);
    REQUIRE(s->leaf < v->func->params[s->param].record->leaf_count, "no such leaf", where);
    return placed_ok(v, s, where);
}

static bool accum_block_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(v->func->block && !v->in_records, "outside of block form, or in a record loop", where);
    REQUIRE(s->value && hdst__kind_is_float(s->value->kind) && !s->index && (!s->index2 || (is_index(s->index2) &&
        !s->index2->varying)), "type, row or element", where);
    REQUIRE(s->param < v->func->param_count && v->func->params[s->param].kind == IR_ACCUM_TABLE, "no such accumulator", where);
    REQUIRE(s->leaf < v->func->params[s->param].record->leaf_count, "no such leaf", where);
    REQUIRE(hdst__sum_loop_can(v->func, s->value), "a value that no loop over the block takes", where);
    if (!v->func->sum_loop_count) return true;
    REQUIRE(s->sum_loop < v->func->sum_loop_count, "no such loop", where);
    const ir_sum_loop loop = hdst__sum_loop_of(v->func, s->value);
    REQUIRE(hdst__sum_loops_equal(&v->func->sum_loops[s->sum_loop], &loop), "the loop adds something else", where);
    return true;
}

static bool set_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(s->value, "value missing", where);
    if (!variable(v, s->var, s->kind == IR_SET_ELEM, s->value->kind, where)) return false;
    REQUIRE(!v->looping[s->var], "a loop's variable is written in it", where);
    REQUIRE(!v->bounding[s->var], "what a loop's bounds read is written in it", where);
    REQUIRE(!v->func->vars[s->var].init, "a constant array is written", where);
    const ir_var *var = &v->func->vars[s->var];
    if (v->func->block && v->in_records && s->kind != IR_REDUCE)
        REQUIRE(var->varying || var->per_record, "uniform variable set in a record loop", where);
    if (s->kind == IR_REDUCE) REQUIRE(!var->varying && !var->per_record, "reduction to a varying variable", where);
    return true;
}

static bool records_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(v->func->block && !v->in_records, "record loop out of place", where);
    unsigned loops = v->loops;
    v->loops = 0;               // no break leaves a record loop
    v->in_records = true;
    bool ok = nested_ok(v, s, false);
    v->in_records = false;
    v->loops = loops;
    for (size_t i = 0; ok && s->vectorize && i < s->body.count; i++) {
        ir_stmt_kind kind = s->body.items[i]->kind;
        REQUIRE(kind == IR_SET || kind == IR_SET_ELEM || kind == IR_STORE || kind == IR_CHECK || kind == IR_REDUCE ||
                    (kind == IR_EMIT && v->func->counts),
                "a vectorised record loop holds", hdst__ir_stmt_name(kind));
    }
    REQUIRE(!s->joint || hdst__shared_family_of(v->func, s->joint).groups, "beside sums that are no family", where);
    return ok;
}

static bool is_condition(const ir_expr *e) { return e && e->kind == HDST__BOOL; }

static hdst__kind checked_kind(const verifier *v, const ir_stmt *s)
{
    const ir_check_kind kind = v->func->checks[s->check].kind;
    return kind == IR_CHECK_NUMBER || kind == IR_CHECK_LOOKUP_TEXT ? HDST__TEXT : HDST__U64;
}

static bool store_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(s->value && is_index(s->index), "value or index", where);
    REQUIRE(!s->cond || s->cond->kind == HDST__BOOL, "condition is not bool", where);
    REQUIRE(!v->func->block || v->in_records, "store outside of a record loop", where);
    return leaf_is(v, s->param, s->leaf, IR_OUTPUT, s->value->kind, where);
}

static bool emit_ok(verifier *v, const ir_stmt *s, const char *where)
{
    REQUIRE(!s->cond || is_condition(s->cond), "condition is not bool", where);
    REQUIRE(v->func->emits, "in a function that is not marked to emit", where);
    REQUIRE(!v->func->block || v->in_records, "outside of a record loop", where);
    REQUIRE(!s->value || (v->func->counts && s->value->kind == HDST__U64), "a number of records where they are not counted", where);
    return true;
}

static bool stmt_ok(verifier *v, ir_stmt *s)
{
    const char *where = hdst__ir_stmt_name(s->kind);
    const bool inside = v->in_records;
    if (s->kind == IR_ACCUM_BLOCK) v->in_records = true;        // its value is that of every record
    const bool exprs_ok = hdst__ir_visit_own_exprs(s, expr_ok, v);
    v->in_records = inside;
    if (!exprs_ok) return false;
    switch (s->kind) {
    case IR_SET: return set_ok(v, s, where);
    case IR_SET_ELEM:
        REQUIRE(s->index && is_index(s->index), "index is no integer", where);
        return set_ok(v, s, where);
    case IR_REDUCE:
        REQUIRE(v->in_records || !v->func->block, "reduction outside of a record loop", where);
        return set_ok(v, s, where);
    case IR_IF:
        REQUIRE(is_condition(s->cond), "condition is not bool", where);
        return nested_ok(v, s, false);
    case IR_FOR: return for_ok(v, s, where);
    case IR_LOOP:
        REQUIRE(!s->hi || s->hi->kind == HDST__U64, "type of the bound", where);
        REQUIRE(!s->cond || is_condition(s->cond), "condition is not bool", where);
        return nested_ok(v, s, true);
    case IR_BREAK: case IR_CONTINUE: REQUIRE(v->loops, "outside of a loop", where); return true;
    case IR_RETURN: REQUIRE(!v->func->block, "in block form", where); return true;
    case IR_ACCUM: case IR_ACCUM_WORDS: case IR_ACCUM_SUPERACCUMULATOR: return accum_ok(v, s, where);
    case IR_ACCUM_BLOCK: return accum_block_ok(v, s, where);
    case IR_STORE: return store_ok(v, s, where);
    case IR_EMIT: return emit_ok(v, s, where);
    case IR_PREFETCH:
        REQUIRE(s->param < v->func->param_count && v->func->params[s->param].kind == IR_BROADCAST_TABLE, "wrong kind of parameter", where);
        REQUIRE(s->index && is_index(s->index), "index is no integer", where);
        return true;
    case IR_CHECK:
        REQUIRE(is_condition(s->cond), "condition is not bool", where);
        REQUIRE(s->check < v->func->check_count, "no such check", where);
        REQUIRE(!s->index || (s->index->kind == checked_kind(v, s) && s->index2 && s->index2->kind == HDST__U64), "index or limit is not u64", where);
        return true;
    case IR_RECORDS: return records_ok(v, s, where);
    }
    return fail(v, "unknown statement", where);
}

// A group stands together; what it is says shared_factors_ok.
static bool shared_ok(verifier *v, const ir_stmt *s, const ir_stmt *before)
{
    const bool follows = before && before->kind == IR_ACCUM_BLOCK && before->joint == s->joint;
    REQUIRE(follows || s->joint > v->joint, "shares a factor with what does not stand in front of it", "block");
    v->joint = s->joint;
    return true;
}

static bool shared_factors_ok(verifier *v, const ir_block *block)
{
    for (size_t i = 0, n; i < block->count; i += n > 0 ? n : 1) {
        n = block->items[i]->kind == IR_ACCUM_BLOCK ? hdst__shared_count(block->items + i, block->count - i) : 0;
        REQUIRE(!n || hdst__shared_factor(v->func, block->items + i, n), "sums that share no factor", "block");
        for (size_t k = i; k < i + n; k++)
            REQUIRE(v->func->sum_loop_count && v->func->sum_loops[block->items[k]->sum_loop].ways & 1u << IR_SUM_IN_DOUBLE, "no sums in double", "block");
    }
    return true;
}

// `before`: the statement in front of it, in its block; NULL: none.
static bool joint_ok(verifier *v, const ir_stmt *s, const ir_stmt *before)
{
    if (s->kind == IR_ACCUM_BLOCK && s->joint) return shared_ok(v, s, before);
    if (s->kind != IR_ACCUM || !s->joint) return true;
    const ir_placement *placement = v->func->params[s->param].placement;
    const ir_way way = placement ? placement->leaf[s->leaf].way : IR_WAY_WORD;
    REQUIRE(way == IR_WAY_JOINT || way == IR_WAY_LEVELS || way == IR_WAY_PAIR, "shares a test and makes none", "accum");
    const bool follows = before && before->kind == IR_ACCUM && before->joint == s->joint;
    REQUIRE(follows || s->joint > v->joint, "shares a test with what does not stand in front of it", "accum");
    const bool was_pair = follows && v->func->params[before->param].placement->leaf[before->leaf].way == IR_WAY_PAIR;
    REQUIRE(!follows || was_pair == (way == IR_WAY_PAIR), "shares a test with sums of another kind", "accum");
    v->joint = s->joint;
    return true;
}

static bool block_ok(verifier *v, const ir_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (!stmt_ok(v, block->items[i]) || !joint_ok(v, block->items[i], i ? block->items[i - 1] : NULL)) return false;
    return shared_factors_ok(v, block);
}

// --- Where accumulators are ---

static bool leaf_placement_ok(verifier *v, const ir_param *p, size_t l)
{
    const ir_placement *placement = p->placement;
    const ir_leaf_placement *leaf = &placement->leaf[l];
    const ir_tuples *tuples = v->func->tables && v->func->tables->has_tuples ? &v->func->tables->tuples : NULL;
    REQUIRE(leaf->way < IR_WAYS, "no such way", p->name);
    REQUIRE(leaf->way != IR_WAY_PAIR || placement->place == IR_PLACE_REGISTERS, "running sums elsewhere than in registers", p->name);
    REQUIRE(leaf->way != IR_WAY_OWNED || placement->place == IR_PLACE_LOCAL, "owned sums that do not merge in local memory", p->name);
    REQUIRE(placement->place != IR_PLACE_GLOBAL || leaf->way == IR_WAY_WORD || leaf->way == IR_WAY_SUPERACCUMULATOR,
            "words where there are superaccumulators", p->name);
    REQUIRE(leaf->slot_words <= 2 &&
        leaf->slot + p->record->leaves[l].elements * leaf->slot_words <= placement->slots,
        "words beyond the row in local memory", p->name);
    REQUIRE(!leaf->values || (tuples && leaf->value + leaf->values <= tuples->values), "values that a tuple does not have", p->name);
    REQUIRE(!tuples || leaf->sum < tuples->sums, "a sum that a partition does not have", p->name);
    return true;
}

static bool placements_ok(verifier *v)
{
    size_t accums = 0;
    for (size_t i = 0; i < v->func->param_count; i++) {
        const ir_param *p = &v->func->params[i];
        accums += p->kind == IR_ACCUM_TABLE;
        if (!p->placement) continue;
        const bool is_broadcast = p->kind == IR_BROADCAST_TABLE;
        REQUIRE((p->kind == IR_ACCUM_TABLE || is_broadcast) && v->func->tables, "a place of what is no accumulator and no broadcast", p->name);
        REQUIRE(p->placement->place < IR_PLACES, "no such place", p->name);
        REQUIRE(p->placement->place != IR_PLACE_REGISTERS || !p->is_table, "a table in registers", p->name);
        REQUIRE(p->placement->place != IR_PLACE_RUN || p->is_table, "runs of rows of what has one", p->name);
        REQUIRE(!is_broadcast || p->placement->place == IR_PLACE_GLOBAL || (p->placement->place == IR_PLACE_LOCAL && p->is_table),
            "a place that is none of a broadcast", p->name);
        for (size_t l = 0; !is_broadcast && l < p->record->leaf_count; l++)
            if (!leaf_placement_ok(v, p, l)) return false;
    }
    REQUIRE(!v->func->tables || !v->func->tables->has_tuples || accums == 1, "tuples of several accumulators", v->func->name);
    const ir_shape *shape = v->func->shape;
    REQUIRE(!shape || (shape->group && (shape->group & (shape->group - 1)) == 0 && shape->records &&
        shape->records <= IR_LANE_RECORDS), "a shape that cannot be", v->func->name);
    const ir_output output = hdst__ir_output(v->func);
    REQUIRE(output.way != IR_OUTPUT_COUNTED || v->func->emits || v->func->counts,
        "output of which data says how much, of a function without emits", v->func->name);
    REQUIRE(output.way != IR_OUTPUT_BOUNDED || output.bound >= hdst__ir_emit_bound(v->func), "more output than there is room for", v->func->name);
    return true;
}

// Variables that are none are found by block_ok.
static void note_setters(verifier *v, const ir_block *block, bool in_records)
{
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        const bool counts = in_records && s->kind == IR_FOR;
        if (s->var < v->func->var_count && hdst__ir_writes(s, s->var)) v->set[s->var] |= counts ? SET_BY_RECORD_COUNTER : SET_BY_OTHERS;
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) note_setters(v, nested[n], in_records || s->kind == IR_RECORDS);
    }
}

static bool sum_loops_ok(verifier *v)
{
    for (uint32_t i = 0; i < v->func->sum_loop_count; i++) {
        const ir_sum_loop *loop = &v->func->sum_loops[i];
        const bool is_double = loop->kind == HDST__F64;
        REQUIRE(v->func->block && loop->lanes && v->func->block % loop->lanes == 0, "a loop whose vectors do not make a block", "sum loop");
        REQUIRE(is_double || loop->kind == HDST__F32, "a loop that adds no floats", "sum loop");
        REQUIRE(loop->ways && loop->ways >> IR_SUM_WAYS == 0, "no such way to add", "sum loop");
        REQUIRE(!(loop->ways & 1u << (is_double ? IR_SUM_IN_DOUBLE : IR_SUM_BIT_TEST)), "a way that adds numbers of another size", "sum loop");
        REQUIRE(loop->operand_count && loop->operand_count <= HDST__SUM_OPERANDS, "too many operands, or none", "sum loop");
    }
    return true;
}

const char *hdst__ir_verify(const ir_func *func)
{
    const size_t vars = func->var_count + 1;
    verifier v = {.func = func, .looping = HDST__NEW_ARRAY(func->arena, bool, vars), .bounding = HDST__NEW_ARRAY(func->arena, uint32_t, vars),
                  .set = HDST__NEW_ARRAY(func->arena, uint8_t, vars)};
    if (func->block) note_setters(&v, &func->body, false);
    if (placements_ok(&v) && sum_loops_ok(&v)) block_ok(&v, &func->body);
    return v.wrong;
}
