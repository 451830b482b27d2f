// SPDX-License-Identifier: Apache-2.0
// The start of a slice: what its launch is given, and what comes back behind it (engine/stage/executor.h).
#include "engine/stage/executor.h"
#include "engine/memory/store.h"
#include "engine/memory/window.h"
#include "base/costs_host.h"

void hdst__pass_note_failure(hdst__pass *pass, uint64_t word)
{
    if (word < pass->failure) pass->failure = word;
    if (pass->team) hdst__team_note_failure(pass->team, word);
    if (pass->team && pass->team->assembly && word != UINT64_MAX) hdst__assembly_end(pass->team->assembly);       // who waits for its output waits in vain
}

// Behind a record that failed nothing was written, and what lay there before is no text, whose bytes somebody could read.
static bool has_texts(const hdst__pass *pass) { return pass->built || (pass->output && pass->output->texts_of); }

// The error word holds the least record of all slices so far, so the last slice's is enough; others are asked for where it may save long work in vain, or
// what they wrote has to be right.
static bool asks_for_errors(const hdst__slot *slot, const hdst__pass *pass, bool last)
{
    return pass->checks &&
           (last || pass->limit || pass->streams || has_texts(pass) || pass->power->kernel * (double)slot->count > HDST__HOST_ASK_SECONDS);
}

// The table at the end (or rows on the device, made of it), and the error word with it if both are in one memory: a copy less to wait for.
static hdst_status read_words(hdst__slot *slot, hdst__pass *pass, bool last, hdst_error *error)
{
    const hdst__device_ops *ops = slot->executor->device->ops;
    hdst__device *device = slot->executor->device;
    const bool asks = asks_for_errors(slot, pass, last), ends = last && (pass->table || pass->launch.finished);
    const bool makes_rows = ends && pass->launch.finished, reads_table = ends && !makes_rows, together = asks && reads_table && pass->results;
    hdst_status status = HDST_OK;
    slot->error_at = together ? pass->launch.error->host : &slot->error_word;
    if (makes_rows) status = ops->finish_table(device, slot->program, &pass->launch, error);
    if (together) status = ops->read(device, pass->results, 0, pass->results->host, pass->results->bytes, false, error);
    if (reads_table && !together) status = ops->read(device, pass->launch.table, 0, pass->table, pass->table_bytes, false, error);
    if (status == HDST_OK && asks && !together) status = ops->read(device, pass->launch.error, 0, &slot->error_word, sizeof slot->error_word, false, error);
    if (status == HDST_OK && last) status = hdst__pass_read_overflow_state(device, pass, error);
    pass->stats->bytes_from_device += together ? pass->results->bytes : (reads_table ? pass->table_bytes : 0) + (asks ? sizeof slot->error_word : 0);
    if (status != HDST_OK || !ends || !pass->clear_words) return status;
    pass->is_clear = true;
    const bool is_clear = pass->table_is_unused || (makes_rows && pass->launch.clears);
    return is_clear ? HDST_OK : ops->fill(device, pass->launch.table, pass->clear_words, 0, error);
}

static hdst_status read_results(hdst__executor *executor, hdst__slot *slot, hdst__pass *pass, bool last, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst_status status = read_words(slot, pass, last, error);
    if (status == HDST_OK && slot->places) {
        status = device->ops->read(device, slot->places, 0, slot->readback, executor->readback_words * sizeof *slot->readback, false, error);
        pass->stats->bytes_from_device += executor->readback_words * sizeof *slot->readback;
    }
    // how much came out is not known yet
    if (!pass->output || pass->output->store || pass->window || device->unified || pass->way != IR_OUTPUT_DENSE) return status;
    if (hdst__slot_combines(slot, pass)) return status;
    uint64_t bytes = hdst__slot_dense_records(slot, pass) * pass->row_bytes;
    char *to = slot->place ? slot->place : slot->output->host;
    if (status == HDST_OK) status = device->ops->read(device, slot->output, 0, to, bytes, false, error);
    pass->stats->bytes_from_device += bytes;
    return status;
}

// A shape under test that the device turns out not to be able to run is out of it.
static hdst_status launch_slice(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, const hdst__launch *launch, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst_error why = HDST_ERROR_INIT;
    if (!pass->tuning || slot->try == pass->tuning->best) return device->ops->launch(device, slot->program, launch, error);
    if (device->ops->launch(device, slot->program, launch, &why) == HDST_OK) return HDST_OK;
    hdst__log_write(&device->runtime->log, HDST__LOG_DEBUG, "a shape cannot run: %s", why.message);
    hdst__tuning_drop(pass->tuning, slot->try);
    slot->try = pass->tuning->best;
    slot->program = pass->tries[slot->try];
    return device->ops->launch(device, slot->program, launch, error);
}

static hdst_status wrap_output(hdst__executor *executor, const hdst__pass *pass, hdst__slot *slot, hdst_error *error)
{
    const hdst__chunk *chunk = slot->chunk;
    const uint64_t at = pass->base + slot->segment->first + slot->skip - chunk->share.first, size = chunk->output.record_bytes;
    hdst_status status = executor->device->ops->wrap(executor->device, chunk->output.records + at * size, slot->count * size, &slot->wrapped, error);
    if (status != HDST_OK) slot->wrapped = (hdst__memory){0};
    return status;
}

hdst_status hdst__slot_unwrap(hdst__executor *executor, hdst__slot *slot, hdst_error *error)
{
    if (!slot->wrapped.host) return HDST_OK;
    return executor->device->ops->unwrap(executor->device, &slot->wrapped, error);
}

static bool offer_rows(hdst__pass *pass, const hdst__slot *slot, hdst__launch *launch)
{
    const double each = *pass->outputs_per_record;
    const uint64_t expected = (uint64_t)((double)slot->count * each), in_all = (uint64_t)((double)hdst__pass_records(pass) * each);
    if (!hdst__device_rows_offer(pass->rows, expected, in_all, slot->turn > 1, launch)) return false;
    launch->combined_tables = slot->turn;
    return true;
}

hdst_status hdst__executor_start(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, uint64_t skip, uint64_t count, bool alone, hdst_error *error)
{
    hdst__device *device = executor->device;
    hdst__segment *segment = slot->segment;
    slot->done = false;
    slot->ticket.notify = pass->streams && !alone && device->info->class_ != HDST__DEVICE_GPU;     // which answer sooner than they tell
    slot->skip = skip;
    slot->count = count;
    slot->error_word = UINT64_MAX;
    slot->place = hdst__slot_place(executor, slot, pass);
    hdst__launch launch = pass->launch;
    launch.first = pass->base + segment->first + skip;
    launch.skip = skip;
    launch.count = count;
    launch.storage = segment->storage;
    launch.input = segment->memory;
    launch.output = slot->output;
    launch.texts = hdst__text_mirror_copy(&segment->mirror);
    launch.text_bytes = segment->mirror.used;
    launch.text_host = hdst__text_mirror_host(&segment->mirror);
    launch.places = slot->places;
    launch.room = pass->room;
    launch.fits = slot->is_enlarged;
    launch.divides = hdst__slot_divides(executor, slot, pass);
    if (pass->combined) hdst__combined_tables_offer(pass->combined, pass->came, &launch);
    slot->combines = pass->rows && offer_rows(pass, slot, &launch);
    hdst__memory place = {0};
    hdst_status status = HDST_OK;
    if (pass->in_place) {
        status = pass->window ? hdst__window_place(pass->window, count, &place, error) : hdst__store_place(pass->output->store, count, &place, error);
        launch.output = &place;
    } else if (pass->window) {
        launch.output = &pass->window->memory;
        launch.room = pass->window->room;
    } else if (executor->readback_words >= 2 && pass->way == IR_OUTPUT_COUNTED) {       // the place where the output begins
        status = device->ops->fill(device, slot->places, slot->combines && slot->turn <= 1 ? 3 : 2, 0, error);    // and the next tile
    }
    if (status == HDST_OK && pass->wraps) {
        status = wrap_output(executor, pass, slot, error);
        launch.output = &slot->wrapped;
    }
    if (status == HDST_OK) status = launch_slice(executor, pass, slot, &launch, error);
    if (pass->in_place) device->ops->release_sub_buffer(device, &place);
    // Pieces of a slice that was cut come behind all that was submitted so far, so each of them reads what the last slice did, too.
    const bool last = !pass->reads_at_end && (alone || segment->first + skip + count == pass->reader->records);
    if (status == HDST_OK) status = read_results(executor, slot, pass, last, error);
    if (status == HDST_OK) status = device->ops->mark(device, &slot->ticket, error);
    if (status == HDST_OK && hdst__slot_combines(slot, pass)) status = hdst__executor_combine(slot, pass, error);
    if (status == HDST_OK) return status;
    device->ops->finish(device);        // before its output's place is the host's again
    hdst__slot_unwrap(executor, slot, NULL);
    return status;
}
