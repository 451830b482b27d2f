// SPDX-License-Identifier: Apache-2.0
// Files that the library opens by name: a name may lead to a pipe, which must be refused and not be waited for.
#include "tests/hdst/support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/hdst-files-XXXXXX";

static void set_up(void) { cr_assert_not_null(mkdtemp(folder)); }

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(files, .init = set_up, .fini = tear_down);

static char *path_of(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof *path, "%s/%s", folder, name);
    return path[turn];
}

// A process at the other end of a pipe, so that who opens it goes on and shows what it would have done: it gives `text`, or (NULL) takes what comes.
static pid_t other_end(const char *pipe, const char *text)
{
    cr_assert_eq(mkfifo(pipe, 0600), 0);
    const pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child) return child;
    char taken[512];
    const int fd = open(pipe, text ? O_WRONLY : O_RDONLY);
    if (text) _exit(write(fd, text, strlen(text)) < 0);
    while (read(fd, taken, sizeof taken) > 0) continue;
    _exit(0);
}

static void end_of(pid_t child)
{
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
}

static const char kernel[] = "struct row { float x; };\nmap twice(row r) -> row { return (row){ r.x * 2 }; }\n";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

Test(files, a_pipe_is_no_kernel_and_no_import)
{
    hdst_context *context = hdst_context_create(NULL);
    hdst_error error;
    const pid_t writer = other_end(path_of("pipe.hk"), kernel);
    cr_expect_eq(hdst_module_status(hdst_module_load(context, path_of("pipe.hk"), HDST_NO_PARAMS), &error), HDST_E_IO);
    cr_expect(strstr(error.message, "it is a pipe, not a regular file"), "%s", error.message);
    write_text(path_of("main.hk"), "import \"pipe.hk\";\n");
    cr_expect_eq(hdst_module_status(hdst_module_load(context, path_of("main.hk"), HDST_NO_PARAMS), &error), HDST_E_KERNEL);
    cr_expect(strstr(error.message, "it is a pipe, not a regular file"), "%s", error.message);
    end_of(writer);
    hdst_context_destroy(context);
}

Test(files, a_pipe_is_no_schema)
{
    hdst_context *context = hdst_context_create(NULL);
    hdst_error error;
    const pid_t writer = other_end(path_of("pipe.yaml"), "records:\n  row:\n    fields:\n      - {name: x, type: float32}\n");
    cr_expect_eq(hdst_schema_status(hdst_schema_load(context, path_of("pipe.yaml"), HDST_NO_PARAMS), &error), HDST_E_IO);
    cr_expect(strstr(error.message, "it is a pipe, not a regular file"), "%s", error.message);
    end_of(writer);
    hdst_context_destroy(context);
}

// A record that fails in a function of the name of the pipe, which lies where records are saved.
Test(files, a_pipe_among_saved_records_is_replaced)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = folder;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = hdst_module_parse(context, "t.hk", "struct row { int32_t k; };\nmap part(row r) -> row { return (row){ 8 / r.k }; }\n", NULL);
    const int32_t rows[] = {1, 0};
    hdst_error error;
    const pid_t reader = other_end(path_of("part.replay"), NULL);
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(context, rows, 2, 4), m, "row"), m, "part"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    struct stat status;
    cr_assert_eq(stat(path_of("part.replay"), &status), 0);
    cr_expect(S_ISREG(status.st_mode));
    cr_expect_eq(status.st_mode & 0777, 0600, "it holds data of the user's");
    end_of(reader);
    hdst_context_destroy(context);
}

static char told[1024];

static void keep_warning(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    if (level == HDST_LOG_WARN) snprintf(told, sizeof told, "%s", message);
}

Test(files, a_place_for_saved_records_that_cannot_be_made_is_told_with_what_to_set)
{
    unsetenv("HDST_REPLAY_DIR");
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/proc/no/home", 1);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.log = keep_warning;
    hdst_context *context = hdst_context_create(&options);
    hdst_module *m = hdst_module_parse(context, "t.hk", "struct row { int32_t k; };\nmap part(row r) -> row { return (row){ 8 / r.k }; }\n", NULL);
    const int32_t rows[] = {1, 0};
    hdst_error error;
    hdst_result *r = hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_memory(context, rows, 2, 4), m, "row"), m, "part"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    cr_expect(strstr(told, "cannot make the folder /proc/no: No such file or directory (let HDST_REPLAY_DIR name a folder of yours"), "%s", told);
    hdst_context_destroy(context);
}
