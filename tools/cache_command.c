// SPDX-License-Identifier: Apache-2.0
// `hdst cache [list|clear]`: the compiled kernels that are kept between runs.
#include "base/diag.h"
#include "engine/device/program_cache.h"
#include "tools/arguments.h"
#include "tools/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct tally {
    uint64_t files[HDST__CACHED_KINDS], bytes;
    bool remove;
} tally;

static bool take(const hdst__cached_file *file, void *user)
{
    tally *t = user;
    if (t->remove && unlinkat(file->directory, file->name, 0) != 0) return errno == ENOENT;     // another process may be clearing too
    t->files[file->kind]++;
    t->bytes += file->bytes;
    return true;
}

static void print_tally(const char *directory, const tally *t)
{
    static const char *const names[][2] = {
        [HDST__CACHED_PROGRAM] = {"kernel", "kernels"}, [HDST__CACHED_NOTE] = {"note about a kernel", "notes about kernels"},
        [HDST__CACHED_POWER] = {"measured power", "measured powers"},
        [HDST__CACHED_SOURCE] = {"source that did not compile", "sources that did not compile"}, [HDST__CACHED_REST] = {"unfinished file", "unfinished files"}};
    printf("%s: %s%" PRIu64 " %s", directory, t->remove ? "removed " : "", t->files[0], names[0][t->files[0] != 1]);
    for (int i = 1; i < HDST__CACHED_KINDS; i++)
        if (t->files[i]) printf(", %" PRIu64 " %s", t->files[i], names[i][t->files[i] != 1]);
    printf(", %.1f KiB\n", (double)t->bytes / 1024);
}

static int look_after(bool remove)
{
    hdst__program_cache cache;
    hdst__program_cache_init(&cache, NULL, &(hdst__log){0}, NULL);
    tally t = {.remove = remove};
    int code = 0;
    if (!cache.directory) {
        fprintf(stderr, "hdst cache: kernels are not kept: %s\nhint: set HDST_CACHE_DIR to a directory of yours\n", cache.why);
        code = 6;
    } else if (!hdst__program_cache_visit(&cache, take, &t)) {
        fprintf(stderr, "hdst cache: %s: %s\n", cache.directory, strerror(errno));
        code = 6;
    } else {
        print_tally(cache.directory, &t);
    }
    hdst__program_cache_destroy(&cache);
    return code;
}

static int wrong_use(const char *word)
{
    static const char *const words[] = {"list", "clear", "--help"};
    return hdst_refuse_unknown("hdst cache", "unknown argument", word, words, 3);
}

int hdst_cache_command(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        puts("usage: hdst cache [list|clear]\n\n"
             "Says where compiled kernels are kept, how many and how large (list, also without a word), "
             "or removes them (clear); programs compile again then. The directory is\n"
             "$HDST_CACHE_DIR, else $XDG_CACHE_HOME/hdst, else ~/.cache/hdst. Other files in it are left alone.");
        return 0;
    }
    if (argc > 2) return wrong_use(argv[2]);
    const bool clear = argc > 1 && !strcmp(argv[1], "clear");
    if (argc > 1 && !clear && strcmp(argv[1], "list")) return wrong_use(argv[1]);
    return look_after(clear);
}
