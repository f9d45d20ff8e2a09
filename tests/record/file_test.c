/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_test.c - checks a file that stays complete through kills, full disks and
 * other writers.
 */
#include "can.h"
#include "unit.h"

#include "base/clock.h"
#include "record/file.h"

#include <gpukit/gpukit.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLS 200
#define PIECE 30000 /* several pages, so that one write could be cut */

static char dir[] = "/tmp/gpukit-file-XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/log.csv", dir);
	signal(SIGXFSZ, SIG_IGN);
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", dir);
	return system(command);
}

static struct gk_record_file_options plain(void)
{
	return (struct gk_record_file_options){
	    .path = path, .header = "a,b\n", .header_len = 4, .mode = 0600};
}

static uint64_t size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? 0 : (uint64_t)st.st_size;
}

static void assert_content(const char *name, const char *wanted)
{
	char bytes[256] = "";
	FILE *file = fopen(name, "r");

	assert_non_null(file);
	bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(bytes, wanted);
}

static void __attribute__((noreturn)) write_for_ever(void)
{
	static char piece[PIECE];
	struct gk_record_file_options options = plain();
	struct gk_record_file file;

	memset(piece, 'x', sizeof piece - 1);
	piece[sizeof piece - 1] = '\n';
	options.append = true;
	if (gk_record_file_open(&file, &options))
		_exit(1);
	while (!gk_record_file_write(&file, piece, sizeof piece))
		;
	_exit(1);
}

/* A write under way completes although its process was killed. */
static bool becomes_whole(void)
{
	for (int i = 0; i < 10000; i++) {
		uint64_t size = size_of(path);

		if (!size || (size - 4) % PIECE == 0)
			return true;
		usleep(1000);
	}
	return false;
}

static void no_kill_cuts_what_belongs_together(void **state)
{
	bool was_written = false;
	unsigned seed = 1;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		pid_t child = fork();

		if (!child)
			write_for_ever();
		usleep(500 + (useconds_t)(rand_r(&seed) % 3000));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_true(becomes_whole());
		was_written |= size_of(path) > PIECE;
		/* Do not fill the tester's disk. */
		if (size_of(path) > 20000000)
			assert_int_equal(truncate(path, 4), 0);
	}
	assert_true(was_written);
}

static void a_limit_takes_back_what_did_not_fit(void **state)
{
	struct rlimit before, limit;
	struct gk_record_file_options options = plain();
	struct gk_record_file file;
	char piece[6000];

	(void)state;
	memset(piece, 'y', sizeof piece);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){10000, before.rlim_max};
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_int_equal(gk_record_file_write(&file, piece, sizeof piece), 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_not_equal(gk_record_file_write(&file, piece, sizeof piece),
			     0);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(size_of(path), 4 + sizeof piece);
	assert_non_null(strstr(file.trouble, "File too large"));
	assert_non_null(strstr(file.trouble, path));
	assert_int_equal(gk_record_file_write(&file, "z\n", 2), 0);
	assert_int_equal(size_of(path), 4 + sizeof piece + 2);
	gk_record_file_close(&file);
}

static void what_cannot_be_replaced_stays(void **state)
{
	struct rlimit before, limit = {2, 0};
	struct gk_record_file_options options = plain();
	struct gk_record_file file;

	(void)state;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_int_equal(gk_record_file_write(&file, "1,2\n", 4), 0);
	assert_int_equal(gk_record_file_close(&file), 0);
	getrlimit(RLIMIT_FSIZE, &before);
	limit.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_not_equal(gk_record_file_open(&file, &options), 0);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_content(path, "a,b\n1,2\n");
}

static void what_is_put_aside_replaces_nothing(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file file;
	char name[80];

	(void)state;
	options.rotate_bytes = 8;
	snprintf(name, sizeof name, "%s/log.1.csv", dir);
	close(open(name, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_false(gk_record_file_full(&file, 1000)); /* it is empty */
	assert_int_equal(gk_record_file_write(&file, "1,2\n", 4), 0);
	assert_true(gk_record_file_full(&file, 1));
	assert_int_equal(gk_record_file_rotate(&file), 0);
	assert_int_equal(gk_record_file_write(&file, "3,4\n", 4), 0);
	assert_int_equal(gk_record_file_close(&file), 0);
	assert_int_equal(size_of(name), 0);
	assert_content(path, "a,b\n3,4\n");
	snprintf(name, sizeof name, "%s/log.2.csv", dir);
	assert_content(name, "a,b\n1,2\n");
}

/* A recorder that is restarted every hour still fills a day's file. */
static void a_file_grows_old_between_recorders(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file file;
	struct statx st;
	uint64_t begin;
	bool full;

	(void)state;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_int_equal(gk_record_file_write(&file, "1,2\n", 4), 0);
	gk_record_file_close(&file);
	assert_int_equal(statx(AT_FDCWD, path, 0, STATX_BTIME, &st), 0);
	if (!(st.stx_mask & STATX_BTIME))
		CANNOT("times-of-birth", "statx() tells none");
	usleep(300000);
	options.append = true;
	options.rotate_ns = 200000000;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_true(gk_record_file_full(&file, 1));
	begin = gk_mono_ns();
	assert_int_equal(gk_record_file_rotate(&file), 0);
	assert_int_equal(gk_record_file_write(&file, "3,4\n", 4), 0);
	full = gk_record_file_full(&file, 1);
	/* Unless the host was too slow to get here. */
	if (gk_mono_ns() - begin < options.rotate_ns / 2)
		assert_false(full);
	gk_record_file_close(&file);
	options.rotate_ns = 3600000000000;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_false(gk_record_file_full(&file, 1));
	gk_record_file_close(&file);
}

static void two_may_append_lines_but_not_streams(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file a, b;

	(void)state;
	options.append = true;
	assert_int_equal(gk_record_file_open(&a, &options), 0);
	assert_int_equal(gk_record_file_open(&b, &options), 0);
	assert_int_equal(gk_record_file_write(&a, "1,2\n", 4), 0);
	assert_int_equal(gk_record_file_write(&b, "3,4\n", 4), 0);
	gk_record_file_close(&a);
	gk_record_file_close(&b);
	assert_content(path, "a,b\n1,2\n3,4\n");
	options.binary = true;
	assert_int_equal(gk_record_file_open(&a, &options), 0);
	assert_int_equal(gk_record_file_open(&b, &options), GK_ERR_IN_USE);
	gk_record_file_close(&a);
	assert_int_equal(gk_record_file_open(&b, &options), 0);
	gk_record_file_close(&b);
	/* Whoever made it, new or replacing another. */
	for (int i = 0; i < 2; i++) {
		options.append = i;
		unlink(path);
		assert_int_equal(gk_record_file_open(&a, &options), 0);
		options.append = true;
		assert_int_equal(gk_record_file_open(&b, &options),
				 GK_ERR_IN_USE);
		gk_record_file_close(&a);
	}
	assert_content(path, "a,b\n");
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A recorder rotates for months. */
static void a_rotation_leaves_nothing_open(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file file;
	int before;

	(void)state;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	before = count_descriptors();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(gk_record_file_rotate(&file), 0);
		assert_int_equal(count_descriptors(), before);
	}
	gk_record_file_close(&file);
	assert_true(count_descriptors() < before);
}

static void a_stream_ends_with_its_reader(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file file;
	char bytes[16] = "";
	int reader;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_int_equal(gk_record_file_write(&file, "1,2\n", 4), 0);
	assert_int_equal(read(reader, bytes, sizeof bytes - 1), 8);
	assert_string_equal(bytes, "a,b\n1,2\n");
	assert_false(file.ended);
	close(reader);
	assert_int_not_equal(gk_record_file_write(&file, "3,4\n", 4), 0);
	assert_true(file.ended);
	assert_non_null(strstr(file.trouble, "Broken pipe"));
	gk_record_file_close(&file);
	signal(SIGPIPE, SIG_DFL);
}

static void who_is_refused_changes_nothing(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file file;
	struct stat st;

	(void)state;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	gk_record_file_close(&file);
	options.header = "x,y\n";
	options.append = options.mode_told = true;
	options.mode = 0644;
	assert_int_equal(gk_record_file_open(&file, &options), GK_ERR_INVALID);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Both recorders of a file rotate it: the second joins the first. */
static void two_may_put_aside(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file a, b;
	char name[80];

	(void)state;
	options.append = true;
	assert_int_equal(gk_record_file_open(&a, &options), 0);
	assert_int_equal(gk_record_file_open(&b, &options), 0);
	assert_int_equal(gk_record_file_rotate(&a), 0);
	assert_int_equal(gk_record_file_rotate(&b), 0);
	assert_int_equal(gk_record_file_write(&a, "1,2\n", 4), 0);
	assert_int_equal(gk_record_file_write(&b, "3,4\n", 4), 0);
	gk_record_file_close(&a);
	gk_record_file_close(&b);
	assert_content(path, "a,b\n1,2\n3,4\n");
	snprintf(name, sizeof name, "%s/log.2.csv", dir);
	assert_int_equal(access(name, F_OK), -1);
}

static void a_removed_file_is_told(void **state)
{
	struct gk_record_file_options options = plain();
	struct gk_record_file file;

	(void)state;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(gk_record_file_write(&file, "1,2\n", 4),
			 GK_ERR_NOT_FOUND);
	assert_non_null(strstr(file.trouble, "removed"));
	gk_record_file_close(&file);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(no_kill_cuts_what_belongs_together),
	    T(a_limit_takes_back_what_did_not_fit),
	    T(what_cannot_be_replaced_stays),
	    T(what_is_put_aside_replaces_nothing),
	    T(a_file_grows_old_between_recorders),
	    T(two_may_append_lines_but_not_streams),
	    T(a_rotation_leaves_nothing_open),
	    T(a_stream_ends_with_its_reader),
	    T(who_is_refused_changes_nothing),
	    T(two_may_put_aside),
	    T(a_removed_file_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
