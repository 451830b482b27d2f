// SPDX-License-Identifier: Apache-2.0
// Lines whose records a device makes (io/lines_source.h, record/line_blocks.h): where their bytes are and how many there are is told in place of records.
#define _GNU_SOURCE     // memrchr
#include "io/lines_source.h"

#include "base/costs_host.h"

#include <string.h>

enum { TEXT, OFFSET, SOURCE, LINE, COLUMNS };

static bool is_wide(hdst__kind kind) { return kind == HDST__U64 || kind == HDST__I64; }

// Kernels write numbers of these widths, into which every value goes.
static bool fits(size_t column, hdst__kind kind)
{
    if (column == TEXT) return kind == HDST__TEXT;
    return is_wide(kind) || (column == SOURCE && kind == HDST__U32);
}

bool hdst__lines_find_leaves(const hdst__bound_source *bound, hdst__line_leaves *leaves)
{
    uint32_t *const leaf[COLUMNS] = {[TEXT] = &leaves->text, [OFFSET] = &leaves->offset, [SOURCE] = &leaves->source, [LINE] = &leaves->line};
    for (size_t c = 0; c < COLUMNS; c++) *leaf[c] = UINT32_MAX;
    const hdst__lines_state *state = bound->source->state;
    if (bound->move_count != bound->record->leaf_count || state->options.longest < HDST__HOST_STREAM_BYTES) return false;    // lines are looked at one by one
    for (size_t i = 0; i < bound->move_count; i++) {
        const hdst__move *m = &bound->moves[i];
        const hdst__leaf *l = &bound->record->leaves[m->leaf];
        if (l->elements != 1 || m->column >= COLUMNS || *leaf[m->column] != UINT32_MAX || !fits(m->column, l->kind)) return false;
        *leaf[m->column] = m->leaf;
    }
    return leaves->text != UINT32_MAX;
}

bool hdst__lines_are_told(const hdst__bound_source *bound, const hdst__storage *storage, uint64_t bytes)
{
    const hdst__lines_state *state = bound->source->state;
    return storage->lines && !bound->search && bytes <= state->options.longest;
}

static hdst__line_block block_of(const hdst__line_filling *f, const char *bytes, uint64_t begin, uint64_t end, uint64_t from, uint64_t lines, bool open)
{
    const uint32_t strips = hdst__lines_state_of(f)->options.strip_returns ? HDST__LINES_STRIP_RETURNS : 0, ends = open ? HDST__LINES_END_OPEN : 0;
    return (hdst__line_block){
        .begin = (uint64_t)(uintptr_t)(bytes + begin), .end = (uint64_t)(uintptr_t)(bytes + end), .start = (uint64_t)(uintptr_t)(bytes + from),
        .row = f->to, .lines = lines, .offset = f->begin + begin, .number = f->lines, .source = (uint32_t)f->file, .flags = strips | ends,
    };
}

hdst_status hdst__lines_tell(hdst__line_filling *f, const char *bytes, uint64_t begin, uint64_t end, uint64_t *from, uint64_t lines, bool open, bool *told,
                             hdst_error *error)
{
    if (!lines) return HDST_OK;
    if (lines > f->left) return hdst__lines_changed(f, error);
    const hdst__line_block block = block_of(f, bytes, begin, end, *from, lines, open);
    *told = f->storage->lines->add(f->storage->lines->user, &block, 1);
    if (!*told) return HDST_OK;
    const char *newline = memrchr(bytes + begin, '\n', end - begin);
    if (newline) *from = (uint64_t)(newline - bytes) + 1;
    f->row += lines;
    f->to += lines;
    f->lines += lines;
    f->left -= lines;
    return HDST_OK;
}
