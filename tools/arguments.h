// SPDX-License-Identifier: Apache-2.0
// What the subcommands read alike: params from the command line, whole files.
#ifndef HDST_TOOLS_ARGUMENTS_H
#define HDST_TOOLS_ARGUMENTS_H

#include "record/type.h"

enum { HDST_MAX_PARAMS = 64 };

typedef struct hdst_params {
    hdst__param_value items[HDST_MAX_PARAMS];
    size_t count;
} hdst_params;

// Says what is wrong with the words on the command line; returns the exit code for it. `tool` is "hdst schema" and so on.
int hdst_refuse_argument(const char *tool, const char *what, const char *subject);
// The same for a word that is none of `words`, with the one that was probably meant.
int hdst_refuse_unknown(const char *tool, const char *what, const char *subject, const char *const *words, size_t count);
// "D=2", "D=-1", "eps=0.5". The name is cut off in place. 0, or the exit code after a message.
int hdst_take_param(const char *tool, hdst_params *params, char *text);
// The whole file, to be freed; NULL after a message.
char *hdst_read_file(const char *tool, const char *path, size_t *length);

#endif
