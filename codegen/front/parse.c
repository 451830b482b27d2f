// SPDX-License-Identifier: Apache-2.0
// The file level of the parser: imports, parameters, constants, records, functions; and the small tools that all of the parser uses.
#include "codegen/front/parse.h"

#include <string.h>

// --- Tools ---

const hdst__token *hdst__parse_peek(const hdst__parser *p, size_t ahead)
{
    const hdst__token *token = &p->tokens[p->at];
    while (ahead-- > 0 && token->kind != TOKEN_END) token++;
    return token;
}

bool hdst__parse_is(const hdst__parser *p, hdst__token_kind kind) { return p->tokens[p->at].kind == kind; }

static bool is_name(const hdst__parser *p, size_t ahead, const char *name)
{
    const hdst__token *token = hdst__parse_peek(p, ahead);
    return token->kind == TOKEN_NAME && !strcmp(token->text, name);
}

bool hdst__parse_accept(hdst__parser *p, hdst__token_kind kind)
{
    if (p->panic || p->tokens[p->at].kind != kind) return false;
    if (kind != TOKEN_END) p->at++;
    return true;
}

void hdst__parse_error(hdst__parser *p, hdst__span span, const char *hint, const char *format, ...)
{
    if (p->panic) return;
    p->panic = true;
    va_list args;
    va_start(args, format);
    hdst__diag_error(p->diags, span, hint, "%s", hdst__arena_vprintf(p->arena, format, args));
    va_end(args);
}

static bool on_new_line(const hdst__parser *p, const hdst__token *before, const hdst__token *after)
{
    const char *text = p->diags->sources[after->span.source].text;
    for (size_t i = before->span.offset + before->span.length; i < after->span.offset; i++)
        if (text[i] == '\n') return true;
    return after->kind == TOKEN_END;
}

// A ';' that is missing at the end of a line is reported there, and parsing goes on as if it were there.
static bool forgotten_semicolon(hdst__parser *p, const char *why)
{
    const hdst__token *before = &p->tokens[p->at - 1];
    if (!on_new_line(p, before, &p->tokens[p->at])) return false;
    hdst__span end = {before->span.source, before->span.offset + before->span.length, 0};
    hdst__parse_error(p, end, NULL, "expected ';'%s%s", *why ? " " : "", why);
    p->panic = false;
    return true;
}

bool hdst__parse_expect(hdst__parser *p, hdst__token_kind kind, const char *why)
{
    if (p->panic) return false;
    if (hdst__parse_accept(p, kind)) return true;
    if (kind == TOKEN_SEMICOLON && p->at > 0 && forgotten_semicolon(p, why)) return true;
    const hdst__token *found = &p->tokens[p->at];
    hdst__parse_error(p, found->span, hdst__parse_instead(p, found), "expected %s%s%s, found %s", hdst__token_name(kind), *why ? " " : "", why,
                      hdst__parse_found(p, found));
    return false;
}

// Takes a name and gives its text; "" after an error.
static const char *type_word(hdst__parser *p, const char *what, hdst__span *span)
{
    const hdst__token *token = &p->tokens[p->at];
    *span = token->span;
    if (hdst__parse_accept(p, TOKEN_NAME)) return token->text;
    if (token->kind >= TOKEN_IF)
        hdst__parse_error(p, token->span, NULL, "expected %s; %s is a word of the language", what, hdst__token_name(token->kind));
    else
        hdst__parse_error(p, token->span, NULL, "expected %s, found %s", what, hdst__parse_found(p, token));
    return "";
}

// Takes a name that is no scalar type: a variable called float could be declared, but `(float & 1)` would be read as a cast. (In
// `acum float t` float is the type, after a word too many.)
const char *hdst__parse_name(hdst__parser *p, const char *what, hdst__span *span)
{
    const hdst__token *token = &p->tokens[p->at];
    if (!hdst__parse_is_type_word(token) || hdst__parse_peek(p, 1)->kind == TOKEN_NAME) return type_word(p, what, span);
    hdst__parse_error(p, token->span, NULL, "expected %s; '%s' is the name of a type", what, token->text);
    *span = token->span;
    return "";
}

bool hdst__parse_enter(hdst__parser *p)
{
    if (p->depth >= HDST__NESTING_LIMIT) {
        hdst__parse_error(p, p->tokens[p->at].span, "split it into statements or helper functions", "this is nested more than %d deep", HDST__NESTING_LIMIT);
        return false;
    }
    p->depth++;
    return true;
}

void hdst__parse_leave(hdst__parser *p) { p->depth--; }

hdst__span hdst__span_join(hdst__span a, hdst__span b)
{
    if (a.source != b.source || b.offset < a.offset) return a;
    return (hdst__span){a.source, a.offset, b.offset + b.length - a.offset};
}

hdst__span hdst__parse_since(const hdst__parser *p, size_t first)
{
    return p->at > first ? hdst__span_join(p->tokens[first].span, p->tokens[p->at - 1].span) : p->tokens[first].span;
}

bool hdst__parse_refused_word(hdst__parser *p)
{
    const hdst__token *token = &p->tokens[p->at];
    const char *hint;
    switch (token->kind) {
    case TOKEN_GOTO: hint = "use if, loops, break, continue and return"; break;
    case TOKEN_SIZEOF: hint = "len(x) is the number of elements of an array and of rows of a table"; break;
    case TOKEN_TYPEDEF: hint = "declare a record: struct name { ... };"; break;
    case TOKEN_UNION: hint = "to read the bits of a number as another type use as_uint, as_float ..."; break;
    case TOKEN_STATIC: case TOKEN_EXTERN: hint = "functions and constants of a file are seen by the files that import it"; break;
    case TOKEN_INLINE: hint = "every helper function is inlined"; break;
    case TOKEN_VOLATILE: case TOKEN_REGISTER: case TOKEN_AUTO: case TOKEN_RESTRICT: hint = "leave it out"; break;
    default: return false;
    }
    hdst__parse_error(p, token->span, hint, "there is no %s in the kernel language", hdst__token_name(token->kind));
    return true;
}

// --- Types ---

static bool is_base_word(const hdst__parser *p)     // words that C lets one combine: unsigned int, long long
{
    static const char *const base[] = {"unsigned", "signed", "long", "short", "int", "char", "double"};
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        if (is_name(p, 0, base[i])) return true;
    return false;
}

ast_type_name *hdst__parse_type_name(hdst__parser *p)
{
    ast_type_name *type = HDST__NEW(p->arena, ast_type_name);
    size_t first = p->at;
    type->name = "";
    if (hdst__parse_refused_word(p)) return type;
    bool combined = is_base_word(p);
    if (hdst__parse_accept(p, TOKEN_STRUCT)) type->after_struct = true;
    type->name = type_word(p, "a type", &type->span);
    while (combined && !p->panic && is_base_word(p)) type->name = hdst__arena_printf(p->arena, "%s %s", type->name, p->tokens[p->at++].text);
    type->span = hdst__parse_since(p, first);
    return type;
}

ast_type_name *hdst__parse_dims(hdst__parser *p, ast_type_name *type)
{
    if (!hdst__parse_is(p, TOKEN_LBRACKET)) return type;
    ast_type_name *array = HDST__NEW(p->arena, ast_type_name);
    *array = (ast_type_name){.name = type->name, .span = type->span, .after_struct = type->after_struct};
    while (hdst__parse_accept(p, TOKEN_LBRACKET)) {
        ast_expr *dim = NULL;       // stays NULL for `[]`; the checker knows where that is allowed
        if (!hdst__parse_is(p, TOKEN_RBRACKET)) dim = hdst__parse_expression(p);
        HDST__PUSH(p->arena, array->dims, array->dim_count, array->dim_capacity, dim);
        hdst__parse_expect(p, TOKEN_RBRACKET, "after the size");
    }
    return array;
}

// --- Parameters ---

static const char *const qualifier_words[] = {"broadcast", "lookup", "accum", "key", "stream", "optional"};

// Qualifiers are words of the language only here, and only when a type and a name follow (or brackets that should stand behind the name).
static ast_qualifier qualifier(hdst__parser *p)
{
    static const ast_qualifier meant[] = {AST_BROADCAST, AST_LOOKUP, AST_ACCUM, AST_KEY, AST_STREAM, AST_OPTIONAL};
    hdst__token_kind next = hdst__parse_peek(p, 1)->kind;
    const hdst__token_kind after = hdst__parse_peek(p, 2)->kind;
    const bool has_type = after == TOKEN_NAME || (after == TOKEN_LBRACKET && hdst__parse_is_type_word(hdst__parse_peek(p, 1)));
    if (next != TOKEN_STRUCT && (next != TOKEN_NAME || !has_type)) return AST_PLAIN;
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        if (!is_name(p, 0, qualifier_words[i])) continue;
        p->at++;
        return meant[i];
    }
    return AST_PLAIN;
}

static void lookup_key(hdst__parser *p, ast_decl *decl)
{
    if (!hdst__parse_expect(p, TOKEN_LBRACKET, "after the name of a lookup table")) return;
    if (!hdst__parse_is(p, TOKEN_RBRACKET)) decl->written_key = hdst__parse_type_name(p);
    hdst__parse_expect(p, TOKEN_RBRACKET, "after the type of the key");
    decl->is_table = true;
    decl->has_stretches = hdst__parse_accept(p, TOKEN_LBRACKET);
    if (decl->has_stretches) hdst__parse_expect(p, TOKEN_RBRACKET, "after '[': a key has any number of rows");
}

static ast_decl *parameter(hdst__parser *p, ast_decl_kind kind)
{
    ast_decl *decl = HDST__NEW(p->arena, ast_decl);
    decl->kind = kind;
    decl->qualifier = qualifier(p);
    if (hdst__parse_accept(p, TOKEN_CONST)) decl->is_const = true;
    const size_t type = p->at;
    decl->written = hdst__parse_type_name(p);
    if (hdst__parse_is(p, TOKEN_STAR))
        hdst__parse_error(p, p->tokens[p->at].span, "an array is written with its size, a table as `broadcast T v[]`", "there are no pointers");
    if (hdst__parse_brackets_of_type(p, decl->written)) return decl;
    decl->name = hdst__parse_name(p, "the name of the parameter", &decl->span);
    if (decl->qualifier == AST_PLAIN)
        hdst__parse_unknown_qualifier(p, type, qualifier_words, sizeof qualifier_words / sizeof *qualifier_words,
                                      kind == AST_PARAM ? "a parameter is TYPE NAME, or broadcast, accum, lookup, stream TYPE NAME"
                                                        : "a field is TYPE NAME or key TYPE NAME");
    if (decl->qualifier == AST_LOOKUP) lookup_key(p, decl);
    else decl->written = hdst__parse_dims(p, decl->written);
    return decl;
}

static void parameters(hdst__parser *p, ast_function *f)
{
    if (!hdst__parse_expect(p, TOKEN_LPAREN, "after the name of the function")) return;
    if (is_name(p, 0, "void") && hdst__parse_peek(p, 1)->kind == TOKEN_RPAREN) p->at++;
    while (!p->panic && !hdst__parse_is(p, TOKEN_RPAREN)) {
        ast_decl *decl = parameter(p, AST_PARAM);
        decl->index = (uint32_t)f->param_count;
        if (!p->panic) HDST__PUSH(p->arena, f->params, f->param_count, f->param_capacity, decl);
        if (!hdst__parse_accept(p, TOKEN_COMMA)) break;
    }
    hdst__parse_expect(p, TOKEN_RPAREN, "after the parameters");
}

// `-> T` or `-> (key uint32_t dst, double v)`
static void output(hdst__parser *p, ast_function *f)
{
    if (!hdst__parse_accept(p, TOKEN_ARROW)) return;
    size_t first = p->at;
    if (!hdst__parse_accept(p, TOKEN_LPAREN)) {
        f->written_result = hdst__parse_type_name(p);
        return;
    }
    ast_struct *tuple = f->tuple = HDST__NEW(p->arena, ast_struct);
    f->result_is_tuple = true;
    tuple->name = f->name;
    do {
        ast_decl *field = parameter(p, AST_LOCAL);
        if (!p->panic) HDST__PUSH(p->arena, tuple->fields, tuple->field_count, tuple->field_capacity, field);
    } while (hdst__parse_accept(p, TOKEN_COMMA));
    hdst__parse_expect(p, TOKEN_RPAREN, "after the fields of the output");
    tuple->span = hdst__parse_since(p, first);
}

// --- Functions ---

static void identity(hdst__parser *p, ast_function *f)
{
    static const char *const words[] = {"identity"};
    const hdst__token *found = &p->tokens[p->at];
    const bool misspelt = !p->panic && found->kind == TOKEN_NAME && hdst__parse_peek(p, 1)->kind == TOKEN_LBRACE && strcmp(found->text, words[0]);
    if (misspelt)
        hdst__diag_error(p->diags, found->span, hdst__parse_near(p, found->text, words, 1, "a reduce may say `identity { ... }` in front of its body"),
                         "expected '{', found '%s'", found->text);
    if (!misspelt && !is_name(p, 0, "identity")) return;
    const hdst__token *word = &p->tokens[p->at++];
    if (f->kind != AST_REDUCE) hdst__diag_error(p->diags, word->span, NULL, "only a reduce has an identity");
    if (!p->panic) f->identity = hdst__parse_braces(p, NULL);
}

static void function_body(hdst__parser *p, ast_function *f, ast_file *file)
{
    if (p->panic) return;
    if (!hdst__parse_is(p, TOKEN_SEMICOLON)) {
        f->body = hdst__parse_block(p);
    } else if (f->kind == AST_MAP || f->kind == AST_FILTER) {
        p->at++;        // its code is given apart, as OpenCL C (a map's) or as a C function
    } else {
        hdst__parse_error(p, p->tokens[p->at].span, "a function may be used above its definition; leave the declaration out",
                          "expected the body of '%s'", f->name);
        return;
    }
    HDST__PUSH(p->arena, file->functions, file->function_count, file->function_capacity, f);
}

enum { KINDS = 6 };
static const char *const kind_words[KINDS] = {"map", "filter", "flat_map", "reduce", "group", "join"};

static bool function_kind(const hdst__parser *p, size_t ahead, ast_function_kind *kind)
{
    static const ast_function_kind meant[] = {AST_MAP, AST_FILTER, AST_FLAT_MAP, AST_REDUCE, AST_GROUP, AST_JOIN};
    const hdst__token_kind next = hdst__parse_peek(p, ahead + 1)->kind;
    if (next != TOKEN_NAME && (next < TOKEN_IF || next == TOKEN_STRUCT || hdst__parse_peek(p, ahead + 2)->kind != TOKEN_LPAREN)) return false;
    for (size_t i = 0; i < KINDS; i++) {
        if (!is_name(p, ahead, kind_words[i])) continue;
        *kind = meant[i];
        return true;
    }
    return false;
}

static bool is_law_word(const hdst__parser *p, size_t ahead)
{
    return is_name(p, ahead, "associative") || is_name(p, ahead, "commutative");
}

// [associative] [commutative] KIND name(parameters) [-> output] [identity { ... }] { body }
static void operator_function(hdst__parser *p, ast_file *file)
{
    ast_function *f = HDST__NEW(p->arena, ast_function);
    hdst__span laws = p->tokens[p->at].span;
    for (; is_law_word(p, 0); p->at++) {
        f->associative |= is_name(p, 0, "associative");
        f->commutative |= is_name(p, 0, "commutative");
    }
    if (!function_kind(p, 0, &f->kind)) {
        hdst__parse_error(p, p->tokens[p->at].span, NULL, "expected 'reduce' after 'associative' or 'commutative'");
        return;
    }
    p->at++;
    f->name = hdst__parse_name(p, "the name of the function", &f->span);
    if (!p->panic && hdst__parse_is(p, TOKEN_NAME) && hdst__parse_peek(p, 1)->kind == TOKEN_LPAREN)       // `map T f(...)`
        hdst__parse_error(p, f->span, hdst__arena_printf(p->arena, "write %s %s(...) -> %s; no -> where there is no output", kind_words[f->kind - AST_MAP],
                                                         p->tokens[p->at].text, strcmp(f->name, "void") ? f->name : "T"),
                          "the output of '%s' stands behind its parameters", p->tokens[p->at].text);
    if ((f->associative || f->commutative) && f->kind != AST_REDUCE)
        hdst__diag_error(p->diags, laws, NULL, "only a reduce can be associative or commutative");
    parameters(p, f);
    output(p, f);
    identity(p, f);
    function_body(p, f, file);
}

// `mapp f(T a) -> U`, or `float f(T a) -> float`
static void misplaced_output(hdst__parser *p, const ast_type_name *type)
{
    const char *near = hdst__nearest_name(type->name, kind_words, KINDS);
    if (near)
        hdst__parse_error(p, type->span, hdst__arena_printf(p->arena, "did you mean '%s'?", near), "unknown kind of function '%s'", type->name);
    else
        hdst__parse_error(p, p->tokens[p->at].span, "write `map NAME(...) -> T` for an operator", "a helper function has its result type in front of its name");
}

static void helper(hdst__parser *p, ast_file *file, ast_type_name *type)
{
    ast_function *f = HDST__NEW(p->arena, ast_function);
    f->kind = AST_HELPER;
    f->written_result = type;
    f->name = hdst__parse_name(p, "the name of the function", &f->span);
    parameters(p, f);
    if (hdst__parse_is(p, TOKEN_ARROW)) misplaced_output(p, type);
    function_body(p, f, file);
}

// --- Declarations of a file ---

static void import(hdst__parser *p, ast_file *file)
{
    p->at++;
    const hdst__token *name = &p->tokens[p->at];
    if (name->kind != TOKEN_STRING)
        hdst__parse_error(p, name->span, "import \"file.yaml\"; or import \"file.hk\";", "expected the file's name in quotes after 'import'");
    if (!hdst__parse_accept(p, TOKEN_STRING)) return;
    HDST__PUSH(p->arena, file->imports, file->import_count, file->import_capacity, ((ast_import){name->text, name->span}));
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after the import");
}

static ast_decl *global(hdst__parser *p, ast_file *file, ast_decl_kind kind, ast_type_name *type)
{
    ast_decl *decl = HDST__NEW(p->arena, ast_decl);
    decl->kind = kind;
    decl->name = hdst__parse_name(p, "a name", &decl->span);
    decl->written = type ? hdst__parse_dims(p, type) : NULL;
    if (hdst__parse_accept(p, TOKEN_ASSIGN)) decl->value = hdst__parse_initializer(p);
    if (!p->panic) HDST__PUSH(p->arena, file->globals, file->global_count, file->global_capacity, decl);
    return decl;
}

static void param_or_const(hdst__parser *p, ast_file *file)
{
    ast_decl_kind kind = hdst__parse_is(p, TOKEN_CONST) ? AST_CONST : AST_GLOBAL_PARAM;
    p->at++;
    if (kind == AST_GLOBAL_PARAM && hdst__parse_is(p, TOKEN_NAME) && hdst__parse_peek(p, 1)->kind == TOKEN_SEMICOLON)
        hdst__parse_error(p, p->tokens[p->at].span, hdst__arena_printf(p->arena, "param uint32_t %s;", p->tokens[p->at].text),
                          "a param is written with its type");
    ast_type_name *type = hdst__parse_type_name(p);
    if (hdst__parse_brackets_of_type(p, type)) return;
    do {
        ast_decl *decl = global(p, file, kind, type);
        if (kind == AST_CONST && !decl->value) hdst__parse_error(p, decl->span, NULL, "the constant '%s' needs a value", decl->name);
    } while (hdst__parse_accept(p, TOKEN_COMMA));
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after the declaration");
}

// `enum { A, B = 3 };`. B without a value is one more than A: the checker counts along `previous`.
static void enumeration(hdst__parser *p, ast_file *file)
{
    p->at++;
    if (hdst__parse_is(p, TOKEN_NAME)) p->at++;     // the name is for the reader: values are int32_t
    hdst__parse_expect(p, TOKEN_LBRACE, "after 'enum'");
    ast_decl *previous = NULL;
    while (!p->panic && !hdst__parse_is(p, TOKEN_RBRACE)) {
        ast_decl *decl = global(p, file, AST_ENUM_VALUE, NULL);
        decl->previous = previous;
        previous = decl;
        if (!hdst__parse_accept(p, TOKEN_COMMA)) break;
    }
    hdst__parse_expect(p, TOKEN_RBRACE, "after the names");
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after the enum");
}

// `key uint32_t k;`: keys are a matter of what a function gives, not of the record.
static void refuse_qualified_field(hdst__parser *p, size_t first)
{
    const hdst__token *word = &p->tokens[first], *type = &p->tokens[first + 1], *name = &p->tokens[first + 2];
    if (!p->panic && word->kind == TOKEN_NAME && !strcmp(word->text, "key") && name->kind == TOKEN_NAME)
        hdst__parse_error(p, word->span,
                          hdst__arena_printf(p->arena, "call the field \"key\", or declare it where a function gives it: map f(...) -> (key %s %s, ...)",
                                             type->text, name->text),
                          "a field of a struct is not declared 'key'");
    else
        hdst__parse_unknown_qualifier(p, first, NULL, 0, "a field is TYPE NAME;");
}

static void fields(hdst__parser *p, ast_struct *record)
{
    while (!p->panic && !hdst__parse_is(p, TOKEN_RBRACE)) {
        const size_t first = p->at;
        ast_type_name *type = hdst__parse_type_name(p);
        hdst__parse_brackets_of_type(p, type);
        do {
            ast_decl *field = HDST__NEW(p->arena, ast_decl);
            if (hdst__parse_is(p, TOKEN_STAR))
                hdst__parse_error(p, p->tokens[p->at].span, "give arrays their size: float x[D];", "there are no pointers");
            field->name = hdst__parse_name(p, "the name of a field", &field->span);
            if (p->at == first + 2) refuse_qualified_field(p, first);
            field->written = hdst__parse_dims(p, type);
            if (hdst__parse_is(p, TOKEN_ASSIGN))
                hdst__parse_error(p, p->tokens[p->at].span, NULL, "fields have no values of their own; a new record is all zero");
            if (!p->panic) HDST__PUSH(p->arena, record->fields, record->field_count, record->field_capacity, field);
        } while (hdst__parse_accept(p, TOKEN_COMMA));
        hdst__parse_expect(p, TOKEN_SEMICOLON, "after the field");
        if (p->panic) hdst__parse_recover(p);
    }
}

static void structure(hdst__parser *p, ast_file *file)
{
    ast_struct *record = HDST__NEW(p->arena, ast_struct);
    p->at++;
    record->name = hdst__parse_name(p, "the name of the record", &record->span);
    hdst__parse_expect(p, TOKEN_LBRACE, "after the name of the record");
    fields(p, record);
    hdst__parse_expect(p, TOKEN_RBRACE, "after the fields");
    if (*record->name) HDST__PUSH(p->arena, file->structs, file->struct_count, file->struct_capacity, record);
    hdst__parse_expect(p, TOKEN_SEMICOLON, "after the '}' of the record");
}

static void unknown_declaration(hdst__parser *p, const ast_type_name *type)
{
    static const char *const words[] = {"associative", "commutative", "import", "param", "const", "enum", "struct", "map", "filter", "flat_map",
                                        "reduce", "group", "join"};
    const char *kinds = "functions are map, filter, flat_map, reduce, group, join, or `TYPE name(...)`";
    hdst__parse_error(p, type->span, hdst__parse_near(p, type->name, words, sizeof words / sizeof *words, kinds), "unknown kind of declaration '%s'",
                      type->name);
}

static void helper_or_variable(hdst__parser *p, ast_file *file)
{
    ast_type_name *type = hdst__parse_type_name(p);
    if (p->panic) return;
    const hdst__token *name = hdst__parse_peek(p, 0), *after = hdst__parse_peek(p, 1);
    if (name->kind == TOKEN_STAR)
        hdst__parse_error(p, name->span, "a function returns a number or a record", "there are no pointers");
    else if (name->kind != TOKEN_NAME)
        hdst__parse_error(p, type->span, "a file holds import, param, const, enum, struct, map, filter, flat_map, reduce, group, join and helper functions",
                          "expected a declaration, found '%s'", type->name);
    else if (after->kind == TOKEN_LPAREN)
        helper(p, file, type);
    else if (after->kind == TOKEN_NAME)
        unknown_declaration(p, type);
    else
        hdst__parse_error(p, name->span, "write `const` for a constant, `param` for what the program sets, `broadcast` or `accum` in a parameter list",
                          "there are no global variables");
}

bool hdst__parse_at_item(const hdst__parser *p)
{
    const hdst__token *token = &p->tokens[p->at];
    if (!token->starts_line || p->at == 0) return false;
    if (token->kind == TOKEN_STRUCT) return hdst__parse_peek(p, 2)->kind == TOKEN_LBRACE;
    if (token->kind == TOKEN_ENUM) return true;
    if (token->kind != TOKEN_NAME) return false;
    if (hdst__parse_peek(p, 1)->kind == TOKEN_NAME && hdst__parse_peek(p, 2)->kind == TOKEN_LPAREN) return true;    // KIND name( or TYPE name(
    if (is_name(p, 0, "import")) return hdst__parse_peek(p, 1)->kind == TOKEN_STRING;
    return is_law_word(p, 0) || (is_name(p, 0, "param") && hdst__parse_peek(p, 2)->kind == TOKEN_NAME);
}

static void item(hdst__parser *p, ast_file *file)
{
    const hdst__token *token = &p->tokens[p->at];
    ast_function_kind kind;
    hdst__token_kind next = hdst__parse_peek(p, 1)->kind;
    if (token->kind == TOKEN_SEMICOLON) p->at++;
    else if (token->kind == TOKEN_CONST) param_or_const(p, file);
    else if (token->kind == TOKEN_ENUM) enumeration(p, file);
    else if (token->kind == TOKEN_STRUCT && hdst__parse_peek(p, 2)->kind != TOKEN_NAME) structure(p, file);
    else if (is_name(p, 0, "import") && next != TOKEN_NAME) import(p, file);
    else if (is_name(p, 0, "param") && next == TOKEN_NAME) param_or_const(p, file);
    else if (is_law_word(p, 0) || function_kind(p, 0, &kind)) operator_function(p, file);
    else if (hdst__parse_refused_word(p)) return;
    else if (token->kind == TOKEN_NAME || token->kind == TOKEN_STRUCT) helper_or_variable(p, file);
    else hdst__parse_error(p, token->span, NULL, "expected a declaration or a function, found %s", hdst__token_name(token->kind));
}

// After an error: skips to the next word that begins a declaration, or behind a ';' or '}' outside of braces.
static void recover(hdst__parser *p, size_t first)
{
    if (p->at == first && !hdst__parse_is(p, TOKEN_END)) p->at++;
    for (int depth = 0; !hdst__parse_is(p, TOKEN_END) && !hdst__parse_at_item(p); p->at++) {
        hdst__token_kind kind = p->tokens[p->at].kind;
        if (kind == TOKEN_LBRACE) depth++;
        if (kind == TOKEN_RBRACE) depth--;
        if (depth <= 0 && (kind == TOKEN_SEMICOLON || kind == TOKEN_RBRACE)) {
            p->at++;
            break;
        }
    }
    p->panic = false;
}

ast_file *hdst__parse(hdst__diags *diags, uint32_t source)
{
    hdst__parser parser = {.diags = diags, .arena = diags->arena}, *p = &parser;
    size_t count;
    p->tokens = hdst__lex(diags, source, &count);
    ast_file *file = HDST__NEW(p->arena, ast_file);
    while (!hdst__parse_is(p, TOKEN_END)) {
        size_t first = p->at;
        item(p, file);
        if (p->panic) recover(p, first);
        else if (p->at == first) p->at++;       // cannot happen; a loop that ends is worth the line
    }
    return file;
}
