// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on every file of a folder: the corpus as a regression test, without libFuzzer.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The whole file in a block of exactly its size, so that a sanitizer sees one byte too many. NULL: not a file that can be read.
static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    *size = (size_t)status.st_size;
    uint8_t *data = malloc(*size ? *size : 1);
    if (data && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: replay CORPUS-FOLDER\n");
        return 2;
    }
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        size_t size = 0;
        uint8_t *data = read_file(path, &size);
        if (!data) continue;
        LLVMFuzzerTestOneInput(data, size);
        free(data);
        count++;
    }
    closedir(folder);
    printf("%d inputs\n", count);
    return count == 0;      // an empty corpus tests nothing
}
