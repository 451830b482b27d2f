// SPDX-License-Identifier: Apache-2.0
// Which program was running when one crashed, or did not end.
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static char line[64];
static volatile size_t length;

static void tell(int signal_number)
{
    const char *what = signal_number == SIGALRM ? "HANG: seed " : "CRASH: seed ";
    if (write(STDERR_FILENO, what, strlen(what)) < 0 || write(STDERR_FILENO, line, length) < 0) _exit(1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void diff_watch(uint64_t seed)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM};
    const char *seconds = getenv("HDST_DIFF_HANG");
    char digits[24];
    size_t count = 0;
    do digits[count++] = (char)('0' + seed % 10), seed /= 10;
    while (seed);
    for (size_t i = 0; i < count; i++) line[i] = digits[count - 1 - i];
    line[count] = '\n';
    length = count + 1;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], tell);
    alarm(seconds ? (unsigned)atoi(seconds) : 0);
}
