// SPDX-License-Identifier: Apache-2.0
// .npy files made byte by byte: every type, order and shape arrives as the same numbers; everything malformed gets a message.
#include "tests/io/helper.h"

TestSuite(source_npy, .init = set_up, .fini = tear_down);

enum { ROWS = 300 };

Test(source_npy, rows_of_floats_are_read_as_they_are)
{
    float table[ROWS][3];
    for (int i = 0; i < ROWS * 3; i++) table[i / 3][i % 3] = (float)i / 7;
    const char *path = write_npy("a.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (300, 3), }", table, sizeof table);
    hdst__source *source = OPEN_OK(hdst__source_npy(NULL, path, NULL, error));
    cr_assert_eq(source->width, 3);
    cr_assert_eq(source->rows, ROWS);
    expect_records(source, array_record(HDST__F32, 3), table, ROWS);
    hdst__source_close(source);
}
