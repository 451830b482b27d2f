// SPDX-License-Identifier: Apache-2.0
// A locale with decimal commas, as a program may have set in which hdst runs. Machines without one have glibc's sources of them at times: then it is made.
#ifndef HDST_TESTS_COMMA_LOCALE_H
#define HDST_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int has_commas(void) { return !strcmp(localeconv()->decimal_point, ","); }

// 0: there is none and it cannot be made.
static inline int set_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    for (int i = 0; i < 3; i++)
        if (setlocale(LC_ALL, names[i]) && has_commas()) return 1;
    const char *base = getenv("TMPDIR");
    char place[400], command[1200];
    snprintf(place, sizeof place, "%s/hdst-locale-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(place)) return 0;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", place);
    const int made = system(command) == 0;
    setenv("LOCPATH", place, 1);
    const int set = made && setlocale(LC_ALL, "de_DE.UTF-8") && has_commas();
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    return system(command) == 0 && set;
}

#endif
