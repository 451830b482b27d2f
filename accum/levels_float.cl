// Pre-rounded sums of floats, on devices that have doubles: these stand in where a third level would be needed.
#pragma once
#define DOUBLE_PATH_FORM 1
#include "accum/levels_of_floats.cl"
