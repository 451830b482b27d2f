#pragma once
#include "codegen/opencl/templates/pick.cl"
PICK(double)

