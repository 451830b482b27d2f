// SPDX-License-Identifier: Apache-2.0
// Records and separated text from pipes and the standard input: as from the same bytes in a file.
#include "tests/io/helper.h"
#include "tests/io/packed.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

enum { ROWS = 100000 };

TestSuite(pipes, .init = set_up, .fini = tear_down);

static float rows[ROWS][2];

static void make_rows(void)
{
    for (int i = 0; i < ROWS; i++) rows[i][0] = (float)i, rows[i][1] = (float)i / 4;
}

static char *text_of_rows(size_t *length)
{
    char *text = hdst__arena_alloc(&arena, ROWS * 32);
    *length = 0;
    for (int i = 0; i < ROWS; i++) *length += (size_t)sprintf(text + *length, "%d,%.2f\n", i, (double)rows[i][1]);
    return text;
}

// --- The other end ---

typedef struct writer {
    const char *path;           // NULL: `fd`
    int fd;
    const void *bytes;
    size_t count;
} writer;

static void *write_all(void *user)
{
    const writer *w = user;
    const int fd = w->path ? open(w->path, O_WRONLY) : w->fd;
    for (size_t at = 0; at < w->count;) {
        const size_t some = at < 20 ? 1 : 50000, left = w->count - at;
        const ssize_t n = write(fd, (const char *)w->bytes + at, left < some ? left : some);
        if (n < 0) break;
        at += (size_t)n;
    }
    close(fd);
    return NULL;
}

// A pipe of that name, to which a thread writes the bytes.
static pthread_t begin(writer *w, const char *name, const void *bytes, size_t count)
{
    pthread_t thread;
    *w = (writer){path_of(name), -1, bytes, count};
    unlink(w->path);
    cr_assert_eq(mkfifo(w->path, 0600), 0);
    cr_assert_eq(pthread_create(&thread, NULL, write_all, w), 0);
    return thread;
}

static pthread_t begin_standard_input(writer *w, const void *bytes, size_t count)
{
    pthread_t thread;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    dup2(ends[0], 0);
    close(ends[0]);
    *w = (writer){NULL, ends[1], bytes, count};
    cr_assert_eq(pthread_create(&thread, NULL, write_all, w), 0);
    return thread;
}

static void expect_rows(hdst__source *source, pthread_t thread)
{
    pthread_join(thread, NULL);
    expect_records(source, array_record(HDST__F32, 2), rows, ROWS);
    hdst__source_close(source);
}

// --- What comes by ---

Test(pipes, raw_records)
{
    writer w;
    make_rows();
    pthread_t thread = begin(&w, "rows", rows, sizeof rows);
    expect_rows(OPEN_OK(hdst__source_raw(NULL, w.path, NULL, error)), thread);
    thread = begin_standard_input(&w, rows, sizeof rows);
    expect_rows(OPEN_OK(hdst__source_raw(NULL, "-", NULL, error)), thread);
    const char *path = write_file("rows.bin", rows, sizeof rows);      // which the standard input is: it is read where it lies
    const int fd = open(path, O_RDONLY);
    dup2(fd, 0);
    close(fd);
    hdst__source *source = OPEN_OK(hdst__source_raw(NULL, "-", NULL, error));
    expect_records(source, array_record(HDST__F32, 2), rows, ROWS);
    hdst__source_close(source);
}

// Nothing is unpacked whose bytes are numbers.
Test(pipes, raw_records_that_look_compressed)
{
    static const unsigned char bytes[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};
    writer w;
    pthread_t thread = begin(&w, "rows", bytes, sizeof bytes);
    hdst__source *source = OPEN_OK(hdst__source_raw(NULL, w.path, NULL, error));
    pthread_join(thread, NULL);
    expect_records(source, array_record(HDST__U8, 8), bytes, 1);
    hdst__source_close(source);
}

Test(pipes, separated_text)
{
    writer w;
    size_t length;
    make_rows();
    const char *text = text_of_rows(&length);
    const char *const names[] = {"rows.csv", "rows"};
    for (int i = 0; i < 2; i++) {
        pthread_t thread = begin(&w, names[i], text, length);
        expect_rows(OPEN_OK(hdst__source_open(NULL, w.path, NULL, NULL, error)), thread);
    }
    pthread_t thread = begin_standard_input(&w, text, length);
    expect_rows(OPEN_OK(hdst__source_open(NULL, "-", "0,1", NULL, error)), thread);
    for (size_t k = 0; k < PACKERS; k++) {
        const packed_bytes p = packers[k].pack(text, length);
        thread = begin(&w, "rows.csv", p.bytes, p.count);
        expect_rows(OPEN_OK(hdst__source_open(NULL, w.path, NULL, NULL, error)), thread);
    }
}

// --- What is told ---

static hdst_error refusal(const char *name, const void *bytes, size_t count)
{
    writer w;
    hdst_error error = HDST_ERROR_INIT;
    pthread_t thread = begin(&w, name, bytes, count);
    cr_assert_null(hdst__source_open(NULL, w.path, NULL, NULL, &error));
    pthread_join(thread, NULL);
    cr_assert_str_eq(error.file, w.path);
    return error;
}

Test(pipes, what_is_no_text)
{
    const hdst_error npy = refusal("rows", "\x93NUMPY\x01", 7), none = refusal("rows.csv", "", 0);
    cr_assert_eq(npy.code, HDST_E_FORMAT);
    cr_assert(strstr(npy.message, "is a .npy file, not a text"), "%s", npy.message);
    cr_assert_str_eq(npy.hint, "write it to a file, and read that");
    cr_assert_eq(none.code, HDST_E_FORMAT);
}

Test(pipes, records_that_are_cut)
{
    writer w;
    pthread_t thread = begin(&w, "raw", "12345678901", 11);
    hdst__source *source = OPEN_OK(hdst__source_raw(NULL, w.path, NULL, error));
    pthread_join(thread, NULL);
    const hdst_error error = failure_of(source, array_record(HDST__F32, 2), (hdst_error)HDST_ERROR_INIT);
    cr_assert(strstr(error.message, "3 bytes are left over"), "%s", error.message);
}

static void *ask_soon(void *cancel)
{
    usleep(50000);
    hdst__cancel_ask(cancel);
    return NULL;
}

Test(pipes, nobody_writes)
{
    for (int i = 0; i < 2; i++) {
        hdst__cancel cancel = {0};
        hdst_error error = HDST_ERROR_INIT;
        pthread_t thread;
        const char *path = path_of("pipe");
        unlink(path);
        cr_assert_eq(mkfifo(path, 0600), 0);
        hdst__cancel_begin(&cancel);
        pthread_create(&thread, NULL, ask_soon, &cancel);
        cr_assert_null(i ? hdst__source_raw(NULL, path, &cancel, &error) : hdst__source_open(NULL, path, NULL, &cancel, &error));
        cr_assert_eq(error.code, HDST_E_CANCELLED, "%s", error.message);
        pthread_join(thread, NULL);
        hdst__cancel_end(&cancel);
    }
}

Test(pipes, no_room_for_what_comes)
{
    const char *path = path_of("pipe");
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(mkfifo(path, 0600), 0);
    const int other_end = open(path, O_RDWR);
    cr_assert_eq(write(other_end, "12345678", 8), 8);
    setenv("TMPDIR", "/nowhere", 1);
    cr_assert_null(hdst__source_raw(NULL, path, NULL, &error));
    unsetenv("TMPDIR");
    cr_assert_eq(error.code, HDST_E_IO);
    cr_assert(strstr(error.message, "temporary file in '/nowhere': cannot be made"), "%s", error.message);
    close(other_end);
}
