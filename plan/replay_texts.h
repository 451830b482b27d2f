// SPDX-License-Identifier: Apache-2.0
// Texts of records that are saved for `hdst replay`: all bytes of the long ones, one after another; their spans say where among them a text begins.
#ifndef HDST_PLAN_REPLAY_TEXTS_H
#define HDST_PLAN_REPLAY_TEXTS_H

#include "base/arena.h"
#include "io/replay_file.h"

// `count` C structs as the file has them: `rows` where they have no texts, else a copy, in the arena. The bytes of its texts go behind those of replay->texts,
// as far as the file has room; replay->text_bytes says how many they are in any case.
const void *hdst__replay_take_texts(hdst__arena *arena, const hdst__record *record, const void *rows, uint64_t count, hdst__replay *replay);

#endif
