// SPDX-License-Identifier: Apache-2.0
// Memory budgets as objects, one for the host and one per device. The host's is kept by the allocator itself: all memory of an engine, and of the
// objects above it, comes from `hdst__budget_allocator`, which counts every block and refuses what would pass the limit. So nobody can forget to
// count, and nobody counts twice. Only memory that does not come from there (buffers that a driver makes) is reserved by hand.
//
// Blocks that a run plans for come from hdst__budget_alloc, and so do, in effect, all others of HDST__BUDGET_LARGE bytes and more: they count from
// the first byte. What is smaller (texts, plans, what the compiler makes) has an allowance of its own, a tenth of the limit and nearly 2 MiB, and
// counts once it passes that. So what the user's hook sees is never more than 1.1 times the limit and 2 MiB.
#ifndef HDST_BASE_BUDGET_H
#define HDST_BASE_BUDGET_H

#include "base/alloc.h"
#include "base/error_object.h"
#include "base/memory_owner.h"
#include "base/meter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hdst__budget;

typedef struct hdst__owned_budget {      // what an allocator takes counts as the owner's
    struct hdst__budget *budget;
    hdst__owner owner;
} hdst__owned_budget;

typedef struct hdst__budget {
    const char *name;           // "host memory", "device memory": for messages
    const char *option;         // the option that raises it: "--memory"
    uint64_t limit;             // bytes
    _Atomic uint64_t used, peak;
    _Atomic uint64_t small;     // bytes of small blocks
    uint64_t allowance;         // of these, bytes that do not count
    _Atomic uint64_t refused, refused_bytes, refused_left;      // how often there was no room; the last time, what was asked for, and what was left
                                                                // for whoever asked
    _Atomic uint64_t lack;          // see hdst__budget_lack
    _Atomic bool keeps;             // see hdst__budget_keep
    _Atomic uint64_t evictable;     // bytes in use that go before anything is refused
    bool (*evict)(struct hdst__budget *budget, void *user);     // see hdst__budget_evictable
    void *evict_user;
    const hdst__allocator *inner;   // where the blocks come from; NULL: malloc
    struct hdst__budget *of;        // this is a share of it; NULL: of none
    hdst__meter all;                // the peaks of all blocks, small ones too: what an allocator hook sees
    hdst__meter owned[HDST__OWNERS];        // the same by owner: their sum is `used` and `small`
    hdst__owned_budget by_owner[HDST__OWNERS];
    hdst__allocator allocator[HDST__OWNERS];    // see hdst__budget_owned
} hdst__budget;

enum { HDST__BUDGET_LARGE = 128 << 10 };

void hdst__budget_init(hdst__budget *budget, const char *name, const char *option, uint64_t limit);
// A share of a budget for one of several threads, so that no thread takes what another needs. Its inner allocator is the budget's
// own, so all blocks count there too, and what the share refuses counts as refused by the budget. Small blocks count from the
// first byte.
void hdst__budget_init_share(hdst__budget *share, hdst__budget *of, uint64_t limit);
// Thread-safe. False, with nothing reserved, when the limit would be passed.
bool hdst__budget_reserve(hdst__budget *budget, hdst__owner owner, uint64_t bytes);
void hdst__budget_release(hdst__budget *budget, hdst__owner owner, uint64_t bytes);
void hdst__budget_hand_over(hdst__budget *budget, hdst__owner from, hdst__owner to, uint64_t bytes);     // what was reserved is another's from now on
uint64_t hdst__budget_left(const hdst__budget *budget);      // what is evictable included
uint64_t hdst__budget_unused(const hdst__budget *budget);    // without it
// Of what was taken, so many bytes more (or, negative, less) are kept only until somebody else wants them: they count as left, and before anything is
// refused for want of them `evict` is called until it helps. It gives some back, tells this function, and says whether it did. It is called from any
// thread that wants memory, so it takes none, and no lock under which anybody does. A budget has one; it stays the same.
void hdst__budget_evictable(hdst__budget *budget, int64_t bytes, bool (*evict)(hdst__budget *budget, void *user), void *user);
// The least that was lacking where memory was refused, or hdst__budget_error called, since that was forgotten; 0: nothing was.
uint64_t hdst__budget_lack(const hdst__budget *budget);
void hdst__budget_forget_lack(hdst__budget *budget);
uint64_t hdst__budget_block_bytes(const void *memory);       // that a block of the budget's allocator counts
// An allocator whose blocks count. The budget outlives it and all of them; `inner` (NULL: malloc) outlives the budget. To be called once, before
// anything is taken. Its blocks have no owner that has a name.
hdst__allocator hdst__budget_allocator(hdst__budget *budget, const hdst__allocator *inner);
// The same whose blocks are the owner's; a block may be freed, or moved, through any of them, and keeps its owner. It lives as long as the budget.
const hdst__allocator *hdst__budget_owned(const hdst__budget *budget, hdst__owner owner);
// Bytes of all blocks by owner, small ones too, as they are at this moment; returns their sum.
uint64_t hdst__budget_used(const hdst__budget *budget, uint64_t owned[HDST__OWNERS]);
// The most bytes of all blocks since the budget was made, or reset.
uint64_t hdst__budget_peak(const hdst__budget *budget);
// The same since the last mark.
uint64_t hdst__budget_peak_since_mark(const hdst__budget *budget);
void hdst__budget_mark(hdst__budget *budget);           // peaks since a mark begin here
void hdst__budget_reset_peak(hdst__budget *budget);     // all peaks do
// From now on no block goes back to the inner allocator, nor moves from where it lies: somebody may still use any of them.
void hdst__budget_keep(hdst__budget *budget);
// Memory that counts from the first byte, zeroed or not, to be freed through the budget's allocator. NULL: no room in the budget, or none at all;
// the error says what it was for. It may be NULL.
void *hdst__budget_alloc(hdst__budget *budget, hdst__owner owner, uint64_t bytes, const char *what, hdst_error *error);
void *hdst__budget_alloc_zero(hdst__budget *budget, hdst__owner owner, uint64_t bytes, const char *what, hdst_error *error);
void *hdst__budget_realloc(hdst__budget *budget, hdst__owner owner, void *memory, uint64_t bytes, const char *what, hdst_error *error);
// HDST_E_MEMORY: what was wanted for what, what is left of the limit, which option raises it.
hdst_status hdst__budget_error(const hdst__budget *budget, uint64_t bytes, const char *what, hdst_error *error);
// The same where it is known what will be needed later, beside it: the limit that is named is nearer to the least. `more`: what may come into use
// with a larger limit, at most, by who holds the records that are read, and who takes three quarters at most; less than that of a small one, where
// they lie in a file.
hdst_status hdst__budget_error_of_all(const hdst__budget *budget, uint64_t bytes, uint64_t later, uint64_t more, const char *what, hdst_error *error);

// Where an error only says "out of memory: what", but the budget is what refused since `refused` had that value: what hdst__budget_error
// would have said then. By now memory may have been given back.
void hdst__budget_explain(hdst__budget *budget, uint64_t refused_before, hdst_error *error);

// What this process may use at most, bytes: the machine's memory, or less where a cgroup (v2 or v1) or a limit of its address space (`ulimit -v`) says so.
uint64_t hdst__host_memory_limit(void);

// "1.5 GiB", "300 B": for people; the text is cut at the size of `text`.
const char *hdst__bytes_text(uint64_t bytes, char text[24]);

#endif
