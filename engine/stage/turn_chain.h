// SPDX-License-Identifier: Apache-2.0
// Turns of a loop, enqueued ahead: while a device works on one the next is in its queue, and what the host wants to know of a turn it learns behind it.
//
// Turns run as ever at first, and are watched (engine/device/command_tape.h). Two one after another that asked the device for the same and were answered
// the same will go on so: from then on turns are enqueued as they were noted, each for the rows that the one before leaves. Every answer is compared when
// it comes. As soon as one is another one (a record failed, a sum did not fit its word, an output has another length), the chain ends with the turn
// before, and that turn is run again as ever, which finds out what it means. So nothing is decided here but whether turns are alike, and a chain changes
// no bit.
//
// A chain is used by one thread. All functions take the engine's mutex.
#ifndef HDST_ENGINE_STAGE_TURN_CHAIN_H
#define HDST_ENGINE_STAGE_TURN_CHAIN_H

#include "engine/engine.h"
#include "engine/memory/resident_value.h"

#include <stdbool.h>

typedef struct hdst__turn_chain hdst__turn_chain;

enum { HDST__TURNS_AHEAD = 2 };         // in flight at most: one that runs, and the next

hdst__turn_chain *hdst__turn_chain_create(hdst__engine *engine);      // NULL: out of memory
void hdst__turn_chain_destroy(hdst__turn_chain *chain);               // NULL is fine

// Around a turn that runs as ever. `why` is a text that stays, and follows "turns are not enqueued ahead: ".
void hdst__turn_chain_watch(hdst__turn_chain *chain);
void hdst__turn_chain_refuse(hdst__turn_chain *chain, const char *why);      // this turn is no pattern for others
void hdst__turn_chain_decide(hdst__turn_chain *chain, bool decides);         // what is read meanwhile decides whether the loop ends
void hdst__turn_chain_watched(hdst__turn_chain *chain);

// Begins a chain where the last two turns were alike: `values` are what turns make anew. *begun false: they were not, or there is no memory for it.
hdst_status hdst__turn_chain_begin(hdst__turn_chain *chain, hdst__value_rows *const *values, size_t count, bool *begun, hdst_error *error);
// Another turn. `looks`: whether the loop asks what decides. Not more than HDST__TURNS_AHEAD at a time.
hdst_status hdst__turn_chain_enqueue(hdst__turn_chain *chain, bool looks, hdst_error *error);
// Waits for the oldest one. *alike: it went as those before; then *decision is what decides (valid until the next call), NULL where nothing was asked.
hdst_status hdst__turn_chain_take(hdst__turn_chain *chain, bool *alike, const void **decision, hdst_error *error);
uint64_t hdst__turn_chain_bytes(const hdst__turn_chain *chain);        // that a turn brings to the host
// Ends the chain, once what is in flight has ended: the values have what its first `turns` turns left. False: a turn in flight did not go as those before,
// and left what the stages of the turns work with in a state that they do not know.
bool hdst__turn_chain_end(hdst__turn_chain *chain, uint64_t turns);

bool hdst__turn_chain_fits(const hdst__turn_chain *chain);             // turns on this device can be enqueued ahead
const char *hdst__turn_chain_refusal(const hdst__turn_chain *chain);   // why the last turns were no pattern; NULL: they were one, or nobody looked

#endif
