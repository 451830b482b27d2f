// SPDX-License-Identifier: Apache-2.0
// Measured powers on disk: found again to the last bit, replaced, damaged at every byte.
#include "engine/device/power_note.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64];
static hdst__program_cache cache;
static int told;

static void count(int level, const char *message, void *user)
{
    (void)level, (void)message, (void)user;
    told++;
}

static hdst__log loud = {.write = count, .level = HDST__LOG_DEBUG};
static const hdst__hash key = {1, 2}, other = {1, 3};
static const hdst__power_note step = {"0123456789abcdef0123456789abcdef", "step", {1.0 / 3 * 1e-5, 1.0 / 7 * 1e-9, 1.0 / 9 * 1e-9, 0.1, 40}};

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/hdst-test-power-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
    hdst__program_cache_init(&cache, NULL, &loud, root);
}

static void tear_down(void)
{
    hdst__program_cache_destroy(&cache);
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(power_note, .init = set_up, .fini = tear_down);

static bool same(const hdst__power_note *a, const hdst__power_note *b)
{
    return !strcmp(a->device, b->device) && !strcmp(a->kernel, b->kernel) && a->power.fixed == b->power.fixed && a->power.copy == b->power.copy &&
        a->power.kernel == b->power.kernel && a->power.spread == b->power.spread && a->power.slices == b->power.slices;
}

Test(power_note, is_found_again_and_replaced)
{
    hdst__power_note found, next = step;
    cr_assert_not(hdst__power_note_read(&cache, &key, &found));
    hdst__power_note_write(&cache, &key, &step);
    cr_assert(hdst__power_note_read(&cache, &key, &found) && same(&found, &step));
    cr_assert_not(hdst__power_note_read(&cache, &other, &found));
    next.power.kernel *= 2;
    hdst__power_note_write(&cache, &key, &next);
    cr_assert(hdst__power_note_read(&cache, &key, &found) && same(&found, &next));
    cr_assert_eq(told, 0);
}

static void path_of(char path[160])
{
    char hex[33];
    hdst__hash_hex(&key, hex);
    snprintf(path, 160, "%.60s/%s.power", root, hex);
}

static size_t bytes_of(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    const size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static void put(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

// Each bit of the file turned, each length of it: ignored, with a note, and the next measurement takes its place.
Test(power_note, that_is_damaged_is_none)
{
    char path[160], bytes[1024], wrong[1024];
    hdst__power_note found;
    hdst__power_note_write(&cache, &key, &step);
    path_of(path);
    const size_t length = bytes_of(path, bytes, sizeof bytes);
    cr_assert(length > 100 && length < sizeof bytes);
    int expected = 0;
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit += 3) {
            memcpy(wrong, bytes, length);
            wrong[at] ^= (char)(1 << bit);
            put(path, wrong, length);
            cr_assert_not(hdst__power_note_read(&cache, &key, &found), "byte %zu", at);
            cr_assert_eq(told, ++expected);
        }
    for (size_t cut = 0; cut < length; cut += 7) {
        put(path, bytes, cut);
        cr_assert_not(hdst__power_note_read(&cache, &key, &found), "%zu bytes", cut);
    }
    hdst__power_note_write(&cache, &key, &step);
    cr_assert(hdst__power_note_read(&cache, &key, &found) && same(&found, &step));
}

// Whole, but of another version, or with powers that cannot be.
Test(power_note, that_cannot_be_is_none)
{
    static const char *const texts[] = {
        "", "hdst power 1\n", "hdst power 2\ndevice 0123456789abcdef0123456789abcdef\nkernel step\nfixed 0\ncopy 0\nrecord 1e-9\nspread 0\nslices 4\n",
        "hdst power 1\ndevice 0123456789abcdef0123456789abcdef\nkernel step\nfixed 0\ncopy 0\nrecord 0\nspread 0\nslices 4\n",
        "hdst power 1\ndevice 0123456789abcdef0123456789abcdef\nkernel step\nfixed 0\ncopy nan\nrecord 1e-9\nspread 0\nslices 4\n",
        "hdst power 1\ndevice 0123456789abcdef0123456789abcdef\nkernel step\nfixed 0\ncopy 0\nrecord 1e-9\nspread 0\nslices -4\n",
        "hdst power 1\ndevice 0123456789abcdef0123456789abcde\nkernel step\nfixed 0\ncopy 0\nrecord 1e-9\nspread 0\nslices 4\n",
    };
    hdst__power_note found;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cr_assert_not(hdst__power_note_parse(texts[i], strlen(texts[i]), &found), "%s", texts[i]);
        if (*texts[i]) hdst__program_cache_write_power(&cache, &key, texts[i], strlen(texts[i]));
        cr_assert_not(hdst__power_note_read(&cache, &key, &found));
        cr_assert_eq(told, (int)i);
    }
}

Test(power_note, tells_devices_apart)
{
    hdst__device_info info = {.name = "a", .platform = "p", .driver = "1", .cl_version = "3", .compute_units = 4};
    char first[33], second[33];
    hdst__power_device(&info, first);
    cr_assert_eq(strlen(first), 32);
    info.index = 7;
    hdst__power_device(&info, second);
    cr_assert_str_eq(first, second);
    info.compute_units = 2;
    hdst__power_device(&info, second);
    cr_assert_str_neq(first, second);
    info.compute_units = 4;
    strcpy(info.driver, "2");
    hdst__power_device(&info, second);
    cr_assert_str_neq(first, second);
}
