// SPDX-License-Identifier: Apache-2.0
// Files with measured powers: what is accepted can be a power, and is the same once it is written and read again.
#include "engine/device/power_note.h"
#include "partition/power_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdst__power_note note, again;
    if (!hdst__power_note_parse((const char *)data, size, &note)) return 0;
    if (!hdst__power_can_be(&note.power) || strlen(note.device) != 32 || !*note.kernel) abort();
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__power_note_print(&note, &text);
    if (text.failed || !hdst__power_note_parse(text.data, text.length, &again)) abort();
    if (strcmp(note.device, again.device) || strcmp(note.kernel, again.kernel)) abort();
    if (note.power.kernel != again.power.kernel || note.power.copy != again.power.copy || note.power.fixed != again.power.fixed ||
        note.power.spread != again.power.spread || note.power.slices != again.power.slices) abort();
    hdst__buffer_destroy(&text);
    return 0;
}
