// Pre-rounded sums of floats, on devices without doubles.
#pragma once
#define DOUBLE_PATH_FORM 0
#include "accum/levels_of_floats.cl"
