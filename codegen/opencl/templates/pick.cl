#pragma once
// A choice whose both sides are computed, so that a loop over records keeps one straight path.

#define PICK(T) inline T pick_##T(bool condition, T yes, T no) { return condition ? yes : no; }
PICK(bool)
PICK(char)
PICK(short)
PICK(int)
PICK(long)
PICK(uchar)
PICK(ushort)
PICK(uint)
PICK(ulong)
PICK(float)

