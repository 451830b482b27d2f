// SPDX-License-Identifier: Apache-2.0
// Plans whose kernel leaves factors in device memory, for another one that adds up their products (hdst__kernel.products_name). All do nothing for others.
#ifndef HDST_ENGINE_STAGE_LAUNCH_PRODUCTS_H
#define HDST_ENGINE_STAGE_LAUNCH_PRODUCTS_H

#include "engine/stage/launch_plan.h"

void hdst__plan_choose_products(hdst__launch_plan *plan);       // work-items of a launch, of its records and of the products
void hdst__plan_product_slices(hdst__launch_plan *plan);        // no longer than there is room for what their records leave
hdst_status hdst__plan_fit_products(hdst__launch_plan *plan, hdst_error *error);        // memory for it, of a slice, whose length may have changed

#endif
