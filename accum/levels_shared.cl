// On devices that have doubles: products b * a0, b * a1 ... of floats that share the factor b, and b itself, without a look at each of them. Groups with other
// factors b, but the same a, are a family. What is looked at is each record's factors: they tell what its products are at least, and the sum of the |b| of a
// lane, beside the greatest |a|, what the sums of a block are at most. Between these two ends, 20 binades, two levels of floats lose nothing in 16 additions:
// the first beside a base that rounds, the second plain. A block's sums then go to those in double (levels_double_path.cl). Records with a smaller product, or
// zeros, are put aside until they fill a block of their own, which goes to the sums in double addend by addend.
//
// Magnitudes are compared by the bits of floats, which are nearly a logarithm: of normal numbers x, y of exponents e, f and fractions m, n in [0, 1) the bits'
// sum says e + f + m + n, and log2(x * y) is no less.
#pragma once
#include "accum/levels_float.cl"
// FAMILY_BELOW: by so many binades the sums in double reach lower than the two levels. FAMILY_MOVES: how often a family takes other binades in a strip.
enum { FAMILY_BINADES = 20, FAMILY_BELOW = 5, FAMILY_PART = 256, FAMILY_MOVES = 64, FAMILY_LEAST = -100, FAMILY_GREATEST = 100, FAMILY_GROUPS = 8 };
// Between two times that sums are emptied. Parts of blocks: each counts 2^22 units of the first level and 2^24 of the second at most, so 127 of them less than
// 2^29 and 2^31. Additions to a lane of the sums in double, of 2^48 of the units that double_path_units counts: less than 2^53. A lane's count of those grows
// by 2^29 * 2^26 + 2^31 * 2^5 + 2^53 < 2^56 each time, so it is less than 2^62 after FAMILY_EMPTIED, and so is what others leave there (2^53 each time, 256
// times).
// FAMILY_FULL: so many units of the first level may the sum of a lane's b be, from additions to its base that round. Where no b is negative it never gets less,
// whatever they are: then it has left its binade at the end if it ever did, which shows, as do infinities and NaN (b of any sign). If it has not, each of 16
// additions has rounded half a unit, so the b themselves come to 8 units more at most. What products of |a| <= 2^top come to in their units is no more, and
// while they are added up 8 more are rounded: less than 2^22. FAMILY_OVER: one block of so many may be too great for one group without other binades.
enum { FAMILY_FULL = (1 << 22) - 32, FAMILY_OVER = 64 };
enum { FAMILY_PARTS = 127, FAMILY_ADDITIONS = 32, FAMILY_EMPTIED = 64 };
typedef struct family_sum {
    float_levels *sum;
    volatile __global long *cell;
    uint last;
    int lowest;
    float base, up;             // what its first level starts from; units of the second in 1
} family_sum;
// Elsewhere there are no registers for a vector of records and the running sums (family_wait). Tests have it everywhere.
#if defined(__AVX512F__) || defined(FAMILY_WAITS_ANYWHERE)
enum { FAMILY_WAITS = 1 };
#else
enum { FAMILY_WAITS = 0 };
#endif
// What has this stays in its place among others that have it: else compilers put all quotients side by side, and all additions.
#if defined(__AVX512F__)
#define IN_PLACE(x) __asm__ volatile("" : "+v"(x));
#else
#define IN_PLACE(x)
#endif
// Arrays are the kernel's. What is put aside takes rows of `room` numbers: a row for each b, then for each a.
typedef struct family {
    family_sum *sums;               // of the first group: its products, then b; of the next
    float *aside;
    int *top;                       // of each b: what a lane's sum of |b| over a block is below, as exponent; of each a: what |a| is at most
    int *wanted;                    // of each b: what its top has to be for the parts that were too great
    uint groups, products, count;   // count: sums of a group
    uint room, records;             // of a block
    uint held;                      // records put aside
    uint settled;                   // all sums are in double, in the binades that `top` says, and nobody else adds to them
    uint parts, additions;          // of blocks to the levels, to each lane of the sums in double, since they were emptied
    uint over;                      // grows with parts of blocks that were too great for their group
    uint fails, pause, moves;       // blocks in a row that did not fit, and for how many nobody tries
    uint waits;                     // a block was looked at, and is added beside the next one's records: its parts are counted already
    __global const float *others[4];    // its a
    uint found;                     // records of this block that are put aside, and which
    ushort at[LEVELS_BLOCK];
} family;
inline void family_start(family *f, family_sum *sums, float *aside, int *top, int *wanted, uint groups, uint products, uint count, uint records)
{
    f->sums = sums, f->aside = aside, f->top = top, f->wanted = wanted;
    f->groups = groups, f->products = products, f->count = count;
    f->records = records, f->room = records + records / 8;
    f->held = f->settled = f->parts = f->additions = f->over = f->fails = f->pause = f->moves = f->found = f->waits = 0;
    for (uint g = 0; g < groups; g++) wanted[g] = INT_MIN;
}
// A fused multiply-add, or not: so that additions share out among the processor's ports.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define PLUS_FUSED(a, b) fma(a, one, b)
#else
#define PLUS_FUSED(a, b) ((a) + (b))
#endif
// What has this bit pattern is 2^top.
inline int family_bits(int top) { return (127 + top) << 23; }
// Of the two levels, in whose units levels' `units` are: a sum of 2^22 of the first, and 16 remainders of 2^-1 of the first in 2^24 of the second.
inline int family_unit(int top, uint level) { return top - (level ? 43 : 22); }
inline int family_low(int top) { return top - FAMILY_BINADES - FAMILY_BELOW; }
inline int family_top(const family *f, uint group, uint i) { return f->top[group] + (i < f->products ? f->top[f->groups + i] : 0); }

// --- What was put aside ---

// What a sum in double does not take: zeros, what is smaller than `least`, twice its bits, and what is too great.
inline uint16 family_outside(float16 v, uint least) { return as_uint16((as_uint16(v) << 1) - least >= (uint)(FAMILY_BINADES + FAMILY_BELOW) << 24); }
inline float16 family_product(const float *b, const float *a, uint r)
{
    const float16 factor = *(const packed_float16 *)(b + r);
    return a ? factor * *(const packed_float16 *)(a + r) : factor;
}
// Any products. Zeros are nothing to add; what else the sum in double does not take goes to the cell.
__attribute__((noinline)) void family_take_aside(const family_sum *to, const float *b, const float *a, uint records)
{
    const uint least = (uint)(127 + to->sum->low) << 24;
    double8 sum0 = to->sum->in_double[0], sum1 = to->sum->in_double[1];
    uint16 any = 0;
    for (uint r = 0; r < records; r += 16) {
        const float16 v = family_product(b, a, r), held = as_float16(as_uint16(v) & ~family_outside(v, least));
        sum0 += convert_double8(held.lo);
        sum1 += convert_double8(held.hi);
        any |= (as_uint16(v) ^ as_uint16(held)) << 1;
    }
    to->sum->in_double[0] = sum0;
    to->sum->in_double[1] = sum1;
    for (uint r = 0; any_bit_float(any) && r < records; r += 16) {
        float16 v = family_product(b, a, r);
        const uint16 outside = family_outside(v, least) & as_uint16(v) << 1;
        for (uint n = 0; any_bit_float(outside) && n < 16; n++)
            if (((const uint *)&outside)[n]) levels_to_cell_float(to->cell, to->last, to->lowest, ((const float *)&v)[n]);
    }
}
inline uint family_parts(uint records) { return (records + FAMILY_PART - 1) / FAMILY_PART; }
__attribute__((noinline)) void family_empty(family *f)
{
    for (uint i = 0; i < f->groups * f->count; i++) {
        const family_sum *to = f->sums + i;
        // In units of 2^(low - 23), which is 2^(top - 48).
        to->sum->double_path_units[0] += (convert_long8(to->sum->units[0].lo) << 26) + (convert_long8(to->sum->units[1].lo) << 5);
        to->sum->double_path_units[1] += (convert_long8(to->sum->units[0].hi) << 26) + (convert_long8(to->sum->units[1].hi) << 5);
        to->sum->units[0] = to->sum->units[1] = 0;
        levels_empty_float(to->sum);
        if (to->sum->emptied >= FAMILY_EMPTIED) levels_publish_float(to->sum, to->cell, to->last, to->lowest);
    }
    f->parts = f->waits ? family_parts(f->records) : 0;
    f->additions = 0;
}
// Room for so many more.
inline void family_ready(family *f, uint parts, uint additions)
{
    if (f->parts + parts > FAMILY_PARTS || f->additions + additions > FAMILY_ADDITIONS) family_empty(f);
    f->parts += parts;
    f->additions += additions;
}
__attribute__((noinline)) void family_add_aside(family *f)
{
    const uint taken = min(f->held, f->records), whole = (taken + 15) / 16 * 16, rows = f->groups + f->products;
    for (uint k = 0; taken < whole && k < rows; k++)
        for (uint r = taken; r < whole; r++) f->aside[k * f->room + r] = 0;
    family_ready(f, 0, whole / 16);
    for (uint g = 0; g < f->groups; g++)
        for (uint i = 0; i < f->count; i++)
            family_take_aside(f->sums + g * f->count + i, f->aside + g * f->room, i < f->products ? f->aside + (f->groups + i) * f->room : 0, whole);
    f->held -= taken;
    for (uint k = 0; f->held && k < rows; k++)
        for (uint r = 0; r < f->held; r++) f->aside[k * f->room + r] = f->aside[k * f->room + taken + r];
}
// From now on others may add to the sums.
__attribute__((noinline)) void family_end(family *f)
{
    if (!f->settled) return;
    if (f->held) family_add_aside(f);
    family_empty(f);
    f->settled = 0;
}

// --- Which binades ---

inline uint family_most(uint16 of)
{
    const uint *lane = (const uint *)&of;
    uint most = 0;
    for (uint n = 0; n < 16; n++) most = max(most, lane[n]);
    return most;
}
// Of what is not negative: 2^that is greater.
inline int family_above(uint most) { return (int)(most >> 23) - 127 + 1; }
inline bool family_choose(int *top, float most, bool grows)
{
    const int chosen = family_above(as_uint(most));
    *top = grows ? max(*top, chosen) : chosen;
    return *top >= FAMILY_LEAST && *top <= FAMILY_GREATEST;
}
// By the factors of this block. `grows`: no top becomes less. A lane's sum may grow by a quarter at least.
inline bool family_choose_all(family *f, const float *const *b, __global const float *const *a, bool grows)
{
    for (uint g = 0; g < f->groups; g++) {
        if (grows) f->top[g] = max(f->top[g], f->wanted[g]);
        f->wanted[g] = INT_MIN;
        float16 sum = 0;
        for (uint r = 0; r < f->records; r += 16) sum += fabs(*(const packed_float16 *)(b[g] + r));
        if (!family_choose(f->top + g, 1.25f * as_float(family_most(as_uint16(sum))), grows)) return false;
    }
    for (uint i = 0; i < f->products; i++) {
        uint16 most = 0;
        for (uint r = 0; r < f->records; r += 16) most = max(most, as_uint16(*(__global const packed_float16 *)(a[i] + r)) & 0x7fffffffu);
        if (!family_choose(f->top + f->groups + i, as_float(family_most(most)), grows)) return false;
    }
    return true;
}
inline void family_move(family_sum *to, int top)
{
    const int low = family_low(top);
    to->base = level_base_float(family_unit(top, 0));
    to->up = as_float((uint)(127 - family_unit(top, 1)) << 23);
    if (!on_double_path_float(to->sum) || to->sum->low != low) {
        levels_publish_float(to->sum, to->cell, to->last, to->lowest);
        to->sum->count = DOUBLE_PATH;
        to->sum->low = low;
        for (uint h = 0; h < 2; h++) {
            to->sum->in_double[h] = 0;
            to->sum->double_path_units[h] = 0;
        }
    }
    to->sum->units[0] = to->sum->units[1] = 0;
}
inline void family_fail(family *f)
{
    f->pause = f->fails;
    f->fails = min(2 * f->fails + 1, 63u);
}
// All sums take binades that hold this block.
__attribute__((noinline)) bool family_settle(family *f, const float *const *b, __global const float *const *a, bool grows)
{
    if (f->pause && !grows) {
        f->pause--;
        return false;
    }
    bool may = f->moves < FAMILY_MOVES && family_choose_all(f, b, a, grows);
    for (uint g = 0; may && g < f->groups; g++)
        for (uint i = 0; may && i < f->count; i++) may = family_top(f, g, i) <= FAMILY_GREATEST && family_low(family_top(f, g, i)) >= FAMILY_LEAST;
    if (!may) {
        family_fail(f);
        return false;
    }
    for (uint g = 0; g < f->groups; g++)
        for (uint i = 0; i < f->count; i++) family_move(f->sums + g * f->count + i, family_top(f, g, i));
    family_empty(f);
    f->moves++;
    f->over = 0;
    f->settled = 1;
    return true;
}

// --- A block ---

// Of the other factors of 16 records: how far the least is below what they are at most. `over` is negative where one is greater than that. `products` is a
// constant where this is called.
inline __attribute__((always_inline)) int16 family_depth(int16 *over, __global const float *const *a, const int *top, uint r, const uint products)
{
    int16 depth = INT_MIN;
#pragma unroll
    for (uint i = 0; i < products; i++) {
        const int16 below = top[i] - (as_int16(*(__global const packed_float16 *)(a[i] + r)) & 0x7fffffff);
        depth = max(depth, below);
        *over |= below;
    }
    return depth;
}
// Of 16 records a bit more: whether a product may be too small. least: the least b, above its top.
inline uint16 family_small(uint16 small, int16 least, int16 depth)
{
    return small + small - as_uint16(least < depth - (FAMILY_BINADES << 23));
}
// Whether the tops hold. aside: a bit for each record with a product that may be too small: of 16 records' lanes the bit of how many come behind.
// `products`, `groups` and `records` are constants where this is called.
inline __attribute__((always_inline)) bool family_fits(const family *f, uint16 *aside, const float *const *b, __global const float *const *a,
    const uint products, const uint groups, const uint records)
{
    int top[FAMILY_GROUPS + 4];
    int16 over = 0;
    float16 sum[FAMILY_GROUPS];
    uint16 small = 0;
#pragma unroll
    for (uint k = 0; k < groups + products; k++) top[k] = family_bits(f->top[k]);
#pragma unroll
    for (uint g = 0; g < groups; g++) sum[g] = 0;
    for (uint r = 0; r < records; r += 16) {
        const int16 depth = family_depth(&over, a, top + groups, r, products);
        int16 least = INT_MAX;
#pragma unroll
        for (uint g = 0; g < groups; g++) {
            const int16 magnitude = as_int16(*(const packed_float16 *)(b[g] + r)) & 0x7fffffff;
            least = min(least, magnitude - top[g]);
            sum[g] += as_float16(magnitude);
        }
        small = family_small(small, least, depth);
    }
    // 0.99: what a float sum of 32 numbers rounds is far less. NaN is outside, too.
    uint16 outside = as_uint16(over < 0);
#pragma unroll
    for (uint g = 0; g < groups; g++) outside |= ~as_uint16(sum[g] <= 0.99f * as_float(top[g]));
    *aside = small;
    return !any_bit_float(outside);
}
// The same where b is a sum and none has a sign but that of a NaN, which is put aside, as it is less than all else. Whether the b are too great the sums will
// show.
inline __attribute__((always_inline)) bool family_fits_plus(const family *f, uint16 *aside, const float *const *b, __global const float *const *a,
    const uint products, const uint groups, const uint records)
{
    int top[FAMILY_GROUPS + 4];
    int16 over = 0;
    uint16 small = 0;
#pragma unroll
    for (uint k = 0; k < groups + products; k++) top[k] = family_bits(f->top[k]);
    for (uint r = 0; r < records; r += 16) {
        const int16 depth = family_depth(&over, a, top + groups, r, products);
        int16 least = INT_MAX;
#pragma unroll
        for (uint g = 0; g < groups; g++) least = min(least, as_int16(*(const packed_float16 *)(b[g] + r)) - top[g]);
        small = family_small(small, least, depth);
    }
    *aside = small;
    return !any_bit_float(as_uint16(over < 0));
}
inline void family_find(family *f, uint16 aside)
{
    const uint last = f->records / 16 - 1;
    ulong8 lanes = as_ulong8(aside);
    ulong *lane = (ulong *)&lanes;
    uint found = 0;
#pragma unroll
    for (uint n = 0; n < 8; n++) found += (uint)popcount(lane[n]);
    f->found = found;
    for (uint k = 0; k < found; k++) {
        ulong left = lane[0];
        uint at = 0;
#pragma unroll
        for (uint n = 1; n < 8; n++) {
            at = left ? at : n;
            left = left ? left : lane[n];
        }
        const uint bit = 63 - (uint)clz(left & -left);
        lane[at] = left & (left - 1);
        f->at[k] = (ushort)((last - bit % 32) * 16 + 2 * at + bit / 32);
    }
}
// Their b become zeros, until family_restore. `products` and `groups` are constants where this is called.
inline __attribute__((always_inline)) void family_put_aside(family *f, float *const *b, __global const float *const *a, const uint products,
    const uint groups)
{
    const uint room = f->room;
    for (uint k = 0; k < f->found; k++) {
        const uint r = f->at[k];
        float *to = f->aside + f->held + k;
#pragma unroll
        for (uint g = 0; g < groups; g++) {
            to[g * room] = b[g][r];
            b[g][r] = 0;
        }
#pragma unroll
        for (uint i = 0; i < products; i++) to[(groups + i) * room] = a[i][r];
    }
    f->held += f->found;
}
inline void family_restore(family *f, float *const *b)
{
    const float *from = f->aside + f->held - f->found;
    for (uint k = 0; k < f->found; k++)
        for (uint g = 0; g < f->groups; g++) b[g][f->at[k]] = from[g * f->room + k];
    if (f->held >= f->records) family_add_aside(f);
}
// Whether the tops hold: then `found` is set.
inline __attribute__((always_inline)) bool family_look(family *f, const float *const *b, __global const float *const *a, const uint products,
    const uint groups, const uint records, const bool plus)
{
    uint16 aside;
    if (plus ? !family_fits_plus(f, &aside, b, a, products, groups, records) : !family_fits(f, &aside, b, a, products, groups, records)) return false;
    family_find(f, aside);
    return true;
}
// Whether family_take may add the block. `products`, `groups`, `records` and `plus` are constants where this is called.
inline __attribute__((always_inline)) bool family_holds(family *f, float *const *b, __global const float *const *a, const uint products,
    const uint groups, const uint records, const bool plus)
{
    const float *const *read_b = (const float *const *)b;
    const bool raises = plus && f->settled && f->over > 4 * FAMILY_OVER;
    bool holds = false;
    if (raises) family_end(f);
    // The second time with greater tops.
    for (uint turn = 0; turn < 2 && !holds; turn++) {
        if (!f->settled && !family_settle(f, read_b, a, raises || turn)) return false;
        holds = family_look(f, read_b, a, products, groups, records, plus);
        if (!holds) family_end(f);
    }
    if (!holds || f->found > records / 8) {
        family_end(f);
        family_fail(f);
        return false;
    }
    f->fails = 0;
    f->over -= f->over > 0;
    family_ready(f, family_parts(records), 0);
    family_put_aside(f, b, a, products, groups);
    return true;
}
// A part of a block that is too great for a group: its products go to the sums in double one by one.
__attribute__((noinline)) void family_take_over(family *f, uint group, const float *b, __global const float *const *a, uint part)
{
    const uint records = min(f->records - part, (uint)FAMILY_PART);
    float factors[FAMILY_PART];
    float16 sum = 0;
    family_ready(f, family_parts(f->records), records / 16);        // the parts once more: they may not be counted any longer
    for (uint i = 0; i < f->count; i++) {
        for (uint r = 0; i < f->products && r < records; r++) factors[r] = a[i][part + r];
        family_take_aside(f->sums + group * f->count + i, b + part, i < f->products ? factors : 0, records);
    }
    for (uint r = 0; r < records; r += 16) sum += *(const packed_float16 *)(b + part + r);
    const int above = family_above(family_most(as_uint16(sum)));
    if (above > 127) return;        // infinities and NaN need no other binades
    f->wanted[group] = max(f->wanted[group], above);
    f->over += FAMILY_OVER;
}
// The two levels of a group's sums while a part of a block is added, in registers. `products`, `count` and `plus` are constants where these are called.
typedef struct family_run {
    float16 first[5], second[5];
    float16 one;
    uint group, part;
} family_run;
inline __attribute__((always_inline)) void family_begin(family_run *run, const family *f, uint group, uint part, const uint count)
{
    run->one = f->sums->sum->one;
    run->group = group;
    run->part = part;
#pragma unroll
    for (uint i = 0; i < count; i++) {
        run->first[i] = f->sums[group * count + i].base;
        run->second[i] = 0;
    }
}
inline __attribute__((always_inline)) void family_step(family_run *run, const float *b, __global const float *const *a, uint r, const uint products,
    const uint count)
{
    const float16 factor = *(const packed_float16 *)(b + r), one = run->one;
#pragma unroll
    for (uint i = 0; i < count; i++) {
        const float16 v = i < products ? factor * *(__global const packed_float16 *)(a[i] + r) : factor;
        const float16 now = i % 2 == 0 ? PLUS_FUSED(run->first[i], v) : run->first[i] + v;
        run->second[i] += LESS(v, now - run->first[i]);
        run->first[i] = now;
    }
}
// A step that stays in its place.
inline __attribute__((always_inline)) void family_step_beside(family_run *run, const float *b, __global const float *const *a, uint r, const uint products,
    const uint count)
{
    family_step(run, b, a, r, products, count);
#pragma unroll
    for (uint i = 0; i < count; i++) {
        IN_PLACE(run->first[i])
    }
}
// plus: b is a sum, and no b has a sign but that of a NaN. Then that sum tells whether the b of a lane are too many.
inline __attribute__((always_inline)) void family_finish(family *f, const family_run *run, const float *b, __global const float *const *a,
    const uint products, const uint count, const bool plus)
{
    const family_sum *to = f->sums + run->group * count;
    const uint16 own = as_uint16(as_int16(run->first[products % count]) - as_int(to[products % count].base));
    if (plus && any_bit_float(as_uint16(own > (uint)FAMILY_FULL))) {
        family_take_over(f, run->group, b, a, run->part);
        return;
    }
#pragma unroll
    for (uint i = 0; i < count; i++) {
        to[i].sum->units[0] += as_int16(run->first[i]) - as_int(to[i].base);
        to[i].sum->units[1] += convert_int16(run->second[i] * to[i].up);
    }
}
// Adds all groups' products, and b where there is one sum more. `records` is a constant where this is called, too.
inline __attribute__((always_inline)) void family_take(family *f, float *const *b, __global const float *const *a, const uint products,
    const uint count, const uint records, const bool plus)
{
    for (uint g = 0; g < f->groups; g++) {
        for (uint part = 0; part < records; part += FAMILY_PART) {
            family_run run;
            family_begin(&run, f, g, part, count);
            for (uint r = part; r < records && r < part + FAMILY_PART; r += 16) family_step(&run, b[g], a, r, products, count);
            family_finish(f, &run, b[g], a, products, count, plus);
        }
    }
}
// The block that was looked at stays where it is, with the zeros in place of what was put aside, until the kernel has added it beside the next block's records.
inline void family_wait(family *f, __global const float *const *a)
{
    for (uint i = 0; i < f->products; i++) f->others[i] = a[i];
    f->waits = 1;
    if (f->held >= f->records) family_add_aside(f);
}
