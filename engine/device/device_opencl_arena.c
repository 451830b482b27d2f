// SPDX-License-Identifier: Apache-2.0
// OpenCL devices with memory of their own: small memory (tables, values, error words) is a part of a larger buffer, an arena, so that many of them take no
// call of the driver's that makes or ends a buffer, and no more than they need. Which parts are free says a sub-allocator (sub_allocator.h). On an H200 a
// part that is made, filled and given back in turn takes 8 us, a small buffer 81; while the device works the end of a buffer waited 20 ms for it.
//
// A part that was given back is not used again before the commands have ended that were submitted until then: it waits in its arena, together with others,
// for marks in the queues. An arena of which nobody has a part is a buffer like any other, which the pool may keep (device_opencl_pool.c).
// All of an arena is reserved of the budget, so that what is free in it never passes the limit: parts as their owners', the rest as nobody's.
#include "engine/device/device_opencl.h"

#include "base/costs_gpu.h"
#include "engine/device/sub_allocator.h"

typedef struct hdst__opencl_arena {
    struct hdst__opencl_arena *next;
    void *object;
    uint64_t bytes;
    uint32_t users;                     // memories that are parts of it
    hdst__sub_allocator parts;
    // Parts that were given back, chained by their first units: those for which the marks stand, and those that came later.
    uint16_t marked, waiting;           // HDST__SUB_NONE: there are none
    uint16_t chain[HDST__SUB_MOST_UNITS];
    uint32_t waiting_units;
    hdst__opencl_marks marks;
} hdst__opencl_arena;

enum { UNIT = HDST__SUB_BUFFER_BYTES };

_Static_assert((int)HDST__GPU_ARENA_BYTES / UNIT <= (int)HDST__SUB_MOST_UNITS, "an arena has more units than a sub-allocator");

// A power of two; 0: the budget is too small for any.
static uint64_t arena_bytes(const hdst__opencl_device *self)
{
    uint64_t bytes = HDST__GPU_ARENA_BYTES;
    if (!self->base.has_sub_buffers) return 0;
    while (bytes > self->base.budget.limit / HDST__GPU_ARENA_SHARE) bytes /= 2;
    return bytes >= HDST__GPU_ARENA_LEAST_BYTES ? bytes : 0;
}

static uint32_t units_of(uint64_t bytes) { return bytes ? (uint32_t)((bytes + UNIT - 1) / UNIT) : 1; }

// --- With the pool's mutex held ---

static void free_marked(hdst__opencl_device *self, hdst__opencl_arena *arena)
{
    while (arena->marked != HDST__SUB_NONE) {
        const uint16_t part = arena->marked;
        arena->marked = arena->chain[part];
        hdst__sub_allocator_give(&arena->parts, part);
    }
    hdst__opencl_marks_release(self, &arena->marks);
}

// What nobody uses any more is free; of what waits is asked, where that is a good deal, or whoever asks finds no room.
static void look(hdst__opencl_device *self, hdst__opencl_arena *arena, bool lacks_room)
{
    if (arena->marked != HDST__SUB_NONE && hdst__opencl_marks_ended(self, &arena->marks)) free_marked(self, arena);
    const bool asks = lacks_room || arena->waiting_units >= arena->parts.units / HDST__GPU_ARENA_WAITING_SHARE;
    if (arena->marked != HDST__SUB_NONE || arena->waiting == HDST__SUB_NONE || !asks || !hdst__opencl_marks_set(self, &arena->marks)) return;
    arena->marked = arena->waiting;
    arena->waiting = HDST__SUB_NONE;
    arena->waiting_units = 0;
}

static bool create_part(const hdst__opencl_device *self, const hdst__opencl_arena *arena, uint16_t first, uint32_t units, hdst__memory *memory)
{
    cl_buffer_region region = {(size_t)first * UNIT, (size_t)units * UNIT};
    cl_int code;
    memory->object = self->cl->clCreateSubBuffer(arena->object, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS) memory->object = NULL;
    return code == CL_SUCCESS;
}

static bool take_part(hdst__opencl_device *self, hdst__opencl_arena *arena, hdst__memory *memory)
{
    const uint32_t units = units_of(memory->bytes);
    uint16_t first;
    if (!hdst__sub_allocator_take(&arena->parts, units, &first)) return false;
    if (!create_part(self, arena, first, units, memory)) {
        hdst__sub_allocator_give(&arena->parts, first);
        return false;
    }
    memory->arena = arena;
    memory->arena_at = (uint64_t)first * UNIT;
    memory->held = (uint64_t)units * UNIT;
    arena->users++;
    hdst__budget_hand_over(&self->base.budget, HDST__OWNER_OTHER, memory->owner, memory->held);
    return true;
}

static bool take_from_any(hdst__opencl_device *self, hdst__memory *memory)
{
    for (hdst__opencl_arena *arena = self->pool.arenas; arena; arena = arena->next) {
        look(self, arena, false);
        if (take_part(self, arena, memory)) return true;
        look(self, arena, true);
    }
    return false;
}

// --- Without it: the budget may have others give back what they keep, which comes to the pool ---

static hdst_status make_buffer(hdst__opencl_device *self, hdst__opencl_arena *arena)
{
    cl_int code;
    hdst__opencl_pool_make_room(self);
    arena->object = self->cl->clCreateBuffer(self->context, CL_MEM_READ_WRITE, arena->bytes, NULL, &code);
    if (code == CL_SUCCESS) hdst__meter_add(&self->base.held, arena->bytes);
    else arena->object = NULL;
    return code == CL_SUCCESS ? HDST_OK : HDST_E_MEMORY;
}

static hdst__opencl_arena *make_arena(hdst__opencl_device *self, uint64_t bytes)
{
    hdst__budget *budget = &self->base.budget;
    if (hdst__budget_unused(budget) < HDST__GPU_ARENA_UNUSED * bytes) return NULL;
    hdst__opencl_arena *arena = hdst__alloc_zero(self->base.runtime->allocator, sizeof *arena);
    if (!arena) return NULL;
    uint64_t held = bytes;
    const bool again = hdst__opencl_pool_take(self, HDST__OWNER_OTHER, bytes, &arena->object, &held);
    const bool reserved = again || hdst__budget_reserve(budget, HDST__OWNER_OTHER, bytes);
    arena->bytes = again ? held : bytes;
    arena->marked = arena->waiting = HDST__SUB_NONE;
    if (reserved && (again || make_buffer(self, arena) == HDST_OK)) {
        hdst__sub_allocator_init(&arena->parts, (uint32_t)(bytes / UNIT));
        return arena;
    }
    if (reserved) hdst__budget_release(budget, HDST__OWNER_OTHER, bytes);
    hdst__free(self->base.runtime->allocator, arena);
    return NULL;
}

static void unlist(hdst__opencl_pool *pool, const hdst__opencl_arena *arena)
{
    hdst__opencl_arena **at = &pool->arenas;
    while (*at != arena) at = &(*at)->next;
    *at = arena->next;
}

// Of which nobody has a part; it is in no list.
static void end_arena(hdst__opencl_device *self, hdst__opencl_arena *arena)
{
    hdst__opencl_marks_release(self, &arena->marks);
    hdst__budget_release(&self->base.budget, HDST__OWNER_OTHER, arena->bytes);
    hdst__opencl_pool_give(self, arena->object, arena->bytes);
    hdst__free(self->base.runtime->allocator, arena);
}

// The first part of a new arena.
static bool take_from_new(hdst__opencl_device *self, hdst__memory *memory, uint64_t bytes)
{
    hdst__opencl_arena *arena = make_arena(self, bytes);
    if (!arena) return false;
    pthread_mutex_lock(&self->pool.mutex);
    const bool took = take_part(self, arena, memory);
    if (took) {
        arena->next = self->pool.arenas;
        self->pool.arenas = arena;
    }
    pthread_mutex_unlock(&self->pool.mutex);
    if (!took) end_arena(self, arena);
    return took;
}

bool hdst__opencl_arena_take(hdst__opencl_device *self, hdst__memory *memory)
{
    const uint64_t bytes = arena_bytes(self);
    if (!bytes || memory->bytes > bytes / HDST__GPU_ARENA_PARTS) return false;
    pthread_mutex_lock(&self->pool.mutex);
    const bool took = take_from_any(self, memory);
    pthread_mutex_unlock(&self->pool.mutex);
    return took || take_from_new(self, memory, bytes);
}

// The part goes back to its arena. True: that was the last one.
static bool give_part(hdst__opencl_device *self, hdst__opencl_arena *arena, const hdst__memory *memory)
{
    const uint16_t first = (uint16_t)(memory->arena_at / UNIT);
    pthread_mutex_lock(&self->pool.mutex);
    hdst__budget_hand_over(&self->base.budget, memory->owner, HDST__OWNER_OTHER, memory->held);
    arena->chain[first] = arena->waiting;
    arena->waiting = first;
    arena->waiting_units += hdst__sub_allocator_length(&arena->parts, first);
    const bool is_last = --arena->users == 0;
    if (is_last) unlist(&self->pool, arena);
    pthread_mutex_unlock(&self->pool.mutex);
    return is_last;
}

void hdst__opencl_arena_give(hdst__opencl_device *self, hdst__memory *memory)
{
    self->cl->clReleaseMemObject(memory->object);
    if (give_part(self, memory->arena, memory)) end_arena(self, memory->arena);
}

void *hdst__opencl_arena_object(const hdst__memory *memory)
{
    return memory->arena ? ((const hdst__opencl_arena *)memory->arena)->object : memory->object;
}
