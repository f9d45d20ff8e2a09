/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_test.c - checks error texts, translated errno values, and the log: silent
 * unless asked.
 */
#include "unit.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	int error, err;
} translated[] = {
    {ENOENT, GK_ERR_NOT_FOUND},  {ENOTDIR, GK_ERR_NOT_FOUND},
    {ESRCH, GK_ERR_NOT_FOUND},   {ENOMEM, GK_ERR_NOMEM},
    {EACCES, GK_ERR_PERMISSION}, {EPERM, GK_ERR_PERMISSION},
    {EROFS, GK_ERR_PERMISSION},  {ENOSPC, GK_ERR_NO_SPACE},
    {EDQUOT, GK_ERR_NO_SPACE},   {EEXIST, GK_ERR_EXISTS},
    {EINVAL, GK_ERR_INVALID},    {ENAMETOOLONG, GK_ERR_INVALID},
    {ETIMEDOUT, GK_ERR_TIMEOUT}, {EAGAIN, GK_ERR_TIMEOUT},
    {ERANGE, GK_ERR_RANGE},      {ENFILE, GK_ERR_TOO_MANY},
    {EMFILE, GK_ERR_TOO_MANY},   {EIO, GK_ERR_IO},
    {EBADF, GK_ERR_IO},          {0, GK_ERR_IO},
    {99999, GK_ERR_IO},
};

static void every_errno_has_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(translated); i++)
		assert_int_equal(gk_err_from_errno(translated[i].error),
				 translated[i].err);
	for (int error = 0; error < 200; error++)
		assert_true(gk_err_from_errno(error) < 0);
}

static void every_error_has_words_of_its_own(void **state)
{
	static const int all[] = {
	    GK_OK,
#define GK_ERR(name, number, text) name,
#include <gpukit/errors.def>
#undef GK_ERR
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++)
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(all[i], all[k]);
			assert_string_not_equal(gk_strerror(all[i]),
						gk_strerror(all[k]));
		}
	assert_string_equal(gk_strerror(GK_OK), "success");
	assert_string_equal(gk_strerror(1), "unknown error");
	assert_string_equal(gk_strerror(-9999), "unknown error");
	assert_string_equal(gk_strerror(GK_ERR_LOST), "GPU is lost");
}

/* Logs in a child, where the environment is read again, with stderr in a file;
 * returns what was written to each. */
static void run(const char *setting, bool file, char err[2048], char out[2048])
{
	char dir[] = "/tmp/gpukit-log-XXXXXX", path[64], value[128];
	struct stat st;
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	pid = fork();
	if (!pid) {
		snprintf(path, sizeof path, "%s/err", dir);
		dup2(open(path, O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
		snprintf(value, sizeof value, "%s%s%s", setting ? setting : "",
			 file ? dir : "", file ? "/log" : "");
		if (setting)
			setenv("GPUKIT_LOG", value, 1);
		else
			unsetenv("GPUKIT_LOG");
		errno = 77;
		gk_log(GK_LOG_ERROR, "an error %d", 1);
		gk_log(GK_LOG_WARN, "a warning");
		gk_log(GK_LOG_INFO, "some news");
		gk_log(GK_LOG_DEBUG, "a detail");
		_exit(errno == 77 ? 10 + gk_log_level() : 1);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) >= 10);
	snprintf(path, sizeof path, "%s/err", dir);
	assert_true(gk_read_at(AT_FDCWD, path, err, 2048) >= 0);
	unlink(path);
	snprintf(path, sizeof path, "%s/log", dir);
	out[0] = '\0';
	if (!stat(path, &st)) {
		assert_int_equal(st.st_mode & 0777, 0600);
		gk_read_at(AT_FDCWD, path, out, 2048);
	}
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static unsigned lines(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void without_a_setting_nothing_is_written(void **state)
{
	static const char *const off[] = {NULL, "", "off"};
	char err[2048], out[2048];

	(void)state;
	for (size_t i = 0; i < COUNT(off); i++) {
		run(off[i], false, err, out);
		assert_string_equal(err, "");
		assert_string_equal(out, "");
	}
}

static const struct {
	const char *setting;
	unsigned lines;
} levels[] = {
    {"error", 1}, {"warn", 2},  {"info", 3},
    {"debug", 4}, {"WARN?", 2}, {"1", 2},
};

static void the_level_decides_what_is_written(void **state)
{
	char err[2048], out[2048];

	(void)state;
	for (size_t i = 0; i < COUNT(levels); i++) {
		run(levels[i].setting, false, err, out);
		assert_int_equal(lines(err), levels[i].lines);
		assert_non_null(strstr(err, "] error: an error 1\n"));
		assert_memory_equal(err, "gpukit[", 7);
	}
}

static void a_path_takes_the_lines(void **state)
{
	char err[2048], out[2048];

	(void)state;
	run("info:", true, err, out);
	assert_string_equal(err, "");
	assert_int_equal(lines(out), 3);
	run("info:/nowhere/at/all", false, err, out);
	assert_int_equal(lines(err), 3);
}

/* Writes a line that is too long, and checks the 511 bytes that come. */
static void write_long_line(bool tell)
{
	char long_text[2000], buf[4096];
	int ends[2];
	ssize_t n;

	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	assert_int_equal(pipe(ends), 0);
	if (!fork()) {
		dup2(ends[1], STDERR_FILENO);
		if (tell)
			gk_log_tell("%s", long_text);
		else
			gk_log_write(GK_LOG_ERROR, "%s", long_text);
		_exit(0);
	}
	wait(NULL);
	n = read(ends[0], buf, sizeof buf);
	assert_int_equal(n, 511);
	assert_int_equal(buf[n - 1], '\n');
	assert_int_equal(buf[n - 2], 'x');
	close(ends[0]);
	close(ends[1]);
}

static void a_long_line_is_cut_and_stays_a_line(void **state)
{
	(void)state;
	write_long_line(false);
	write_long_line(true);
}

/* Reads the files of a child whose log was first at `setting`. */
static void log_after(const char *setting, void change(void), const char *file,
		      char text[2048])
{
	char dir[] = "/tmp/gpukit-log-XXXXXX", path[64], clean[96];
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	pid = fork();
	if (!pid) {
		setenv("GPUKIT_LOG", setting, 1);
		if (chdir(dir))
			_exit(1);
		gk_log(GK_LOG_INFO, "before");
		change();
		gk_log(GK_LOG_INFO, "after");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	snprintf(path, sizeof path, "%s/%s", dir, file);
	assert_true(gk_read_at(AT_FDCWD, path, text, 2048) >= 0);
	snprintf(clean, sizeof clean, "rm -r %s", dir);
	assert_int_equal(system(clean), 0);
}

/* In a child that has closed a descriptor before its first line; errno is kept
 * whether the line can be written or not. */
static void log_without(int fd, const char *setting, const char *path)
{
	char value[128];
	int status;
	pid_t pid = fork();

	if (!pid) {
		close(fd);
		snprintf(value, sizeof value, "%s%s", setting, path);
		setenv("GPUKIT_LOG", value, 1);
		errno = 77;
		gk_log_write(GK_LOG_INFO, "one");
		gk_log_write(GK_LOG_INFO, "two");
		_exit(errno == 77 && fcntl(fd, F_GETFD) < 0 ? 17 : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 17 << 8);
}

/* The log then gets that number, and closes it again. */
static void a_program_may_have_closed_its_descriptors(void **state)
{
	char path[] = "/tmp/gpukit-log-XXXXXX", text[2048];
	int fd = mkstemp(path);

	(void)state;
	log_without(STDERR_FILENO, "info", "");
	log_without(STDERR_FILENO, "info:", path);
	log_without(STDIN_FILENO, "info:", path);
	assert_true(gk_read_at(AT_FDCWD, path, text, sizeof text) > 0);
	assert_int_equal(lines(text), 4);
	close(fd);
	unlink(path);
}

/*
 * Acts as a daemon: closes all descriptors, then opens its own files, one for
 * each number.
 */
static void take_all_numbers(void)
{
	for (int fd = 0; fd < 64; fd++)
		close(fd);
	for (int fd = 0; fd < 64; fd++)
		open("theirs", O_CREAT | O_RDWR, 0600);
}

static void a_file_of_the_program_is_never_written_to(void **state)
{
	char text[2048];

	(void)state;
	log_after("info:log", take_all_numbers, "theirs", text);
	assert_string_equal(text, "");
	log_after("info:log", take_all_numbers, "log", text);
	assert_int_equal(lines(text), 2);
	log_after("info", take_all_numbers, "theirs", text);
	assert_string_equal(text, "");
}

static void close_all(void)
{
	for (int fd = 0; fd < 64; fd++)
		close(fd);
}

static void go_elsewhere(void)
{
	if (chdir("/"))
		_exit(2);
}

/* The log is opened for each line, and found from any directory. */
static void the_log_goes_on_when_its_program_closes_all(void **state)
{
	char text[2048];

	(void)state;
	log_after("info:log", close_all, "log", text);
	assert_int_equal(lines(text), 2);
	assert_non_null(strstr(text, "after\n"));
	log_after("info:log", go_elsewhere, "log", text);
	assert_int_equal(lines(text), 2);
}

static void tell_twice(void)
{
	gk_log_tell("a line");
	gk_log(GK_LOG_ERROR, "another");
}

/* Callers report errno after they have logged. */
static void a_failed_write_leaves_errno_alone(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		dup2(open("/dev/full", O_WRONLY), STDERR_FILENO);
		setenv("GPUKIT_LOG", "error", 1);
		errno = 77;
		tell_twice();
		_exit(errno == 77 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_errno_has_an_error),
	    cmocka_unit_test(every_error_has_words_of_its_own),
	    cmocka_unit_test(without_a_setting_nothing_is_written),
	    cmocka_unit_test(the_level_decides_what_is_written),
	    cmocka_unit_test(a_path_takes_the_lines),
	    cmocka_unit_test(a_long_line_is_cut_and_stays_a_line),
	    cmocka_unit_test(a_program_may_have_closed_its_descriptors),
	    cmocka_unit_test(a_file_of_the_program_is_never_written_to),
	    cmocka_unit_test(the_log_goes_on_when_its_program_closes_all),
	    cmocka_unit_test(a_failed_write_leaves_errno_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
