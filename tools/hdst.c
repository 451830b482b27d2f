// SPDX-License-Identifier: Apache-2.0
// The `hdst` command: finds the subcommand and hands over.
#include "base/diag.h"
#include "hdst/error.h"
#include "tools/commands.h"

#include <stdio.h>
#include <string.h>

typedef struct command {
    const char *name, *arguments, *summary;
    int (*run)(int argc, char **argv);      // NULL: not there yet
} command;

static const command commands[] = {
    {"devices", "[--json]", "the devices of this machine", hdst_devices_command},
    {"schema", "check|show|header FILE", "reads a record schema", hdst_schema_command},
    {"kernel", "check|show|header FILE", "compiles a kernel file", hdst_kernel_command},
    {"doctor", "", "what is installed, what is missing", NULL},
    {"run", "[-n N] PROGRAM ARGS", "runs a program on several ranks", NULL},
    {"replay", "FILE", "shows a failing record step by step", hdst_replay_command},
    {"cache", "[list|clear]", "looks after compiled kernels", hdst_cache_command},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fputs("usage: hdst COMMAND ARGUMENTS\n       hdst --help | --version\n\n", out);
    for (int i = 0; i < COMMANDS; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].arguments);
        fprintf(out, "  %-32s %s%s\n", left, commands[i].summary, commands[i].run ? "" : " (not there yet)");
    }
    fputs("\n`hdst COMMAND --help` says more. Exit codes: 0 ok, 1 internal error, 2 usage, 3 schema or kernel error, 4 no such device,\n"
          "5 out of memory, 6 input/output, 7 error in a record.\n", out);
}

static int unknown_command(const char *word)
{
    const char *names[COMMANDS + 2] = {[COMMANDS] = "--help", "--version"};
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *near_name = hdst__nearest_name(word, names, COMMANDS + 2);
    fprintf(stderr, "hdst: unknown %s '%s'\n", *word == '-' ? "option" : "command", word);
    if (near_name) fprintf(stderr, "hint: did you mean '%s'?\n", near_name);
    else fputs("hint: `hdst --help` lists the commands\n", stderr);
    return 2;
}

// A full disk or a closed pipe must not look like success.
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fputs("hdst: cannot write to standard output\n", stderr);
    return code ? code : 6;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return 2;
    }
    const char *word = argv[1];
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        print_usage(stdout);
        return finish(0);
    }
    if (!strcmp(word, "--version")) {
        puts("hdst " HDST_TOOL_VERSION);
        return finish(0);
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(word, commands[i].name)) continue;
        if (commands[i].run) return finish(commands[i].run(argc - 1, argv + 1));
        fprintf(stderr, "hdst %s: not there yet\n", word);
        return 2;
    }
    return unknown_command(word);
}
