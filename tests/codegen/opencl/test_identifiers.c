// SPDX-License-Identifier: Apache-2.0
// Names of users and of generated text cannot meet: programs whose names are the words that generated text is made
// of, each in every role, give the kernels that other names give. Kernels are compared token by token: words that are
// none of the program's are the same, those of the program stand for each other one to one. So a name that meant
// something to a kernel, or met another, would show; what such kernels compute is looked at in test_kernel_text.c.
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "codegen/opencl/identifiers.h"
#include "accum/tables.h"
#include "tests/support/words.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(names, .init = set_up, .fini = tear_down);

// --- The three spaces ---

typedef enum space { OF_TEXT, OF_PROGRAM, MADE_OF_PROGRAM } space;

static bool is_hash(const char *tail)
{
    for (int i = 0; i < 8; i++)
        if (!isdigit((unsigned char)tail[i]) && !(tail[i] >= 'a' && tail[i] <= 'f')) return false;
    return !tail[8] || tail[8] == '_';
}

static space space_of(const char *word)
{
    if (!isalpha((unsigned char)word[0])) return OF_TEXT;
    if (word[strlen(word) - 1] == '_') return OF_PROGRAM;
    const char *tail = strrchr(word, '_');
    if (tail && isupper((unsigned char)tail[1]) && islower((unsigned char)tail[2])) return MADE_OF_PROGRAM;
    for (const char *at = strchr(word, '_'); at; at = strchr(at + 1, '_'))
        if (strlen(at) > 8 && is_hash(at + 1)) return MADE_OF_PROGRAM;
    return OF_TEXT;
}

Test(names, names_that_are_taken_differ_and_are_spelled_as_the_programs)
{
    static const char *const wanted[] = {"a_b",   "a__b", "_a_b",   "a_b_",       "a.b",   "a[b]", "a_b_2",
                                         "a_b_3", "_",    "__",     "",           "2x",    "x2",   "v2x",
                                         "At",    "a_At", "a_b_At", "p_0011aaff", "LANES", "for",  "float4",
                                         "a_b",   "a b",  "x",      "x_2",        "x_2_",  "x",    "x"};
    hdst__names *outer = hdst__names_create(&arena, NULL);
    words taken = {0};
    for (int scope = 0; scope < 3; scope++) {
        hdst__names *names = scope ? hdst__names_create(&arena, outer) : outer;
        const size_t before = taken.count;
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            const char *name = hdst__name_take(names, wanted[i]);
            cr_expect_eq(space_of(name), OF_PROGRAM, "'%s' became '%s'", wanted[i], name);
            cr_expect_null(strstr(name, "__"), "%s", name);
            cr_expect_not(words_has(&taken, name), "'%s' became '%s', which somebody has", wanted[i], name);
            words_add(&arena, &taken, name);
        }
        if (scope) taken.count = before;        // scopes beside each other may use the same names
    }
    cr_expect_str_eq(hdst__name_take(hdst__names_create(&arena, NULL), "best"), "best_");
}

Test(names, no_word_of_a_template_is_spelled_as_the_programs)
{
    words all = {0};
    words_add_templates(&arena, &all);
    cr_assert_gt(all.count, 500);
    for (size_t i = 0; i < all.count; i++) cr_expect_eq(space_of(all.items[i]), OF_TEXT, "%s", all.items[i]);
}

// --- Kernels of all forms ---

// What programs.hk lacks: sums over rows of records, sums in registers; and every role once: here each word stands in each place.
static const char more_programs[] =
    "param uint32_t SIZE_OF = 3;\n"
    "enum { NONE, SOME };\n"
    "const double shares[3] = { 0.25, 0.5, 0.75 };\n"
    "double share(double of, uint32_t at) { double all = 0; for (uint32_t n = 0; n < SIZE_OF; n++) { "
    "if (n == at) continue; all += of * shares[n]; } return all; }\n"
    "struct image { float pixel[40]; float label; };\n"
    "struct layer { float weight[10][40]; float bias[10]; };\n"
    "map learn(image i, broadcast layer old, accum layer now)\n"
    "{\n"
    "    float error[10];\n"
    "    for (uint32_t u = 0; u < 10; u++) { float z = dot(old.weight[u], i.pixel) + old.bias[u]; "
    "error[u] = z - i.label; }\n"
    "    for (uint32_t u = 0; u < 10; u++) { "
    "for (uint32_t k = 0; k < 40; k++) now.weight[u][k] += error[u] * i.pixel[k]; now.bias[u] += error[u]; }\n"
    "}\n"
    "struct pair { float a, b; double c; };\n"
    "map moments(pair p, accum float t, accum double s, accum double q) { float moved = p.a * 2.0f + 1.0f; "
    "t += moved; s += p.a * p.b; q += p.c * p.c; }\n"
    "map parted(pair p, accum double s, accum uint64_t kept) { if (p.c < SOME) return; s += share(p.c, NONE); "
    "kept += 1; }\n"
    "struct visit { uint32_t who; float spent; };\n"
    "struct bill { float spent; uint64_t times; };\n"
    "map charge(visit v, accum bill bills[]) { bills[v.who].spent += v.spent; bills[v.who].times += 1; }\n"
    "map both(pair p) -> pair { return (pair){ .a = p.b, .b = p.a, .c = p.c }; }\n"
    "reduce widest(pair l, pair r) { return (pair){ .a = min(l.a, r.a), .b = max(l.b, r.b), .c = l.c * r.c }; }\n";

// Words that mean something in these programs, whoever is to have a name: they stay. Those for kinds of functions too:
// a helper whose result is a record called `group` would be a group.
static const char of_language[] =
    "param const struct enum map filter reduce flat_map group join associative commutative import "
    "broadcast accum return if else for while do switch case default break continue emit true false "
    "bool int float double int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t text INFINITY "
    "abs sqrt min max sum dot len isnan record_index acc_min acc_max ";

typedef enum role { NO_ROLE, LOCAL, PARAMETER, FIELD, FUNCTION, RECORD, CONSTANT, ROLES } role;

typedef struct program {
    words tokens;               // of the source
    const char **space;         // what stands in front of each
    words names;                // of the user
} program;

static const char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    char *text = hdst__arena_alloc(&arena, 1 << 20);
    text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static program read_program(const char *text)
{
    program p = {.tokens = words_tokens(&arena, text)};
    words language = {0};
    words_add_identifiers(&arena, &language, of_language);
    for (size_t i = 0; i < p.tokens.count; i++)
        if (words_is_identifier(p.tokens.items[i]) && !words_has(&language, p.tokens.items[i])) words_add(&arena, &p.names, p.tokens.items[i]);
    return p;
}

// The program with another name for each of the user's.
static const char *renamed(hdst__arena *to, const program *p, const words *names)
{
    size_t bytes = 1, at = 0;
    const char **text = HDST__NEW_ARRAY(to, const char *, p->tokens.count);
    for (size_t i = 0; i < p->tokens.count; i++) {
        text[i] = p->tokens.items[i];
        for (size_t n = 0; n < p->names.count; n++)
            if (text[i][0] == p->names.items[n][0] && !strcmp(text[i], p->names.items[n])) {
                text[i] = names->items[n];
                break;
            }
        bytes += strlen(text[i]) + 1;
    }
    char *all = hdst__arena_alloc(to, bytes);
    for (size_t i = 0; i < p->tokens.count; i++) {
        const size_t length = strlen(text[i]);
        memcpy(all + at, text[i], length);
        at += length;
        const char *next = i + 1 < p->tokens.count ? p->tokens.items[i + 1] : "";
        // Operators of several characters came apart.
        const bool joined = ispunct((unsigned char)text[i][0]) && ispunct((unsigned char)next[0]) &&
                            strchr("<>=!&|+-*/%^", text[i][0]) && strchr("<>=&|+-", next[0]) && text[i][0] != ')';
        if (!joined) all[at++] = ' ';
        if (strchr(";{}", text[i][0])) all[at - 1] = '\n';
    }
    return all;
}

// How a kernel is made: what printers do differently.
typedef struct setting {
    hdst__target target;
    hdst__layout layout;
    hdst__precision_class precision;
    uint64_t rows;
    bool fast_sums, first_level, parts, portable, no_blocks;
} setting;

static const setting settings[] = {
    {HDST__TARGET_GPU, HDST__AOS, HDST__CLASS_ONE_WORD, 5, false, false, false, false, false},
    {HDST__TARGET_CPU, HDST__AOS, HDST__CLASS_ONE_WORD, 5, false, false, false, false, false},
    {HDST__TARGET_GPU, HDST__SOA, HDST__CLASS_TWO_WORDS, 300, false, false, false, true, false},
    {HDST__TARGET_CPU, HDST__AOSOA, HDST__CLASS_TWO_WORDS, 300, false, false, false, false, false},
    {HDST__TARGET_GPU, HDST__AOSOA, HDST__CLASS_ONE_WORD, 1 << 20, false, false, true, false, false},
    {HDST__TARGET_CPU, HDST__SOA, HDST__CLASS_ONE_WORD, 1 << 20, false, true, false, true, false},
    {HDST__TARGET_GPU, HDST__AOP, HDST__CLASS_ONE_WORD, 100000, true, false, true, false, false},
    {HDST__TARGET_CPU, HDST__AOP, HDST__CLASS_ONE_WORD, 5, true, false, false, false, false},
    {HDST__TARGET_GPU, HDST__AOS, HDST__CLASS_SUPERACCUMULATOR, 5, false, false, false, false, true},
    {HDST__TARGET_CPU, HDST__AOS, HDST__CLASS_SUPERACCUMULATOR, 5, false, false, false, false, true},
};
enum { SETTINGS = sizeof settings / sizeof *settings, MOST_KERNELS = 80 };

static const hdst__kernel *make(hdst__arena *to, const ast_function *function, const ir_func *func, const setting *s, hdst__diags *diags)
{
    const hdst__record *record = func->params[0].record;
    uint64_t *rows = HDST__NEW_ARRAY(to, uint64_t, func->param_count + 1);
    for (size_t i = 0; i < func->param_count; i++) rows[i] = func->params[i].is_table ? s->rows : 1;
    const size_t sums = hdst__ir_accum_tables(to, func, NULL)->scale_count;
    hdst__precision_class *classes = HDST__NEW_ARRAY(to, hdst__precision_class, sums + 1);
    for (size_t i = 0; i < sums; i++) classes[i] = s->precision;
    const hdst__kernel_options options = {.facts = {s->target, 48 << 10, 1024, 2, true, true, true, s->portable},
                                          .input = hdst__storage_make(to, record, s->layout, 64, 1 << 20),
                                          .rows = rows, .classes = classes, .first_level = s->first_level,
                                          .fixed_point_bits = s->parts ? 40 : 0, .may_take_tuples = s->parts,
                                          .fast_sums = s->fast_sums, .no_blocks = s->no_blocks};
    const bool folds = function->kind == AST_REDUCE && function->reduce_class != AST_FIELD_WISE;
    return folds ? hdst__kernel_make_fold(to, func, &options, diags) : hdst__kernel_make(to, func, &options, diags);
}

// The kernels of all functions of the program in its order; helpers have none.
static size_t make_all(hdst__arena *to, const char *text, const setting *s, const char *source[MOST_KERNELS])
{
    hdst__diags *diags = HDST__NEW(to, hdst__diags);
    hdst__diags_init(diags, to);
    ast_module *module = hdst__module_compile(diags, "names.hk", text, strlen(text), &(hdst__front_options){0});
    cr_assert_eq(diags->errors, 0, "%s: %s\n%s", diags->items[0].message, diags->items[0].hint ? diags->items[0].hint : "", text);
    size_t count = 0;
    for (size_t f = 0; f < module->function_count; f++) {
        ir_func *func = hdst__lower(to, module, module->functions[f]);
        if (!func) continue;
        cr_assert_null(hdst__passes_scalar(func));
        const hdst__kernel *kernel = make(to, module->functions[f], func, s, diags);
        cr_assert_not_null(kernel, "%s", diags->errors ? diags->items[0].message : "");
        cr_assert_lt(count, MOST_KERNELS);
        source[count++] = kernel->source;
    }
    return count;
}

// --- Whether two kernels are one but for the program's names ---

typedef struct partner {
    const char *first, *second;
    bool gone;                  // its scope ended
} partner;

typedef struct partners {
    hdst__name_map of_first, of_second;
    partner **items;            // in the order in which they met
    size_t *scope;              // by depth of braces: how many had met before
    size_t count, capacity, depth;
} partners;

static partner *partner_in(const hdst__name_map *map, const char *name)
{
    partner *found = hdst__name_map_find(map, name);
    return found && !found->gone ? found : NULL;
}

// A map has no way to forget: what is gone is overwritten.
static partner *enter(hdst__arena *to, hdst__name_map *map, const char *name, const partner *value)
{
    partner *entry = hdst__name_map_find(map, name);
    if (!entry) {
        entry = HDST__NEW(to, partner);
        hdst__name_map_add(map, to, name, entry);
    }
    *entry = *value;
    return entry;
}

static bool are_partners(hdst__arena *to, partners *all, const char *first, const char *second)
{
    const partner *of_first = partner_in(&all->of_first, first), *of_second = partner_in(&all->of_second, second);
    if (of_first || of_second) return of_first && of_second && !strcmp(of_first->second, second) && !strcmp(of_second->first, first);
    const partner value = {first, second, false};
    HDST__PUSH(to, all->items, all->count, all->capacity, enter(to, &all->of_first, first, &value));
    HDST__PUSH(to, all->items, all->count, all->capacity, enter(to, &all->of_second, second, &value));
    return true;
}

enum { MOST_DEPTH = 200 };

// Variables of forms that stand beside each other may share a name.
static void follow_scope(partners *all, const char *token)
{
    if (*token == '{') all->scope[++all->depth] = all->count;
    if (*token != '}' || all->depth == 0) return;
    const size_t before = all->scope[all->depth--];
    while (all->count > before) all->items[--all->count]->gone = true;
}

static bool is_same_kernel(hdst__arena *to, const words *first, const words *second, size_t *where)
{
    partners all = {.scope = HDST__NEW_ARRAY(to, size_t, MOST_DEPTH)};
    for (*where = 0; *where < first->count && *where < second->count; ++*where) {
        const char *a = first->items[*where], *b = second->items[*where];
        const space of = space_of(a);
        if (of != space_of(b) || (of == OF_TEXT ? strcmp(a, b) != 0 : !are_partners(to, &all, a, b))) return false;
        follow_scope(&all, a);
    }
    return first->count == second->count;
}

static const char *around(const words *tokens, size_t at)
{
    const char *text = "";
    for (size_t i = at < 12 ? 0 : at - 12; i < tokens->count && i < at + 6; i++) text = hdst__arena_printf(&arena, "%s %s", text, tokens->items[i]);
    return text;
}

typedef struct plain {          // the kernels of a setting where every name is a zebra
    words *kernel;
    size_t count;
} plain;

static words zebras(size_t count)
{
    words names = {0};
    for (size_t i = 0; i < count; i++) words_add(&arena, &names, hdst__arena_printf(&arena, "zebra%c%c", (char)('a' + i / 26 % 26), (char)('a' + i % 26)));
    return names;
}

static plain plain_kernels(const program *p, const setting *s, words *pool)
{
    const words names = zebras(p->names.count);
    const char *source[MOST_KERNELS];
    plain all = {.count = make_all(&arena, renamed(&arena, p, &names), s, source)};
    all.kernel = HDST__NEW_ARRAY(&arena, words, all.count);
    for (size_t k = 0; k < all.count; k++) {
        all.kernel[k] = words_tokens(&arena, source[k]);
        words_add_identifiers(&arena, pool, source[k]);
    }
    // Names that the program has by itself, as they come out.
    const size_t own = make_all(&arena, renamed(&arena, p, &p->names), s, source);
    for (size_t k = 0; k < own; k++) words_add_identifiers(&arena, pool, source[k]);
    return all;
}

static void expect_same(const program *p, const words *names, const setting *s, const plain *expected)
{
    jmp_buf failed;
    hdst__arena own;
    cr_assert_eq(setjmp(failed), 0);
    hdst__arena_init(&own, NULL, &failed);
    const char *source[MOST_KERNELS];
    const size_t count = make_all(&own, renamed(&own, p, names), s, source);
    cr_assert_eq(count, expected->count);
    for (size_t k = 0; k < count; k++) {
        size_t where;
        const words tokens = words_tokens(&own, source[k]);
        cr_expect(is_same_kernel(&own, &tokens, &expected->kernel[k], &where),
                  "kernel %zu of setting %td:\n"
                  "%s\n"
                  "where other names give\n"
                  "%s",
                  k, s - settings, around(&tokens, where), around(&expected->kernel[k], where));
    }
    hdst__arena_destroy(&own);
}

// Whether somebody may be called so, whatever it is.
static bool is_a_name(const char *word)
{
    static const char text[] =
        "struct zebra_r { float NAME; }; struct zebra_s { double NAME; }; struct zebra_i { int32_t NAME; }; "
        "struct zebra_u { uint64_t NAME; };\n"
        "map zebra_f(zebra_r NAME, accum float zebra_t) { float zebra_x = NAME.NAME; zebra_t += zebra_x; }\n"
        "float NAME(float zebra_x) { return zebra_x; }\n"
        "map zebra_g(zebra_r zebra_q, accum float zebra_t) { int32_t NAME = 3; "
        "zebra_t += (NAME & 1) * zebra_q.NAME; }\n"
        "struct NAME { float zebra_x; };\n"
        "map zebra_h(NAME zebra_q, accum float NAME) { NAME += zebra_q.zebra_x; }\n";
    jmp_buf failed;
    hdst__arena own;
    cr_assert_eq(setjmp(failed), 0);
    hdst__arena_init(&own, NULL, &failed);
    program p = {.tokens = words_tokens(&own, text)};
    words names = {0};
    words_add(&own, &p.names, "NAME");
    words_add(&own, &names, word);
    const char *source = renamed(&own, &p, &names);
    hdst__diags diags;
    hdst__diags_init(&diags, &own);
    hdst__module_compile(&diags, "name.hk", source, strlen(source), &(hdst__front_options){0});
    const bool good = diags.errors == 0;
    hdst__arena_destroy(&own);
    return good;
}

// Words that are spelled as the program's and are no zebras: variables of passes, whose names were taken. What a
// printer writes so by itself meets a user's of that name.
static words names_of_passes(const words *all)
{
    words names = {0}, language = {0};
    words_add_identifiers(&arena, &language, of_language);
    for (size_t i = 0; i < all->count; i++) {
        const char *word = all->items[i];
        if (space_of(word) != OF_PROGRAM || strstr(word, "zebra")) continue;
        const char *name = hdst__arena_strndup(&arena, word, strlen(word) - 1);
        if (!words_has(&language, name) && is_a_name(name)) words_add(&arena, &names, name);
    }
    return names;
}

// Every name in every place of the program's asks nothing of memory that some in each place do not.
#ifdef __SANITIZE_ADDRESS__
enum { SPARSE = 23, STEP = 4 * 23 };       // each setting has a round
#else
enum { SPARSE = 1, STEP = 23 };
#endif

// Of `step` rounds, one: a name stands in every step-th place of the program's. And names of passes, if asked.
static void check_program(const char *text, size_t step, bool temporaries)
{
    const program p = read_program(text);
    plain expected[SETTINGS];
    words all = {0}, pool = {0}, refused = {0};
    words_add_templates(&arena, &all);
    words_add_identifiers(
        &arena, &all,
        "turns lost moved t_value_sum0 half kernel global local constant private image2d_t sampler_t event_t "
        "barrier get_local_id fmax vload4 main M_PI NULL");
    for (size_t s = 0; s < SETTINGS; s++) expected[s] = plain_kernels(&p, &settings[s], &all);
    words language = {0};
    words_add_identifiers(&arena, &language, of_language);
    for (size_t i = 0; i < all.count; i++)
        if (!strstr(all.items[i], "zebra")) words_add(&arena, !words_has(&language, all.items[i]) && is_a_name(all.items[i]) ? &pool : &refused, all.items[i]);
    cr_assert_gt(pool.count, 1000);
    cr_expect_leq(refused.count, 60, "names that the language has for itself");
    size_t turn = 0;
    for (size_t start = 0; start < pool.count; start += step, turn++) {
        words names = {0};
        for (size_t n = 0; n < p.names.count; n++) words_add(&arena, &names, pool.items[(start + n) % pool.count]);
        expect_same(&p, &names, &settings[turn % SETTINGS], &expected[turn % SETTINGS]);
    }
    const words temporary = names_of_passes(&all);
    for (size_t start = 0; temporaries && start < temporary.count * SETTINGS; start += 3 * SPARSE) {
        words names = zebras(p.names.count);
        for (size_t n = 0; n < p.names.count && n < temporary.count; n++) names.items[n] = temporary.items[(start / SETTINGS + n) % temporary.count];
        expect_same(&p, &names, &settings[start % SETTINGS], &expected[start % SETTINGS]);
    }
}

Test(names, kernels_of_every_construct_do_not_depend_on_names) { check_program(file_text(HDST_PROGRAMS), STEP, false); }
Test(names, every_word_of_generated_text_may_be_the_name_of_anything) { check_program(more_programs, SPARSE, true); }
