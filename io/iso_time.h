// SPDX-License-Identifier: Apache-2.0
// Dates and times of text, as ISO 8601 writes them, in the Gregorian calendar (also before it was introduced, as everybody counts):
// 2024-02-29, 2024-02-29T12:34:56.789Z, 2024-02-29 12:34+01:00. Without an offset a time is UTC. A year is four digits, or a sign and six to twelve.
#ifndef HDST_IO_ISO_TIME_H
#define HDST_IO_ISO_TIME_H

#include "record/type.h"

typedef enum hdst__iso_status {
    HDST__ISO_OK,
    HDST__ISO_MALFORMED,
    HDST__ISO_NO_SUCH_TIME,     // February 30th, 24:30, a leap second
    HDST__ISO_NOT_WHOLE,        // a date with a time of day; digits of a second beyond the unit that are not 0
    HDST__ISO_TOO_FAR,          // out of the integer's range
} hdst__iso_status;

enum { HDST__ISO_TEXT = 48 };   // bytes of a time's text, with a 0 behind it

// Reads the date or time that starts at `text`: an int32 of HDST__DAYS, else an int64. *end: behind it, where something may follow that makes it another
// text; of a mistake where it was seen. Reads up to `limit`. with_blank: a time of day may also follow behind a blank instead of a T.
hdst__iso_status hdst__iso_read(const char *text, const char *limit, hdst__time_unit unit, bool with_blank, void *value, const char **end);
// All of text[0 .. length).
hdst__iso_status hdst__iso_parse(const char *text, size_t length, hdst__time_unit unit, void *value);
bool hdst__iso_is(const char *text, size_t length);     // whether it is a date or a time
// Writes what reads back as the same integer: a date, or a time of UTC with as many digits of a second as the unit has. Returns the length.
size_t hdst__iso_write(char text[HDST__ISO_TEXT], hdst__time_unit unit, const void *value);

#endif
