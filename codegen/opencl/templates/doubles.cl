#pragma once
#include "codegen/opencl/templates/floats.cl"
FLOAT_OPERATIONS(double, ulong, 0x7ff8000000000000UL)
FLOAT_CONVERSIONS(double)

