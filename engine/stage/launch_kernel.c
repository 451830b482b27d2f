// SPDX-License-Identifier: Apache-2.0
// The kernel of a plan, as its device, the layout of its input and the scales of its sums ask for.
#include "engine/stage/launch_plan.h"

#include "codegen/opencl/external_kernel.h"

static hdst__kernel_options kernel_options(const hdst__launch_plan *plan, const hdst__gpu_shape *shape)
{
    return (hdst__kernel_options){.facts = plan->device->facts, .input = plan->piece, .rows = plan->rows, .classes = plan->precision, .shape = *shape,
                                  .first_level = plan->device->unified, .writes_rows = plan->wants_rows,
                                  .fixed_point_bits = plan->fixed_point_bits, .may_take_tuples = plan->may_take_tuples,
                                  .slices_anywhere = plan->shares,
                                  .texts_apart = !plan->device->unified, .counts_output = plan->counts_output, .passes_on = plan->passes_on,
                                  .combining = plan->combining,
                                  .fast_sums = plan->device->options->fast_sums,
                                  .no_blocks = plan->device->options->hpr == HDST__HPR_NONE || plan->adds_directly};
}

const hdst__kernel *hdst__plan_kernel_of_shape(hdst__launch_plan *plan, const hdst__gpu_shape *shape)
{
    jmp_buf *const outer = plan->arena.out_of_memory, here;
    hdst__diags diags;
    plan->arena.out_of_memory = &here;
    const hdst__kernel *volatile kernel = NULL;
    if (!setjmp(here)) {
        const hdst__kernel_options options = kernel_options(plan, shape);
        hdst__diags_init(&diags, &plan->arena);
        kernel = hdst__kernel_make(&plan->arena, plan->func, &options, &diags);
    }
    plan->arena.out_of_memory = outer;
    return kernel;
}

const hdst__kernel *hdst__plan_kernel(hdst__launch_plan *plan, const hdst__launch_plan_request *request, hdst__diags *diags)
{
    const hdst__separate *own = request->separate;
    if (own) return hdst__kernel_separate(&plan->arena, plan->func, own->name, own->text, own->local_size, &plan->device->facts, diags);
    const hdst__kernel_options options = kernel_options(plan, &(hdst__gpu_shape){0});
    return (request->fold ? hdst__kernel_make_fold : hdst__kernel_make)(&plan->arena, plan->func, &options, diags);
}
