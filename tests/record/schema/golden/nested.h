// Written by hdst from 'nested.yaml': do not edit.
#ifndef HDST_NESTED_YAML_H
#define HDST_NESTED_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus) && !defined(_Static_assert)
#define _Static_assert static_assert
#endif

#ifndef HDST_TEXT_SPAN
#define HDST_TEXT_SPAN
// A text: up to 12 bytes lie in it, of a longer one the first 4 and the address of all.
typedef struct hdst_text_span {
    uint32_t length;
    char start[4];
    union {
        char rest[8];
        uint64_t address;
    };
} hdst_text_span;
#endif

#ifndef HDST_ARRAY_BYTES
#define HDST_ARRAY_BYTES
// The arrays of the layouts soa and aop start at multiples of 64 bytes.
static inline uint64_t hdst_array_bytes(uint64_t capacity, uint64_t size) { return (capacity * size + 63) / 64 * 64; }
#endif

// 28 bytes, alignment 4, layout aos
struct __attribute__((packed, aligned(4))) place {
    double x[2] __attribute__((aligned(4)));
    uint8_t tag;
    double weight __attribute__((aligned(4)));
};
_Static_assert(sizeof(struct place) == 28, "size of place");
_Static_assert(offsetof(struct place, x) == 0, "offset of place.x");
_Static_assert(offsetof(struct place, tag) == 16, "offset of place.tag");
_Static_assert(offsetof(struct place, weight) == 20, "offset of place.weight");

// 104 bytes, alignment 8, layout soa
struct track {
    uint32_t id;
    struct place places[3];
    struct hdst_text_span name;
};
_Static_assert(sizeof(struct track) == 104, "size of track");
_Static_assert(offsetof(struct track, id) == 0, "offset of track.id");
_Static_assert(offsetof(struct track, places) == 4, "offset of track.places");
_Static_assert(offsetof(struct track, name) == 88, "offset of track.name");

// Layout soa: memory for `capacity` records holds an array per value, and per element of an array field.
// track_at_F(memory, capacity, e)[i] is element e of F in record i; track_offset_of_F is where that array starts.
static inline uint64_t track_offset_of_id(uint64_t capacity, uint64_t element)
{
    return element * hdst_array_bytes(capacity, 4);
}
static inline uint32_t *track_at_id(void *memory, uint64_t capacity, uint64_t element)
{
    return (uint32_t *)((char *)memory + track_offset_of_id(capacity, element));
}
static inline uint64_t track_offset_of_places_x(uint64_t capacity, uint64_t element)
{
    return hdst_array_bytes(capacity, 4) + element * hdst_array_bytes(capacity, 8);
}
static inline double *track_at_places_x(void *memory, uint64_t capacity, uint64_t element)
{
    return (double *)((char *)memory + track_offset_of_places_x(capacity, element));
}
static inline uint64_t track_offset_of_places_tag(uint64_t capacity, uint64_t element)
{
    return hdst_array_bytes(capacity, 4) + 6 * hdst_array_bytes(capacity, 8) + element * hdst_array_bytes(capacity, 1);
}
static inline uint8_t *track_at_places_tag(void *memory, uint64_t capacity, uint64_t element)
{
    return (uint8_t *)((char *)memory + track_offset_of_places_tag(capacity, element));
}
static inline uint64_t track_offset_of_places_weight(uint64_t capacity, uint64_t element)
{
    return 3 * hdst_array_bytes(capacity, 1) + hdst_array_bytes(capacity, 4) + 6 * hdst_array_bytes(capacity, 8) + element * hdst_array_bytes(capacity, 8);
}
static inline double *track_at_places_weight(void *memory, uint64_t capacity, uint64_t element)
{
    return (double *)((char *)memory + track_offset_of_places_weight(capacity, element));
}
static inline uint64_t track_offset_of_name(uint64_t capacity, uint64_t element)
{
    return 3 * hdst_array_bytes(capacity, 1) + hdst_array_bytes(capacity, 4) + 9 * hdst_array_bytes(capacity, 8) + element * hdst_array_bytes(capacity, 16);
}
static inline struct hdst_text_span *track_at_name(void *memory, uint64_t capacity, uint64_t element)
{
    return (struct hdst_text_span *)((char *)memory + track_offset_of_name(capacity, element));
}
static inline uint64_t track_storage_bytes(uint64_t capacity)
{
    return 3 * hdst_array_bytes(capacity, 1) + hdst_array_bytes(capacity, 4) + 9 * hdst_array_bytes(capacity, 8) + hdst_array_bytes(capacity, 16);
}

// 60 bytes, alignment 4, layout aosoa
struct sample {
    struct place at[2];
    bool good;
};
_Static_assert(sizeof(struct sample) == 60, "size of sample");
_Static_assert(offsetof(struct sample, at) == 0, "offset of sample.at");
_Static_assert(offsetof(struct sample, good) == 56, "offset of sample.good");

// Layout aosoa: record i is in block[i / 64], its values at [i % 64] of their arrays. A block has 3264 bytes.
struct sample_block {
    double at_x[2][2][64];
    uint8_t at_tag[2][64];
    double at_weight[2][64];
    bool good[64];
};
_Static_assert(sizeof(struct sample_block) == 3264, "size of sample_block");
_Static_assert(offsetof(struct sample_block, at_x) == 0, "offset of sample_block.at_x");
_Static_assert(offsetof(struct sample_block, at_tag) == 2048, "offset of sample_block.at_tag");
_Static_assert(offsetof(struct sample_block, at_weight) == 2176, "offset of sample_block.at_weight");
_Static_assert(offsetof(struct sample_block, good) == 3200, "offset of sample_block.good");

// 32 bytes, alignment 16, layout aop
struct __attribute__((aligned(16))) pixel {
    uint8_t rgb[3];
    float depth[2][2];
};
_Static_assert(sizeof(struct pixel) == 32, "size of pixel");
_Static_assert(offsetof(struct pixel, rgb) == 0, "offset of pixel.rgb");
_Static_assert(offsetof(struct pixel, depth) == 4, "offset of pixel.depth");

// Layout aop: a buffer per value; the elements of an array field are arrays in one buffer.
// pixel_at_F(buffers, capacity, e)[i] is element e of F in record i; pixel_bytes_of_F is the size of its buffer.
enum { pixel_buffer_count = 2 };
static inline uint64_t pixel_bytes_of_rgb(uint64_t capacity)
{
    return 3 * hdst_array_bytes(capacity, 1);
}
static inline uint8_t *pixel_at_rgb(void *const *buffers, uint64_t capacity, uint64_t element)
{
    return (uint8_t *)((char *)buffers[0] + element * hdst_array_bytes(capacity, 1));
}
static inline uint64_t pixel_bytes_of_depth(uint64_t capacity)
{
    return 4 * hdst_array_bytes(capacity, 4);
}
static inline float *pixel_at_depth(void *const *buffers, uint64_t capacity, uint64_t element)
{
    return (float *)((char *)buffers[1] + element * hdst_array_bytes(capacity, 4));
}

#endif
