// SPDX-License-Identifier: Apache-2.0
// Status codes and the error object of the public interface.
#ifndef HDST_ERROR_H
#define HDST_ERROR_H

#include "hdst/api.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// name, value, text, exit code of the programs. Values are stable: a new code is added at the end.
#define HDST_STATUS_MAP(X)                                                                                            \
    X(HDST_OK, 0, "success", 0)                                                                                       \
    X(HDST_E_INTERNAL, 1, "internal error", 1)                                                                        \
    X(HDST_E_USAGE, 2, "wrong use", 2)                                                                                \
    X(HDST_E_SCHEMA, 3, "schema error", 3)                                                                            \
    X(HDST_E_KERNEL, 4, "kernel error", 3)                                                                            \
    X(HDST_E_UNSUPPORTED, 5, "not available yet", 3)                                                                  \
    X(HDST_E_DEVICE, 6, "device not available", 4)                                                                    \
    X(HDST_E_DRIVER, 7, "OpenCL driver error", 1)                                                                     \
    X(HDST_E_MEMORY, 8, "out of memory", 5)                                                                           \
    X(HDST_E_IO, 9, "input/output error", 6)                                                                          \
    X(HDST_E_FORMAT, 10, "malformed input", 6)                                                                        \
    X(HDST_E_RECORD, 11, "error in a record", 7)                                                                      \
    X(HDST_E_STOPPED, 12, "stopped, can be resumed", 75)                                                              \
    X(HDST_E_CANCELLED, 13, "interrupted", 130)

typedef enum hdst_status {
#define HDST_STATUS_ENUM(name, value, text, exit_code) name = value,
    HDST_STATUS_MAP(HDST_STATUS_ENUM)
#undef HDST_STATUS_ENUM
} hdst_status;

// What went wrong, where, why, and what would be right. Owned by the caller, needs no release and may be copied; every function that takes one takes NULL too.
// Strings are UTF-8, NUL-terminated, empty when unknown. line and column count from 1; 0 is unknown.
typedef struct hdst_error {
    hdst_status code;
    bool retriable;         // the same call may succeed later (memory, a busy device)
    uint32_t line, column;
    uint64_t record;        // for HDST_E_RECORD: the failing record, counted from 0 over the whole input
    char file[256];         // the schema, kernel or data file, when there is one
    char message[512];      // one line
    char cause[1024];       // e.g. the source line and a caret, or the driver's words
    char hint[512];         // what would be right
} hdst_error;

#define HDST_ERROR_INIT {HDST_OK, false, 0, 0, 0, "", "", "", ""}

// The words for a status ("malformed input"); never NULL. Thread-safe.
HDST_API const char *hdst_status_text(hdst_status status);
// The exit code that the programs of hdst use for a status (0 to 130). Thread-safe.
HDST_API int hdst_status_exit_code(hdst_status status);
// Writes "file:line:column: message", cause and hint, a line each, cut at `size` bytes; returns the length it would have had. Thread-safe.
HDST_API uint64_t hdst_error_format(const hdst_error *error, char *text, uint64_t size);

// The one of `count` names that `name` probably is a misspelling of, or NULL: what the messages of hdst suggest by. Case makes no difference; one letter too
// many, missing or wrong, or two neighbours swapped, is allowed for every three letters of the longer name. Else a name that begins with `name`, if that has
// three letters or more. NULL for a `name` that is NULL. Thread-safe.
HDST_API const char *hdst_nearest_name(const char *name, const char *const *names, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
