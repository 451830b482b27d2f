// SPDX-License-Identifier: Apache-2.0
// A folder is read as its files, in the order of their names.
#include "helper.h"

#include <sys/stat.h>

TestSuite(folder, .init = set_up, .fini = tear_down);

static void put(const char *name, float x, float y)
{
    const float row[] = {x, y};
    write_npy(name, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", row, sizeof row);
}

static hdst__source *open_all(hdst_error *error) { return hdst__source_open(NULL, folder, NULL, NULL, error); }

Test(folder, files_come_in_the_order_of_their_names)
{
    static const float expected[] = {7, 8, 1, 2, 3, 4, 5, 6, 9, 10};
    put("part-10.npy", 3, 4);
    put("part-02.npy", 1, 2);
    put("part-2.npy", 5, 6);
    put("A.npy", 7, 8);
    put("z.NPY", 9, 10);
    put(".hidden.npy", 100, 100);
    write_text("_SUCCESS", "");
    cr_assert_eq(mkdir(path_of("more.npy"), 0700), 0);
    hdst__source *source = OPEN_OK(open_all(error));
    expect_records(source, array_record(HDST__F32, 2), expected, 5);
    hdst__source_close(source);
}

// More than a file system gives in this order by chance, however they were made.
Test(folder, many_files_are_sorted)
{
    enum { FILES = 40 };
    float expected[FILES][2];
    for (int i = 0; i < FILES; i++) {
        const int n = i * 13 % FILES;
        put(hdst__arena_printf(&arena, "part-%02d.npy", n), (float)n, 1);
        expected[i][0] = (float)i;
        expected[i][1] = 1;
    }
    hdst__source *source = OPEN_OK(open_all(error));
    expect_records(source, array_record(HDST__F32, 2), expected, FILES);
    hdst__source_close(source);
}

Test(folder, formats_may_differ_and_a_folder_may_be_one_of_several_inputs)
{
    static const float expected[] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
    put("a.npy", 1, 2);
    write_text("b.csv", "3,4\n5,6\n");
    hdst__source *parts[] = {OPEN_OK(open_all(error)), OPEN_OK(open_all(error))};
    hdst_error error = HDST_ERROR_INIT;
    hdst__source *source = hdst__source_concat(NULL, parts, 2, &error);
    cr_assert(source, "%s", error.message);
    cr_assert_eq(source->part_count, 4);
    expect_records(source, array_record(HDST__F32, 2), expected, 6);
    hdst__source_close(source);
}

Test(folder, without_files_of_numbers_or_with_one_that_does_not_fit_it_is_an_error)
{
    hdst_error error = HDST_ERROR_INIT;
    write_text("readme.md", "none");
    cr_assert_null(open_all(&error));
    cr_assert_eq(error.code, HDST_E_IO);
    cr_assert(strstr(error.message, "has no files of numbers"), "%s", error.message);
    put("a.npy", 1, 2);
    write_text("b.csv", "3,4,5\n");
    error = (hdst_error)HDST_ERROR_INIT;
    cr_assert_null(open_all(&error));
    cr_assert_eq(error.code, HDST_E_FORMAT);
    cr_assert(strstr(error.message, "b.csv") && strstr(error.message, "3"), "%s", error.message);
    write_text("b.csv", "3,x\n");
    write_text("a.npy", "broken");
    error = (hdst_error)HDST_ERROR_INIT;
    cr_assert_null(open_all(&error));
    cr_assert(strstr(error.file, "a.npy"), "%s", error.message);
}
