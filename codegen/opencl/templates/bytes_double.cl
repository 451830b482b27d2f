#pragma once
#include "codegen/opencl/templates/bytes.cl"
BY_BYTES(double)

