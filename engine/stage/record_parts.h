// SPDX-License-Identifier: Apache-2.0
// A record with a long text as records with parts of it. Where all that a function emits comes of single tokens of a text of its input, it emits the
// same, in the same order, for parts of that text that begin and end between tokens. So a line of millions of words is no different from many lines.
#ifndef HDST_ENGINE_STAGE_RECORD_PARTS_H
#define HDST_ENGINE_STAGE_RECORD_PARTS_H

#include "codegen/ir/ir.h"
#include "engine/device/device.h"
#include "engine/memory/segment.h"

typedef struct hdst__record_parts {
    bool divides;               // the function is such a one:
    uint32_t leaf;              // of its input, the text;
    uint64_t ranges;            // the bytes of tokens, as IR_TEXT_TOKENS says
    uint32_t bytes_of_tokens;   //     ir_token_bytes
} hdst__record_parts;

hdst__record_parts hdst__record_parts_of(const ir_func *func);

// The first place from `at` on that is in no token, or the text's end.
uint64_t hdst__record_parts_cut(const hdst__record_parts *parts, const char *text, uint64_t length, uint64_t at);

// Records [0, to->storage->capacity) of `to`, or fewer, become those with parts of at least `each` bytes of the text of record `i` of `from`, from byte *at
// on, which becomes the place behind them. Both in the host's memory. Returns how many.
uint64_t hdst__record_parts_fill(const hdst__record_parts *parts, hdst__segment *to, const hdst__segment *from, uint64_t i, uint64_t each, uint64_t *at);
// Bytes of that text.
uint64_t hdst__record_parts_bytes(const hdst__record_parts *parts, const hdst__segment *segment, uint64_t i);

#endif
