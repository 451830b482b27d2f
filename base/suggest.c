// SPDX-License-Identifier: Apache-2.0
// What a user probably meant by a name that is not known (base/suggest.h).
#include "base/suggest.h"

#include "hdst/error.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 64 };      // longer names are never near

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

// Optimal string alignment: Levenshtein's distance where two neighbours that changed places are one slip. Three rows of the table are kept.
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *hdst__nearest_name(const char *name, const char *const *names, size_t count)
{
    const char *best = NULL, *begins = NULL;
    const size_t n = strlen(name);
    size_t best_distance = LONGEST;
    if (n > LONGEST) return NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t m = strlen(names[i]), most = n < 2 || m < 2 ? 0 : (n > m ? n : m) / 3;
        if (!begins && n >= 3 && m > n && !strncasecmp(name, names[i], n)) begins = names[i];
        if (m > LONGEST || (n > m ? n - m : m - n) > most || !strcmp(name, names[i])) continue;
        const size_t d = distance(name, n, names[i], m);
        if (d <= most && d < best_distance) best = names[i], best_distance = d;
    }
    return best ? best : begins;
}

const char *hdst_nearest_name(const char *name, const char *const *names, uint64_t count) { return name ? hdst__nearest_name(name, names, count) : NULL; }

void hdst__suggest(char *hint, size_t bytes, const char *what, const char *name, const char *const *names, size_t count)
{
    const char *near = hdst__nearest_name(name, names, count);
    enum { TAIL = 32 };         // " and 18446744073709551615 more"
    hint[0] = 0;
    if (near && strlen(near) + TAIL < bytes) {
        snprintf(hint, bytes, "did you mean '%s'?", near);
        return;
    }
    if (!what || !count || bytes < strlen(what) + 2 * TAIL) return;
    size_t used = (size_t)snprintf(hint, bytes, "%s ", what), shown = 0;
    for (; shown < count && shown < 16 && used + strlen(names[shown]) + 2 + TAIL < bytes; shown++)
        used += (size_t)snprintf(hint + used, bytes - used, "%s%s", shown ? ", " : "", names[shown]);
    if (!shown) hint[0] = 0;
    else if (shown < count) snprintf(hint + used, bytes - used, " and %zu more", count - shown);
}
