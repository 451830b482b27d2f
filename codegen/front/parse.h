// SPDX-License-Identifier: Apache-2.0
// The parser: one source file becomes an ast_file, with nothing resolved. Recursive descent; functions are named for the rules of the
// grammar in docs/kernel-language.md. parse.c has the file level, parse_stmt.c statements, parse_expr.c expressions.
//
// After an error the parser is silent (`panic`) until it has found the end of the statement or declaration, then goes on.
#ifndef HDST_CODEGEN_FRONT_PARSE_H
#define HDST_CODEGEN_FRONT_PARSE_H

#include "codegen/front/ast.h"
#include "codegen/front/lex.h"

typedef struct ast_import {
    const char *name;
    hdst__span span;
} ast_import;

typedef struct ast_file {
    ast_import *imports;
    size_t import_count, import_capacity;
    ast_struct **structs;
    size_t struct_count, struct_capacity;
    ast_decl **globals;             // params, consts and enum values, in order
    size_t global_count, global_capacity;
    ast_function **functions;
    size_t function_count, function_capacity;
} ast_file;

// Parses a source that was added to diags. Never NULL.
ast_file *hdst__parse(hdst__diags *diags, uint32_t source);

// --- Between the parser's files ---

enum {
    HDST__NESTING_LIMIT = 200,      // brackets and statements inside one another: what the parser itself recurses on
    HDST__HEIGHT_LIMIT = 800,       // of an expression's tree: a + b + c + ... is as high as it is long
};

typedef struct hdst__parser {
    hdst__diags *diags;
    hdst__arena *arena;
    const hdst__token *tokens;      // ended by TOKEN_END
    size_t at;
    unsigned depth;
    bool panic;                     // an error was reported and the way out is not found yet
} hdst__parser;

const hdst__token *hdst__parse_peek(const hdst__parser *p, size_t ahead);
bool hdst__parse_is(const hdst__parser *p, hdst__token_kind kind);
bool hdst__parse_accept(hdst__parser *p, hdst__token_kind kind);
// Takes the token or reports "expected KIND <why>". `why` may be "" or "after ...".
bool hdst__parse_expect(hdst__parser *p, hdst__token_kind kind, const char *why);
const char *hdst__parse_name(hdst__parser *p, const char *what, hdst__span *span);     // takes a name that is no scalar type; "" after an error
bool hdst__parse_is_type_word(const hdst__token *token);        // float, int32_t, long ...: never meant as the name of anything else
void hdst__parse_error(hdst__parser *p, hdst__span span, const char *hint, const char *format, ...) __attribute__((format(printf, 4, 5)));
bool hdst__parse_enter(hdst__parser *p);       // false, with an error, at the nesting limit; else call leave
void hdst__parse_leave(hdst__parser *p);
hdst__span hdst__parse_since(const hdst__parser *p, size_t first);     // from token `first` to the last one taken
hdst__span hdst__span_join(hdst__span a, hdst__span b);

bool hdst__parse_refused_word(hdst__parser *p);        // goto, sizeof, typedef ...: reports and returns true
ast_type_name *hdst__parse_type_name(hdst__parser *p);
ast_type_name *hdst__parse_dims(hdst__parser *p, ast_type_name *type);      // `[..]` after the declared name; a copy when there are any
bool hdst__parse_at_item(const hdst__parser *p);       // a new function or declaration of the file level begins here, unindented
ast_expr *hdst__parse_expression(hdst__parser *p);
ast_expr *hdst__parse_target(hdst__parser *p);         // what may stand left of an assignment
ast_expr *hdst__parse_initializer(hdst__parser *p);    // an expression or { ... }
ast_expr *hdst__parse_braces(hdst__parser *p, ast_type_name *type);        // { inits } of a compound literal, an array or an identity
ast_expr *hdst__parse_new_expr(hdst__parser *p, ast_expr_kind kind, hdst__span span);
ast_stmt *hdst__parse_block(hdst__parser *p);
// After an error: skips behind the next ';', or to the '}' that closes the block; blocks in between are skipped whole.
void hdst__parse_recover(hdst__parser *p);

// --- parse_hint.c ---
const char *hdst__parse_found(const hdst__parser *p, const hdst__token *token);     // "'name'", "a number", "'+='"
const char *hdst__parse_instead(const hdst__parser *p, const hdst__token *token);   // of a word of another language: "write &&"; NULL
// "did you mean 'x'?", or `otherwise`.
const char *hdst__parse_near(hdst__parser *p, const char *name, const char *const *names, size_t count, const char *otherwise);
// These report, and return true, where the tokens are that mistake: a word in front of a type that is token `type`;
// the brackets of an array behind its type; a misspelt `for`, `while`, `if`, `switch`.
bool hdst__parse_unknown_qualifier(hdst__parser *p, size_t type, const char *const *words, size_t count, const char *form);
bool hdst__parse_brackets_of_type(hdst__parser *p, const ast_type_name *type);
bool hdst__parse_unknown_statement(hdst__parser *p);

#endif
