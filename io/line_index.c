// SPDX-License-Identifier: Apache-2.0
// Where lines are (io/line_index.h).
#include "io/line_index.h"

#include "base/costs_host.h"
#include "io/newlines.h"

#include <string.h>

typedef struct file_lines {
    uint64_t before, lines;     // of files in front; its own
    uint64_t first_block, blocks;
} file_lines;

struct hdst__line_index {
    const hdst__allocator *allocator;
    const hdst__text_input *input;
    const hdst__cancel *cancel;
    uint64_t block_bytes;
    file_lines *file;
    size_t files;
    uint64_t lines;
    uint64_t *ends;             // of each block of each file: line ends in front of it in the file; while they are counted, in it
    uint64_t blocks;
};

static uint64_t block_length(const hdst__line_index *index, size_t file, uint64_t block)
{
    const uint64_t left = hdst__text_input_bytes(index->input, file) - block * index->block_bytes;
    return left < index->block_bytes ? left : index->block_bytes;
}

// --- Counting ---

typedef struct counting {
    hdst__line_index *index;
    hdst_error *error;          // of the first one that failed
    _Atomic uint64_t failed;    // its number, or UINT64_MAX
    pthread_mutex_t mutex;
} counting;

// The file that has a block: the last that begins at it or in front of it and is not empty.
static size_t file_of_block(const hdst__line_index *index, uint64_t block)
{
    size_t low = 0, high = index->files;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->file[middle].first_block <= block) low = middle;
        else high = middle;
    }
    return low;
}

// Blocks from `block` on that are read at once: of one file, and as many as there is room for. *count: at most so many, then how many.
static hdst_status count_blocks(hdst__line_index *index, char *bytes, uint64_t room, uint64_t block, uint64_t *count, hdst_error *error)
{
    const size_t file = file_of_block(index, block);
    file_lines *lines = &index->file[file];
    const uint64_t number = block - lines->first_block, begin = number * index->block_bytes, left = hdst__text_input_bytes(index->input, file) - begin;
    const uint64_t most = room / index->block_bytes < *count ? room / index->block_bytes * index->block_bytes : *count * index->block_bytes;
    const uint64_t length = left < most ? left : most;
    *count = (length + index->block_bytes - 1) / index->block_bytes;
    hdst_status status = hdst__cancel_check(index->cancel, 0, 0, error);
    if (status == HDST_OK) status = hdst__text_input_read(index->input, file, begin, bytes, length, error);
    for (uint64_t i = 0; i < *count && status == HDST_OK; i++)
        index->ends[block + i] = hdst__newlines_count(bytes + i * index->block_bytes, block_length(index, file, number + i));
    // A last line without an end counts as if it had one.
    if (status == HDST_OK && length == left) lines->lines = bytes[length - 1] != '\n';
    return status;
}

static void fail(counting *run, uint64_t group, const hdst_error *error)
{
    pthread_mutex_lock(&run->mutex);
    if (group < run->failed) {
        run->failed = group;
        if (run->error) *run->error = *error;
    }
    pthread_mutex_unlock(&run->mutex);
}

static void count_group(void *user, uint64_t group)
{
    counting *run = user;
    hdst__line_index *index = run->index;
    const uint64_t begin = group * HDST__HOST_TEXT_GROUP_BLOCKS, left = index->blocks - begin;
    const uint64_t count = left < HDST__HOST_TEXT_GROUP_BLOCKS ? left : HDST__HOST_TEXT_GROUP_BLOCKS;
    hdst_error error = HDST_ERROR_INIT;
    if (group > run->failed) return;
    const uint64_t room = index->block_bytes < HDST__HOST_TEXT_READ_BYTES ? HDST__HOST_TEXT_READ_BYTES : index->block_bytes;
    char *bytes = hdst__alloc(index->allocator, room);
    hdst_status status = bytes ? HDST_OK : hdst__error_memory(&error, "the lines of a text");
    for (uint64_t i = 0, some; i < count && status == HDST_OK; i += some) {
        some = count - i;
        status = count_blocks(index, bytes, room, begin + i, &some, &error);
    }
    hdst__free(index->allocator, bytes);
    if (status != HDST_OK) fail(run, group, &error);
}

static hdst_status count_all(hdst__line_index *index, hdst__thread_pool *threads, hdst_error *error)
{
    hdst_error first = HDST_ERROR_INIT;
    counting run = {.index = index, .error = &first, .failed = UINT64_MAX};
    const uint64_t groups = (index->blocks + HDST__HOST_TEXT_GROUP_BLOCKS - 1) / HDST__HOST_TEXT_GROUP_BLOCKS;
    pthread_mutex_init(&run.mutex, NULL);
    if (threads) hdst__thread_pool_run(threads, groups, count_group, &run);
    else for (uint64_t i = 0; i < groups; i++) count_group(&run, i);
    pthread_mutex_destroy(&run.mutex);
    if (first.code && error) *error = first;
    return first.code;
}

// From counts in blocks to counts in front of them.
static void add_up(hdst__line_index *index)
{
    for (size_t i = 0; i < index->files; i++) {
        file_lines *file = &index->file[i];
        uint64_t ends = 0;
        for (uint64_t b = file->first_block; b < file->first_block + file->blocks; b++) {
            const uint64_t here = index->ends[b];
            index->ends[b] = ends;
            ends += here;
        }
        file->lines += ends;
        file->before = index->lines;
        index->lines += file->lines;
    }
}

static hdst_status lay_out(hdst__line_index *index, hdst_error *error)
{
    index->file = hdst__alloc_zero(index->allocator, index->files * sizeof *index->file);
    if (!index->file) return hdst__error_memory(error, "the lines of a text");
    for (size_t i = 0; i < index->files; i++) {
        const uint64_t bytes = hdst__text_input_bytes(index->input, i);
        index->file[i].first_block = index->blocks;
        index->file[i].blocks = bytes / index->block_bytes + (bytes % index->block_bytes > 0);
        index->blocks += index->file[i].blocks;
    }
    index->ends = hdst__alloc(index->allocator, index->blocks * sizeof *index->ends);
    return index->ends ? HDST_OK : hdst__error_memory(error, "the lines of a text");
}

static uint64_t choose_block(const hdst__text_input *input)
{
    uint64_t bytes = 0, block = HDST__HOST_TEXT_BLOCK_BYTES;
    for (size_t i = 0; i < hdst__text_input_files(input); i++) bytes += hdst__text_input_bytes(input, i);
    while (bytes / block > HDST__HOST_TEXT_MOST_BLOCKS) block *= 2;
    return block;
}

hdst_status hdst__line_index_make(const hdst__text_input *input, const hdst__allocator *allocator, uint64_t block_bytes, hdst__thread_pool *threads,
                                  const hdst__cancel *cancel, hdst__line_index **out, hdst_error *error)
{
    hdst__line_index *index = hdst__alloc_zero(allocator, sizeof *index);
    *out = NULL;
    if (!index) return hdst__error_memory(error, "the lines of a text");
    *index = (hdst__line_index){.allocator = allocator, .input = input, .cancel = cancel, .files = hdst__text_input_files(input),
                                .block_bytes = block_bytes ? block_bytes : choose_block(input)};
    hdst_status status = lay_out(index, error);
    if (status == HDST_OK) status = count_all(index, threads, error);
    if (status == HDST_OK) {
        add_up(index);
        *out = index;
    } else {
        hdst__line_index_free(index);
    }
    return status;
}

void hdst__line_index_free(hdst__line_index *index)
{
    if (!index) return;
    hdst__free(index->allocator, index->file);
    hdst__free(index->allocator, index->ends);
    hdst__free(index->allocator, index);
}

// --- Asking ---

uint64_t hdst__line_index_lines(const hdst__line_index *index) { return index->lines; }
uint64_t hdst__line_index_file_lines(const hdst__line_index *index, size_t file) { return index->file[file].lines; }

// The file that has the line: the last one that begins at it or in front of it, and has lines.
static size_t file_of_line(const hdst__line_index *index, uint64_t number)
{
    size_t low = 0, high = index->files;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->file[middle].before <= number) low = middle;
        else high = middle;
    }
    return low;
}

// The last block of the file with fewer than `ends` line ends in front of it.
static uint64_t block_of_end(const hdst__line_index *index, const file_lines *file, uint64_t ends)
{
    uint64_t low = 0, high = file->blocks;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (index->ends[file->first_block + middle] < ends) low = middle;
        else high = middle;
    }
    return low;
}

// Behind line end number `ends` of a file, which it has.
static hdst_status find_end(const hdst__line_index *index, size_t file, uint64_t ends, uint64_t *offset, hdst_error *error)
{
    const uint64_t block = block_of_end(index, &index->file[file], ends), length = block_length(index, file, block);
    char *bytes = hdst__alloc(index->allocator, length);
    if (!bytes) return hdst__error_memory(error, "the lines of a text");
    hdst_status status = hdst__text_input_read(index->input, file, block * index->block_bytes, bytes, length, error);
    const uint64_t wanted = ends - index->ends[index->file[file].first_block + block];
    if (status == HDST_OK) *offset = block * index->block_bytes + hdst__newlines_find(bytes, length, wanted);
    hdst__free(index->allocator, bytes);
    return status;
}

hdst_status hdst__line_index_find(const hdst__line_index *index, uint64_t number, hdst__line_place *place, hdst_error *error)
{
    const size_t file = file_of_line(index, number);
    const file_lines *lines = &index->file[file];
    *place = (hdst__line_place){file, 0, number - lines->before};
    if (place->line >= lines->lines) place->offset = hdst__text_input_bytes(index->input, file);
    else if (place->line) return find_end(index, file, place->line, &place->offset, error);
    return HDST_OK;
}

// Where the block with the line begins, counted over all files.
static uint64_t roughly(const hdst__line_index *index, uint64_t number)
{
    const size_t file = file_of_line(index, number);
    const file_lines *lines = &index->file[file];
    const uint64_t line = number - lines->before;
    const uint64_t block = line >= lines->lines ? lines->blocks : line ? block_of_end(index, lines, line) : 0;
    return (lines->first_block + block) * index->block_bytes;
}

uint64_t hdst__line_index_bytes(const hdst__line_index *index, uint64_t first, uint64_t count)
{
    return roughly(index, first + count) - roughly(index, first) + 2 * index->block_bytes;
}

// --- Without an index ---

hdst_status hdst__line_begins(const hdst__text_input *input, size_t file, uint64_t offset, uint64_t *begins, hdst_error *error)
{
    enum { LOOK_BYTES = 4096 };
    const uint64_t end = hdst__text_input_bytes(input, file);
    char bytes[LOOK_BYTES];
    *begins = offset < end ? offset : end;
    for (uint64_t at = offset - 1; offset && at < end; at += LOOK_BYTES) {
        const uint64_t left = end - at, length = left < LOOK_BYTES ? left : LOOK_BYTES;
        hdst_status status = hdst__text_input_read(input, file, at, bytes, length, error);
        if (status != HDST_OK) return status;
        const char *newline = memchr(bytes, '\n', length);
        *begins = newline ? at + (uint64_t)(newline - bytes) + 1 : end;
        if (newline) break;
    }
    return HDST_OK;
}
