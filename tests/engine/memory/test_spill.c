// SPDX-License-Identifier: Apache-2.0
// Temporary files: what was written is read back at any place, no name is seen, and a folder that is not there or a full disk is told.
#include "engine/memory/spill.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/hdst-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
}

static int names_in_folder(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

Test(spill, is_read_back_at_any_place_and_has_no_name, .init = make_folder)
{
    hdst__spill spill;
    unsigned char written[10000], read[10000];
    cr_assert_eq(hdst__spill_open(NULL, &spill, NULL), HDST_OK);
    cr_assert_eq(names_in_folder(), 0);
    for (int i = 0; i < 10000; i++) written[i] = (unsigned char)(i * 37);
    cr_assert_eq(hdst__spill_add(&spill, written, 1, NULL), HDST_OK);
    cr_assert_eq(hdst__spill_add(&spill, written + 1, 0, NULL), HDST_OK);
    cr_assert_eq(hdst__spill_add(&spill, written + 1, 9999, NULL), HDST_OK);
    cr_assert_eq(spill.bytes, 10000);
    cr_assert_eq(hdst__spill_read(&spill, 4321, read, 5000, NULL), HDST_OK);
    cr_assert(!memcmp(read, written + 4321, 5000));
    cr_assert_eq(hdst__spill_read(&spill, 0, read, 10000, NULL), HDST_OK);
    cr_assert(!memcmp(read, written, 10000));
    cr_assert_eq(hdst__spill_read(&spill, 9999, read, 2, NULL), HDST_E_IO);
    cr_assert_eq(hdst__spill_put(&spill, 12000, written, 100, NULL), HDST_OK);         // behind a gap, and then in front again
    cr_assert_eq(hdst__spill_put(&spill, 50, written, 10, NULL), HDST_OK);
    cr_assert_eq(spill.bytes, 12100);
    cr_assert_eq(hdst__spill_add(&spill, written, 1, NULL), HDST_OK);
    cr_assert_eq(spill.bytes, 12101);
    hdst__spill_close(&spill);
    hdst__spill_close(&spill);
    cr_assert_eq(rmdir(folder), 0, "something was left in the folder");
}

Test(spill, what_nothing_was_written_to_is_read_as_nothing, .init = make_folder)
{
    hdst__spill spill;
    const void *data = folder;
    void *own = folder;
    cr_assert_eq(hdst__spill_open(NULL, &spill, NULL), HDST_OK);
    cr_assert_eq(hdst__spill_map(&spill, &data, NULL), HDST_OK);
    cr_assert_eq(hdst__spill_map_private(&spill, &own, NULL), HDST_OK);
    cr_assert(!data && !own);
    hdst__spill_close(&spill);
    cr_assert_eq(rmdir(folder), 0);
}

Test(spill, a_folder_that_is_missing_is_told)
{
    hdst__spill spill;
    hdst_error error = HDST_ERROR_INIT;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    cr_assert_eq(hdst__spill_open(NULL, &spill, &error), HDST_E_IO);
    cr_assert(strstr(error.message, "/nowhere/at/all") && strstr(error.cause, "No such file") && strstr(error.hint, "TMPDIR"));
    hdst__spill_close(&spill);
}

Test(spill, a_full_disk_is_told_and_what_was_written_stays, .init = make_folder)
{
    hdst__spill spill;
    hdst_error error = HDST_ERROR_INIT;
    char some[4096] = {7}, back;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){6000, 6000});
    cr_assert_eq(hdst__spill_open(NULL, &spill, NULL), HDST_OK);
    cr_assert_eq(hdst__spill_add(&spill, some, sizeof some, &error), HDST_OK);
    cr_assert_eq(hdst__spill_add(&spill, some, sizeof some, &error), HDST_E_IO);
    cr_assert(strstr(error.message, folder) && *error.cause && strstr(error.hint, "were written"));
    cr_assert(hdst__spill_read(&spill, 0, &back, 1, NULL) == HDST_OK && back == 7);
    hdst__spill_close(&spill);
    cr_assert_eq(rmdir(folder), 0);
}
