// SPDX-License-Identifier: Apache-2.0
// How often each word occurs in book.txt, and which is the most frequent.
#include "hdst/hdst.h"

#include <stdio.h>

int main(void)
{
    hdst_error err = HDST_ERROR_INIT;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_module *hk = hdst_module_load(ctx, "wordcount.hk", HDST_NO_PARAMS);
    hdst_source *book = hdst_source_open_lines(ctx, "book.txt");
    hdst_dataset *words = hdst_flat_map_function(hdst_read(book, hk, "text"), hk, "words");
    hdst_dataset *counts = hdst_reduce_by_key(words, hk, "add");                                // the keys that occurred
    hdst_result *table = hdst_result_create(counts);
    hdst_result *best = hdst_result_create(hdst_reduce(counts, hk, "most"));
    if (hdst_run(table, &err) == HDST_OK && hdst_run(best, &err) == HDST_OK) {
        hdst_view n = hdst_result_field(table, NULL, "n");
        for (uint64_t i = 0; i < n.rows; i++) {
            hdst_text word = hdst_result_text(table, NULL, "word", i);
            printf("%.*s %lld\n", (int)word.length, word.data, (long long)hdst_view_int64(n, i, 0));
        }
        hdst_text word = hdst_result_text(best, NULL, "word", 0);
        fprintf(stderr, "most frequent: %.*s\n", (int)word.length, word.data);
    }
    hdst_result_destroy(best);
    hdst_result_destroy(table);
    hdst_source_destroy(book);
    hdst_module_destroy(hk);
    hdst_context_destroy(ctx);
    return hdst_status_exit_code(err.code);
}
