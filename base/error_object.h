// SPDX-License-Identifier: Apache-2.0
// Status codes and the caller-owned error object; hdst/error.h publishes both.
//
// Who detects an error fills the object; who passes it on stays silent. Every function that can fail takes an `hdst_error *` that may be NULL.
#ifndef HDST_BASE_ERROR_OBJECT_H
#define HDST_BASE_ERROR_OBJECT_H

#include "hdst/error.h"

#include <stdarg.h>
#include <stddef.h>

// All return `code`, so that `return hdst__error_set(...)` reads well. Texts are cut at the field's size, at a UTF-8 boundary.
hdst_status hdst__error_set(hdst_error *error, hdst_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
hdst_status hdst__error_memory(hdst_error *error, const char *what);     // "out of memory: %s"
// These add to an error that was set; each may be left out.
void hdst__error_cause(hdst_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hdst__error_hint(hdst_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
// "did you mean 'x'?", else "its fields are x, y" (base/suggest.h); nothing where there is none.
void hdst__error_suggest(hdst_error *error, const char *what, const char *name, const char *const *names, size_t count);
void hdst__error_at(hdst_error *error, const char *file, uint32_t line, uint32_t column);

#endif
