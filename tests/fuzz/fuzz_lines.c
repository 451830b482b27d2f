// SPDX-License-Identifier: Apache-2.0
// The reader of lines: the first byte says whether a \r before a line's end is dropped and how long a line may be, the rest is the text, compressed if it
// begins as such files do. Lines that were counted before and those that are counted as they are read are the same, and those of plain texts are what lies
// between \n.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/fuzz_source.h"

#include "record/text_bytes.h"
#include "record/text_span.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct line { hdst__text_span text; uint64_t offset, number; } line;
typedef struct bytes { struct bytes *next; } bytes;
typedef struct lines { line *line; uint64_t count; bytes *bytes; bool good; } lines;

static hdst_status take_bytes(void *user, uint64_t count, char **at, hdst_error *error)
{
    (void)error;
    lines *l = user;
    bytes *b = calloc(1, sizeof *b + count + 16);   // behind every text lie bytes that may be read
    CHECK(b);
    b->next = l->bytes;
    l->bytes = b;
    *at = (char *)(b + 1);
    return HDST_OK;
}

static hdst__record *line_record(hdst__arena *arena)
{
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 3);
    fields[0] = (hdst__field){"text", hdst__type_scalar(HDST__TEXT)};
    fields[1] = (hdst__field){"offset", hdst__type_scalar(HDST__U64)};
    fields[2] = (hdst__field){"line", hdst__type_scalar(HDST__U64)};
    hdst__record *record = HDST__NEW(arena, hdst__record);
    *record = (hdst__record){.name = "row", .fields = fields, .field_count = 3};
    CHECK(hdst__record_finish(arena, record, NULL) && record->size == sizeof(line));
    return record;
}

// Lines [0, most), where there are so many; of more there is nothing.
static void fill(hdst__arena *arena, hdst__bound_source *bound, const hdst__record *record, uint64_t most, lines *l)
{
    hdst_error error = HDST_ERROR_INIT;
    const hdst__bytes_place place = {take_bytes, l};
    hdst__storage storage = *hdst__storage_make(arena, record, HDST__AOS, 0, most);
    storage.text = &place;
    l->line = calloc(most + 1, sizeof *l->line);
    CHECK(l->line);
    l->good = hdst__bound_source_fill(bound, 0, most, &storage, (void *[]){l->line}, 0, &error) == HDST_OK;
    CHECK(l->good || (error.code && error.message[0]));
}

static void read_all(hdst__arena *arena, const char *path, const hdst__lines_options *options, bool counted, uint64_t most, lines *l)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__bound_source *bound = NULL;
    const hdst__record *record = line_record(arena);
    hdst__source *source = hdst__source_lines(NULL, &path, 1, options, &error);
    *l = (lines){0};
    if (source) CHECK(hdst__source_bind_uncounted(source, record, &bound, &error) == HDST_OK);
    l->good = source && (!counted || hdst__bound_source_count(bound, NULL, &error) == HDST_OK);
    CHECK(l->good || (error.code && error.message[0]));
    if (l->good && counted) l->count = most = hdst__bound_source_records(bound);
    if (l->good && most && most <= 1 << 16) fill(arena, bound, record, most, l);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

static void free_lines(lines *l)
{
    for (bytes *b = l->bytes, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(l->line);
}

static bool same_text(const hdst__text_span *span, const char *at, uint64_t length)
{
    return span->length == length && !memcmp(hdst__text_bytes(span), at, length);
}

static void check_plain(const lines *l, const char *text, uint64_t size, bool strips)
{
    uint64_t count = 0;
    for (uint64_t from = 0; from < size; count++) {
        const char *end = memchr(text + from, '\n', size - from);
        const uint64_t all = (end ? (uint64_t)(end - text) : size) - from, length = all - (end && all && strips && end[-1] == '\r');
        CHECK(count < l->count && same_text(&l->line[count].text, text + from, length));
        CHECK(l->line[count].offset == from && l->line[count].number == count + 1);
        from += all + (end != NULL);
    }
    CHECK(count == l->count);
}

static bool may_be_packed(const uint8_t *text, size_t size)
{
    return size > 1 && (text[0] == 0x1f || text[0] == 0x28 || text[0] == 0xfd || (text[0] >= 0x50 && text[0] <= 0x5f) || text[0] == 0x42 || text[0] == 0x04);
}

static void compare(const char *path, const uint8_t *data, size_t size, hdst__arena *arena)
{
    static const uint32_t longest[] = {0, 0, 1, 12, 13, 64, 1000};
    const hdst__lines_options options = {.strip_returns = data[0] & 1, .longest = longest[data[0] / 2 % 7]};
    lines counted, open;
    read_all(arena, path, &options, true, 0, &counted);
    read_all(arena, path, &options, false, counted.count ? counted.count : 1, &open);
    CHECK(counted.good == open.good);
    for (uint64_t i = 0; counted.good && counted.line && i < counted.count; i++) {
        const hdst__text_span *a = &counted.line[i].text;
        CHECK(same_text(&open.line[i].text, hdst__text_bytes(a), a->length));
        CHECK(counted.line[i].offset == open.line[i].offset && counted.line[i].number == open.line[i].number);
    }
    if (counted.good && counted.count <= 1 << 16 && !may_be_packed(data + 1, size - 1))
        check_plain(&counted, (const char *)data + 1, size - 1, options.strip_returns);
    free_lines(&counted);
    free_lines(&open);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    jmp_buf out_of_memory;
    hdst__arena arena;
    if (size < 1) return 0;
    int fd = memfd_create("input", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    hdst__arena_init(&arena, NULL, &out_of_memory);
    CHECK(!setjmp(out_of_memory));
    compare(path, data, size, &arena);
    hdst__arena_destroy(&arena);
    close(fd);
    return 0;
}
