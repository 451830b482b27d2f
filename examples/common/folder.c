// SPDX-License-Identifier: Apache-2.0
// Where the kernel files of an example lie, in the build tree and when installed (folder.h).
#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The folder of the running program, or "" where the system does not tell.
static void program_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    else folder[0] = 0;
}

static int holds(const char *folder, const char *file)
{
    char path[4200];
    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, file) < sizeof path && access(path, R_OK) == 0;
}

hdst_status folder_find(const char *example, const char *file, char *folder, size_t size, hdst_error *error)
{
    char here[2048];
    const char *given = getenv("HDST_EXAMPLES_DIR");
    *error = (hdst_error)HDST_ERROR_INIT;
    error->code = HDST_E_IO;
    snprintf(error->message, sizeof error->message, "the kernel '%s' of this example is not there", file);
    if (given && given[0]) {    // who names a folder does not want another one taken silently
        snprintf(folder, size, "%s/%s", given, example);
        if (holds(folder, file)) return HDST_OK;
        snprintf(error->hint, sizeof error->hint, "HDST_EXAMPLES_DIR is '%.300s', so '%s/%s' was looked for below it", given, example, file);
        return error->code;
    }
    program_folder(here, sizeof here);
    const char *places[] = {"../../share/hdst/examples", "../../examples"};     // installed in libexec/hdst; in a build folder inside the sources
    for (size_t i = 0; i < sizeof places / sizeof *places && here[0]; i++) {
        snprintf(folder, size, "%s/%s/%s", here, places[i], example);
        if (holds(folder, file)) return HDST_OK;
    }
    snprintf(folder, size, "%s/%s", HDST_EXAMPLES_SOURCE, example);
    if (holds(folder, file)) return HDST_OK;
    snprintf(error->hint, sizeof error->hint, "set HDST_EXAMPLES_DIR to the folder that holds '%s/%s'", example, file);
    return error->code;
}
