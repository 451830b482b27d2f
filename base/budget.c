// SPDX-License-Identifier: Apache-2.0
// Memory budgets as objects, one for the host and one per device (base/budget.h).
#include "base/budget.h"

#include "base/cgroup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALLOWANCE = (2 << 20) - (64 << 10) /* for the engine and the context themselves */, ALLOWANCE_SHARE = 10 };

typedef struct head {               // in front of every block, which stays aligned to 16 bytes
    uint64_t bytes;                 // with the head
    bool small;
    uint8_t owner;                  // hdst__owner
    char pad[6];
} head;

_Static_assert(sizeof(head) == 16, "blocks are aligned as the inner allocator's");

void hdst__budget_init(hdst__budget *budget, const char *name, const char *option, uint64_t limit)
{
    budget->name = name;
    budget->option = option;
    budget->limit = limit;
    budget->allowance = limit / ALLOWANCE_SHARE + ALLOWANCE;
    budget->inner = NULL;
    budget->of = NULL;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->peak, 0);
    atomic_init(&budget->small, 0);
    atomic_init(&budget->refused, 0);
    atomic_init(&budget->refused_bytes, 0);
    atomic_init(&budget->refused_left, 0);
    atomic_init(&budget->lack, UINT64_MAX);
    atomic_init(&budget->keeps, false);
    atomic_init(&budget->evictable, 0);
    budget->evict = NULL;
    budget->evict_user = NULL;
    hdst__meter_init(&budget->all);
    for (size_t i = 0; i < HDST__OWNERS; i++) hdst__meter_init(&budget->owned[i]);
}

void hdst__budget_init_share(hdst__budget *share, hdst__budget *of, uint64_t limit)
{
    hdst__budget_init(share, of->name, of->option, limit);
    share->allowance = 0;
    share->of = of;
}

// Of what is small, what counts.
static uint64_t over(const hdst__budget *budget)
{
    const uint64_t small = atomic_load(&budget->small);
    return small > budget->allowance ? small - budget->allowance : 0;
}

static uint64_t left_of(const hdst__budget *budget, uint64_t used) { return used < budget->limit ? budget->limit - used : 0; }

static void note_lack(hdst__budget *budget, uint64_t bytes, uint64_t left)
{
    const uint64_t lack = bytes > left ? bytes - left : 1;
    uint64_t least = atomic_load(&budget->lack);
    while (lack < least && !atomic_compare_exchange_weak(&budget->lack, &least, lack)) {}
}

static bool refuse(hdst__budget *budget, uint64_t bytes, uint64_t left)
{
    for (; budget; budget = budget->of) {
        note_lack(budget, bytes, left);
        atomic_store(&budget->refused_bytes, bytes);
        atomic_store(&budget->refused_left, left);
        atomic_fetch_add(&budget->refused, 1);
    }
    return false;
}

static void note(hdst__budget *budget, hdst__owner owner, uint64_t bytes)
{
    hdst__meter_add(&budget->owned[owner], bytes);
    hdst__meter_note(&budget->all, atomic_load(&budget->used) + atomic_load(&budget->small));
}

// Whether something went, of what is there to go; nothing does where that would not be enough.
static bool make_room(hdst__budget *budget, uint64_t bytes, uint64_t left)
{
    const uint64_t evictable = atomic_load(&budget->evictable);
    if (!evictable || bytes <= left || bytes - left > evictable) return false;
    return budget->evict(budget, budget->evict_user) || hdst__budget_unused(budget) > left;      // or another thread was quicker
}

// *left: where it is false, bytes that were.
static bool try_to_reserve(hdst__budget *budget, hdst__owner owner, uint64_t bytes, uint64_t *left)
{
    const uint64_t beside = over(budget), limit = budget->limit > beside ? budget->limit - beside : 0;
    uint64_t used = atomic_load(&budget->used), next;
    do {
        *left = left_of(budget, used + beside);
        if (bytes > limit || used > limit - bytes) return false;
        next = used + bytes;
    } while (!atomic_compare_exchange_weak(&budget->used, &used, next));
    uint64_t peak = atomic_load(&budget->peak);
    while (peak < next && !atomic_compare_exchange_weak(&budget->peak, &peak, next)) {}
    note(budget, owner, bytes);
    return true;
}

bool hdst__budget_reserve(hdst__budget *budget, hdst__owner owner, uint64_t bytes)
{
    uint64_t left;
    while (!try_to_reserve(budget, owner, bytes, &left))
        if (!make_room(budget, bytes, left)) return refuse(budget, bytes, left + atomic_load(&budget->evictable));
    return true;
}

void hdst__budget_release(hdst__budget *budget, hdst__owner owner, uint64_t bytes)
{
    hdst__meter_take(&budget->owned[owner], bytes);
    atomic_fetch_sub(&budget->used, bytes);
}

void hdst__budget_hand_over(hdst__budget *budget, hdst__owner from, hdst__owner to, uint64_t bytes)
{
    hdst__meter_take(&budget->owned[from], bytes);
    hdst__meter_add(&budget->owned[to], bytes);
}

uint64_t hdst__budget_unused(const hdst__budget *budget) { return left_of(budget, atomic_load(&budget->used) + over(budget)); }

uint64_t hdst__budget_left(const hdst__budget *budget)
{
    const uint64_t left = hdst__budget_unused(budget) + atomic_load(&budget->evictable);
    return left < budget->limit ? left : budget->limit;
}

void hdst__budget_evictable(hdst__budget *budget, int64_t bytes, bool (*evict)(hdst__budget *budget, void *user), void *user)
{
    if (!budget->evict) {
        budget->evict_user = user;
        budget->evict = evict;
    }
    atomic_fetch_add(&budget->evictable, (uint64_t)bytes);
}

uint64_t hdst__budget_lack(const hdst__budget *budget)
{
    const uint64_t lack = atomic_load(&budget->lack);
    return lack == UINT64_MAX ? 0 : lack;
}

void hdst__budget_forget_lack(hdst__budget *budget) { atomic_store(&budget->lack, UINT64_MAX); }

// --- Who has how much ---

uint64_t hdst__budget_used(const hdst__budget *budget, uint64_t owned[HDST__OWNERS])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < HDST__OWNERS; i++) sum += owned[i] = atomic_load(&budget->owned[i].now);
    return sum;
}

static uint64_t at_least_now(const hdst__budget *budget, uint64_t peak)
{
    const uint64_t now = atomic_load(&budget->used) + atomic_load(&budget->small);
    return now > peak ? now : peak;
}

uint64_t hdst__budget_peak(const hdst__budget *budget) { return at_least_now(budget, hdst__meter_highest(&budget->all)); }
uint64_t hdst__budget_peak_since_mark(const hdst__budget *budget) { return at_least_now(budget, atomic_load(&budget->all.peak)); }

// Of all blocks the meter has peaks alone: what there is now is told elsewhere.
static void begin_anew(hdst__budget *budget, void (*begin)(hdst__meter *meter))
{
    begin(&budget->all);
    atomic_store(&budget->all.peak, atomic_load(&budget->used) + atomic_load(&budget->small));
    for (size_t i = 0; i < HDST__OWNERS; i++) begin(&budget->owned[i]);
}

void hdst__budget_mark(hdst__budget *budget) { begin_anew(budget, hdst__meter_mark); }
void hdst__budget_reset_peak(hdst__budget *budget) { begin_anew(budget, hdst__meter_reset); }

// --- The allocator ---

static bool try_to_reserve_small(hdst__budget *budget, hdst__owner owner, uint64_t bytes, uint64_t *left)
{
    const uint64_t small = atomic_fetch_add(&budget->small, bytes) + bytes;
    const uint64_t used = atomic_load(&budget->used), before = small - bytes;
    if (small <= budget->allowance || used + (small - budget->allowance) <= budget->limit) {
        note(budget, owner, bytes);
        return true;
    }
    atomic_fetch_sub(&budget->small, bytes);
    *left = left_of(budget, used + (before > budget->allowance ? before - budget->allowance : 0));
    return false;
}

static bool reserve_small(hdst__budget *budget, hdst__owner owner, uint64_t bytes)
{
    uint64_t left;
    while (!try_to_reserve_small(budget, owner, bytes, &left))
        if (!make_room(budget, bytes, left)) return refuse(budget, bytes, left + atomic_load(&budget->evictable));
    return true;
}

static bool count(hdst__budget *budget, hdst__owner owner, uint64_t bytes, bool small)
{
    return small ? reserve_small(budget, owner, bytes) : hdst__budget_reserve(budget, owner, bytes);
}

static void count_back(hdst__budget *budget, hdst__owner owner, uint64_t bytes, bool small)
{
    hdst__meter_take(&budget->owned[owner], bytes);
    atomic_fetch_sub(small ? &budget->small : &budget->used, bytes);
}

// `counted`: false when the budget was what refused.
static void *take(hdst__budget *budget, hdst__owner owner, uint64_t bytes, bool small, bool zero, bool *counted)
{
    if (bytes > SIZE_MAX / 2) bytes = SIZE_MAX / 2;     // which nobody has
    bytes += sizeof(head);
    *counted = count(budget, owner, bytes, small);
    head *block = !*counted ? NULL : zero ? hdst__alloc_zero(budget->inner, bytes) : hdst__alloc(budget->inner, bytes);
    if (block) *block = (head){.bytes = bytes, .small = small, .owner = (uint8_t)owner};
    else if (*counted) count_back(budget, owner, bytes, small);
    return block ? block + 1 : NULL;
}

static void *retake_elsewhere(hdst__budget *budget, hdst__owner owner, const void *memory, uint64_t before, uint64_t bytes, bool small, bool *counted)
{
    void *copy = take(budget, owner, bytes, small, false, counted);
    if (copy) memcpy(copy, memory, before < bytes ? before : bytes);
    return copy;
}

static void *retake(hdst__budget *budget, hdst__owner owner, void *memory, uint64_t bytes, bool small, bool *counted)
{
    if (!memory) return take(budget, owner, bytes, small, false, counted);
    head *block = (head *)memory - 1, before = *block;
    owner = (hdst__owner)before.owner;
    if (bytes > SIZE_MAX / 2) bytes = SIZE_MAX / 2;
    bytes += sizeof(head);
    small = small && before.small;
    if (atomic_load(&budget->keeps)) return retake_elsewhere(budget, owner, memory, before.bytes - sizeof(head), bytes - sizeof(head), small, counted);
    // What is new is counted first; a block that changes sides counts on both meanwhile.
    const uint64_t more = small == before.small ? bytes > before.bytes ? bytes - before.bytes : 0 : bytes;
    *counted = count(budget, owner, more, small);
    block = *counted ? hdst__realloc(budget->inner, block, bytes) : NULL;
    if (!block) {
        if (*counted) count_back(budget, owner, more, small);
        return NULL;
    }
    if (small != before.small) count_back(budget, owner, before.bytes, before.small);
    else if (bytes < before.bytes) count_back(budget, owner, before.bytes - bytes, small);
    *block = (head){.bytes = bytes, .small = small, .owner = (uint8_t)owner};
    return block + 1;
}

static void *allocate(size_t bytes, void *user)
{
    const hdst__owned_budget *owned = user;
    bool counted;
    return take(owned->budget, owned->owner, bytes, bytes < HDST__BUDGET_LARGE, false, &counted);
}

static void *allocate_zero(size_t bytes, void *user)
{
    const hdst__owned_budget *owned = user;
    bool counted;
    return take(owned->budget, owned->owner, bytes, bytes < HDST__BUDGET_LARGE, true, &counted);
}

static void *reallocate(void *memory, size_t bytes, void *user)
{
    const hdst__owned_budget *owned = user;
    bool counted;
    return retake(owned->budget, owned->owner, memory, bytes, bytes < HDST__BUDGET_LARGE, &counted);
}

static void release(void *memory, void *user)
{
    hdst__budget *budget = ((const hdst__owned_budget *)user)->budget;
    if (!memory || atomic_load(&budget->keeps)) return;
    head *block = (head *)memory - 1;
    count_back(budget, (hdst__owner)block->owner, block->bytes, block->small);
    hdst__free(budget->inner, block);
}

uint64_t hdst__budget_block_bytes(const void *memory) { return ((const head *)memory - 1)->bytes; }

void hdst__budget_keep(hdst__budget *budget) { atomic_store(&budget->keeps, true); }

hdst__allocator hdst__budget_allocator(hdst__budget *budget, const hdst__allocator *inner)
{
    budget->inner = inner;
    for (size_t i = 0; i < HDST__OWNERS; i++) {
        budget->by_owner[i] = (hdst__owned_budget){budget, (hdst__owner)i};
        budget->allocator[i] = (hdst__allocator){allocate, reallocate, release, &budget->by_owner[i], allocate_zero};
    }
    return budget->allocator[HDST__OWNER_OTHER];
}

const hdst__allocator *hdst__budget_owned(const hdst__budget *budget, hdst__owner owner) { return &budget->allocator[owner]; }

static void *told(hdst__budget *budget, void *memory, uint64_t bytes, bool counted, const char *what, hdst_error *error)
{
    if (!memory && counted) hdst__error_memory(error, what);
    else if (!memory) hdst__budget_error(budget, bytes, what, error);
    return memory;
}

void *hdst__budget_alloc(hdst__budget *budget, hdst__owner owner, uint64_t bytes, const char *what, hdst_error *error)
{
    bool counted;
    void *memory = take(budget, owner, bytes, false, false, &counted);
    return told(budget, memory, bytes, counted, what, error);
}

void *hdst__budget_alloc_zero(hdst__budget *budget, hdst__owner owner, uint64_t bytes, const char *what, hdst_error *error)
{
    bool counted;
    void *memory = take(budget, owner, bytes, false, true, &counted);
    return told(budget, memory, bytes, counted, what, error);
}

void *hdst__budget_realloc(hdst__budget *budget, hdst__owner owner, void *memory, uint64_t bytes, const char *what, hdst_error *error)
{
    bool counted;
    const uint64_t before = memory ? ((head *)memory - 1)->bytes - sizeof(head) : 0;
    void *grown = retake(budget, owner, memory, bytes, false, &counted);
    return told(budget, grown, bytes > before ? bytes - before : bytes, counted, what, error);
}

const char *hdst__bytes_text(uint64_t bytes, char text[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 6) value /= 1024, unit++;
    snprintf(text, 24, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

// What did not fit may be needed where a device works on it and where the program finds it. What comes beside takes shares of the limit.
enum { NEEDED_TWICE = 5, BESIDE_SHARE = 8, LEAST_BESIDE = 2 << 20, MIB = 1 << 20 };

static uint64_t in_use(const hdst__budget *budget) { return budget->limit - hdst__budget_left(budget); }

static void name_limit(const hdst__budget *budget, uint64_t bytes, hdst_error *error)
{
    hdst__error_hint(error, "%s %" PRIu64 "M would do, or use smaller tables or fewer cached datasets", budget->option, (bytes + LEAST_BESIDE + MIB - 1) / MIB);
}

hdst_status hdst__budget_error_of_all(const hdst__budget *budget, uint64_t bytes, uint64_t later, uint64_t more, const char *what, hdst_error *error)
{
    hdst__budget_error(budget, bytes, what, error);
    uint64_t all, least;
    if (__builtin_add_overflow(bytes, later, &all) || __builtin_add_overflow(all, more, &least) || least >= UINT64_MAX / 8) return HDST_E_MEMORY;
    const uint64_t left = hdst__budget_left(budget), usual = budget->limit / 4, share = left < usual ? left : usual;
    const double in_share = share ? (double)all / (double)share * (double)budget->limit : INFINITY;
    least += in_use(budget);
    if (more && in_share < (double)least) least = (uint64_t)in_share;
    name_limit(budget, least + least / BESIDE_SHARE, error);
    return HDST_E_MEMORY;
}

static hdst_status error_with(const hdst__budget *budget, uint64_t bytes, uint64_t bytes_left, const char *what, hdst_error *error)
{
    char wanted[24], left[24], limit[24];
    hdst__error_set(error, HDST_E_MEMORY, "%s: %s needs %s, %s of %s are left", budget->name, what, hdst__bytes_text(bytes, wanted),
                    hdst__bytes_text(bytes_left, left), hdst__bytes_text(budget->limit, limit));
    if (bytes < UINT64_MAX / 8) name_limit(budget, budget->limit - bytes_left + NEEDED_TWICE * bytes / 2 + budget->limit / BESIDE_SHARE, error);
    else hdst__error_hint(error, "raise it with %s, or use smaller tables or fewer cached datasets", budget->option);
    return HDST_E_MEMORY;
}

hdst_status hdst__budget_error(const hdst__budget *budget, uint64_t bytes, const char *what, hdst_error *error)
{
    const uint64_t left = hdst__budget_left(budget);
    note_lack((hdst__budget *)budget, bytes, left);     // who looked before asking for it is refused, too
    return error_with(budget, bytes, left, what, error);
}

void hdst__budget_explain(hdst__budget *budget, uint64_t refused_before, hdst_error *error)
{
    static const char prefix[] = "out of memory: ";
    char what[sizeof error->message];
    if (!error || error->code != HDST_E_MEMORY || strncmp(error->message, prefix, sizeof prefix - 1) || atomic_load(&budget->refused) == refused_before) return;
    snprintf(what, sizeof what, "%s", error->message + sizeof prefix - 1);
    error_with(budget, atomic_load(&budget->refused_bytes), atomic_load(&budget->refused_left), what, error);
}

// --- What the machine and its cgroups allow ---

// `ulimit -v`: what is left of it. UINT64_MAX: there is no such limit.
static uint64_t address_space_left(void)
{
    struct rlimit space;
    unsigned long long pages = 0;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%llu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    const uint64_t used = pages * (uint64_t)sysconf(_SC_PAGE_SIZE);
    return used < space.rlim_cur ? space.rlim_cur - used : 0;
}

uint64_t hdst__host_memory_limit(void)
{
    uint64_t limit = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
    const uint64_t space = address_space_left();
    if (space < limit) limit = space;
    char membership[4096];
    hdst__cgroup_membership(membership, sizeof membership);
    const uint64_t cgroup = hdst__cgroup_memory_limit(membership, "/sys/fs/cgroup");
    return cgroup < limit ? cgroup : limit;
}
