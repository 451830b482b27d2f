// SPDX-License-Identifier: Apache-2.0
// A request to end a call concerns the one that is in progress.
#include "base/cancel.h"

#include <criterion/criterion.h>

Test(cancel, the_call_in_progress_is_asked)
{
    hdst__cancel cancel = {0};
    hdst_error error = HDST_ERROR_INIT;
    hdst__cancel_begin(&cancel);
    cr_assert(!hdst__cancel_asked(&cancel));
    cr_assert_eq(hdst__cancel_check(&cancel, 1, 2, &error), HDST_OK);
    hdst__cancel_ask(&cancel);
    hdst__cancel_ask(&cancel);
    cr_assert(hdst__cancel_asked(&cancel));
    cr_assert_eq(hdst__cancel_check(&cancel, 1, 2, &error), HDST_E_CANCELLED);
    cr_assert_str_eq(error.message, "cancelled after 1 of 2 records");
    hdst__cancel_end(&cancel);
    cr_assert(!hdst__cancel_asked(&cancel));
}

Test(cancel, a_request_without_a_call_concerns_none_that_follows)
{
    hdst__cancel cancel = {0};
    for (int i = 0; i < 3; i++) {
        hdst__cancel_ask(&cancel);
        hdst__cancel_begin(&cancel);
        cr_assert(!hdst__cancel_asked(&cancel));
        hdst__cancel_ask(&cancel);
        cr_assert(hdst__cancel_asked(&cancel));
        hdst__cancel_end(&cancel);
    }
    cr_assert(!hdst__cancel_asked(NULL));
}
