// SPDX-License-Identifier: Apache-2.0
// Messages to the user's callback. The library itself never writes to stdout or stderr.
#ifndef HDST_BASE_LOG_H
#define HDST_BASE_LOG_H

typedef enum hdst__log_level { HDST__LOG_ERROR, HDST__LOG_WARN, HDST__LOG_INFO, HDST__LOG_DEBUG } hdst__log_level;   // as hdst_log_level

typedef struct hdst__log {
    void (*write)(int level, const char *message, void *user);      // NULL: silence. May be called from any thread.
    void *user;
    hdst__log_level level;      // messages above it are dropped
} hdst__log;

// A NULL log is silent. Messages are one line without the newline, except build logs and diagnostics.
void hdst__log_write(const hdst__log *log, hdst__log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
