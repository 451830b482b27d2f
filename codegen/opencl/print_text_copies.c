// SPDX-License-Identifier: Apache-2.0
// Texts of a device that cannot reach the host's memory (codegen/opencl/print_text_copies.h).
#include "codegen/opencl/print_text_copies.h"

#include <inttypes.h>
#include <string.h>

enum { ALIGNED = 8, SLACK = 16 };       // texts are read in words of eight bytes

struct hdst__text_copies {
    char *bytes;
    size_t length, capacity;
};

void hdst__text_copies_begin(hdst__printer *p, const ir_func *func)
{
    if (p->options->texts_apart && hdst__ir_works_on_texts(func)) p->text_copies = HDST__NEW(p->arena, struct hdst__text_copies);
}

static uint64_t constant_at(hdst__printer *p, const hdst__text_value *text)
{
    struct hdst__text_copies *copies = p->text_copies;
    const uint64_t at = copies->length;
    for (uint32_t i = 0; i < text->length; i++) HDST__PUSH(p->arena, copies->bytes, copies->length, copies->capacity, (char)hdst__text_byte(text, i));
    for (uint64_t known = 0; known < at; known += ALIGNED)
        if (known + text->length <= at && !memcmp(copies->bytes + known, copies->bytes + at, text->length)) {
            copies->length = at;
            return known;
        }
    while (copies->length % ALIGNED) HDST__PUSH(p->arena, copies->bytes, copies->length, copies->capacity, 0);
    return at;
}

const char *hdst__text_copies_constant(hdst__printer *p, const hdst__text_value *text)
{
    if (!text || !text->length) return "text_of(text_constants, 0u)";
    return hdst__arena_printf(p->arena, "text_of(text_constants + %" PRIu64 ", %" PRIu32 "u)", constant_at(p, text), text->length);
}

void hdst__text_copies_end(const hdst__printer *p, hdst__kernel *kernel)
{
    struct hdst__text_copies *copies = p->text_copies;
    if (!copies) return;
    for (int i = 0; i < SLACK; i++) HDST__PUSH(p->arena, copies->bytes, copies->length, copies->capacity, 0);
    kernel->text_constants = copies->bytes;
    kernel->text_constant_bytes = copies->length;
}
