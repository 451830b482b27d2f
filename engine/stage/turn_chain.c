// SPDX-License-Identifier: Apache-2.0
// Turns of a loop, enqueued ahead (engine/stage/turn_chain.h).
#include "engine/stage/turn_chain.h"

#include "engine/device/command_tape.h"
#include "engine/device/driver_gate.h"
#include "engine/device/give_up.h"
#include "engine/memory/value_rows.h"

typedef struct flight {
    hdst__memory *words;            // what its turn reads: pinned, or a copy to it would wait for the device
    hdst__ticket ticket;
    bool looks;
} flight;

struct hdst__turn_chain {
    hdst__engine *engine;
    hdst__device *device;           // NULL: no turn was watched yet
    hdst__tape *tape[2];            // of the last turn, and of the one before
    bool watches;
    const char *why;
    // While it runs
    hdst__value_rows *const *values;
    hdst__tape_rows *rows;
    size_t count;
    flight flight[HDST__TURNS_AHEAD];
    uint64_t enqueued, taken;       // turns
};

hdst__turn_chain *hdst__turn_chain_create(hdst__engine *engine)
{
    hdst__turn_chain *chain = hdst__alloc_zero(hdst__engine_allocator(engine), sizeof *chain);
    if (chain) chain->engine = engine;
    return chain;
}

void hdst__turn_chain_destroy(hdst__turn_chain *chain)
{
    if (!chain) return;
    hdst__engine_lock(chain->engine);
    for (int i = 0; i < 2; i++) hdst__tape_destroy(chain->tape[i]);
    hdst__engine_unlock(chain->engine);
    hdst__free(hdst__engine_allocator(chain->engine), chain);
}

// --- Turns as ever ---

// NULL: turns on it can be enqueued ahead.
static const char *unfit(const hdst__turn_chain *chain)
{
    if (hdst__engine_workers(chain->engine) > 1 && !hdst__engine_alone(chain->engine)) return "several devices share its stages";
    if (chain->device->unified) return "the device works in the host's memory, and waits for it but shortly";
    return NULL;
}

static bool make_tapes(hdst__turn_chain *chain)
{
    for (int i = 0; i < 2; i++)
        if (!chain->tape[i]) chain->tape[i] = hdst__tape_create(chain->device);
    return chain->tape[0] && chain->tape[1];
}

void hdst__turn_chain_watch(hdst__turn_chain *chain)
{
    hdst__engine_lock(chain->engine);
    chain->why = NULL;
    if (!chain->device && hdst__engine_open(chain->engine, &chain->device, NULL) != HDST_OK) chain->device = NULL;
    if (chain->device) chain->why = unfit(chain);
    chain->watches = chain->device && !chain->why && make_tapes(chain);
    if (chain->device && !chain->why && !chain->watches) chain->why = "there is no memory to note them in";
    if (chain->watches) {
        hdst__tape *before = chain->tape[0];
        chain->tape[0] = chain->tape[1];
        chain->tape[1] = before;
        hdst__tape_begin(chain->tape[0]);
    }
    hdst__engine_unlock(chain->engine);
}

void hdst__turn_chain_refuse(hdst__turn_chain *chain, const char *why)
{
    if (!chain->why) chain->why = why;
}

void hdst__turn_chain_decide(hdst__turn_chain *chain, bool decides)
{
    hdst__engine_lock(chain->engine);
    if (chain->watches) hdst__tape_decide(chain->tape[0], decides);
    hdst__engine_unlock(chain->engine);
}

void hdst__turn_chain_watched(hdst__turn_chain *chain)
{
    if (!chain->watches) return;
    hdst__engine_lock(chain->engine);
    chain->watches = false;
    hdst__tape_end(chain->tape[0]);
    if (!chain->why) chain->why = hdst__tape_refusal(chain->tape[0]);
    if (chain->why) hdst__tape_refuse(chain->tape[0], chain->why);
    hdst__engine_unlock(chain->engine);
}

bool hdst__turn_chain_fits(const hdst__turn_chain *chain) { return chain->device && !unfit(chain); }
const char *hdst__turn_chain_refusal(const hdst__turn_chain *chain) { return chain->why; }

// --- A chain ---

static void drop(hdst__turn_chain *chain)
{
    const hdst__device_ops *ops = chain->device->ops;
    for (size_t i = 0; chain->rows && i < chain->count; i++)
        for (int k = 0; k < HDST__TAPE_RING; k++)
            if (chain->rows[i].ring[k] != chain->values[i]->memory) ops->release(chain->device, chain->rows[i].ring[k]);
    for (int i = 0; i < HDST__TURNS_AHEAD; i++) {
        ops->release(chain->device, chain->flight[i].words);
        chain->flight[i].words = NULL;
    }
    hdst__free(hdst__engine_allocator(chain->engine), chain->rows);
    chain->rows = NULL;
}

// What a row has between its fields is zero, and nobody writes it.
static hdst_status take_memory(hdst__device *device, uint64_t bytes, hdst__memory **memory, hdst_error *error)
{
    const hdst_status status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_VALUES, bytes, "a value", memory, error);
    return status == HDST_OK ? device->ops->fill(device, *memory, (bytes + 7) / 8, 0, error) : status;
}

static hdst_status take_rows(hdst__turn_chain *chain, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (size_t i = 0; i < chain->count; i++) chain->rows[i].ring[0] = chain->values[i]->memory;
    for (size_t i = 0; i < chain->count && status == HDST_OK; i++)
        for (int k = 1; k < HDST__TAPE_RING && status == HDST_OK; k++)
            status = take_memory(chain->device, chain->values[i]->memory->bytes, &chain->rows[i].ring[k], error);
    return status;
}

static hdst_status take_words(hdst__turn_chain *chain, hdst_error *error)
{
    hdst__device *device = chain->device;
    const uint64_t bytes = hdst__tape_word_bytes(chain->tape[0]);
    hdst_status status = HDST_OK;
    for (int i = 0; i < HDST__TURNS_AHEAD && status == HDST_OK; i++)
        status = device->ops->alloc(device, HDST__MEMORY_SHARED, HDST__OWNER_VALUES, bytes ? bytes : 8, "what turns tell", &chain->flight[i].words, error);
    return status;
}

static hdst_status begin(hdst__turn_chain *chain, hdst_error *error)
{
    chain->enqueued = chain->taken = 0;
    chain->rows = hdst__alloc_zero(hdst__engine_allocator(chain->engine), chain->count * sizeof *chain->rows + 1);
    if (!chain->rows) return hdst__error_memory(error, "turns ahead");
    hdst_status status = take_rows(chain, error);
    if (status == HDST_OK && !hdst__tape_prepare(chain->tape[0], chain->rows, chain->count)) status = hdst__error_memory(error, "turns ahead");
    return status == HDST_OK ? take_words(chain, error) : status;
}

static bool are_alike(const hdst__turn_chain *chain)
{
    return chain->device && !chain->why && chain->tape[1] && hdst__tape_alike(chain->tape[0], chain->tape[1]);
}

hdst_status hdst__turn_chain_begin(hdst__turn_chain *chain, hdst__value_rows *const *values, size_t count, bool *begun, hdst_error *error)
{
    hdst_error full = HDST_ERROR_INIT;
    hdst__engine_lock(chain->engine);
    *begun = are_alike(chain);
    hdst_status status = HDST_OK;
    if (*begun) {
        chain->values = values;
        chain->count = count;
        status = begin(chain, &full);
        *begun = status == HDST_OK;
        if (*begun) chain->device->ops->hurry(chain->device, true);
        else {
            drop(chain);
            hdst__tape_refuse(chain->tape[0], "there is no memory for values twice");     // it may name memory that is gone
        }
    }
    if (status == HDST_E_MEMORY) {
        chain->why = "there is no memory for values twice";
        status = HDST_OK;
    }
    if (status != HDST_OK && error) *error = full;
    hdst__engine_unlock(chain->engine);
    return status;
}

hdst_status hdst__turn_chain_enqueue(hdst__turn_chain *chain, bool looks, hdst_error *error)
{
    flight *f = &chain->flight[chain->enqueued % HDST__TURNS_AHEAD];
    hdst__engine_lock(chain->engine);
    hdst__driver_run_begin();
    f->looks = looks;
    f->ticket = (hdst__ticket){.notify = false};
    hdst_status status = hdst__tape_repeat(chain->tape[0], chain->enqueued, looks, f->words->host, error);
    if (status == HDST_OK) status = chain->device->ops->mark(chain->device, &f->ticket, error);
    if (status == HDST_OK) chain->enqueued++;
    hdst__driver_run_end();
    hdst__engine_unlock(chain->engine);
    return status;
}

hdst_status hdst__turn_chain_take(hdst__turn_chain *chain, bool *alike, const void **decision, hdst_error *error)
{
    flight *f = &chain->flight[chain->taken % HDST__TURNS_AHEAD];
    hdst__engine_lock(chain->engine);
    hdst_status status = chain->device->ops->settle(chain->device, &f->ticket, error);
    chain->taken++;
    *alike = status == HDST_OK && hdst__tape_is_answered_alike(chain->tape[0], f->words->host);
    *decision = *alike && f->looks ? hdst__tape_decision(chain->tape[0], f->words->host) : NULL;
    hdst__engine_unlock(chain->engine);
    return status;
}

uint64_t hdst__turn_chain_bytes(const hdst__turn_chain *chain) { return hdst__tape_word_bytes(chain->tape[0]); }

// What is in flight, which nobody wants any more. False: it did not go as those before.
static bool settle_rest(hdst__turn_chain *chain)
{
    bool alike = true;
    while (chain->taken < chain->enqueued) {
        flight *f = &chain->flight[chain->taken++ % HDST__TURNS_AHEAD];
        alike &= chain->device->ops->settle(chain->device, &f->ticket, NULL) == HDST_OK && hdst__tape_is_answered_alike(chain->tape[0], f->words->host);
    }
    chain->device->ops->hurry(chain->device, false);        // waits: a turn's last words may come before its last copies
    return alike;
}

// Of a device that was given up nothing is touched any more.
bool hdst__turn_chain_end(hdst__turn_chain *chain, uint64_t turns)
{
    hdst__device *device = chain->device;
    hdst__engine_lock(chain->engine);
    const bool alike = settle_rest(chain);
    hdst__tape_refuse(chain->tape[0], "their chain has ended");
    for (size_t i = 0; i < chain->count && !hdst__given_up(device); i++) {
        chain->values[i]->memory = chain->rows[i].ring[turns % HDST__TAPE_RING];
        chain->values[i]->copied = false;
    }
    drop(chain);            // which releases nothing of such a device
    hdst__engine_unlock(chain->engine);
    return alike;
}
