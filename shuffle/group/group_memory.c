// SPDX-License-Identifier: Apache-2.0
// Memory for a group's rows (shuffle/group/group_memory.h). Fresh memory is cleared page by page before records are moved there.
#include "shuffle/group/group_memory.h"

#include "base/huge_pages.h"
#include "engine/engine.h"

static const hdst__allocator *allocator_of(const hdst__group *g) { return hdst__engine_owned(g->engine, HDST__OWNER_SORTS); }

void hdst__group_drop_kept(hdst__group *g)
{
    hdst__free(allocator_of(g), g->kept);
    g->kept = NULL;
    g->kept_bytes = 0;
}

hdst_status hdst__group_take_rows(hdst__group *g, uint64_t bytes, hdst_error *error)
{
    if (bytes <= g->kept_bytes && g->kept_bytes / 2 <= bytes) {
        g->rows = g->kept;
        g->row_bytes = g->kept_bytes;
        g->kept = NULL;
        g->kept_bytes = 0;
        return HDST_OK;
    }
    hdst__group_drop_kept(g);
    g->rows = hdst__budget_alloc(hdst__engine_memory(g->engine), HDST__OWNER_SORTS, bytes, "records by key", error);
    if (!g->rows) return HDST_E_MEMORY;
    g->row_bytes = bytes;
    hdst__ask_for_huge_pages(g->rows, bytes);
    return HDST_OK;
}

void hdst__group_leave_rows(hdst__group *g)
{
    if (g->rows && g->row_bytes) {
        hdst__group_drop_kept(g);
        g->kept = g->rows;
        g->kept_bytes = g->row_bytes;
    } else hdst__free(allocator_of(g), g->rows);
    g->rows = NULL;
    g->row_bytes = 0;
}
