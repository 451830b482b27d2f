// SPDX-License-Identifier: Apache-2.0
// GPU form: loops of the work-group that add products of a factor and an element to a wide table, as the gradient of a net's
// layer does, become a kernel of their own behind the records. Such sums over all records are a product of two matrices: of
// factors by records and of records by elements. So work-groups there take tiles of the sums in registers, and stretches of
// records, whose factors and elements they put into local memory a few records at a time.
//
// Before: tables copies 16
//         for i = 0 to 784 {                             for h = 0 to 30 { accum g.w[h * 784 + i] += mul(kept[h], p.x[i]) in register 0 } }
// After:  tables copies 16 apart
//         for i = 0 to 784 product 8 by 5 across 32 steps 32 {    for h = 0 to 30 { accum g.w[h * 784 + i] += mul(kept[h], p.x[i]) in register 0 } }
//
// The records leave what they bring along in device memory. All other loops go to that kernel too, where one work-group of a stretch makes them and small
// products (`beside`). Sums of elements alone are products with one factor, 1.
//
// Nobody else may add to the cells of a product: a stretch has one table, which its work-groups share without atomics.
#include "codegen/pass/product_tiles.h"

#include "base/costs_gpu.h"
#include "codegen/pass/accumulator_placement.h"
#include "codegen/pass/affine_index.h"

// --- Which nests ---

static const ir_stmt *first_of(const ir_stmt *loop) { return loop->body.items[0]; }

static bool has_factor(const ir_stmt *nest) { return first_of(nest)->kind == IR_FOR; }

static const ir_stmt *addition_of(const ir_stmt *nest) { return has_factor(nest) ? first_of(first_of(nest)) : first_of(nest); }

static uint64_t factors_of(const ir_stmt *nest) { return has_factor(nest) ? first_of(nest)->hi->bits : 1; }

static uint64_t sums_of(const ir_stmt *nest) { return nest->hi->bits * factors_of(nest); }

static bool is_not(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    return (e->op != IR_VAR && e->op != IR_ELEM) || e->var != *(const uint32_t *)user;
}

static bool is_free_of(const ir_expr *e, uint32_t var)
{
    ir_expr *root = (ir_expr *)e;       // the visitor changes nothing
    return hdst__ir_visit_expr(&root, is_not, &var);
}

static bool is_factor(const ir_stmt *nest, const ir_expr *factor, const ir_expr *element)
{
    return is_free_of(factor, nest->var) && is_free_of(element, first_of(nest)->var);
}

const ir_expr *hdst__product_factor(const ir_stmt *nest)
{
    const ir_expr *v = addition_of(nest)->value;
    return !has_factor(nest) ? NULL : is_factor(nest, v->a, v->b) ? v->a : v->b;
}

const ir_expr *hdst__product_element(const ir_stmt *nest)
{
    const ir_expr *v = addition_of(nest)->value;
    return !has_factor(nest) ? v : is_factor(nest, v->a, v->b) ? v->b : v->a;
}

// One loop, or two, around one addition.
static bool is_nest(const ir_stmt *s)
{
    for (int depth = 0; depth < 2 && s->kind == IR_FOR && s->hi->op == IR_CONST && s->body.count == 1; depth++) s = first_of(s);
    return s->kind == IR_ACCUM;
}

static bool is_in_words(const ir_func *loops, const hdst__tables *tables, const ir_stmt *add, bool has_double)
{
    const hdst__cell *cell = &hdst__tables_accum(tables, add->param)->cell[add->leaf];
    const ir_leaf_placement *leaf = &loops->params[add->param].placement->leaf[add->leaf];
    if (cell->kind != HDST__F32 || cell->precision != HDST__CLASS_ONE_WORD || leaf->way != IR_WAY_JOINT) return false;
    return add->home == IR_HOME_REGISTER && (leaf->fast || has_double);
}

static void tell(const hdst__nest *loops, const ir_expr *index, bool *told)
{
    const hdst__linear l = index ? hdst__linear_of(loops, index, NULL) : (hdst__linear){0};
    hdst__linear_tells(loops, &l, told);
}

// Whether each factor by each element has a cell of its own: lanes and work-groups with other factors add to their cells without atomics.
static bool has_own_cells(const ir_stmt *nest)
{
    const hdst__nest loops = {.loop = {nest, first_of(nest)}, .turns = {nest->hi->bits, factors_of(nest)}, .depth = 2};
    bool told[HDST__NEST_DEPTH] = {false};
    tell(&loops, addition_of(nest)->index, told);
    tell(&loops, addition_of(nest)->index2, told);
    return told[0] && told[1];
}

static bool is_product(const ir_func *loops, const hdst__tables *tables, const ir_stmt *s, bool has_double)
{
    if (!is_nest(s) || !is_in_words(loops, tables, addition_of(s), has_double)) return false;
    if (has_factor(s) && !has_own_cells(s)) return false;
    const ir_expr *v = addition_of(s)->value;
    if (v->kind != HDST__F32 || hdst__ir_expr_size(v) > HDST__GPU_PRODUCT_NODES) return false;
    return !has_factor(s) || (v->op == IR_MUL && (is_factor(s, v->a, v->b) || is_factor(s, v->b, v->a)));
}

// By itself.
static bool is_worth_a_kernel(const ir_stmt *s)
{
    return s->hi->bits >= HDST__GPU_PRODUCT_ELEMENTS && factors_of(s) >= HDST__GPU_PRODUCT_FACTORS && sums_of(s) >= HDST__GPU_PRODUCT_LEAST_SUMS;
}

typedef struct addition_search {
    const ir_stmt *of;          // additions to its leaf
    size_t found;
} addition_search;

static bool count_addition(ir_stmt *s, void *user)
{
    addition_search *seek = user;
    seek->found += s->kind == IR_ACCUM && s->param == seek->of->param && s->leaf == seek->of->leaf;
    return true;
}

static bool adds_alone(const ir_func *loops, const ir_stmt *nest)
{
    addition_search seek = {addition_of(nest), 0};
    hdst__ir_visit_stmts((ir_block *)&loops->body, count_addition, &seek);
    return seek.found == 1;
}

// --- The tile ---

static uint64_t tiles(uint64_t turns, uint64_t width) { return (turns + width - 1) / width; }

uint64_t hdst__product_factor_tiles(const ir_stmt *nest, uint32_t group)
{
    return tiles(factors_of(nest), (uint64_t)group / nest->product->across * nest->product->factors);
}

uint64_t hdst__product_element_tiles(const ir_stmt *nest) { return tiles(nest->hi->bits, (uint64_t)nest->product->across * nest->product->elements); }

uint64_t hdst__product_factor_stride(const ir_stmt *nest, uint32_t group) { return group / nest->product->across * tiles(nest->product->factors, 4) * 4; }

uint64_t hdst__product_element_stride(const ir_stmt *nest) { return ((uint64_t)nest->product->across * nest->product->elements) | 1; }

static uint64_t bytes_of(const ir_stmt *nest, uint32_t group)
{
    return nest->product->steps * sizeof(float) * (hdst__product_factor_stride(nest, group) + hdst__product_element_stride(nest));
}

// What all loops but products need beside is sizes of what records bring along.
uint64_t hdst__product_bytes(const ir_func *loops)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < loops->body.count; i++) {
        const ir_stmt *s = loops->body.items[i];
        if (s->product && bytes_of(s, loops->shape->group) > bytes) bytes = bytes_of(s, loops->shape->group);
    }
    return bytes + 2 * hdst__place_carried_bytes(loops) + HDST__LOCAL_ALIGN;
}

// What a record costs all lanes of all tiles: an operation for each sum, and a load for each factor and element.
static uint64_t cost_of(const ir_stmt *nest, const ir_product *p, uint32_t group, bool fast)
{
    const ir_stmt s = {.hi = nest->hi, .body = nest->body, .product = p};
    const uint64_t all = hdst__product_factor_tiles(&s, group) * hdst__product_element_tiles(&s);
    return all * (p->factors * p->elements * (fast ? 1 : HDST__GPU_PRODUCT_EXACT_COST) + p->factors + p->elements);
}

static bool has_room(const ir_stmt *nest, const ir_product *p, uint32_t group, uint64_t bytes)
{
    const ir_stmt s = {.hi = nest->hi, .body = nest->body, .product = p};
    return bytes_of(&s, group) <= bytes;
}

static bool find_elements(const ir_stmt *nest, ir_product p, uint32_t group, bool fast, uint64_t bytes, ir_product *best)
{
    const uint32_t most = fast ? HDST__GPU_PRODUCT_FAST_SUMS : HDST__GPU_PRODUCT_EXACT_SUMS;
    *best = (ir_product){0};
    for (p.elements = 1; p.elements * p.factors <= most && has_room(nest, &p, group, bytes); p.elements++)
        if (!best->elements || cost_of(nest, &p, group, fast) < cost_of(nest, best, group, fast)) *best = p;
    return best->elements > 0;
}

// NULL: there is no room for any.
static const ir_product *tile_of(ir_func *loops, const ir_stmt *nest, bool fast, uint64_t bytes)
{
    ir_product *best = HDST__NEW(loops->arena, ir_product);
    const uint32_t group = loops->shape->group, most_factors = fast ? HDST__GPU_PRODUCT_FAST_FACTORS : HDST__GPU_PRODUCT_EXACT_FACTORS,
                   most_down = fast ? HDST__GPU_PRODUCT_FAST_DOWN : HDST__GPU_PRODUCT_EXACT_DOWN;
    const uint64_t factors = factors_of(nest);
    uint32_t down = 1;          // lanes, each with factors of its own
    while (down < most_down && down * most_factors < factors) down *= 2;
    const uint64_t rows = tiles(factors, down * most_factors);
    ir_product p = {.factors = (uint32_t)tiles(factors, rows * down), .across = group / down, .steps = HDST__GPU_PRODUCT_STEPS};
    for (; p.steps >= HDST__GPU_PRODUCT_LEAST_STEPS; p.steps /= 2)
        if (find_elements(nest, p, group, fast, bytes, best)) return best;
    return NULL;
}

// --- The pass ---

static bool adds_to_tables(const ir_stmt *s, const ir_func *func)
{
    return s->kind == IR_ACCUM && func->params[s->param].placement->place == IR_PLACE_GROUP;
}

static bool find_addition(ir_stmt *s, void *user) { return !adds_to_tables(s, user); }

// Tables belong to stretches of records, and not to work-groups that have records: no record adds to one by itself, no lane keeps part of one.
static bool may_be_apart(const ir_func *loops, const ir_func *func)
{
    if (loops->shape->group < HDST__GPU_PRODUCT_LEAST_GROUP) return false;
    return !func->tables->has_tile && hdst__ir_visit_stmts((ir_block *)&func->body, find_addition, (void *)func);
}

static const ir_product *product_of(ir_func *loops, const ir_stmt *s, const hdst__tables *tables, const hdst__product_limits *limits)
{
    if (!is_product(loops, tables, s, limits->has_double) || !adds_alone(loops, s)) return NULL;
    const ir_stmt *add = addition_of(s);
    return tile_of(loops, s, loops->params[add->param].placement->leaf[add->leaf].fast, limits->local_bytes);
}

// A single tile with far fewer sums than the largest product has would be through long before the others.
static void mark(ir_func *loops, ir_stmt *s, const ir_product *product, uint64_t most)
{
    ir_product *marked = HDST__NEW(loops->arena, ir_product);
    *marked = *product;
    s->product = marked;
    const bool one = hdst__product_factor_tiles(s, loops->shape->group) * hdst__product_element_tiles(s) == 1;
    marked->beside = one && sums_of(s) * HDST__GPU_PRODUCT_SHARE < most;
}

bool hdst__pass_product_tiles(ir_func *loops, const ir_func *func, const hdst__tables *tables, const hdst__product_limits *limits)
{
    const ir_product **found = HDST__NEW_ARRAY(loops->arena, const ir_product *, loops->body.count + 1);
    uint64_t most = 0;
    if (!may_be_apart(loops, func)) return false;
    for (size_t i = 0; i < loops->body.count; i++) {
        const ir_stmt *s = loops->body.items[i];
        found[i] = product_of(loops, s, tables, limits);
        if (found[i] && is_worth_a_kernel(s) && sums_of(s) > most) most = sums_of(s);
    }
    for (size_t i = 0; most && i < loops->body.count; i++)
        if (found[i]) mark(loops, loops->body.items[i], found[i], most);
    return func->tables->apart = most > 0;
}
