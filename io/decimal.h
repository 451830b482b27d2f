// SPDX-License-Identifier: Apache-2.0
// Decimal numbers of text files: strict grammar, no locale, correctly rounded to the wanted type.
#ifndef HDST_IO_DECIMAL_H
#define HDST_IO_DECIMAL_H

#include "record/type.h"

#include <locale.h>

typedef enum hdst__decimal_status {
    HDST__DECIMAL_OK,
    HDST__DECIMAL_MALFORMED,     // not [+-]digits[.digits][e[+-]digits], nan, inf or infinity (letters of either case)
    HDST__DECIMAL_TOO_LARGE,     // out of the type's range; a finite number that would be an infinite float
    HDST__DECIMAL_NOT_WHOLE,     // for an integer: 1.5, nan
} hdst__decimal_status;

// Reads text[0 .. length) and writes a scalar of kind `as` (no text). text[length] must be readable and not continue a number (a separator, or 0).
// c_locale: newlocale(LC_ALL_MASK, "C", 0). Integers may be written as 3.0 or 1e3. Too small becomes the nearest (denormal or 0).
hdst__decimal_status hdst__decimal_parse(const char *text, size_t length, hdst__kind as, locale_t c_locale, void *value);

// Reads the number that starts at `text` and returns its end, where something may follow that makes it another text. NULL: there is none that fits.
const char *hdst__decimal_read(const char *text, const char *limit, hdst__kind as, locale_t c_locale, void *value);

bool hdst__decimal_is(const char *text, size_t length);              // whether the grammar holds
bool hdst__decimal_is_not_finite(const char *text, size_t length);   // nan, inf, infinity

#endif
