#pragma once
// This device rounds float division and square roots loosely. Rounding the double result once more is right for these two.
inline float div_float(float a, float b) { return (float)((double)a / (double)b); }
inline float sqrt_float(float a) { return (float)sqrt((double)a); }

