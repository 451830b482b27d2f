// SPDX-License-Identifier: Apache-2.0
// Writes the measured power of a kernel on the interpreter to the kernel cache, as a run on it would. usage: put_power_note KERNEL SECONDS-OF-A-RECORD
#include "engine/device/power_note.h"
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const hdst__device_info *devices;
    size_t count;
    hdst__program_cache cache;
    hdst__power_note note = {.power = {.fixed = 2e-5, .copy = 5e-10, .spread = 0.0625, .slices = 12}};
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){0});
    if (argc != 3 || !engine || hdst__engine_devices(engine, &devices, &count, NULL, NULL) != HDST_OK) return 2;
    hdst__power_device(&devices[count - 1], note.device);
    snprintf(note.kernel, sizeof note.kernel, "%s", argv[1]);
    note.power.kernel = atof(argv[2]);
    hdst__hash key = HDST__HASH_INIT;
    hdst__hash_add_text(&key, argv[1]);
    hdst__program_cache_init(&cache, NULL, &(hdst__log){0}, NULL);
    hdst__power_note_write(&cache, &key, &note);
    hdst__program_cache_destroy(&cache);
    hdst__engine_destroy(engine);
    return 0;
}
