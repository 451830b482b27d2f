#pragma once
// Records of lines from their bytes: a work-group takes one block of a text after another, whose first line and record it is told. A tile of 16 bytes for
// each work-item goes through local memory: places of line ends, in order, so that records are written one beside the other.
enum { LANES = 256, TILE = 16 * LANES, RUNS = 16, RUN_LANES = LANES / RUNS };
enum { BEGIN, END, START, ROW, LINES, OFFSET, NUMBER, SOURCE_FLAGS, BLOCK_WORDS };
enum { STRIP_RETURNS = 1, END_OPEN = 2, INLINE_BYTES = 12 };

// A bit for each of 16 bytes that is a line end.
inline uint line_ends(uint4 bytes)
{
    const uint4 x = bytes ^ 0x0a0a0a0au, ends = ~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x | 0x7f7f7f7fu) >> 7;
    const uint4 four = (ends * 0x00204081u) >> 21 & 15u;
    return four.x | four.y << 4 | four.z << 8 | four.w << 12;
}

typedef struct field_place {        // of a record's field
    __global uchar *at;
    ulong stride, width;            // of what no record has the width is 0
} field_place;

inline void put_number(field_place field, ulong row, ulong number)
{
    if (field.width == 8) *(__global ulong *)(field.at + row * field.stride) = number;
    else if (field.width == 4) *(__global uint *)(field.at + row * field.stride) = (uint)number;
}

// Bytes [from, from + length) as a text's span, which says where they are on the host.
inline void put_span(field_place field, ulong row, __global const uchar *restrict bytes, ulong from, uint length, ulong host)
{
    __global ulong *span = (__global ulong *)(field.at + row * field.stride);
    uint start = 0;
    ulong rest = host + from;
    for (uint i = 0; i < min(length, 4u); i++) start |= (uint)bytes[from + i] << 8 * i;
    if (length <= INLINE_BYTES) {
        rest = 0;
        for (uint i = 4; i < length; i++) rest |= (ulong)bytes[from + i] << 8 * (i - 4);
    }
    span[0] = (ulong)start << 32 | length;
    span[1] = rest;
}

typedef struct line_fields { field_place text, offset, source, line; } line_fields;

// The line of bytes [from, end).
inline void put_line(const line_fields *fields, __global const ulong *block, ulong done, __global const uchar *restrict bytes, ulong from, ulong end,
                     ulong host)
{
    const ulong row = block[ROW] + done;
    put_span(fields->text, row, bytes, from, (uint)(end - from), host);
    put_number(fields->offset, row, block[OFFSET] + host + from - block[BEGIN]);
    put_number(fields->source, row, (uint)block[SOURCE_FLAGS]);
    put_number(fields->line, row, block[NUMBER] + done);
}

// Where the line ends of a tile are, in order: so many. `mask`: of a work-item's 16 bytes.
inline uint compact(uint mask, __local ushort *place, __local uint *ends, __local uint *of_run)
{
    const uint lane = get_local_id(0), run = lane / RUN_LANES;
    uint found = 0, before = 0;
    ends[lane] = popcount(mask);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < RUNS) {
        uint sum = 0;
        for (uint i = lane * RUN_LANES; i < (lane + 1) * RUN_LANES; i++) {
            const uint here = ends[i];
            ends[i] = sum;
            sum += here;
        }
        of_run[lane] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < RUNS; i++) {
        before += i < run ? of_run[i] : 0;
        found += of_run[i];
    }
    for (uint at = before + ends[lane]; mask; mask &= mask - 1) place[at++] = (ushort)(lane * 16 + popcount((mask & (0 - mask)) - 1));
    barrier(CLK_LOCAL_MEM_FENCE);
    return found;
}

// `bytes`: those that are at `host` on the host.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void line_spans(__global const uchar *restrict bytes, ulong host, __global const ulong *restrict blocks, ulong count,
                __global uchar *text, ulong text_at, ulong text_stride, ulong text_width, __global uchar *offset, ulong offset_at, ulong offset_stride,
                ulong offset_width, __global uchar *source, ulong source_at, ulong source_stride, ulong source_width, __global uchar *line, ulong line_at,
                ulong line_stride, ulong line_width)
{
    __local ushort place[TILE];
    __local uint ends[LANES], of_run[RUNS];
    const line_fields fields = {
        {text + text_at, text_stride, text_width}, {offset + offset_at, offset_stride, offset_width},
        {source + source_at, source_stride, source_width}, {line + line_at, line_stride, line_width}};
    const uint lane = get_local_id(0);
    for (ulong b = get_group_id(0); b < count; b += get_num_groups(0)) {
        __global const ulong *block = blocks + b * BLOCK_WORDS;
        const ulong begin = block[BEGIN] - host, end = block[END] - host;
        const uint flags = (uint)(block[SOURCE_FLAGS] >> 32);
        ulong before = block[START] - host, done = 0;
        for (ulong tile = begin / 16 * 16; tile < end; tile += TILE) {
            const ulong at = tile + lane * 16;
            uint mask = at < end ? line_ends(*(__global const uint4 *)(bytes + at)) : 0;
            if (at < begin) mask &= ~0u << (begin - at);
            if (at < end && end - at < 16) mask &= (1u << (end - at)) - 1;
            const uint found = compact(mask, place, ends, of_run);
            for (uint k = lane; k < found && done + k < block[LINES]; k += LANES) {
                const ulong newline = tile + place[k], from = k ? tile + place[k - 1] + 1 : before;
                const bool strips = (flags & STRIP_RETURNS) && newline > from && bytes[newline - 1] == '\r';
                put_line(&fields, block, done + k, bytes, from, newline - strips, host);
            }
            if (found) before = tile + place[found - 1] + 1;
            done += found;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (lane == 0 && (flags & END_OPEN) && done < block[LINES]) put_line(&fields, block, done, bytes, before, end, host);
    }
}
