// SPDX-License-Identifier: Apache-2.0
// Texts at any place: the bytes that were written, whichever way they are packed or come; what is damaged, cut or changed is told with its place.
#include "packed.h"

#include "base/budget.h"
#include "io/text_input.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

TestSuite(text_input, .init = set_up, .fini = tear_down);

static hdst_error failed;       // of the last call

static hdst__text_input *open_paths(const char *const *paths, size_t count)
{
    hdst__text_input *input;
    failed = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__text_input_open(NULL, paths, count, NULL, NULL, &input, &failed);
    cr_assert_eq(status == HDST_OK, input != NULL);
    return input;
}

static hdst__text_input *open_path(const char *path) { return open_paths(&path, 1); }

// Opened and prepared; NULL after an error.
static hdst__text_input *prepared(const char *path)
{
    hdst__text_input *input = open_path(path);
    if (input && hdst__text_input_prepare(input, NULL, &failed) == HDST_OK) return input;
    hdst__text_input_close(input);
    return NULL;
}

static void expect_bytes(const hdst__text_input *input, size_t file, const char *text, size_t count)
{
    char *got = malloc(count + 1);
    cr_assert_eq(hdst__text_input_bytes(input, file), count, "%zu bytes", (size_t)hdst__text_input_bytes(input, file));
    cr_assert_eq(hdst__text_input_read(input, file, 0, got, count, &failed), HDST_OK, "%s", failed.message);
    cr_assert(!memcmp(got, text, count));
    for (size_t at = count, length = 1; at > length; at -= length, length = length * 3 % 100003 + 1) {
        cr_assert_eq(hdst__text_input_read(input, file, at - length, got, length, NULL), HDST_OK);
        cr_assert(!memcmp(got, text + at - length, length));
    }
    free(got);
}

static void expect_text(const char *path, const char *text, size_t count)
{
    hdst__text_input *input = prepared(path);
    cr_assert(input, "%s: %s (%s)", path, failed.message, failed.cause);
    expect_bytes(input, 0, text, count);
    hdst__text_input_close(input);
}

static void expect_failure(const char *path, hdst_status code, const char *message, const char *cause)
{
    hdst__text_input *input = prepared(path);
    cr_assert_null(input);
    cr_assert_eq(failed.code, code, "%s", failed.message);
    cr_assert(strstr(failed.message, message) && strstr(failed.message, path), "%s", failed.message);
    cr_assert(strstr(failed.cause, cause), "%s", failed.cause);
    cr_assert_str_eq(failed.file, path);
    cr_assert(*failed.hint);
}

Test(text_input, plain_files_and_packed_ones_by_their_first_bytes)
{
    // Longer than a piece of the temporary file.
    const size_t sizes[] = {0, 1, 15, 16, 17, 300000, (4 << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *text = some_text(sizes[i], (uint32_t)i);
        expect_text(write_file("plain.gz", text, sizes[i]), text, sizes[i]);
        for (size_t k = 0; k < PACKERS; k++) {
            const packed_bytes p = packers[k].pack(text, sizes[i]);
            expect_text(write_file("packed.txt", p.bytes, p.count), text, sizes[i]);
        }
    }
}

Test(text_input, members_one_after_another_and_empty_ones)
{
    const char *text = some_text(700000, 3);
    for (size_t k = 0; k < PACKERS; k++) {
        const packed_bytes empty = packers[k].pack("", 0), first = packers[k].pack(text, 400000), second = packers[k].pack(text + 400000, 300000);
        const packed_bytes all = join(join(empty, first), join(join(empty, empty), join(second, empty)));
        expect_text(write_file("all", all.bytes, all.count), text, 700000);
        expect_text(write_file("empty", empty.bytes, empty.count), "", 0);
    }
}

Test(text_input, what_python_packs)
{
    // Members, padding as of a tape; streams, padding between them.
    const char *script = hdst__arena_printf(&arena, "cd '%s' && python3 -c \"\nimport gzip, lzma\n"
        "text = b''.join(b'line %%d\\n' %% i for i in range(80000))\n"
        "open('t', 'wb').write(text)\n"
        "open('t.gz', 'wb').write(gzip.compress(text[:5000]) + gzip.compress(b'') + gzip.compress(text[5000:], 9) + bytes(512))\n"
        "open('t.xz', 'wb').write(lzma.compress(text[:7000]) + bytes(8) + lzma.compress(text[7000:], preset=6, check=lzma.CHECK_SHA256))\n\"", folder);
    cr_assert_eq(system(script), 0);
    size_t count;
    const char *text = read_whole(path_of("t"), &count);
    cr_assert(count > 800000 && count < (1 << 20) - 1);
    expect_text(path_of("t.gz"), text, count);
    expect_text(path_of("t.xz"), text, count);
}

// A frame that decoders skip, as pzstd begins its files with.
Test(text_input, a_skipped_frame_in_front)
{
    const packed_bytes frame = {"\x50\x2A\x4D\x18\x04\x00\x00\x00\x07\x00\x00\x00", 12}, p = join(frame, pack_zstd("a\nb\n", 4));
    expect_text(write_file("p", p.bytes, p.count), "a\nb\n", 4);
}

Test(text_input, what_is_cut_short)
{
    const char *text = some_text(900000, 5);
    for (size_t k = 0; k < PACKERS; k++) {
        const packed_bytes p = packers[k].pack(text, 900000);
        const size_t lengths[] = {16, p.count / 2, p.count - 9, p.count - 1};
        for (size_t i = 0; i < 4; i++) {
            const char *where = hdst__arena_printf(&arena, "ends within its %s data, at byte %zu of", packers[k].name, lengths[i]);
            expect_failure(write_file("cut", p.bytes, lengths[i]), HDST_E_FORMAT, where, "cut");
            const packed_bytes two = join(p, (packed_bytes){p.bytes, lengths[i]});      // the second member
            expect_failure(write_file("cut", two.bytes, two.count), HDST_E_FORMAT, "ends within", "cut");
        }
    }
}

Test(text_input, what_is_damaged)
{
    const char *text = some_text(900000, 7);
    for (size_t k = 0; k < PACKERS; k++) {
        packed_bytes p = packers[k].pack(text, 900000);
        const char *no_data = hdst__arena_printf(&arena, "is damaged: no %s data at byte ", packers[k].name);
        const size_t places[] = {p.count / 2, p.count - (k == 0 ? 6 : k == 1 ? 2 : 6)};     // the data; the check, or the index
        for (size_t i = 0; i < 2; i++) {
            p.bytes[places[i]] ^= 0x55;
            expect_failure(write_file("bad", p.bytes, p.count), HDST_E_FORMAT, no_data, packers[k].name);
            const unsigned long long at = strtoull(strstr(failed.message, "at byte ") + 8, NULL, 10);
            cr_assert(at + 1 >= places[i] / 2 && at <= p.count, "%llu", at);
            p.bytes[places[i]] ^= 0x55;
        }
        const packed_bytes more = join(p, (packed_bytes){"and more text of no use", 23});
        expect_failure(write_file("bad", more.bytes, more.count), HDST_E_FORMAT, no_data, packers[k].name);
    }
}

Test(text_input, formats_that_are_not_read)
{
    expect_failure(write_file("b", "BZh9\x31\x41\x59\x26\x53\x59more", 14), HDST_E_FORMAT, "compressed with bzip2", "");
    expect_failure(write_file("z", "PK\x03\x04\x14\x00more", 10), HDST_E_FORMAT, "compressed with zip", "");
    expect_text(write_file("t", "BZh9 is how bzip2 begins", 24), "BZh9 is how bzip2 begins", 24);
}

Test(text_input, files_that_are_not_there)
{
    cr_assert_null(open_path(path_of("none")));
    cr_assert(failed.code == HDST_E_IO && strstr(failed.message, "cannot open") && strstr(failed.cause, "No such file"));
    cr_assert_null(open_path(path_of("none*")));
    cr_assert(failed.code == HDST_E_IO && strstr(failed.message, "no file matches"), "%s", failed.message);
    cr_assert_null(open_path(folder));
    cr_assert(failed.code == HDST_E_IO && strstr(failed.message, "has no files"), "%s", failed.message);
    cr_assert_eq(hdst__text_input_open(NULL, NULL, 0, NULL, NULL, &(hdst__text_input *){NULL}, &failed), HDST_E_USAGE);
}

static void expect_names(const hdst__text_input *input, const char *names)
{
    char got[500] = "";
    cr_assert(input, "%s", failed.message);
    for (size_t i = 0; i < hdst__text_input_files(input); i++) {
        const char *path = hdst__text_input_path(input, i);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", path + strlen(folder) + 1);
    }
    cr_assert_str_eq(got, names);
}

Test(text_input, folders_and_patterns_in_the_order_of_bytes)
{
    static const char *const names[] = {"b.txt", "B.txt", "a.txt", "a[1].txt", ".hidden", "\xC3\xA4.txt", "Z.log", "_.txt"};
    for (size_t i = 0; i < 8; i++) write_text(names[i], names[i]);
    cr_assert_eq(mkdir(path_of("c.txt"), 0700), 0);
    hdst__text_input *input = open_path(folder);
    expect_names(input, "B.txt Z.log _.txt a.txt a[1].txt b.txt \xC3\xA4.txt ");
    hdst__text_input_close(input);
    input = open_path(path_of("*.txt"));
    expect_names(input, "B.txt _.txt a.txt a[1].txt b.txt \xC3\xA4.txt ");
    hdst__text_input_close(input);
    input = open_path(path_of("[ab].t?t"));
    expect_names(input, "a.txt b.txt ");
    hdst__text_input_close(input);
    input = open_path(path_of("a[1].txt"));         // there is a file of that name
    expect_names(input, "a[1].txt ");
    hdst__text_input_close(input);
    cr_assert_null(open_path(path_of("c.*")));
    cr_assert(strstr(failed.message, "matches folders only"), "%s", failed.message);
    const char *const several[] = {path_of("b.txt"), path_of("[BZ]*"), path_of("b.txt")};
    input = open_paths(several, 3);
    expect_names(input, "b.txt B.txt Z.log b.txt ");
    cr_assert_eq(hdst__text_input_prepare(input, NULL, NULL), HDST_OK);
    expect_bytes(input, 1, "B.txt", 5);
    expect_bytes(input, 3, "b.txt", 5);
    hdst__text_input_close(input);
}

// --- Many at once ---

// More than stay open, packed and not, by several threads; the temporary file counts, and has no name.
Test(text_input, thousands_of_files_by_several_threads)
{
    enum { FILES = 600 };
    hdst__runtime runtime = {0};
    const char *text = some_text(FILES * 100, 11);
    hdst__meter_init(&runtime.files.bytes);
    for (int i = 0; i < FILES; i++) {
        const packed_bytes p = i % 2 ? packers[i / 2 % 3].pack(text + i * 100, (size_t)(100 - i % 100)) : (packed_bytes){(char *)text + i * 100, 100};
        write_file(hdst__arena_printf(&arena, "%04d", i), p.bytes, p.count);
    }
    hdst__text_input *input;
    const char *path = folder;
    cr_assert_eq(hdst__text_input_open(NULL, &path, 1, NULL, &runtime, &input, &failed), HDST_OK);
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 4);
    cr_assert_eq(hdst__text_input_prepare(input, pool, &failed), HDST_OK, "%s", failed.message);
    cr_assert_eq(hdst__text_input_prepare(input, pool, &failed), HDST_OK);
    uint64_t unpacked = 0;
    for (int i = 0; i < FILES; i++) {
        expect_bytes(input, (size_t)i, text + i * 100, i % 2 ? (size_t)(100 - i % 100) : 100);
        if (i % 2) unpacked += (uint64_t)(100 - i % 100);
    }
    cr_assert_eq(atomic_load(&runtime.files.bytes.now), unpacked);
    hdst__text_input_close(input);
    cr_assert_eq(atomic_load(&runtime.files.bytes.now), 0);
    hdst__thread_pool_destroy(pool);
}

Test(text_input, the_first_file_that_is_damaged_is_told)
{
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 4);
    for (int i = 0; i < 20; i++) {
        const packed_bytes p = pack_gzip("some text", 9);
        write_file(hdst__arena_printf(&arena, "%02d", i), p.bytes, p.count - (i >= 7));
    }
    hdst__text_input *input = open_path(folder);
    cr_assert_eq(hdst__text_input_prepare(input, pool, &failed), HDST_E_FORMAT);
    cr_assert(strstr(failed.message, "/07'"), "%s", failed.message);
    hdst__text_input_close(input);
    hdst__thread_pool_destroy(pool);
}

// --- Pipes ---

typedef struct writer {
    const char *path;
    const char *bytes;
    size_t count;
} writer;

static void *write_slowly(void *user)
{
    const writer *w = user;
    const int fd = open(w->path, O_WRONLY);
    for (size_t at = 0; at < w->count;) {
        const size_t some = at < 20 ? 1 : 60000, left = w->count - at;
        const ssize_t n = write(fd, w->bytes + at, left < some ? left : some);
        if (n < 0) break;
        at += (size_t)n;
        if (at < 20) nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    close(fd);
    return NULL;
}

static void through_pipe(const char *bytes, size_t count, const char *text, size_t text_bytes)
{
    pthread_t thread;
    writer w = {path_of("pipe"), bytes, count};
    unlink(w.path);
    cr_assert_eq(mkfifo(w.path, 0600), 0);
    hdst__text_input *input = open_path(w.path);
    cr_assert(input, "%s", failed.message);
    pthread_create(&thread, NULL, write_slowly, &w);
    cr_assert_eq(hdst__text_input_prepare(input, NULL, &failed), HDST_OK, "%s", failed.message);
    pthread_join(thread, NULL);
    expect_bytes(input, 0, text, text_bytes);
    hdst__text_input_close(input);
}

Test(text_input, pipes_packed_or_not)
{
    const char *text = some_text(3000000, 13);
    through_pipe(text, 3000000, text, 3000000);
    through_pipe("ab", 2, "ab", 2);
    through_pipe("", 0, "", 0);
    for (size_t k = 0; k < PACKERS; k++) {
        const packed_bytes p = packers[k].pack(text, 3000000);
        through_pipe(p.bytes, p.count, text, 3000000);
    }
}

Test(text_input, the_standard_input)
{
    static const char *const names[] = {"-", "/dev/stdin"};
    for (int i = 0; i < 4; i++) {
        int ends[2];
        if (i < 2) {
            cr_assert_eq(pipe(ends), 0);
            cr_assert_eq(write(ends[1], "some\ntext", 9), 9);
            close(ends[1]);
        } else {
            ends[0] = open(write_text("t", "some\ntext"), O_RDONLY);
        }
        dup2(ends[0], 0);
        close(ends[0]);
        expect_text(names[i % 2], "some\ntext", 9);
    }
    expect_text("/dev/null", "", 0);
}

static void *ask_soon(void *cancel)
{
    nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
    hdst__cancel_ask(cancel);
    return NULL;
}

Test(text_input, a_pipe_nobody_writes_to_can_be_cancelled)
{
    hdst__cancel cancel = {0};
    pthread_t thread;
    hdst__text_input *input;
    const char *path = path_of("pipe");
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_assert_eq(hdst__text_input_open(NULL, &path, 1, &cancel, NULL, &input, &failed), HDST_OK);
    hdst__cancel_begin(&cancel);
    pthread_create(&thread, NULL, ask_soon, &cancel);
    cr_assert_eq(hdst__text_input_prepare(input, NULL, &failed), HDST_E_CANCELLED);
    pthread_join(thread, NULL);
    hdst__cancel_end(&cancel);
    hdst__cancel_begin(&cancel);
    cr_assert_eq(hdst__text_input_prepare(input, NULL, &failed), HDST_E_IO);         // what went by comes no more
    cr_assert(strstr(failed.message, "cannot be read again"));
    hdst__cancel_end(&cancel);
    hdst__text_input_close(input);
}

// --- Files that change ---

static void change(const char *path, int how, size_t count)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000000}};
    FILE *file = fopen(path, "rb+");
    if (how == 0) cr_assert_eq(truncate(path, (off_t)count - 1), 0);
    if (how == 1) fseek(file, 0, SEEK_END), fputc('x', file);
    fclose(file);
    if (how == 2) utimensat(AT_FDCWD, path, times, 0);
    if (how == 3) rename(write_text("other", "another"), path);
}

Test(text_input, a_file_that_changes_while_it_is_read)
{
    const char *text = some_text(300000, 17);
    char got[16];
    for (int how = 0; how < 3; how++) {
        const char *path = write_file("t", text, 300000);
        hdst__text_input *input = prepared(path);
        change(path, how, 300000);
        cr_assert_eq(hdst__text_input_read(input, 0, 299990, got, 10, &failed), HDST_E_IO);
        cr_assert(strstr(failed.message, "changed while it was read") && *failed.hint, "%s", failed.message);
        hdst__text_input_close(input);
    }
    const packed_bytes p = pack_zstd(text, 300000);
    for (int how = 0; how < 3; how++) {
        const char *path = write_file("p", p.bytes, p.count);
        hdst__text_input *input = open_path(path);
        change(path, how, p.count);
        cr_assert_eq(hdst__text_input_prepare(input, NULL, &failed), HDST_E_IO);
        cr_assert(strstr(failed.message, "changed while it was read"), "%s", failed.message);
        hdst__text_input_close(input);
    }
}

// What stays open is read to its end though its name means another file by now.
Test(text_input, a_file_that_is_replaced)
{
    const char *text = some_text(3000, 19), *path = write_file("t", text, 3000);
    hdst__text_input *input = prepared(path);
    change(path, 3, 0);
    expect_bytes(input, 0, text, 3000);
    hdst__text_input_close(input);
}

// --- Memory and room ---

static uint64_t left_to_give;
static void *give_few(size_t bytes, void *user) { return (void)user, left_to_give-- ? malloc(bytes) : NULL; }
static void *regive_few(void *p, size_t bytes, void *user) { return (void)user, left_to_give-- ? realloc(p, bytes) : NULL; }
static void take_back(void *p, void *user) { (void)user, free(p); }

Test(text_input, each_allocation_may_fail)
{
    const hdst__allocator few = {give_few, regive_few, take_back, NULL, NULL};
    for (size_t k = 0; k < PACKERS; k++) {
        const packed_bytes p = packers[k].pack("some text", 9);
        const char *const paths[] = {write_file("p", p.bytes, p.count), write_text("t", "text")};
        for (uint64_t n = 0;; n++) {
            hdst__text_input *input;
            left_to_give = n;
            cr_assert_lt(n, 100);
            hdst_status status = hdst__text_input_open(&few, paths, 2, NULL, NULL, &input, &failed);
            if (status == HDST_OK) status = hdst__text_input_prepare(input, NULL, &failed);
            hdst__text_input_close(input);
            if (status == HDST_OK) break;
            cr_assert_eq(status, HDST_E_MEMORY);
        }
    }
}

Test(text_input, no_folder_for_what_is_unpacked)
{
    const packed_bytes p = pack_gzip("some text", 9);
    const char *path = write_file("p", p.bytes, p.count);
    setenv("TMPDIR", "/nowhere", 1);
    cr_assert_null(prepared(path));
    cr_assert(failed.code == HDST_E_IO && strstr(failed.message, "/nowhere") && strstr(failed.hint, "TMPDIR"), "%s", failed.message);
}
