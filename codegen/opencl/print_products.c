// SPDX-License-Identifier: Apache-2.0
// GPU form: wide sums of products as products of matrices, of factors by records and records by elements. A work-group has a tile of the sums, a lane some
// factors by some elements of it in registers. The factors and elements of a few records at a time go to local memory, where all lanes read them.
// Neighbours put there what lies side by side: elements of a row in C structs, records elsewhere.
#include "codegen/opencl/print_products.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_cooperative.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_group_sums.h"
#include "codegen/pass/product_tiles.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

bool hdst__has_products(const hdst__printer *p) { return p->cooperative && hdst__cooperative_func(p)->tables->apart; }

// --- Parts of the work ---

static uint64_t tiles_of(const hdst__printer *p, const ir_stmt *nest)
{
    const uint32_t group = p->func->shape->group;
    return nest->product && !nest->product->beside ? hdst__product_factor_tiles(nest, group) * hdst__product_element_tiles(nest) : 0;
}

// Tiles of products, and one for small ones and all other loops.
uint32_t hdst__product_items(const hdst__printer *p)
{
    const ir_block *body = &hdst__cooperative_func(p)->body;
    uint64_t items = 0, others = 0;
    for (size_t i = 0; i < body->count; i++) {
        items += tiles_of(p, body->items[i]);
        others |= !body->items[i]->product || body->items[i]->product->beside;
    }
    return (uint32_t)(items + others);
}

const char *hdst__product_stretches_text(hdst__printer *p)
{
    return hdst__arena_printf(p->arena, "clamp((ulong)get_num_groups(0) / %" PRIu32 ", 1UL, max((count + %d) / %d, 1UL))", hdst__product_items(p),
                              HDST__GPU_PRODUCT_LEAST_RECORDS - 1, HDST__GPU_PRODUCT_LEAST_RECORDS);
}

// --- Local memory ---

static uint64_t factor_stride(const hdst__printer *p, const ir_stmt *nest) { return hdst__product_factor_stride(nest, p->func->shape->group); }

static uint64_t lanes_down(const hdst__printer *p, const ir_stmt *nest) { return p->func->shape->group / nest->product->across; }

static uint64_t padded(const hdst__printer *p, const ir_stmt *nest) { return factor_stride(p, nest) / lanes_down(p, nest); }

static uint64_t element_width(const ir_stmt *nest) { return (uint64_t)nest->product->across * nest->product->elements; }

static bool reads_record(ir_expr **slot, void *user)
{
    (void)user;
    return (*slot)->op != IR_FIELD;
}

// Neighbours put records there: what they read of them lies side by side.
static bool by_records(const hdst__printer *p, const ir_stmt *nest)
{
    ir_expr *element = (ir_expr *)hdst__product_element(nest);     // the visitor changes nothing
    return p->options->input->layout != HDST__AOS && !hdst__ir_visit_expr(&element, reads_record, NULL);
}

static uint64_t element_stride(const hdst__printer *p, const ir_stmt *nest)
{
    return by_records(p, nest) ? hdst__product_element_stride(nest) : element_width(nest);
}

void hdst__print_product_memory(hdst__printer *p)
{
    const ir_block *body = &hdst__cooperative_func(p)->body;
    uint64_t factors = 0, elements = 0;
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *nest = body->items[i];
        if (!nest->product) continue;
        const uint64_t fours = factor_stride(p, nest) / 4 * nest->product->steps, floats = element_stride(p, nest) * nest->product->steps;
        if (fours > factors) factors = fours;
        if (floats > elements) elements = floats;
    }
    hdst__write_line(&p->out, "__local float4 product_fours[%" PRIu64 "];", factors);
    hdst__write_line(&p->out, "__local float product_elements[%" PRIu64 "];", elements);
    hdst__write_line(&p->out, "__local float *product_factors = (__local float *)product_fours;");
}

// --- A tile ---

typedef struct tile_names {
    const ir_stmt *add;
    const char *factor, *element, *factor_type, *element_type;     // counters, their types
    const char *scale;
    bool fast;
} tile_names;

// NULL: there is no factor.
static ir_stmt *inner_of(ir_stmt *nest) { return nest->body.items[0]->kind == IR_FOR ? nest->body.items[0] : NULL; }

static ir_block *innermost_of(ir_stmt *nest) { return inner_of(nest) ? &inner_of(nest)->body : &nest->body; }

static const ir_stmt *addition_of(ir_stmt *nest) { return innermost_of(nest)->items[0]; }

static uint64_t factors_of(ir_stmt *nest) { return inner_of(nest) ? inner_of(nest)->hi->bits : 1; }

static tile_names names_of(hdst__printer *p, ir_stmt *nest)
{
    const ir_stmt *inner = inner_of(nest), *add = addition_of(nest);
    const ir_var *vars = p->func->vars;
    return (tile_names){.add = add, .factor = inner ? p->var_name[inner->var] : NULL, .element = p->var_name[nest->var],
                        .factor_type = inner ? hdst__cl_name(vars[inner->var].kind) : NULL, .element_type = hdst__cl_name(vars[nest->var].kind),
                        .scale = hdst__scale_name(p, add->param, add->leaf), .fast = hdst__leaf_placement(p, add->param, add->leaf)->fast};
}

static const char *unrolled(const hdst__printer *p) { return p->options->facts.portable ? "" : "#pragma unroll\n"; }

// One value for local memory: of record `at`, if there is such, and the turn of a loop, if it has so many.
static void print_value(hdst__printer *p, const char *to, const char *type, const char *counter, const char *turn, uint64_t turns, const char *condition,
                        const ir_expr *value)
{
    hdst__write_line(&p->out, "const uint turn = %s;", turn);
    hdst__write_line(&p->out, "float value = 0;");
    hdst__write_line(&p->out, "if (at < there && turn < %" PRIu64 "%s) {", turns, condition);
    p->out.indent++;
    hdst__write_line(&p->out, "const %s %s = (%s)turn;", type, counter, type);
    hdst__print_cooperative_carried(p);
    hdst__write_line(&p->out, "value = %s;", hdst__expr_text(p, value, HDST__WHOLE));
    p->out.indent--;
    hdst__write_line(&p->out, "}\n%s = value;", to);
}

static void print_factors(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    const uint64_t stride = factor_stride(p, nest), pad = padded(p, nest);
    const char *turn = hdst__arena_printf(p->arena, "first_factor + w %% %" PRIu64 " / %" PRIu64 " * %" PRIu32 " + w %% %" PRIu64, stride, pad,
                                          nest->product->factors, pad);
    const char *own = pad == nest->product->factors ? "" : hdst__arena_printf(p->arena, " && w %% %" PRIu64 " < %" PRIu32, pad, nest->product->factors);
    hdst__write_line(&p->out, "for (uint w = lane; w < %" PRIu64 "; w += LANES) {", stride * nest->product->steps);
    p->out.indent++;
    hdst__write_line(&p->out, "const uint at = step + w / %" PRIu64 ";", stride);
    print_value(p, "product_factors[w]", n->factor_type, n->factor, turn, inner_of(nest)->hi->bits, own, hdst__product_factor(nest));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_elements(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    const uint64_t width = element_width(nest) < nest->hi->bits ? element_width(nest) : nest->hi->bits, stride = element_stride(p, nest);
    const bool records = by_records(p, nest);
    const char *row = hdst__arena_printf(p->arena, records ? "w %% %" PRIu64 : "w / %" PRIu64, records ? nest->product->steps : width);
    const char *column = hdst__arena_printf(p->arena, records ? "w / %" PRIu64 : "w %% %" PRIu64, records ? nest->product->steps : width);
    if (!p->options->facts.portable) hdst__write_line(&p->out, "#pragma unroll %d", HDST__GPU_PRODUCT_LOADS);
    hdst__write_line(&p->out, "for (uint w = lane; w < %" PRIu64 "; w += LANES) {", width * nest->product->steps);
    p->out.indent++;
    hdst__write_line(&p->out, "const uint at = step + %s;", row);
    print_value(p, hdst__arena_printf(p->arena, "product_elements[(%s) * %" PRIu64 " + %s]", row, stride, column), n->element_type, n->element,
                hdst__arena_printf(p->arena, "first_element + %s", column), nest->hi->bits, "", hdst__product_element(nest));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// Loops over the lane's sums, of elements innermost.
static void begin_sums(hdst__printer *p, const ir_product *of)
{
    hdst__write_line(&p->out, "%sfor (uint f = 0; f < %" PRIu32 "; f++) {", unrolled(p), of->factors);
    p->out.indent++;
    hdst__write_line(&p->out, "%sfor (uint e = 0; e < %" PRIu32 "; e++) {", unrolled(p), of->elements);
    p->out.indent++;
}

static void end_sums(hdst__printer *p)
{
    for (int i = 0; i < 2; i++) {
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

static void declare_sums(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    const ir_product *of = nest->product;
    if (n->fast) hdst__write_line(&p->out, "float sum[%" PRIu32 "][%" PRIu32 "];      // rounded at each addition", of->factors, of->elements);
    else {
        p->uses_double = true;
        hdst__write_line(&p->out, "double sum[%" PRIu32 "][%" PRIu32 "], low[%" PRIu32 "][%" PRIu32 "];", of->factors, of->elements, of->factors, of->elements);
        hdst__write_line(&p->out, "uint2 factor_sizes[%" PRIu32 "], element_sizes[%" PRIu32 "];", of->factors, of->elements);
        hdst__write_line(&p->out, "%sfor (uint f = 0; f < %" PRIu32 "; f++) factor_sizes[f] = NO_SIZES;", unrolled(p), of->factors);
        hdst__write_line(&p->out, "%sfor (uint e = 0; e < %" PRIu32 "; e++) element_sizes[e] = NO_SIZES;", unrolled(p), of->elements);
    }
    begin_sums(p, of);
    hdst__write_line(&p->out, n->fast ? "sum[f][e] = 0;" : "sum[f][e] = 0x1.8p52 * %sDown, low[f][e] = 0;", n->scale);
    end_sums(p);
}

// One record's products, which records behind the last one have of zeroes.
static void print_step(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    const ir_product *of = nest->product;
    const uint64_t pad = padded(p, nest);
    if (!p->options->facts.portable) hdst__write_line(&p->out, "#pragma unroll %d", HDST__GPU_PRODUCT_UNROLLED);
    hdst__write_line(&p->out, "for (uint r = 0; r < %" PRIu32 "; r++) {", of->steps);
    p->out.indent++;
    hdst__write_line(&p->out, "float factor[%" PRIu64 "], element[%" PRIu32 "];", pad, of->elements);
    if (!n->factor) hdst__write_line(&p->out, "factor[0] = 1;");
    else hdst__write_line(&p->out, "%sfor (uint f = 0; f < %" PRIu64 "; f++) vstore4(product_fours[r * %" PRIu64 " + down * %" PRIu64 " + f], f, factor);",
                     unrolled(p), pad / 4, factor_stride(p, nest) / 4, pad / 4);
    hdst__write_line(&p->out, "%sfor (uint e = 0; e < %" PRIu32 "; e++) element[e] = product_elements[r * %" PRIu64 " + across + e * %" PRIu32 "];",
                     unrolled(p), of->elements, element_stride(p, nest), of->across);
    if (!n->fast) {
        hdst__write_line(&p->out, "%sfor (uint f = 0; f < %" PRIu32 "; f++) factor_sizes[f] = size_seen(factor_sizes[f], factor[f]);", unrolled(p),
                         of->factors);
        hdst__write_line(&p->out, "%sfor (uint e = 0; e < %" PRIu32 "; e++) element_sizes[e] = size_seen(element_sizes[e], element[e]);", unrolled(p),
                         of->elements);
    }
    begin_sums(p, of);
    hdst__write_line(&p->out, n->fast ? "sum[f][e] = fma(factor[f], element[e], sum[f][e]);" : "twofold_put(&sum[f][e], &low[f][e], factor[f] * element[e]);");
    end_sums(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_records(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    hdst__write_line(&p->out, "for (uint step = 0; step < there; step += %" PRIu32 ") {", nest->product->steps);
    p->out.indent++;
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    if (n->factor) print_factors(p, nest, n);
    print_elements(p, nest, n);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    print_step(p, nest, n);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

// --- Into the table ---

static void declare_turns(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    const ir_product *of = nest->product;
    if (n->factor)
        hdst__write_line(&p->out, "const %s %s = (%s)(first_factor + down * %" PRIu32 " + f);", n->factor_type, n->factor, n->factor_type, of->factors);
    hdst__write_line(&p->out, "const %s %s = (%s)(first_element + across + e * %" PRIu32 ");", n->element_type, n->element, n->element_type, of->across);
}

static void print_fast(hdst__printer *p, const ir_stmt *place, const tile_names *n, const char *otherwise)
{
    hdst__write_line(&p->out, "bool fits;");
    hdst__write_line(&p->out, "const long word = rounded_float(sum[f][e], %sUp, %d, &fits);", n->scale, HDST__GPU_PRODUCT_MOST_RECORDS);
    hdst__write_line(&p->out, "if (fits) {");
    p->out.indent++;
    hdst__print_add_word(p, place, 0, "word");
    p->out.indent--;
    hdst__write_line(&p->out, "} else %s", otherwise);
}

static void print_exact(hdst__printer *p, const ir_stmt *place, const tile_names *n, const char *otherwise)
{
    const char *down = hdst__arena_printf(p->arena, "%sDown", n->scale);
    hdst__write_line(&p->out, "if (twofold_fits(element_sizes[e], factor_sizes[f], %s * 0x1p40f, %s * 0x1p-17f)) {", down, down);
    p->out.indent++;
    hdst__print_twofold_words(p, place, "sum[f][e]", "low[f][e]");
    p->out.indent--;
    hdst__write_line(&p->out, "} else %s", otherwise);
}

// Sums that do not fit are made again, each addition with a test; of plain ones what they hold is taken.
static void print_again(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    const ir_product *of = nest->product;
    hdst__write_line(&p->out, "for (uint again = 0; again < %" PRIu32 " && rare >> again; again++) {", of->factors * of->elements);
    p->out.indent++;
    hdst__write_line(&p->out, "if (!(rare >> again & 1)) continue;");
    if (n->fast) {
        hdst__write_line(&p->out, "float taken = 0;");
        begin_sums(p, of);
        hdst__write_line(&p->out, "taken = again == f * %" PRIu32 " + e ? sum[f][e] : taken;", of->elements);
        end_sums(p);
    }
    hdst__write_line(&p->out, "const uint f = again / %" PRIu32 ", e = again %% %" PRIu32 ";", of->elements, of->elements);
    declare_turns(p, nest, n);
    hdst__print_cooperative_again(p, innermost_of(nest), n->fast ? "taken" : NULL);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_sums(hdst__printer *p, ir_stmt *nest, const tile_names *n)
{
    ir_stmt place = *n->add;
    place.home = IR_HOME_PLACE;
    const char *otherwise = hdst__arena_printf(p->arena, "rare |= 1UL << (f * %" PRIu32 " + e);", nest->product->elements);
    hdst__write_line(&p->out, "ulong rare = 0;");
    begin_sums(p, nest->product);
    declare_turns(p, nest, n);
    hdst__write_line(&p->out, "if (first_factor + down * %" PRIu32 " + f < %" PRIu64 " && %s < %" PRIu64 ") {", nest->product->factors, factors_of(nest),
                     n->element, nest->hi->bits);
    p->out.indent++;
    (n->fast ? print_fast : print_exact)(p, &place, n, otherwise);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    end_sums(p);
    print_again(p, nest, n);
}

static void print_tile(hdst__printer *p, ir_stmt *nest)
{
    const tile_names n = names_of(p, nest);
    const uint64_t tiles = hdst__product_element_tiles(nest);
    hdst__print_source_line(p, nest);
    hdst__write_line(&p->out, "const uint across = lane %% %" PRIu32 ", down = lane / %" PRIu32 ";", nest->product->across, nest->product->across);
    hdst__write_line(&p->out, "const uint first_factor = tile / %" PRIu64 " * %" PRIu64 ", first_element = tile %% %" PRIu64 " * %" PRIu64 ";", tiles,
                     lanes_down(p, nest) * nest->product->factors, tiles, element_width(nest));
    declare_sums(p, nest, &n);
    print_records(p, nest, &n);
    print_sums(p, nest, &n);
}

// --- The kernel ---

static void print_part(hdst__printer *p, ir_stmt *nest, const char *condition, uint64_t first)
{
    hdst__write_line(&p->out, "%s{", condition);
    p->out.indent++;
    hdst__write_line(&p->out, "const uint tile = item - %" PRIu64 ";", first);
    hdst__cooperative_in_nest(p, nest, print_tile);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_others(hdst__printer *p, const ir_block *body, uint64_t item)
{
    hdst__write_line(&p->out, "if (item == %" PRIu64 ") {", item);
    p->out.indent++;
    for (size_t i = 0; i < body->count; i++)
        if (body->items[i]->product && body->items[i]->product->beside) print_part(p, body->items[i], "", item);
    hdst__print_cooperative_rest(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_products(hdst__printer *p)
{
    const ir_block *body = &hdst__cooperative_func(p)->body;
    uint64_t items = 0;
    hdst__write_line(&p->out, "for (ulong base = start; base < stop; base += %d) {", HDST__GPU_PRODUCT_MOST_RECORDS);
    p->out.indent++;
    hdst__write_line(&p->out, "const uint there = (uint)min(stop - base, %dUL);", HDST__GPU_PRODUCT_MOST_RECORDS);
    for (size_t i = 0; i < body->count; i++) {
        const uint64_t tiles = tiles_of(p, body->items[i]);
        if (!tiles) continue;
        print_part(p, body->items[i], hdst__arena_printf(p->arena, "if (item >= %" PRIu64 " && item < %" PRIu64 ") ", items, items + tiles), items);
        items += tiles;
    }
    if (items < hdst__product_items(p)) print_others(p, body, items);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

const char *hdst__products_why(hdst__printer *p)
{
    const ir_func *loops = hdst__cooperative_func(p);
    hdst__writer why = {.arena = p->arena};
    hdst__write_line(&why, "wide sums: a kernel behind the records, %" PRIu32 " work-groups for a stretch of them, which has a table", hdst__product_items(p));
    for (size_t i = 0; i < loops->body.count; i++) {
        ir_stmt *nest = loops->body.items[i];
        if (!nest->product) continue;
        const ir_stmt *add = addition_of(nest);
        hdst__write_line(&why, "    %s.%s: a product of %" PRIu64 " factors by %" PRIu64 " elements of each record, %" PRIu32 " by %" PRIu32 " of a lane",
                         loops->params[add->param].name, loops->params[add->param].record->leaves[add->leaf].path, factors_of(nest), nest->hi->bits,
                         nest->product->factors, nest->product->elements);
    }
    return hdst__writer_text(&why);
}
