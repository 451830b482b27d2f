// SPDX-License-Identifier: Apache-2.0
// Messages to the user's callback (base/log.h).
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void hdst__log_write(const hdst__log *log, hdst__log_level level, const char *format, ...)
{
    if (!log || !log->write || level > log->level) return;
    char message[4096];     // on the stack: a log line must get out when memory is exhausted
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    log->write((int)level, message, log->user);
}
