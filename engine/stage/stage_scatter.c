// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter of the tables of several GPUs: each of them makes the rows of a part of the keys. It gets the words of these keys from all others, adds
// them to its own, makes rows of them and sends those to the host. So tables cross the links of all devices at the same time, in both directions, and each
// row crosses one link once. The bits are those that one device would have made: words of equal scale add as integers.
//
// The words go by way of the host, where each device's table has a place in pinned memory already (launch_plan.c), narrow if that loses nothing, and in
// pieces: while one is written to its owner's device the next one is read. In step k every worker sends to the k-th one behind it, so each link is used by
// one sender and one receiver at a time. Each worker's thread reads from its own device and writes to its own device; that a piece is on the host the others
// learn by `there`.
#include "engine/memory/registered.h"
#include "engine/stage/launch_fixed_point.h"
#include "engine/stage/stage_share.h"
#include "engine/worker.h"

enum { IN_FLIGHT = 4 };             // pieces of one device on their way to the host

typedef struct scatter_part {       // of one worker
    hdst__scatter *scatter;
    uint32_t place;                 // its, among the parts
    hdst__device *device;
    struct hdst__device_worker *worker;     // NULL: the calling thread does its work
    const hdst__launch_plan *plan;
    uint64_t first;                 // row of those that it makes,
    uint64_t *rows;                 //     and how many, as a plan has it: by param
    hdst__memory *arrived, *finished;       // words of the others for them, one table behind the other; they themselves
    hdst__word_addition addition;
    bool adds;                      // it had records in this run
    bool may_narrow, too_wide;      // it has memory for narrow words; they did not fit in an earlier run
    bool is_narrow;                 // of this run: 32 bits of each word say all of it,
    uint32_t shift;                 //     from this one on
    uint32_t there;                 // pieces of its table that have come to the host. Guarded by the scatter's mutex
    hdst__ticket ticket[IN_FLIGHT];
    uint64_t bytes_to_device, bytes_from_device;        // of this run
    bool started;
    hdst_status status;
    hdst_error error;
} scatter_part;

struct hdst__scatter {
    hdst__runtime *runtime;
    uint32_t count;                 // parts
    scatter_part part[HDST__MOST_WORKERS];
    uint32_t param;                 // whose rows they are
    uint64_t row_words, row_bytes;  // in the table; as C structs
    hdst__word_op op;
    uint64_t piece;                 // words of one
    uint32_t pieces;                // of what one worker sends another, at most
    char *to;                       // where rows go
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool fails;                     // one of them: the others stop. Guarded by the mutex
};

static uint64_t rows_of(const scatter_part *part) { return part->rows[part->scatter->param]; }
static uint64_t words_of(const scatter_part *part) { return rows_of(part) * part->scatter->row_words; }

// --- Which may ---

static bool is_ready(const hdst__launch_plan *plan)
{
    return !plan->device->unified && plan->table && plan->table->host && plan->device->facts.max_group >= HDST__WORD_ADDITION_GROUP;
}

bool hdst__stage_may_scatter(const hdst__stage *stage)
{
    const hdst__launch_plan *plan = stage->plan;
    if (stage->spec.keep_rows || plan->tables->accum_count != 1 || !plan->tables->accum[0].is_table || !is_ready(plan)) return false;
    if (plan->device_words * sizeof(int64_t) < hdst__engine_limits(stage->engine)->scatter_least) return false;
    uint32_t others = 0;
    for (uint32_t i = 0; i < stage->other_count; i++) {
        if (!stage->others[i].plan) continue;
        if (!is_ready(stage->others[i].plan)) return false;
        others++;
    }
    return others > 0;
}

// --- Its memory ---

enum { ROWS_TOGETHER = 64 };        // parts are multiples of it

static void divide_rows(hdst__scatter *scatter, uint64_t rows, uint64_t piece)
{
    const uint64_t each = (rows + scatter->count - 1) / scatter->count, part = (each + ROWS_TOGETHER - 1) / ROWS_TOGETHER * ROWS_TOGETHER;
    for (uint32_t i = 0; i < scatter->count; i++) {
        const uint64_t first = i * part < rows ? i * part : rows, left = rows - first;
        scatter->part[i].first = first;
        scatter->part[i].rows[scatter->param] = left < part ? left : part;
    }
    scatter->piece = piece / sizeof(int64_t);
    scatter->pieces = (uint32_t)((part * scatter->row_words + scatter->piece - 1) / scatter->piece);
}

// Where there is no room for them words go as they are.
static hdst_status take_narrow(scatter_part *part, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    const hdst_status status = hdst__word_addition_may_narrow(&part->addition, part->plan->device_words, &full);
    part->may_narrow = status == HDST_OK;
    if (status == HDST_OK || status == HDST_E_MEMORY) return HDST_OK;
    if (error) *error = full;
    return status;
}

static hdst_status take_part_memory(scatter_part *part, hdst_error *error)
{
    const hdst__scatter *scatter = part->scatter;
    hdst__device *device = part->device;
    const uint64_t words = words_of(part) * (scatter->count - 1), bytes = (rows_of(part) * scatter->row_bytes + 7) / 8 * 8;
    hdst_status status = hdst__word_addition_load(&part->addition, device, error);
    if (status != HDST_OK || rows_of(part) == 0) return status;
    status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, words * sizeof(int64_t),
                                            "the accumulators of other devices", &part->arrived, error);
    if (status == HDST_OK) status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, bytes, "rows of accumulators",
                                                       &part->finished, error);
    return status == HDST_OK ? device->ops->fill(device, part->finished, bytes / 8, 0, error) : status;       // what a record has between its fields
}

static hdst_status add_part(hdst__scatter *scatter, const hdst__launch_plan *plan, struct hdst__device_worker *worker, hdst_error *error)
{
    scatter_part *part = &scatter->part[scatter->count];
    const size_t bytes = plan->func->param_count * sizeof *part->rows;
    *part = (scatter_part){.scatter = scatter, .place = scatter->count++, .device = plan->device, .worker = worker, .plan = plan};
    part->rows = hdst__alloc_zero(scatter->runtime->allocator, bytes);
    return part->rows ? HDST_OK : hdst__error_memory(error, "the rows of accumulators");
}

static void release_part(scatter_part *part)
{
    hdst__device *device = part->device;
    device->ops->release(device, part->arrived);
    device->ops->release(device, part->finished);
    hdst__word_addition_unload(&part->addition);
    hdst__free(part->scatter->runtime->allocator, part->rows);
}

void hdst__stage_scatter_release(hdst__stage *stage)
{
    hdst__scatter *scatter = stage->scatter;
    if (!scatter) return;
    for (uint32_t i = 0; i < scatter->count; i++) release_part(&scatter->part[i]);
    pthread_cond_destroy(&scatter->changed);
    pthread_mutex_destroy(&scatter->mutex);
    hdst__free(scatter->runtime->allocator, scatter);
    stage->scatter = NULL;
    stage->scatters = false;
}

static hdst_status make_parts(hdst__stage *stage, hdst__scatter *scatter, hdst_error *error)
{
    hdst_status status = add_part(scatter, stage->plan, NULL, error);
    for (uint32_t i = 0; i < stage->other_count && status == HDST_OK; i++)
        if (stage->others[i].plan) status = add_part(scatter, stage->others[i].plan, stage->others[i].worker, error);
    if (status != HDST_OK) return status;
    divide_rows(scatter, hdst__accum_rows(&stage->plan->tables->accum[0], stage->plan->rows), hdst__engine_limits(stage->engine)->scatter_piece);
    for (uint32_t i = 0; i < scatter->count && status == HDST_OK; i++) status = take_part_memory(&scatter->part[i], error);
    for (uint32_t i = 0; i < scatter->count && status == HDST_OK; i++) status = take_narrow(&scatter->part[i], error);      // of what is left
    return status;
}

static hdst_status create(hdst__stage *stage, hdst_error *error)
{
    const hdst__accum *accum = &stage->plan->tables->accum[0];
    hdst__scatter *scatter = hdst__alloc_zero(stage->runtime->allocator, sizeof *scatter);
    if (!scatter) return hdst__error_memory(error, "the rows of accumulators");
    stage->scatter = scatter;
    *scatter = (hdst__scatter){.runtime = stage->runtime, .param = accum->param, .row_words = accum->device_row_words,
                               .row_bytes = stage->plan->func->params[accum->param].record->size};
    pthread_mutex_init(&scatter->mutex, NULL);
    pthread_cond_init(&scatter->changed, NULL);
    (void)hdst__plan_has_one_op(stage->plan, &scatter->op);
    return make_parts(stage, scatter, error);
}

// Whether the parts are those of the plans that there are now: a device that failed takes its plan along.
static bool fits(const hdst__stage *stage)
{
    const hdst__scatter *scatter = stage->scatter;
    uint32_t found = 0;
    if (!scatter || scatter->part[found++].plan != stage->plan) return false;
    for (uint32_t i = 0; i < stage->other_count; i++) {
        const hdst__launch_plan *plan = stage->others[i].plan;
        if (plan && (found == scatter->count || scatter->part[found++].plan != plan)) return false;
    }
    return found == scatter->count;
}

hdst_status hdst__stage_scatter_begin(hdst__stage *stage, hdst_error *error)
{
    if (fits(stage)) return HDST_OK;
    hdst__stage_scatter_release(stage);
    const hdst_status status = create(stage, error);
    if (status != HDST_OK) hdst__stage_scatter_release(stage);
    return status;
}

// --- What the parts tell each other ---

static void fail(hdst__scatter *scatter)
{
    pthread_mutex_lock(&scatter->mutex);
    scatter->fails = true;
    pthread_cond_broadcast(&scatter->changed);
    pthread_mutex_unlock(&scatter->mutex);
}

static void tell(scatter_part *part, uint32_t there)
{
    pthread_mutex_lock(&part->scatter->mutex);
    part->there = there;
    pthread_cond_broadcast(&part->scatter->changed);
    pthread_mutex_unlock(&part->scatter->mutex);
}

// Until so many pieces of the sender are on the host; false: they never will be.
static bool await(scatter_part *sender, uint32_t there)
{
    hdst__scatter *scatter = sender->scatter;
    pthread_mutex_lock(&scatter->mutex);
    while (sender->there < there && !scatter->fails) pthread_cond_wait(&scatter->changed, &scatter->mutex);
    const bool is_there = sender->there >= there && !scatter->fails;
    pthread_mutex_unlock(&scatter->mutex);
    return is_there;
}

// --- Words on their way ---

typedef struct stretch { uint64_t at, bytes; } stretch;     // `at` is counted from where the words of the owner begin

static uint64_t word_bytes(const scatter_part *from) { return from->is_narrow ? sizeof(uint32_t) : sizeof(int64_t); }

// Piece number `number` of what `owner` gets from another; it may be empty.
static stretch piece_of(const scatter_part *owner, const scatter_part *from, uint32_t number)
{
    const hdst__scatter *scatter = owner->scatter;
    const uint64_t all = words_of(owner), at = number % scatter->pieces * scatter->piece, left = at < all ? all - at : 0;
    return (stretch){at * word_bytes(from), (left < scatter->piece ? left : scatter->piece) * word_bytes(from)};
}

static uint64_t first_word(const scatter_part *owner) { return owner->first * owner->scatter->row_words; }

// Where a piece lies in the host's memory on its way: narrow or not, each owner's words have the room of all there.
static char *way_of(const scatter_part *owner, const scatter_part *from, stretch piece)
{
    return (char *)from->plan->table->host + first_word(owner) * sizeof(int64_t) + piece.at;
}

// Whom part `of` sends that piece to; who sends it that piece.
static scatter_part *receiver(const scatter_part *of, uint32_t number)
{
    hdst__scatter *scatter = of->scatter;
    return &scatter->part[(of->place + 1 + number / scatter->pieces) % scatter->count];
}

static scatter_part *sender(const scatter_part *of, uint32_t number)
{
    hdst__scatter *scatter = of->scatter;
    return &scatter->part[(of->place + scatter->count - 1 - number / scatter->pieces) % scatter->count];
}

static hdst_status ask(scatter_part *me, uint32_t number)
{
    const scatter_part *owner = receiver(me, number);
    const stretch piece = piece_of(owner, me, number);
    hdst__device *device = me->device;
    if (!me->adds || !piece.bytes) return HDST_OK;
    const hdst_status status = device->ops->read(device, me->is_narrow ? me->addition.narrow : me->plan->table,
                                                 first_word(owner) * word_bytes(me) + piece.at, way_of(owner, me, piece), piece.bytes, false, &me->error);
    me->bytes_from_device += piece.bytes;
    return status == HDST_OK ? device->ops->mark(device, &me->ticket[number % IN_FLIGHT], &me->error) : status;
}

static hdst_status settle(scatter_part *me, uint32_t number, hdst_error *error)
{
    if (!me->adds || !piece_of(receiver(me, number), me, number).bytes) return HDST_OK;
    return me->device->ops->settle(me->device, &me->ticket[number % IN_FLIGHT], error);
}

// Which of the tables that arrive comes from the sender of that piece: those of workers without records do not.
static uint64_t slot_of(const scatter_part *me, uint32_t number)
{
    uint64_t slot = 0;
    for (uint32_t before = 0; before < number / me->scatter->pieces; before++) slot += sender(me, before * me->scatter->pieces)->adds;
    return slot;
}

static hdst_status take(scatter_part *me, uint32_t number)
{
    scatter_part *from = sender(me, number);
    if (!from->adds || !rows_of(me) || !await(from, number + 1)) return HDST_OK;
    const stretch piece = piece_of(me, from, number);
    if (!piece.bytes) return HDST_OK;
    me->bytes_to_device += piece.bytes;
    return me->device->ops->write(me->device, me->arrived, slot_of(me, number) * words_of(me) * sizeof(int64_t) + piece.at, way_of(me, from, piece),
                                  piece.bytes, false, &me->error);
}

// Half the bytes for their way, where that loses nothing: mostly a sum of a few addends has few bits.
static hdst_status narrow(scatter_part *me)
{
    const hdst__launch_plan *plan = me->plan;
    me->is_narrow = false;
    if (!me->adds || !me->may_narrow || me->too_wide) return HDST_OK;
    const hdst_status status = hdst__word_addition_narrow(&me->addition, plan->table, plan->device_words, me->scatter->op, &me->is_narrow, &me->shift,
                                                          &me->error);
    me->too_wide = !me->is_narrow;
    return status;
}

static hdst_status exchange(scatter_part *me)
{
    const uint32_t pieces = (me->scatter->count - 1) * me->scatter->pieces;
    uint32_t asked = 0, done = 0;
    hdst_status status = HDST_OK;
    while (done < pieces && status == HDST_OK) {
        while (asked < pieces && asked < done + IN_FLIGHT && status == HDST_OK) {
            status = ask(me, asked);
            asked += status == HDST_OK;
        }
        if (status == HDST_OK) status = settle(me, done, &me->error);
        if (status != HDST_OK) break;
        tell(me, ++done);
        status = take(me, done - 1);
    }
    for (; done < asked; done++) (void)settle(me, done, NULL);
    return status;
}

// --- Rows ---

// What has come from the sender of that piece.
static hdst_status add_from(scatter_part *me, uint32_t number)
{
    const scatter_part *from = sender(me, number);
    const uint64_t words = words_of(me), at = slot_of(me, number) * words, first = first_word(me);
    const hdst__word_op op = me->scatter->op;
    if (!from->adds) return HDST_OK;
    if (!from->is_narrow) return hdst__word_addition_add(&me->addition, me->plan->table, first, me->arrived, at, words, 1, op, &me->error);
    return hdst__word_addition_add_narrow(&me->addition, me->plan->table, first, me->arrived, 2 * at, words, from->shift, op, &me->error);
}

static hdst_status make_rows(scatter_part *me)
{
    const hdst__scatter *scatter = me->scatter;
    hdst__device *device = me->device;
    const hdst__launch_plan *plan = me->plan;
    const hdst__launch launch = {.rows = me->rows, .first_row = me->first, .table = plan->table, .scales = plan->scales, .overflow = plan->overflow,
                                 .finished = &me->finished};
    hdst_status status = HDST_OK;
    for (uint32_t step = 0; step + 1 < scatter->count && status == HDST_OK; step++) status = add_from(me, step * scatter->pieces);
    if (status == HDST_OK) status = device->ops->finish_table(device, plan->program, &launch, &me->error);
    return status == HDST_OK ? hdst__device_wait(device, &me->error) : status;
}

static bool all_go_on(hdst__scatter *scatter)
{
    pthread_mutex_lock(&scatter->mutex);
    const bool on = !scatter->fails;
    pthread_mutex_unlock(&scatter->mutex);
    return on;
}

// Where something fails all wait for their devices, which read and write the host's memory.
static void scatter_words(void *user)
{
    scatter_part *me = user;
    me->status = narrow(me);
    if (me->status == HDST_OK) me->status = exchange(me);
    if (me->status == HDST_OK && rows_of(me) && all_go_on(me->scatter)) me->status = make_rows(me);
    if (me->status != HDST_OK) fail(me->scatter);
    if (!all_go_on(me->scatter)) me->device->ops->finish(me->device);
}

static void read_rows(void *user)
{
    scatter_part *me = user;
    const uint64_t size = me->scatter->row_bytes, bytes = rows_of(me) * size;
    char *to = me->scatter->to + me->first * size;
    if (!bytes) return;
    (void)hdst__registered_holds(me->scatter->runtime->outputs, me->device, to, bytes);         // where they are, they are pinned
    me->status = me->device->ops->read(me->device, me->finished, 0, to, bytes, true, &me->error);
    if (me->status == HDST_OK) me->bytes_from_device += bytes;
}

// --- All of them ---

static hdst_status run_all(hdst__scatter *scatter, void (*work)(void *user), hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < scatter->count; i++) {
        scatter_part *part = &scatter->part[i];
        part->error = (hdst_error)HDST_ERROR_INIT;
        part->status = HDST_OK;
        part->bytes_to_device = part->bytes_from_device = 0;
        part->started = i && hdst__worker_start(part->worker, work, part);
        if (!i || part->started) continue;
        part->status = hdst__error_set(&part->error, HDST_E_MEMORY, "no thread can be made for %s", part->device->info->name);
        fail(scatter);
    }
    work(&scatter->part[0]);
    for (uint32_t i = 0; i < scatter->count; i++) {
        scatter_part *part = &scatter->part[i];
        if (part->started) hdst__worker_wait(part->worker);
        if (status != HDST_OK || part->status == HDST_OK) continue;
        status = part->status;
        if (error) *error = part->error;
    }
    return status;
}

static void count_bytes(hdst__stage *stage)
{
    for (uint32_t i = 0; i < stage->scatter->count; i++) {
        stage->stats.bytes_to_device += stage->scatter->part[i].bytes_to_device;
        stage->stats.bytes_from_device += stage->scatter->part[i].bytes_from_device;
    }
}

bool hdst__stage_scatters_narrow(const hdst__stage *stage)
{
    bool narrow = stage->scatter != NULL;
    for (uint32_t i = 0; narrow && i < stage->scatter->count; i++) narrow = !stage->scatter->part[i].adds || stage->scatter->part[i].is_narrow;
    return narrow;
}

bool hdst__stage_can_scatter(const hdst__stage *stage) { return stage->scatters && fits(stage); }

hdst_status hdst__stage_scatter(hdst__stage *stage, hdst_error *error)
{
    hdst__scatter *scatter = stage->scatter;
    scatter->fails = false;
    for (uint32_t i = 0, other = 0; i < scatter->count; i++) {
        while (i && stage->others[other].plan != scatter->part[i].plan) other++;
        scatter->part[i].adds = (i ? &stage->others[other].stats : &stage->stats)->device[0].slices > 0;
        scatter->part[i].there = 0;
    }
    const hdst_status status = run_all(scatter, scatter_words, error);
    count_bytes(stage);
    return status;
}

hdst_status hdst__stage_read_scattered(hdst__stage *stage, void *rows, hdst_error *error)
{
    hdst__scatter *scatter = stage->scatter;
    scatter->to = rows;
    scatter->fails = false;
    const hdst_status status = run_all(scatter, read_rows, error);
    count_bytes(stage);
    return status;
}
