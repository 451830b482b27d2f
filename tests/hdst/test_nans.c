// SPDX-License-Identifier: Apache-2.0
// One NaN is what functions give and see, on the interpreter and in both forms of kernels: NaNs of all signs and
// payloads through operations and operators, beside the rule stated again in bench/nan_rule.h. What processors make
// of them differs (x86: the sign bit set, payloads go on; NVIDIA GPUs: all ones), so the program bench/nan_bits does
// the same on any device.
#include "bench/nan_cases.h"
#include "tests/hdst/support.h"

enum { MOST = 512 };

typedef struct seen {
    const char *form;
    uint64_t digest[MOST];
    size_t count;
} seen;

static void see(void *user, const char *name, uint64_t digest, const char *wrong)
{
    seen *s = user;
    cr_assert_lt(s->count, MOST);
    s->digest[s->count++] = digest;
    cr_expect_null(wrong, "%s: %s: %s", s->form, name, wrong);
}

// "foreign-..." is such a form whose operations make NaNs of a sign and a payload that nothing else has, as a device may that is not here.
static hdst_context *context_with_nans(const char *form)
{
    const bool foreign = !strncmp(form, "foreign-", 8);
    hdst_context *context = context_in_form(foreign ? form + 8 : form);
    if (context->engine) context->engine->options.foreign_nans = foreign;      // no device is open yet
    return context;
}

static void run_cases(seen *s, const char *form, bool (*cases)(hdst_context *, const nan_look *))
{
    hdst_context *context = context_with_nans(form);
    *s = (seen){.form = form};
    cr_assert(cases(context, &(nan_look){see, s}), "%s", form);
    hdst_context_destroy(context);
}

static void on_all(bool (*cases)(hdst_context *, const nan_look *), size_t least)
{
    static seen interpreter, other;
    run_cases(&interpreter, "interp", cases);
    cr_expect_geq(interpreter.count, least);
    if (!have_cpu()) return;
    static const char *const forms[] = {"cpu", "gpu-form", "foreign-cpu", "foreign-gpu-form"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        run_cases(&other, forms[f], cases);
        cr_assert_eq(other.count, interpreter.count);
        for (size_t i = 0; i < other.count; i++) cr_expect_eq(other.digest[i], interpreter.digest[i], "%s: case %zu", forms[f], i);
    }
}

Test(nans, operations) { on_all(nan_cases_operations, 100); }
Test(nans, operators) { on_all(nan_cases_operators, 30); }
Test(nans, mathematical_functions) { on_all(nan_cases_math, 60); }
