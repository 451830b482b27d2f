// SPDX-License-Identifier: Apache-2.0
// Compiled programs on disk: found again, damaged, in folders that cannot be written, by several processes.
#include "engine/device/program_cache.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];
static int warnings;
static hdst__log quiet;

static void count_warnings(int level, const char *message, void *user)
{
    (void)message, (void)user;
    warnings += level == HDST__LOG_WARN;
}

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/hdst-test-cache-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    quiet = (hdst__log){.write = count_warnings, .level = HDST__LOG_DEBUG};
    warnings = 0;
}

static void tear_down(void)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", root, root);
    cr_assert_eq(system(command), 0);
}

TestSuite(program_cache, .init = set_up, .fini = tear_down);

static hdst__hash key_of(const char *text)
{
    hdst__hash key = HDST__HASH_INIT;
    hdst__hash_add_text(&key, text);
    return key;
}

static hdst__program_cache open_cache(const char *directory)
{
    hdst__program_cache cache;
    hdst__program_cache_init(&cache, NULL, &quiet, directory);
    return cache;
}

static bool holds(hdst__program_cache *cache, const char *key_text, const char *wanted)
{
    hdst__hash key = key_of(key_text);
    size_t length = 0;
    char *bytes = hdst__program_cache_read(cache, &key, &length);
    bool same = bytes && length == strlen(wanted) && memcmp(bytes, wanted, length) == 0;
    free(bytes);
    return same;
}

static void keep(hdst__program_cache *cache, const char *key_text, const char *bytes)
{
    hdst__hash key = key_of(key_text);
    hdst__program_cache_write(cache, &key, bytes, strlen(bytes));
}

static void path_of(const char *key_text, char path[160])
{
    char hex[33];
    hdst__hash key = key_of(key_text);
    hdst__hash_hex(&key, hex);
    snprintf(path, 160, "%.60s/deep/er/%.32s.bin", root, hex);
}

static char *deep(void)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/deep/er", root);
    return path;
}

Test(program_cache, keeps_by_key_in_a_private_directory_that_it_makes)
{
    hdst__program_cache cache = open_cache(deep());
    cr_assert_not(holds(&cache, "a", "one"));
    keep(&cache, "a", "one");
    keep(&cache, "b", "two");
    cr_assert(holds(&cache, "a", "one"));
    cr_assert(holds(&cache, "b", "two"));
    cr_assert_not(holds(&cache, "c", "one"));
    struct stat status;
    cr_assert_eq(stat(deep(), &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0700);
    char path[160];
    path_of("a", path);
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0600);
    hdst__program_cache_destroy(&cache);
    cache = open_cache(deep());         // another process's view
    cr_assert(holds(&cache, "a", "one"));
    cr_assert_eq(warnings, 0);
    hdst__program_cache_destroy(&cache);
}

static void damage(const char *path, long at, char byte)
{
    FILE *file = fopen(path, "r+");
    cr_assert_not_null(file);
    fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(byte, file);
    fclose(file);
}

Test(program_cache, damaged_and_foreign_files_are_as_good_as_absent_and_are_replaced)
{
    hdst__program_cache cache = open_cache(deep());
    char path[160], other[160];
    path_of("a", path);
    path_of("b", other);
    static const long places[] = {0, 8, 20, 30, 50, -1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        keep(&cache, "a", "one");
        damage(path, places[i], '#');
        cr_assert_not(holds(&cache, "a", "one"), "byte %ld", places[i]);
        keep(&cache, "a", "one");
        cr_assert(holds(&cache, "a", "one"));
    }
    cr_assert_eq(truncate(path, 40), 0);
    cr_assert_not(holds(&cache, "a", "one"));
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_not(holds(&cache, "a", "one"));
    keep(&cache, "b", "two");
    cr_assert_eq(rename(other, path), 0);       // a whole file, but of another key
    cr_assert_not(holds(&cache, "a", "two"));
    hdst__program_cache_destroy(&cache);
}

Test(program_cache, without_a_place_or_with_one_it_cannot_write_it_warns_once_and_goes_on)
{
    unsetenv("HDST_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    hdst__program_cache cache = open_cache(NULL);
    keep(&cache, "a", "one");
    keep(&cache, "b", "two");
    cr_assert_not(holds(&cache, "a", "one"));
    cr_assert_eq(warnings, 1);
    hdst__program_cache_destroy(&cache);

    warnings = 0;
    char file[128];
    snprintf(file, sizeof file, "%s/file", root);       // a file where the directory should be: not writable for root either
    FILE *made = fopen(file, "w");
    cr_assert_not_null(made);
    fclose(made);
    cache = open_cache(file);
    keep(&cache, "a", "one");
    keep(&cache, "a", "one");
    cr_assert_not(holds(&cache, "a", "one"));
    cr_assert_eq(warnings, 1);
    hdst__program_cache_destroy(&cache);
}

Test(program_cache, a_directory_that_others_may_write_is_not_used)
{
    cr_assert_eq(chmod(root, 0777), 0);
    hdst__program_cache cache = open_cache(root);
    keep(&cache, "a", "one");
    cr_assert_not(holds(&cache, "a", "one"));
    cr_assert_eq(warnings, 1);
    hdst__program_cache_destroy(&cache);
}

Test(program_cache, a_directory_that_the_group_may_write_is_not_used)
{
    hdst__program_cache cache = open_cache(root);
    keep(&cache, "a", "one");
    cr_assert(holds(&cache, "a", "one"));
    cr_assert_eq(chmod(root, 0720), 0);
    cr_assert_not(holds(&cache, "a", "one"), "what the group may have changed is loaded");
    cr_assert(strstr(cache.why, root) && strstr(cache.why, "may be written by others"), "%s", cache.why);
    hdst__program_cache_destroy(&cache);
}

// Root gives a directory away; others take one of root's.
Test(program_cache, a_directory_of_another_user_is_not_used)
{
    const bool is_root = geteuid() == 0;
    hdst__program_cache cache = open_cache(is_root ? root : "/usr");
    if (is_root) {
        keep(&cache, "a", "one");
        cr_assert(holds(&cache, "a", "one"));
        cr_assert_eq(chown(root, 12345, (gid_t)-1), 0);
    }
    cr_assert_not(holds(&cache, "a", "one"));
    cr_assert_str_eq(strstr(cache.why, " belongs") ? strstr(cache.why, " belongs") : cache.why, " belongs to another user");
    hdst__program_cache_destroy(&cache);
}

// A pipe that nobody writes would never end.
Test(program_cache, entries_that_are_links_or_pipes_are_not_read)
{
    hdst__program_cache cache = open_cache(deep());
    char path[160], elsewhere[128];
    path_of("a", path);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", root);
    keep(&cache, "a", "one");
    cr_assert_eq(rename(path, elsewhere), 0);
    cr_assert_eq(symlink(elsewhere, path), 0);
    cr_assert_not(holds(&cache, "a", "one"), "a link is followed");
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_not(holds(&cache, "a", "one"));
    keep(&cache, "a", "one");
    cr_assert(holds(&cache, "a", "one"), "a pipe is not replaced");
    hdst__program_cache_destroy(&cache);
}

Test(program_cache, a_place_that_cannot_be_made_is_told_by_the_folder_that_fails)
{
    unsetenv("HDST_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/proc/no/home", 1);         // root cannot make folders there either
    hdst__program_cache cache = open_cache(NULL);
    keep(&cache, "a", "one");
    cr_assert_eq(warnings, 1);
    cr_assert(strstr(cache.why, "cannot make the folder /proc/no: "), "%s", cache.why);
    hdst__program_cache_destroy(&cache);
}

Test(program_cache, its_place_comes_from_the_environment)
{
    char xdg[100], wanted[128];
    snprintf(xdg, sizeof xdg, "%s/xdg", root);
    snprintf(wanted, sizeof wanted, "%s/xdg/hdst", root);
    unsetenv("HDST_CACHE_DIR");
    setenv("XDG_CACHE_HOME", xdg, 1);
    hdst__program_cache cache = open_cache(NULL);
    cr_assert_str_eq(cache.directory, wanted);
    hdst__program_cache_destroy(&cache);
    setenv("HDST_CACHE_DIR", root, 1);
    cache = open_cache(NULL);
    cr_assert_str_eq(cache.directory, root);
    hdst__program_cache_destroy(&cache);
    unsetenv("HDST_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", root, 1);
    snprintf(wanted, sizeof wanted, "%s/.cache/hdst", root);
    cache = open_cache(NULL);
    cr_assert_str_eq(cache.directory, wanted);
    hdst__program_cache_destroy(&cache);
}

// Two processes write and read the same key at once: whoever finds a file finds a whole one.
static int hammer(void)
{
    hdst__program_cache cache = open_cache(deep());
    bool whole = true;
    for (int i = 0; i < 200 && whole; i++) {
        keep(&cache, "a", "the same bytes from everyone");
        whole = holds(&cache, "a", "the same bytes from everyone");
    }
    hdst__program_cache_destroy(&cache);
    return whole ? warnings : 1;
}

Test(program_cache, two_processes_may_write_the_same_key)
{
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) _exit(hammer());
    int mine = hammer(), status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(mine, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    DIR *directory = opendir(deep());
    int files = 0;
    for (struct dirent *entry; (entry = readdir(directory));) files += entry->d_name[0] != '.';
    closedir(directory);
    cr_assert_eq(files, 1, "temporary files are left behind");
}

Test(program_cache, a_refused_source_is_kept_in_the_cache_or_else_in_tmpdir)
{
    hdst__hash key = key_of("source");
    char path[400], text[32] = "";
    hdst__program_cache cache = open_cache(deep());
    cr_assert(hdst__program_cache_keep_source(&cache, &key, "kernel void f() {", path, sizeof path));
    cr_assert_eq(strncmp(path, deep(), strlen(deep())), 0);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_not_null(fgets(text, sizeof text, file));
    fclose(file);
    cr_assert_str_eq(text, "kernel void f() {");
    hdst__program_cache_destroy(&cache);

    cache = open_cache("/proc/none");
    setenv("TMPDIR", root, 1);
    cr_assert(hdst__program_cache_keep_source(&cache, &key, "kernel void f() {", path, sizeof path));
    cr_assert_eq(strncmp(path, root, strlen(root)), 0);
    hdst__program_cache_destroy(&cache);
}
