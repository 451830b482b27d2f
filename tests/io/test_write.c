// SPDX-License-Identifier: Apache-2.0
// What is written reads back to the same bits, in every format; a file appears whole or not at all; NumPy agrees where it is there.
#define _GNU_SOURCE     // O_TMPFILE
#include "tests/io/helper.h"

#include "io/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// The whole array at once.
static hdst_status npy_write(const hdst__allocator *allocator, const char *path, hdst__kind kind, const uint64_t *shape, size_t dims, const void *data,
                             hdst_error *error)
{
    hdst_error own = HDST_ERROR_INIT;
    hdst__file_writer *writer = hdst__npy_begin(allocator, path, kind, shape, dims, &own);
    if (!writer) {
        if (error) *error = own;
        return own.code;
    }
    uint64_t bytes = hdst__scalar_size(kind);
    for (size_t i = 0; i < dims; i++) bytes *= shape[i];     // the data is in memory, so this fits
    hdst__file_writer_add(writer, data, bytes, NULL);        // commit reports what failed
    return hdst__file_writer_commit(writer, error);
}

TestSuite(write, .init = set_up, .fini = tear_down);

// In front of the system's: as if the file system could not keep files without names.
static bool without_nameless;

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    if (without_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

enum { ROWS = 500 };

struct part { uint8_t tag; double value; };
struct whole { bool flag; int8_t a; int16_t b; int32_t c; int64_t d; uint16_t e; uint32_t f; uint64_t g; float x[3]; struct part part[2]; };

static hdst__record *whole_record(void)
{
    hdst__field *part = HDST__NEW_ARRAY(&arena, hdst__field, 2), *fields = HDST__NEW_ARRAY(&arena, hdst__field, 10);
    part[0] = (hdst__field){"tag", hdst__type_scalar(HDST__U8)};
    part[1] = (hdst__field){"value", hdst__type_scalar(HDST__F64)};
    static const char *const names[] = {"flag", "a", "b", "c", "d", "e", "f", "g"};
    static const hdst__kind kinds[] = {HDST__BOOL, HDST__I8, HDST__I16, HDST__I32, HDST__I64, HDST__U16, HDST__U32, HDST__U64};
    for (int i = 0; i < 8; i++) fields[i] = (hdst__field){names[i], hdst__type_scalar(kinds[i])};
    fields[8] = (hdst__field){"x", hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 3)};
    fields[9] = (hdst__field){"part", hdst__type_array(&arena, hdst__type_record(&arena, make_record("part", part, 2)), 2)};
    hdst__record *record = make_record("whole", fields, 10);
    cr_assert_eq(record->size, sizeof(struct whole));
    return record;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

// Random bits, also of the floats, but no NaN: text does not keep their payload.
static struct whole *make_rows(void)
{
    struct whole *rows = hdst__arena_alloc(&arena, ROWS * sizeof *rows);
    uint64_t state = 42;
    for (int i = 0; i < ROWS; i++) {
        struct whole *r = &rows[i];
        uint64_t bits = next_random(&state);
        r->flag = bits & 1, r->a = (int8_t)(bits >> 8), r->b = (int16_t)(bits >> 16), r->c = (int32_t)(bits >> 32);
        r->d = (int64_t)next_random(&state), r->e = (uint16_t)next_random(&state), r->f = (uint32_t)next_random(&state), r->g = next_random(&state);
        for (int j = 0; j < 3; j++)
            do { uint32_t single = (uint32_t)next_random(&state); memcpy(&r->x[j], &single, 4); } while (isnan(r->x[j]));
        for (int j = 0; j < 2; j++) {
            r->part[j].tag = (uint8_t)next_random(&state);
            do { uint64_t wide = next_random(&state); memcpy(&r->part[j].value, &wide, 8); } while (isnan(r->part[j].value));
        }
    }
    rows[0].x[0] = 0.1f, rows[0].part[0].value = 0.1, rows[1].x[0] = -0.0f, rows[1].x[1] = INFINITY, rows[2].part[0].value = 5e-324, rows[3].x[1] = 1e-45f;
    return rows;
}

Test(write, records_read_back_to_the_same_bits)
{
    hdst__record *record = whole_record();
    struct whole *rows = make_rows();
    cr_assert_eq(hdst__records_write(&hdst__records_npy, NULL, path_of("r.npy"), record, rows, ROWS, NULL), HDST_OK);
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("r.csv"), record, rows, ROWS, NULL), HDST_OK);
    cr_assert_eq(hdst__records_write(&hdst__records_raw, NULL, path_of("r.raw"), record, rows, ROWS, NULL), HDST_OK);
    hdst__source *sources[] = {OPEN_OK(hdst__source_open(NULL, path_of("r.npy"), NULL, NULL, error)),
                               OPEN_OK(hdst__source_open(NULL, path_of("r.csv"), NULL, NULL, error)),
                               OPEN_OK(hdst__source_raw(NULL, path_of("r.raw"), NULL, error))};
    for (int i = 0; i < 3; i++) {
        expect_records(sources[i], record, rows, ROWS);
        hdst__source_close(sources[i]);
    }
}

Test(write, numbers_of_text_are_short)
{
    struct { float x; double y; } rows[] = {{0.1f, 0.1}, {1, 100}, {1e10f, 1.0 / 3}, {-0.0f, -INFINITY}};
    static const char *const names[] = {"x", "y"};
    static const hdst__kind kinds[] = {HDST__F32, HDST__F64};
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("s.csv"), scalars_record(2, names, kinds), rows, 4, NULL), HDST_OK);
    size_t length;
    cr_assert_str_eq(read_whole(path_of("s.csv"), &length), "x,y\n0.1,0.1\n1,100\n1e+10,0.3333333333333333\n-0,-inf\n");
}

Test(write, csv_and_npy_of_the_same_numbers_give_equal_bits)
{
    float table[ROWS][2];
    uint64_t state = 7;
    for (int i = 0; i < ROWS * 2; i++)
        do { uint32_t bits = (uint32_t)next_random(&state); memcpy(&table[i / 2][i % 2], &bits, 4); } while (!isfinite(table[i / 2][i % 2]));
    hdst__record *record = array_record(HDST__F32, 2);
    cr_assert_eq(npy_write(NULL, path_of("t.npy"), HDST__F32, (uint64_t[]){ROWS, 2}, 2, table, NULL), HDST_OK);
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, path_of("t.csv"), record, table, ROWS, NULL), HDST_OK);
    static const char *const files[] = {"t.npy", "t.csv"};
    for (int i = 0; i < 2; i++) {
        hdst__source *source = OPEN_OK(hdst__source_open(NULL, path_of(files[i]), NULL, NULL, error));
        expect_records(source, record, table, ROWS);
        hdst__source_close(source);
    }
}

Test(write, an_npy_file_has_the_bytes_that_numpy_writes)
{
    int32_t labels[] = {2, 0, 1};
    cr_assert_eq(npy_write(NULL, path_of("l.npy"), HDST__I32, (uint64_t[]){3}, 1, labels, NULL), HDST_OK);
    size_t length;
    const char *got = read_whole(path_of("l.npy"), &length);
    // As numpy.lib.format describes: 128 bytes up to the data, header length 118.
    char expected[140];
    memset(expected, ' ', sizeof expected);
    memcpy(expected, "\x93NUMPY\1\0\x76\0{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 10 + 57);
    expected[127] = '\n';
    memcpy(expected + 128, labels, 12);
    cr_assert_eq(length, 140);
    cr_assert_eq(memcmp(got, expected, 140), 0, "%.128s", got);
}

// NumPy makes the files and checks ours, where it is installed.
static const char *find_python(void)
{
    static const char *const pythons[] = {"/usr/bin/python3", "python3"};
    for (int i = 0; i < 2; i++)
        if (system(hdst__arena_printf(&arena, "%s -c 'import numpy' 2>/dev/null", pythons[i])) == 0) return pythons[i];
    return NULL;
}

Test(write, numpy_reads_what_is_written_and_the_other_way_round)
{
    const char *python = find_python();
    if (!python) {
        tear_down();        // a skipped test does not come to it
        cr_skip_test("python3-numpy is not installed");
    }
    struct whole *rows = make_rows();
    cr_assert_eq(hdst__records_write(&hdst__records_npy, NULL, path_of("ours.npy"), whole_record(), rows, ROWS, NULL), HDST_OK);
    cr_assert_eq(hdst__records_write(&hdst__records_raw, NULL, path_of("ours.raw"), whole_record(), rows, ROWS, NULL), HDST_OK);
    write_text("check.py",
               "import numpy as np, sys\n"
               "folder = sys.argv[1]\n"
               "a = np.load(folder + '/ours.npy')\n"
               "part = np.dtype([('tag', 'u1'), ('value', 'f8')], align=True)\n"
               "whole = np.dtype([('flag', '?'), ('a', 'i1'), ('b', 'i2'), ('c', 'i4'), ('d', 'i8'), ('e', 'u2'), ('f', 'u4'), ('g', 'u8'),\n"
               "                  ('x', 'f4', 3), ('part', part, 2)], align=True)\n"
               "b = np.fromfile(folder + '/ours.raw', whole)\n"
               "for name in ['flag', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'x']: assert a[name].tobytes() == b[name].tobytes(), name\n"
               "for name in ['tag', 'value']: assert a['part.' + name].tobytes() == b['part'][name].tobytes(), name\n"
               "t = (np.arange(1000) / 7).reshape(500, 2)\n"
               "np.save(folder + '/labels.npy', np.array([2, 0, 1], '<i4'))\n"
               "np.save(folder + '/c64.npy', t)\n"
               "np.save(folder + '/f64.npy', np.asfortranarray(t))\n"
               "np.save(folder + '/be32.npy', t.astype('>f4'))\n"
               "np.save(folder + '/f16.npy', np.asfortranarray(np.arange(1000).reshape(500, 2).astype('<f2')))\n"
               "np.savetxt(folder + '/t.csv', t.astype('f4'), delimiter=',', header='x,y', fmt='%.9g')\n"
               "np.savetxt(folder + '/t.txt', t)\n"
               "np.save(folder + '/rec.npy', np.core.records.fromarrays([t[:, 1], t[:, 0]], dtype=np.dtype({'names': ['y', 'x'], 'formats': ['f4', 'f8'],\n"
               "        'offsets': [4, 16], 'itemsize': 32})))\n"
               "t.astype('f4').tofile(folder + '/expected.raw')\n");
    cr_assert_eq(system(hdst__arena_printf(&arena, "%s %s '%s'", python, path_of("check.py"), folder)), 0);
    size_t length, theirs;
    int32_t labels[] = {2, 0, 1};
    cr_assert_eq(npy_write(NULL, path_of("l.npy"), HDST__I32, (uint64_t[]){3}, 1, labels, NULL), HDST_OK);
    const char *ours = read_whole(path_of("l.npy"), &length);
    cr_assert_eq(memcmp(ours, read_whole(path_of("labels.npy"), &theirs), length), 0);
    cr_assert_eq(length, theirs);
    const char *expected = read_whole(path_of("expected.raw"), &length);
    cr_assert_eq(length, ROWS * 8);
    static const char *const names[] = {"x", "y"};
    static const hdst__kind kinds[] = {HDST__F32, HDST__F32};
    static const char *const files[] = {"c64.npy", "f64.npy", "be32.npy", "t.csv", "t.txt", "rec.npy"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        hdst__source *source = OPEN_OK(hdst__source_open(NULL, path_of(files[i]), NULL, NULL, error));
        expect_records(source, scalars_record(2, names, kinds), expected, ROWS);
        hdst__source_close(source);
    }
    float whole[ROWS * 2];
    for (int i = 0; i < ROWS * 2; i++) whole[i] = (float)i;     // all below 2048, so exact as half floats
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, path_of("f16.npy"), NULL, NULL, error));
    expect_records(source, array_record(HDST__F32, 2), whole, ROWS);
    hdst__source_close(source);
}

// --- Files appear whole or not at all ---

static int count_files(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(dir);
    return count;
}

Test(write, an_older_file_stays_until_the_new_one_is_complete)
{
    const char *path = write_text("r.npy", "old");
    hdst__file_writer *writer = hdst__npy_begin(NULL, path, HDST__F32, (uint64_t[]){2}, 1, NULL);
    cr_assert(writer);
    cr_assert_eq(hdst__file_writer_add(writer, "1234", 4, NULL), HDST_OK);
    size_t length;
    cr_assert_str_eq(read_whole(path, &length), "old");
    hdst__file_writer_abandon(writer);
    cr_assert_str_eq(read_whole(path, &length), "old");
    cr_assert_eq(count_files(), 1);
    float values[2] = {1, 2};
    cr_assert_eq(npy_write(NULL, path, HDST__F32, (uint64_t[]){2}, 1, values, NULL), HDST_OK);
    hdst__source *source = OPEN_OK(hdst__source_open(NULL, path, NULL, NULL, error));
    expect_records(source, array_record(HDST__F32, 1), values, 2);
    hdst__source_close(source);
    cr_assert_eq(count_files(), 1);
}

Test(write, a_full_disk_and_a_missing_folder_are_input_output_errors)
{
    hdst_error error = HDST_ERROR_INIT;
    static float much[100000];
    cr_assert_eq(npy_write(NULL, "/dev/full", HDST__F32, (uint64_t[]){100000}, 1, much, &error), HDST_E_IO);
    cr_assert_str_eq(error.cause, "No space left on device");
    cr_assert_eq(npy_write(NULL, "/dev/full", HDST__F32, (uint64_t[]){1}, 1, much, &error), HDST_E_IO);
    cr_assert_eq(npy_write(NULL, path_of("none/r.npy"), HDST__F32, (uint64_t[]){1}, 1, much, &error), HDST_E_IO);
    cr_assert_str_eq(error.cause, "No such file or directory");
    cr_assert_str_eq(error.hint, hdst__arena_printf(&arena, "there is no folder '%s/none'", folder));
    cr_assert_eq(npy_write(NULL, folder, HDST__F32, (uint64_t[]){1}, 1, much, &error), HDST_E_IO);
    cr_assert_eq(hdst__records_write(&hdst__records_csv, NULL, "/dev/full", array_record(HDST__F32, 1), much, 100000, &error), HDST_E_IO);
    cr_assert_eq(count_files(), 0);
}

static hdst_status save_to(const char *path, hdst_error *error)
{
    float values[2] = {1, 2};
    return npy_write(NULL, path, HDST__F32, (uint64_t[]){2}, 1, values, error);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    cr_assert_eq(lstat(path, &status), 0, "%s", path);
    return status.st_mode & (07777 | S_IFMT);
}

static void modes(bool nameless)
{
    without_nameless = !nameless;
    static const mode_t modes[] = {0600, 0644, 0640, 0666, 0755, 0444};
    const char *path = path_of("r.npy");
    umask(027);
    cr_assert_eq(save_to(path, NULL), HDST_OK);
    cr_assert_eq(mode_of(path), S_IFREG | 0640);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        cr_assert_eq(chmod(path, modes[i]), 0);
        cr_assert_eq(save_to(path, NULL), HDST_OK);
        cr_expect_eq(mode_of(path), S_IFREG | modes[i], "%o became %o", modes[i], mode_of(path));
    }
}

Test(write, a_file_that_is_replaced_keeps_its_mode_and_a_new_one_follows_the_umask) { modes(true); }
Test(write, a_file_that_is_replaced_keeps_its_mode_and_a_new_one_follows_the_umask_where_files_have_names) { modes(false); }

Test(write, where_the_group_cannot_be_kept_it_gets_no_more_than_others)
{
    const char *path = write_text("r.npy", "old");
    if (geteuid() != 0) {
        tear_down();
        cr_skip_test("needs root, to make a file of another group");
    }
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_assert_eq(chown(path, 4321, 1234), 0);
    cr_assert_eq(chmod(path, 0664), 0);
    cr_assert_eq(save_to(path, NULL), HDST_OK);         // root keeps them
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_assert(status.st_uid == 4321 && status.st_gid == 1234 && (status.st_mode & 0777) == 0664);
    const pid_t child = fork();
    if (child == 0) _exit(setgid(77) || setuid(77) || save_to(path, NULL) != HDST_OK);
    int end = 0;
    cr_assert_eq(waitpid(child, &end, 0), child);
    cr_assert(WIFEXITED(end) && WEXITSTATUS(end) == 0);
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_gid, 77);
    cr_assert_eq(status.st_mode & 0777, 0644);
}

Test(write, a_link_stays_and_what_it_leads_to_is_replaced)
{
    size_t length;
    cr_assert_eq(mkdir(path_of("far"), 0700), 0);
    write_text("far/r.npy", "old");
    cr_assert_eq(symlink("far/hop.npy", path_of("link.npy")), 0);
    cr_assert_eq(symlink("r.npy", path_of("far/hop.npy")), 0);          // seen from its own folder
    cr_assert_eq(chmod(path_of("far/r.npy"), 0600), 0);
    cr_assert_eq(save_to(path_of("link.npy"), NULL), HDST_OK);
    cr_assert(S_ISLNK(mode_of(path_of("link.npy"))) && S_ISLNK(mode_of(path_of("far/hop.npy"))));
    cr_assert_eq(mode_of(path_of("far/r.npy")), S_IFREG | 0600);
    cr_assert_eq(memcmp(read_whole(path_of("far/r.npy"), &length), "\x93NUMPY", 6), 0);
    cr_assert_eq(symlink(path_of("far/new.npy"), path_of("to-be.npy")), 0);     // leads to nothing yet
    cr_assert_eq(save_to(path_of("to-be.npy"), NULL), HDST_OK);
    cr_assert(S_ISLNK(mode_of(path_of("to-be.npy"))));
    cr_assert_eq(memcmp(read_whole(path_of("far/new.npy"), &length), "\x93NUMPY", 6), 0);
    cr_assert_eq(symlink("round.npy", path_of("round.npy")), 0);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(save_to(path_of("round.npy"), &error), HDST_E_IO);
    cr_assert_eq(count_files(), 4, "far, link.npy, to-be.npy, round.npy");
}

// In folders that others may write: a link may lead to any file of the user's, a pipe would be waited for.
Test(write, a_private_file_replaces_links_and_pipes_and_is_the_users_alone)
{
    size_t length;
    const char *path = path_of("f.replay"), *victim = write_text("victim", "dear");
    cr_assert_eq(symlink(victim, path), 0);
    for (int i = 0; i < 2; i++) {
        hdst__file_writer *writer = hdst__file_writer_open_private(NULL, path, NULL);
        cr_assert_not_null(writer);
        cr_assert_eq(hdst__file_writer_add(writer, "new", 3, NULL), HDST_OK);
        cr_assert_eq(hdst__file_writer_commit(writer, NULL), HDST_OK);
        cr_assert_eq(mode_of(path), S_IFREG | 0600);
        cr_assert_eq(unlink(path), 0);
        cr_assert_eq(mkfifo(path, 0666), 0);        // the second turn's
    }
    cr_assert_str_eq(read_whole(victim, &length), "dear");
}

static void failing_change(bool nameless)
{
    without_nameless = !nameless;
    hdst_error error = HDST_ERROR_INIT;
    hdst__file_writer *writer = hdst__file_writer_open(NULL, path_of("r.npy"), &error);
    cr_assert_not_null(writer);
    cr_assert_eq(hdst__file_writer_add(writer, "new", 3, NULL), HDST_OK);
    cr_assert_eq(mkdir(path_of("r.npy"), 0700), 0);         // a file cannot take its place
    cr_assert_eq(hdst__file_writer_commit(writer, &error), HDST_E_IO);
    cr_assert_str_eq(error.cause, "Is a directory");
    cr_assert_eq(count_files(), 1);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100}), 0);
    cr_assert_eq(save_to(path_of("s.npy"), &error), HDST_E_IO);
    cr_assert_str_eq(error.cause, "File too large");
    cr_assert_eq(count_files(), 1);
}

Test(write, a_change_that_fails_leaves_nothing_behind) { failing_change(true); }
Test(write, a_change_that_fails_leaves_nothing_behind_where_files_have_names) { failing_change(false); }

// Where the file system keeps files without names a killed writer leaves none at all; elsewhere the next one removes what it left.
static void remains(bool nameless)
{
    without_nameless = !nameless;
    const pid_t child = fork();
    if (child == 0) {
        hdst__file_writer *writer = hdst__file_writer_open(NULL, path_of("r.npy"), NULL);
        if (hdst__file_writer_add(writer, "half", 4, NULL) == HDST_OK) kill(getpid(), SIGKILL);
    }
    int end = 0;
    cr_assert_eq(waitpid(child, &end, 0), child);
    cr_assert(WIFSIGNALED(end) && WTERMSIG(end) == SIGKILL);
    write_text(".r.npy.hdst-0.tmp", "left by one that died");
    write_text(".r.npy.hdst-7.tmp", "left by another");
    write_text(".other.npy.hdst-0.tmp", "not of this file");
    const int lives = open(write_text(".r.npy.hdst-3.tmp", "being written"), O_RDWR);
    cr_assert_eq(flock(lives, LOCK_EX), 0);
    cr_assert_eq(save_to(path_of("r.npy"), NULL), HDST_OK);
    size_t length;
    cr_assert_str_eq(read_whole(path_of(".r.npy.hdst-3.tmp"), &length), "being written");
    cr_assert_str_eq(read_whole(path_of(".other.npy.hdst-0.tmp"), &length), "not of this file");
    cr_assert_eq(count_files(), 3, "with r.npy");
    close(lives);
    cr_assert_eq(save_to(path_of("r.npy"), NULL), HDST_OK);
    cr_assert_eq(count_files(), 2);
}

Test(write, what_a_killed_writer_left_is_removed_by_the_next_one_and_what_lives_is_not) { remains(true); }
Test(write, what_a_killed_writer_left_is_removed_by_the_next_one_and_what_lives_is_not_where_files_have_names) { remains(false); }

// Each sees a whole file, and none takes the other's temporary one for remains.
static void several_writers(bool nameless)
{
    without_nameless = !nameless;
    enum { WRITERS = 4, TURNS = 100 };
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        child[w] = fork();
        for (int i = 0; child[w] == 0 && i < TURNS; i++)
            if (save_to(path_of("r.npy"), NULL) != HDST_OK) _exit(1);
        if (child[w] == 0) _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int end = 0;
        cr_assert_eq(waitpid(child[w], &end, 0), child[w]);
        cr_expect(WIFEXITED(end) && WEXITSTATUS(end) == 0);
    }
    cr_assert_eq(count_files(), 1);
}

Test(write, several_writers_of_one_file_do_not_disturb_each_other) { several_writers(true); }
Test(write, several_writers_of_one_file_do_not_disturb_each_other_where_files_have_names) { several_writers(false); }

Test(write, a_name_as_long_as_the_system_allows)
{
    char name[256];
    memset(name, 'n', 255);
    memcpy(name + 251, ".npy", 5);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(save_to(path_of(name), &error), HDST_OK, "%s", error.cause);
    cr_assert_eq(save_to(path_of(name), &error), HDST_OK, "%s", error.cause);
    cr_assert_eq(count_files(), 1);
}

Test(write, raw_records_must_fill_the_file)
{
    hdst_error error = HDST_ERROR_INIT;
    error = failure_of(hdst__source_raw(NULL, write_file("r.raw", "12345678901", 11), NULL, &error), array_record(HDST__F32, 2), error);
    cr_assert_eq(error.code, HDST_E_FORMAT);
    cr_assert_str_eq(error.message, "11 bytes are no whole number of records 'point' of 8 bytes: 3 bytes are left over");
}
