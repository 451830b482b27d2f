#pragma once
#include "codegen/opencl/templates/text.cl"
// Texts where the device has memory of its own: spans refer to the host's memory, of which a copy of one stretch is here. A text is looked at in the copy,
// and goes out with its place in the host's memory again.
typedef struct text_copy {
    __global const uchar *here;         // of `bytes` bytes that are at `host` on the host
    ulong bytes, host;
    __global const uchar *constants;    // of the function's own, which are at `constants_host`
    ulong constants_host;
} text_copy;

inline hdst_text read_text_apart(__global const uchar *span, text_copy copy)
{
    hdst_text t = read_hdst_text(span);
    if (t.length > 12) t.at = t.at - copy.host + (ulong)copy.here;
    return t;
}

// Of a span that is aligned.
inline hdst_text read_aligned_text_apart(__global const uchar *span, text_copy copy)
{
    const uint length = *(__global const uint *)span;
    const ulong place = *(__global const ulong *)(span + 8);
    hdst_text t = {length <= 12 ? (ulong)(span + 4) : (place << 2 >> 2) - copy.host + (ulong)copy.here, length, length <= 12 ? 0 : (uint)(place >> 62)};
    return t;
}

inline ulong place_on_host(hdst_text t, text_copy copy)
{
    const ulong inside = t.at - (ulong)copy.here;
    return inside < copy.bytes ? copy.host + inside : t.at - (ulong)copy.constants + copy.constants_host;
}

inline void write_aligned_text_apart(__global uchar *span, hdst_text t, text_copy copy)
{
    const ulong low = text_word(t, 0), high = t.length > 8 ? text_word(t, 8) : 0, at = place_on_host(t, copy);
    *(__global ulong *)span = t.length | low << 32;
    *(__global ulong *)(span + 8) = t.length <= 12 ? low >> 32 | high << 32 : at | (ulong)t.view << 62;
}

inline void write_text_apart(__global uchar *span, hdst_text t, text_copy copy)
{
    const ulong low = text_word(t, 0), high = text_word(t, 8), at = place_on_host(t, copy);
    write_uint(span, t.length);
    write_uint(span + 4, (uint)low);
    write_ulong(span + 8, t.length <= 12 ? low >> 32 | high << 32 : at | (ulong)t.view << 62);
}

inline text_copy text_copy_of(__global const uchar *here, ulong bytes, ulong host, __global const uchar *constants, ulong constants_host)
{
    text_copy copy = {here, bytes, host, constants, constants_host};
    return copy;
}
