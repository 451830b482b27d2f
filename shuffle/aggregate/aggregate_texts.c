// SPDX-License-Identifier: Apache-2.0
// The text heap of a run (shuffle/aggregate/aggregate_texts.h).
#include "shuffle/aggregate/aggregate_texts.h"

hdst_status hdst__aggregate_take_texts(hdst__aggregation *run, hdst_error *error)
{
    hdst__aggregate *aggregate = run->aggregate;
    if (!run->layout->texts || aggregate->texts) return HDST_OK;
    aggregate->texts = hdst__text_heap_create(hdst__engine_runtime(run->engine), HDST__OWNER_BY_KEY);
    return aggregate->texts ? HDST_OK : hdst__error_memory(error, "the texts of a reduce by key");
}

void hdst__aggregate_drop_texts(hdst__aggregate *aggregate)
{
    hdst__text_heap_drop(aggregate->texts);
    aggregate->texts = NULL;
}

void hdst__aggregate_make_keeper(hdst__aggregate_worker *worker)
{
    worker->keeper = (hdst__key_keeper){.writer.heap = worker->run->aggregate->texts, .error = &worker->error};
    worker->block.texts = worker->piece.texts = worker->run->layout->texts;
    worker->block.keeper = &worker->keeper;         // what comes to other tables was kept
}

hdst__text_heap *hdst__aggregate_texts(const hdst__aggregate *aggregate) { return aggregate->texts; }
