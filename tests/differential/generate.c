// SPDX-License-Identifier: Apache-2.0
// Whole programs: parameters, helpers, the function, and the description of gcc's layouts that the harness reads; and random data.
#include "generate.h"

#include "gen.h"

#include <inttypes.h>

// --- Parameters ---

static diff_law random_law(gen *g, diff_kind kind)
{
    if (gen_is_float(kind)) return (diff_law)gen_below(g, 3);
    if (kind == K_BOOL) return (diff_law)(L_AND + gen_below(g, 3));
    return (diff_law)gen_below(g, 6);
}

static void add_param(gen *g, int i)
{
    diff_param *p = &g->program->params[i];
    const bool accum = g->program->shape == DIFF_ACCUMULATING_MAP
                           ? i == 1 || gen_chance(g, 50)
                           : (g->program->shape == DIFF_MAP || g->program->shape == DIFF_FLAT_MAP) &&
                                 !g->options.only_map && gen_chance(g, 40);
    p->kind = accum ? DIFF_ACCUM : DIFF_BROADCAST;
    p->is_table = gen_chance(g, 60);
    p->rows = p->is_table ? 1 + (uint64_t)gen_below(g, 7) : 1;
    p->name = gen_user_name(g, accum ? "t" : "b");
    const bool record = gen_chance(g, 60);
    g->wide_row = accum && record && gen_chance(g, 35);
    if (record) g->row[i] = gen_new_record(g, gen_print(g, "row%d", i), !g->wide_row && gen_chance(g, 35));
    else g->scalar[i] = accum && gen_chance(g, 30) ? K_F32 : gen_kind(g);
    g->wide_row = false;
    g->program->row_name[i] = g->row[i] ? g->row[i]->hk : gen_c_type(g->scalar[i]);
    if (!accum) return;
    diff_kind kinds[DIFF_LEAVES] = {g->scalar[i]};
    uint64_t counts[DIFF_LEAVES] = {1};
    const int leaves = record ? gen_leaves_of(g->row[i], kinds, counts) : 1;
    const bool all_sums = gen_chance(g, 40);
    for (int l = 0; l < leaves; l++) {
        const bool sums = (all_sums && kinds[l] != K_BOOL) || (counts[l] > 8 && gen_is_float(kinds[l]));       // for gen_accumulate_elements
        p->law[l] = sums ? L_SUM : random_law(g, kinds[l]);
        // More rows than fit local memory when there is little of it.
        if (p->is_table && counts[l] >= 32 && g->row[i]->numbers < 200 && gen_chance(g, 50)) p->rows = 60;
    }
}

static const char *param_text(gen *g, int i)
{
    const diff_param *p = &g->program->params[i];
    return gen_print(g, ", %s %s %s%s", p->kind == DIFF_ACCUM ? "accum" : "broadcast", g->row[i] ? g->row[i]->hk : gen_c_type(g->scalar[i]), p->name,
                     p->is_table ? "[]" : "");
}

static void declare_params(gen *g)
{
    if (g->program->shape == DIFF_FOLD) g->symbol[g->symbol_count++] = (gen_symbol){.hk = g->right, .c = "(*right)", .record = g->in, .table = -1};
    g->symbol[g->symbol_count++] = (gen_symbol){.hk = g->left, .c = "(*in)", .record = g->in, .table = -1};
    for (int i = 1; i < g->program->param_count && !g->no_params; i++) {
        const diff_param *p = &g->program->params[i];
        if (p->kind == DIFF_ACCUM) continue;
        const char *base = gen_print(g, "b%d", i), *c = p->is_table ? base : gen_print(g, "%s[0]", base);
        g->symbol[g->symbol_count++] = (gen_symbol){.hk = p->name, .c = c, .kind = g->scalar[i], .record = g->row[i], .table = p->is_table ? i : -1};
        const char *type = g->row[i] ? gen_print(g, "struct %s", g->row[i]->c) : gen_c_type(g->scalar[i]);
        gen_c(g, "const %s *const %s = ctx->table[%d]; (void)%s;", type, base, i, base);
    }
}

// --- Functions ---

static void declare_constants(gen *g)
{
    const char *values = "";
    const int count = 3 + gen_below(g, 3);
    for (int i = 0; i < count; i++) values = gen_print(g, "%s%s%d.%df", values, i ? ", " : "", gen_below(g, 100), gen_below(g, 1000));
    const char *five = g->options.plain_names ? "FIVE" : gen_user_name(g, "FIVE"), *array = g->options.plain_names ? "K" : gen_user_name(g, "K");
    gen_hk(g, "enum { %s = 4, %s };", gen_user_name(g, "FOUR_"), five);
    gen_hk(g, "param uint32_t %s = 4;", g->four);
    gen_hk(g, "const float %s[%d] = { %s };", array, count, values);
    gen_c(g, "enum { p%" PRIu64 "_FIVE = 5 };", g->program->seed);
    gen_c(g, "static const float p%" PRIu64 "_K[%d] = { %s };", g->program->seed, count, values);
    g->symbol[g->symbol_count++] =
        (gen_symbol){.hk = array, .c = gen_print(g, "p%" PRIu64 "_K", g->program->seed), .kind = K_F32, .count = (uint64_t)count, .table = -1};
    g->symbol[g->symbol_count++] = (gen_symbol){.hk = five, .c = gen_print(g, "p%" PRIu64 "_FIVE", g->program->seed), .kind = K_I32, .table = -1};
}

static void make_helper(gen *g)
{
    gen_helper h = {
        .hk = gen_user_name(g, "h"), .c = gen_print(g, "p%" PRIu64 "_h%d", g->program->seed, g->helper_count), .result = gen_kind(g)};
    const int scope = gen_scope(g);
    h.param_count = gen_below(g, 3);
    h.array = h.param_count == 0 || gen_chance(g, 30) ? 3 + (uint64_t)gen_below(g, 3) : 0;
    const char *hk = "", *c = "diff_context *ctx";
    for (int i = 0; i < h.param_count; i++) {
        h.param[i] = gen_kind(g);
        const char *name = gen_name(g, "q"), *user = gen_user_name(g, "q");
        hk = gen_print(g, "%s%s%s %s", hk, i ? ", " : "", gen_c_type(h.param[i]), user);
        c = gen_print(g, "%s, %s %s", c, gen_c_type(h.param[i]), name);
        g->symbol[g->symbol_count++] = (gen_symbol){.hk = user, .c = name, .kind = h.param[i], .table = -1, .writable = true};
    }
    if (h.array) {
        const char *name = gen_name(g, "q"), *user = gen_user_name(g, "q");
        hk = gen_print(g, "%s%sfloat %s[%" PRIu64 "]", hk, h.param_count ? ", " : "", user, h.array);
        c = gen_print(g, "%s, const float *%s", c, name);
        g->symbol[g->symbol_count++] = (gen_symbol){.hk = user, .c = name, .kind = K_F32, .count = h.array, .table = -1};
    }
    gen_hk(g, "%s %s(%s)", gen_c_type(h.result), h.hk, hk);
    gen_hk(g, "{");
    gen_c(g, "static %s %s(%s)", gen_c_type(h.result), h.c, c);
    gen_c(g, "{");
    g->indent++;
    gen_c(g, "(void)ctx;");
    g->in_helper = g->no_params = true;
    g->returns = RETURN_VALUE;
    g->result = h.result;
    gen_block(g, 1 + gen_below(g, 4), 2);
    gen_return(g);
    g->in_helper = g->no_params = false;
    g->indent--;
    gen_hk(g, "}");
    gen_c(g, "}");
    gen_leave(g, scope);
    g->helper[g->helper_count++] = h;
}

static void function_body(gen *g, const char *name, int statements)
{
    const int scope = gen_scope(g);
    const bool fold = g->program->shape == DIFF_FOLD;
    gen_hk(g, "{");
    gen_c(g, "static void p%" PRIu64 "_%s(diff_context *ctx, const void *in_, %svoid *out_)", g->program->seed, name, fold ? "const void *right_, " : "");
    gen_c(g, "{");
    g->indent++;
    if (fold) gen_c(g, "const struct %s *const right = right_; (void)right;", g->in->c);
    gen_c(g, "const struct %s *const in = in_; (void)in;", g->in->c);
    if (g->returns == RETURN_RECORD) gen_c(g, "struct %s *const out = out_; (void)out;", g->out->c);
    else gen_c(g, "(void)out_;");
    declare_params(g);
    if (fold) gen_variable(g);
    const bool theme = g->program->theme && !strcmp(name, "f");
    gen_block(g, theme ? gen_chance(g, g->program->theme == DIFF_BY_KEY ? 90 : 75) ? 0 : 1 + gen_below(g, 3) : statements, 3);
    if (theme) gen_theme_body(g);
    if (g->returns == RETURN_NOTHING && !theme && gen_chance(g, 60)) gen_accumulate_row(g);
    if (g->returns == RETURN_NOTHING && !theme && gen_chance(g, 60)) gen_accumulate_elements(g);
    if (g->returns == RETURN_EMITS) gen_emit(g);
    else if (g->returns != RETURN_NOTHING) gen_return(g);
    g->indent--;
    gen_hk(g, "}");
    gen_c(g, "}");
    gen_leave(g, scope);
}

static void make_function(gen *g)
{
    static const char *const words[] = {"map", "map", "filter", "reduce", "flat_map"};
    const diff_shape shape = g->program->shape;
    const char *params = "", *out = shape == DIFF_MAP || shape == DIFF_FLAT_MAP ? gen_print(g, " -> %s", g->out->hk) : "";
    for (int i = 1; i < g->program->param_count; i++) params = gen_print(g, "%s%s", params, param_text(g, i));
    gen_hk(g, "%s %s(%s %s%s)%s", words[shape], g->program->f, g->in->hk, g->left, params, out);
    g->returns = shape == DIFF_MAP ? RETURN_RECORD : shape == DIFF_FLAT_MAP ? RETURN_EMITS : shape == DIFF_FILTER ? RETURN_KEEP : RETURN_NOTHING;
    g->emit_to = "ctx->emit";
    function_body(g, "f", g->options.statements ? g->options.statements : 4 + gen_below(g, 8));
}

// `m`, a map or flat_map of records of one type; whether it is the latter.
static bool make_first_map(gen *g)
{
    const bool flat = gen_chance(g, 40);
    const gen_record *out = g->out;
    gen_hk(g, "%s %s(%s %s) -> %s", flat ? "flat_map" : "map", g->program->m, g->in->hk, g->left, g->in->hk);
    g->returns = flat ? RETURN_EMITS : RETURN_RECORD;
    g->emit_to = gen_print(g, "p%" PRIu64 "_next", g->program->seed);
    g->out = g->in;
    function_body(g, "m", 1 + gen_below(g, 3));
    g->out = out;
    return flat;
}

// What `f` does with a record, and what comes before it.
static void write_chain(gen *g, bool flat)
{
    const diff_program *p = g->program;
    const uint64_t n = p->seed;
    gen_c(g, "static void p%" PRIu64 "_next(diff_context *ctx, const void *in)", n);
    gen_c(g, "{");
    if (p->shape == DIFF_MAP) gen_c(g, "    struct %s out; p%" PRIu64 "_f(ctx, in, &out); ctx->emit(ctx, &out);", g->out->c, n);
    else if (p->shape == DIFF_FILTER) gen_c(g, "    p%" PRIu64 "_f(ctx, in, 0); if (ctx->kept) ctx->emit(ctx, in);", n);
    else gen_c(g, "    p%" PRIu64 "_f(ctx, in, 0);", n);
    gen_c(g, "}");
    gen_c(g, "static void p%" PRIu64 "_run(diff_context *ctx, const void *in)", n);
    gen_c(g, "{");
    if (p->filtered) gen_c(g, "    p%" PRIu64 "_g(ctx, in, 0); if (!ctx->kept) return;", n);
    if (p->mapped && flat) gen_c(g, "    p%" PRIu64 "_m(ctx, in, 0);", n);
    else if (p->mapped) gen_c(g, "    struct %s between; p%" PRIu64 "_m(ctx, in, &between); p%" PRIu64 "_next(ctx, &between);", g->in->c, n, n);
    else gen_c(g, "    p%" PRIu64 "_next(ctx, in);", n);
    gen_c(g, "}");
}

// The stages before `f`, and the chain of all.
static void make_chain(gen *g)
{
    const diff_program *p = g->program;
    g->no_params = true;
    gen_c(g, "static void p%" PRIu64 "_next(diff_context *ctx, const void *in);", p->seed);
    if (p->filtered) {
        gen_hk(g, "filter %s(%s %s)", p->g, g->in->hk, g->left);
        g->returns = RETURN_KEEP;
        function_body(g, "g", 1 + gen_below(g, 3));
    }
    g->no_index = p->mapped && make_first_map(g);
    g->no_params = false;
    make_function(g);
    write_chain(g, g->no_index);
    if (p->shape == DIFF_FILTER) g->out = g->in;        // what it keeps are its input records, or those of `m`
}

// reduce f(item a, item b): each field by a law of its own. In C: every record accumulates into one row.
static void make_reduce(gen *g)
{
    static const char *const forms[] = {"%s.%s + %s.%s", "min(%s.%s, %s.%s)", "max(%s.%s, %s.%s)", "%s.%s & %s.%s", "%s.%s | %s.%s", "%s.%s ^ %s.%s"};
    diff_param *p = &g->program->params[1];
    const char *list = "";
    gen_c(g, "static void p%" PRIu64 "_run(diff_context *ctx, const void *in_)", g->program->seed);
    gen_c(g, "{");
    gen_c(g, "    const struct %s *const in = in_;", g->in->c);
    for (int i = 0; i < g->in->field_count; i++) {
        const gen_field *f = &g->in->field[i];
        const char *values = "";
        p->law[i] = random_law(g, f->kind);
        p->accumulated[i] = true;
        for (uint64_t e = 0; e < (f->count ? f->count : 1); e++) {
            const char *index = f->count ? gen_print(g, "[%" PRIu64 "]", e) : "", *path = gen_print(g, "%s%s", f->hk, index);
            const char *value = gen_print(g, forms[p->law[i]], g->left, path, g->right, path);
            values = gen_print(g, "%s%s%s", values, e ? ", " : "", value);
            gen_c(g, "    ctx->accumulate(ctx, 1, 0, %d, %" PRIu64 ", %s);", i, e, gen_pattern(g, gen_print(g, "in->%s%s", f->c, index), f->kind));
        }
        list = gen_print(g, f->count ? "%s%s.%s = { %s }" : "%s%s.%s = %s", list, i ? ", " : "", f->hk, values);
    }
    gen_c(g, "}");
    gen_hk(g, "reduce %s(%s %s, %s %s) { return (%s){ %s }; }", g->program->f, g->in->hk, g->left, g->in->hk, g->right, g->in->hk, list);
}

// A reduce that is no field-wise one: its body has a variable.
static void make_fold(gen *g)
{
    diff_program *p = g->program;
    p->ordered = gen_chance(g, 30);
    if (!p->ordered) gen_hk(g, gen_chance(g, 50) ? "associative" : "associative commutative");
    gen_hk(g, "reduce %s(%s %s, %s %s)", p->f, g->in->hk, g->left, g->in->hk, g->right);
    g->returns = RETURN_RECORD;
    g->no_index = true;
    g->out = g->in;
    function_body(g, "f", 1 + gen_below(g, 5));
}

static diff_shape random_shape(gen *g)
{
    return gen_chance(g, 6) ? DIFF_REDUCE : gen_chance(g, 6) ? DIFF_FOLD : gen_chance(g, 20) ? DIFF_FLAT_MAP : (diff_shape)gen_below(g, 3);
}

// All themes in turn, and no dice: all other programs are as they would be without themes.
static void choose_theme(diff_program *p, const diff_options *options)
{
    const uint64_t share = (uint64_t)options->themes, turn = p->seed * share / 100;
    if (options->arrays) {
        static const diff_shape shapes[] = {DIFF_ACCUMULATING_MAP, DIFF_ACCUMULATING_MAP, DIFF_MAP, DIFF_ACCUMULATING_MAP, DIFF_FLAT_MAP, DIFF_MAP};
        p->theme = (diff_theme)(DIFF_IN_TURN + p->seed % (DIFF_THEMES - DIFF_IN_TURN));
        p->turn = p->seed / (DIFF_THEMES - DIFF_IN_TURN);
        p->shape = shapes[p->turn * 5 / 2 % 6];
        return;
    }
    if (p->seed * share % 100 >= share) return;
    p->shape = DIFF_ACCUMULATING_MAP;
    p->theme = (diff_theme)(1 + turn % (DIFF_IN_TURN - 1));
    p->turn = turn / (DIFF_IN_TURN - 1);
}

static void make_params(gen *g)
{
    diff_program *p = g->program;
    p->params[0] = (diff_param){.kind = DIFF_RECORD, .name = g->left};
    if (p->shape == DIFF_REDUCE) {
        p->param_count = 2;
        p->params[1] = (diff_param){.kind = DIFF_ACCUM, .name = "result", .rows = 1};
        g->row[1] = g->in;
        return;
    }
    p->param_count = 1;
    if (p->shape == DIFF_FOLD) return;
    if (p->theme) {
        gen_theme_params(g);
        return;
    }
    p->param_count = 1 + (p->shape == DIFF_ACCUMULATING_MAP) + gen_below(g, gen_chance(g, 8) ? DIFF_PARAMS - 1 : 3);
    for (int i = 1; i < p->param_count; i++) add_param(g, i);
}

static void make_exports(gen *g)
{
    const diff_program *p = g->program;
    gen_c(g, "__attribute__((visibility(\"default\"))) const diff_exports p%" PRIu64 " = {", p->seed);
    gen_c(g, p->shape == DIFF_FOLD ? "    .fold = p%" PRIu64 "_f," : "    .run = p%" PRIu64 "_run,", p->seed);
    gen_c(g, "    .in_size = sizeof(struct %s), .in = {%s}, .in_leaves = %d,", g->in->c, gen_leaf_list(g, g->in), g->in->leaves);
    if (g->out) gen_c(g, "    .out_size = sizeof(struct %s), .out = {%s}, .out_leaves = %d,", g->out->c, gen_leaf_list(g, g->out), g->out->leaves);
    for (int i = 1; i < p->param_count; i++) {
        if (g->row[i])
            gen_c(g, "    .row_size[%d] = sizeof(struct %s), .row[%d] = {%s}, .row_leaves[%d] = %d,", i, g->row[i]->c, i,
                  gen_leaf_list(g, g->row[i]), i, g->row[i]->leaves);
        else
            gen_c(g, "    .row_size[%d] = sizeof(%s), .row[%d] = {{%d, 0, 1}}, .row_leaves[%d] = 1,", i, gen_c_type(g->scalar[i]), i, (int)g->scalar[i], i);
    }
    gen_c(g, "};");
}

static void name_program(gen *g)
{
    diff_program *p = g->program;
    const bool plain = g->options.plain_names;
    g->four = plain ? "FOUR" : gen_user_name(g, "FOUR");
    g->left = plain ? "a" : gen_user_name(g, "a");
    g->right = plain ? "b" : gen_user_name(g, "b");
    p->f = plain ? "f" : gen_user_name(g, "f");
    p->g = plain ? "g" : gen_user_name(g, "g");
    p->m = plain ? "m" : gen_user_name(g, "m");
}

diff_program *diff_generate(hdst__arena *arena, uint64_t seed, const diff_options *options)
{
    gen g = {.arena = arena, .random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1, .name_random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    if (options) g.options = *options;
    diff_program *p = g.program = HDST__NEW(arena, diff_program);
    hdst__buffer_init(&g.hk, NULL);
    hdst__buffer_init(&g.c, NULL);
    hdst__buffer_init(&g.yaml, NULL);
    p->seed = seed;
    p->shape = g.options.only_map ? DIFF_MAP : random_shape(&g);
    choose_theme(p, &g.options);
    const bool reduces = p->shape == DIFF_REDUCE || p->shape == DIFF_FOLD;
    g.floating = gen_chance(&g, 40);
    p->may_fail = !reduces && !g.options.no_faults && gen_chance(&g, 15);
    g.faults = p->may_fail;
    gen_hk(&g, "// program %" PRIu64, seed);
    p->filtered = !reduces && !g.options.only_map && gen_chance(&g, 20) && !(p->theme && seed / 4 % 4);    // few filters keep some and leave others out
    p->mapped = !reduces && !g.options.only_map && gen_chance(&g, 15);
    name_program(&g);
    gen_c(&g, "__attribute__((visibility(\"default\"))) extern const diff_exports p%" PRIu64 ";", seed);
    g.schema = !g.options.only_map && gen_chance(&g, 25);
    if (g.schema) gen_hk(&g, "import \"records.yaml\";");
    g.in = p->theme ? gen_theme_input(&g) : gen_new_record(&g, "item", p->shape != DIFF_REDUCE);
    if (p->shape == DIFF_MAP || p->shape == DIFF_FLAT_MAP) g.out = gen_new_record(&g, "result", true);
    p->in_name = g.in->hk;
    gen_paths_of(&g, g.in, p->in_path);
    if (g.out) p->out_name = g.out->hk, gen_paths_of(&g, g.out, p->out_path);
    make_params(&g);
    declare_constants(&g);
    if (p->shape == DIFF_REDUCE) {
        make_reduce(&g);
    } else {
        for (int helpers = gen_below(&g, 3); helpers > 0; helpers--) make_helper(&g);
        if (p->shape == DIFF_FOLD) make_fold(&g);
        else make_chain(&g);
    }
    make_exports(&g);
    p->hk = hdst__arena_strdup(arena, hdst__buffer_text(&g.hk));
    p->c = hdst__arena_strdup(arena, hdst__buffer_text(&g.c));
    if (g.schema) p->yaml = hdst__arena_printf(arena, "params: [%s]\nrecords:\n%s", g.four, hdst__buffer_text(&g.yaml));
    hdst__buffer_destroy(&g.yaml);
    hdst__buffer_destroy(&g.hk);
    hdst__buffer_destroy(&g.c);
    return p;
}

// --- Data ---

// What exact sums keep in a few words: multiples of 1/256.
static double tame_real(gen *g) { return (gen_below(g, 4096) - 2048) / 256.0; }

enum { FEW = 150 };     // one in so many

static double random_real(gen *g, bool single)
{
    const bool finite = g->reals == DIFF_FEW_FINITE;
    if (g->reals == DIFF_TAME || (g->reals != DIFF_ALL_REALS && gen_below(g, FEW))) return tame_real(g);
    switch (gen_below(g, 12)) {
    case 0: return gen_chance(g, 50) ? 0.0 : -0.0;
    case 1: return gen_below(g, 20) - 10;
    case 2: return single ? float_of((uint32_t)gen_next(g) & 0x807fffff) : double_of(gen_next(g) & UINT64_C(0x800fffffffffffff));    // denormals
    case 3:                                                                                                 // anything
        if (finite) return tame_real(g);
        return single ? float_of((uint32_t)gen_next(g)) : double_of(gen_next(g));
    case 4: return finite || gen_chance(g, 60) ? 1e5 * gen_below(g, 100) : gen_chance(g, 50) ? INFINITY : gen_chance(g, 50) ? -INFINITY : NAN;
    default: return ((double)(gen_next(g) >> 11) * 0x1p-53 - 0.5) * 16;
    }
}

static uint64_t random_integer(gen *g, diff_kind kind)
{
    const unsigned bits[] = {1, 8, 16, 32, 64, 8, 16, 32, 64};
    const uint64_t edge[] = {0, 1, UINT64_MAX, UINT64_C(1) << (bits[kind] - 1), (UINT64_C(1) << (bits[kind] - 1)) - 1, 2, 100};
    if (kind == K_BOOL) return gen_next(g) & 1;
    switch (gen_below(g, 4)) {
    case 0: return gen_next(g);
    case 1: return edge[gen_below(g, 7)];
    default: return (uint64_t)(int64_t)(gen_below(g, 40) - 10);
    }
}

// NaNs of either sign, quiet and signalling, with payloads; as bits, for a conversion would make signalling ones quiet.
static uint64_t random_nan(gen *g, bool single)
{
    const uint64_t quiet = single ? UINT64_C(1) << 22 : UINT64_C(1) << 51, sign = single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    const uint64_t payload[] = {0, 1, quiet - 1, gen_next(g) & (quiet - 1)};
    uint64_t bits = (single ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000)) | payload[gen_below(g, 4)] | (gen_chance(g, 50) ? sign : 0);
    if (gen_chance(g, 60) || !(bits & (quiet - 1))) bits |= quiet;
    return bits;
}

static bool is_nan(gen *g)
{
    if (g->reals == DIFF_ALL_REALS) return gen_chance(g, 8);
    return g->reals == DIFF_FEW_ODD && !gen_below(g, FEW) && gen_chance(g, 50);
}

static uint64_t random_bits(gen *g, diff_kind kind)
{
    const bool single = kind == K_F32;
    if (!gen_is_float(kind)) return random_integer(g, kind);
    if (is_nan(g)) return random_nan(g, single);
    const double real = random_real(g, single);
    const float rounded = (float)real;
    uint64_t bits = 0;
    memcpy(&bits, single ? (const void *)&rounded : &real, single ? sizeof rounded : sizeof real);
    return bits;
}

static void fill_one(gen *g, const diff_leaf *leaf, char *to)
{
    static const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    const uint64_t bits = random_bits(g, leaf->kind);
    memcpy(to, &bits, sizes[leaf->kind]);           // little-endian hosts
}

void diff_fill(uint64_t seed, diff_reals reals, const diff_leaf *leaves, int leaf_count, size_t size, uint64_t count, void *records)
{
    gen g = {.random = seed, .reals = reals};
    memset(records, 0, size * count);
    for (uint64_t i = 0; i < count; i++)
        for (int l = 0; l < leaf_count; l++)
            for (size_t e = 0; e < leaves[l].count; e++) fill_one(&g, &leaves[l], (char *)records + i * size + diff_leaf_at(&leaves[l], e));
}
