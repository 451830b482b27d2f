// SPDX-License-Identifier: Apache-2.0
// Files and folders that cannot be opened or made, and the words for why.
#include "base/files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void set_up(void)
{
    strcpy(folder, "/tmp/hdst-test-files-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(files, .init = set_up, .fini = tear_down);

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

Test(files, only_regular_files_are_opened_and_the_reason_says_what_else_it_is)
{
    char reason[HDST__REASON_BYTES] = "", byte;
    FILE *file = fopen(path_of("text"), "w");
    fputs("x", file);
    fclose(file);
    const int fd = hdst__open_regular(path_of("text"), 0, reason);
    cr_assert_geq(fd, 0, "%s", reason);
    cr_assert_eq(read(fd, &byte, 1), 1);
    close(fd);
    cr_assert_eq(mkfifo(path_of("pipe"), 0600), 0);
    cr_assert_lt(hdst__open_regular(path_of("pipe"), 0, reason), 0);        // nobody writes it
    cr_assert_str_eq(reason, "it is a pipe, not a regular file");
    cr_assert_lt(hdst__open_regular(folder, 0, reason), 0);
    cr_assert_str_eq(reason, "it is a folder, not a file");
    cr_assert_lt(hdst__open_regular("/dev/null", 0, reason), 0);
    cr_assert_str_eq(reason, "it is a device or socket, not a regular file");
    cr_assert_lt(hdst__open_regular(path_of("none"), 0, reason), 0);
    cr_assert_str_eq(reason, "No such file or directory");
}

Test(files, folders_are_made_private_and_the_one_that_fails_is_told)
{
    char reason[400] = "", expected[400];
    struct stat status;
    cr_assert(hdst__make_folders(path_of("a/b//c/"), reason, sizeof reason), "%s", reason);
    cr_assert_eq(stat(path_of("a/b/c"), &status), 0);
    cr_assert_eq(status.st_mode & 07777, 0700);
    cr_assert(hdst__make_folders(path_of("a/b/c"), reason, sizeof reason), "%s", reason);
    fclose(fopen(path_of("a/file"), "w"));
    cr_assert_not(hdst__make_folders(path_of("a/file/b/c"), reason, sizeof reason));
    snprintf(expected, sizeof expected, "cannot make the folder %s: Not a directory", path_of("a/file/b"));
    cr_assert_str_eq(reason, expected);
    cr_assert_not(hdst__make_folders("/proc/none/b", reason, sizeof reason));
    cr_assert_str_eq(reason, "cannot make the folder /proc/none: No such file or directory");
}
