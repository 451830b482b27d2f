// SPDX-License-Identifier: Apache-2.0
// Calls of public functions with arguments that they refuse: the error must name the call and the argument (tests/package/arguments.py reads the calls).
#ifndef TESTS_HDST_ARGUMENT_CALLS_H
#define TESTS_HDST_ARGUMENT_CALLS_H

#include "tests/hdst/objects.h"

static hdst_error error;
static const char *call;            // the one at hand

static inline void expect(hdst_status status, const char *argument, const char *words)
{
    cr_assert_eq(status, HDST_E_USAGE, "%s, %s: %s", call, argument, hdst_status_text(status));
    cr_assert_eq(error.code, HDST_E_USAGE, "%s, %s", call, argument);
    cr_assert(strstr(error.message, call) && strstr(error.message, words), "%s, %s: %s", call, argument, error.message);
    cr_assert(strstr(error.message, argument), "%s, %s: %s", call, argument, error.message);
}

// A call that makes an object with the error; a call that gives the error; calls that have none to give.
#define MAKES(function, argument, ...) (call = #function, expect(STATUS(function(__VA_ARGS__), &error), argument, "NULL"))
#define GIVES(function, argument, ...) (call = #function, error = (hdst_error)HDST_ERROR_INIT, expect(function(__VA_ARGS__), argument, "NULL"))
#define ASKS(function, argument, ...)                    \
    do {                                                 \
        call = #function;                                \
        cr_assert(!function(__VA_ARGS__), "%s", call);   \
    } while (0)
#define ENDS(function, argument, ...) (call = #function, function(__VA_ARGS__))
#define MIXES(function, argument, ...)                                                          \
    do {                                                                                        \
        call = #function;                                                                       \
        expect(STATUS(function(__VA_ARGS__), &error), argument, "another context");                     \
        cr_assert(strstr(error.hint, "make all of them from one"), "%s: %s", call, error.hint); \
    } while (0)

static inline hdst_status bind_and_ask(hdst_map_spec *spec, hdst_status status)
{
    cr_assert_neq(status, HDST_OK, "%s", call);
    const hdst_status stuck = hdst_map_spec_status(spec, &error);
    cr_assert_eq(stuck, status, "%s: the spec has the error", call);
    return status;
}

// An error of a spec is read from it.
#define BINDS(function, argument, words, ...)                                                           \
    do {                                                                                                \
        hdst_map_spec *spec = hdst_map_spec_create(o.module, "look");                                   \
        call = #function;                                                                               \
        expect(bind_and_ask(spec, function(spec, __VA_ARGS__)), argument, words);                        \
        hdst_map_spec_destroy(spec);                                                                    \
    } while (0)

#endif
