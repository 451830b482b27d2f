// SPDX-License-Identifier: Apache-2.0
// The subcommands of the `hdst` tool. Each gets its own words (argv[0] is the subcommand's name), prints results to stdout, all else to stderr, and
// returns the exit code of the process (hdst_status_exit_code).
#ifndef HDST_TOOLS_COMMANDS_H
#define HDST_TOOLS_COMMANDS_H

int hdst_cache_command(int argc, char **argv);      // cache_command.c
int hdst_devices_command(int argc, char **argv);    // devices_command.c
int hdst_schema_command(int argc, char **argv);     // schema_command.c
int hdst_kernel_command(int argc, char **argv);     // kernel_command.c
int hdst_replay_command(int argc, char **argv);     // replay_command.c

#endif
