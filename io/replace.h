// SPDX-License-Identifier: Apache-2.0
// A file that takes the place of another one, whole or not at all.
//
// Until then it has no name, where the file system can do that (O_TMPFILE): then a process that is killed leaves nothing. Elsewhere, and for the moment of the
// change, it is called `.NAME.hdst-N.tmp`, N being the first number that is free, and is locked (flock) as long as its writer lives: the next one to write the
// same file removes what nobody has locked.
#ifndef HDST_IO_REPLACE_H
#define HDST_IO_REPLACE_H

#include "base/alloc.h"

#include <stdbool.h>

typedef struct hdst__replacement {
    const hdst__allocator *allocator;
    int fd;                 // for writing; -1: none
    char *target;           // what is replaced: symbolic links followed
    char *temporary;        // room for its name
    bool named;             // it has that name now
} hdst__replacement;

// The new file has the mode and group of the one it replaces, else 0666 less the umask. A symbolic link stays and what it leads to is replaced. With
// `is_private` the mode is 0600, and whatever has the name is replaced, also a link or a pipe: for folders that others may write. 0, or the error's number.
int hdst__replacement_open(hdst__replacement *r, const hdst__allocator *allocator, const char *path, bool is_private);
// Syncs it and puts it in place. 0, or the error's number.
int hdst__replacement_commit(hdst__replacement *r);
// Always last; removes what was not put in place.
void hdst__replacement_close(hdst__replacement *r);

#endif
