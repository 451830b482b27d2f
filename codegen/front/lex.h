// SPDX-License-Identifier: Apache-2.0
// The words of the kernel language: a source text becomes an array of tokens, ended by a token of kind TOKEN_END.
#ifndef HDST_CODEGEN_FRONT_LEX_H
#define HDST_CODEGEN_FRONT_LEX_H

#include "base/diag.h"
#include "record/type.h"

// Longest first: the lexer takes the first that matches.
#define HDST__PUNCT_MAP(X)                                                                                                  \
    X(SHL_ASSIGN, "<<=") X(SHR_ASSIGN, ">>=") X(ELLIPSIS, "...")                                                            \
    X(ARROW, "->") X(INCREMENT, "++") X(DECREMENT, "--") X(ADD_ASSIGN, "+=") X(SUB_ASSIGN, "-=") X(MUL_ASSIGN, "*=")        \
    X(DIV_ASSIGN, "/=") X(REM_ASSIGN, "%=") X(AND_ASSIGN, "&=") X(OR_ASSIGN, "|=") X(XOR_ASSIGN, "^=") X(SHL, "<<")         \
    X(SHR, ">>") X(LE, "<=") X(GE, ">=") X(EQ, "==") X(NE, "!=") X(LOGAND, "&&") X(LOGOR, "||")                             \
    X(LPAREN, "(") X(RPAREN, ")") X(LBRACKET, "[") X(RBRACKET, "]") X(LBRACE, "{") X(RBRACE, "}") X(SEMICOLON, ";")         \
    X(COMMA, ",") X(DOT, ".") X(COLON, ":") X(QUESTION, "?") X(PLUS, "+") X(MINUS, "-") X(STAR, "*") X(SLASH, "/")          \
    X(PERCENT, "%") X(AMPERSAND, "&") X(PIPE, "|") X(CARET, "^") X(TILDE, "~") X(BANG, "!") X(LT, "<") X(GT, ">") X(ASSIGN, "=")

// Words that can never be names. Everything else that means something (map, param, broadcast, key ...) does so only in its place.
#define HDST__WORD_MAP(X)                                                                                                   \
    X(IF, "if") X(ELSE, "else") X(WHILE, "while") X(DO, "do") X(FOR, "for") X(SWITCH, "switch") X(CASE, "case")             \
    X(DEFAULT, "default") X(BREAK, "break") X(CONTINUE, "continue") X(RETURN, "return") X(CONST, "const")                   \
    X(STRUCT, "struct") X(ENUM, "enum") X(TRUE, "true") X(FALSE, "false") X(GOTO, "goto") X(SIZEOF, "sizeof")               \
    X(TYPEDEF, "typedef") X(UNION, "union") X(STATIC, "static") X(EXTERN, "extern") X(INLINE, "inline")                     \
    X(VOLATILE, "volatile") X(REGISTER, "register") X(AUTO, "auto") X(RESTRICT, "restrict")

typedef enum hdst__token_kind {
    TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING,
#define HDST__PUNCT_ENUM(id, text) TOKEN_##id,
    HDST__PUNCT_MAP(HDST__PUNCT_ENUM)
#undef HDST__PUNCT_ENUM
#define HDST__WORD_ENUM(id, text) TOKEN_##id,
    HDST__WORD_MAP(HDST__WORD_ENUM)
#undef HDST__WORD_ENUM
} hdst__token_kind;

typedef struct hdst__token {
    hdst__token_kind kind;
    hdst__span span;
    const char *text;           // TOKEN_NAME and words: as written; TOKEN_STRING: the unescaped bytes
    size_t length;              // TOKEN_STRING
    hdst__kind number_kind;     // TOKEN_NUMBER: I32, U32, I64, U64, F32 or F64, by C's rules for constants
    uint64_t bits;              // TOKEN_NUMBER: as AST_NUMBER
    bool starts_line;           // first token of its line and not indented: where a forgotten brace is noticed
} hdst__token;

// All tokens of a registered source, in the arena; *count includes the TOKEN_END. Errors go to diags; the stream stays usable.
const hdst__token *hdst__lex(hdst__diags *diags, uint32_t source, size_t *count);

const char *hdst__token_name(hdst__token_kind kind);    // "'+='", "a name": for messages

#endif
