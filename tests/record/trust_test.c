/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust_test.c - checks that files that others plant where everyone may write
 * are neither followed, nor written to, nor replaced.
 */
#include "can.h"
#include "unit.h"

#include "record/file.h"

#include <gpukit/gpukit.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER    65534 /* nobody */
#define STRANGER 12345

static char root[] = "/tmp/gpukit-trust-XXXXXX";
static char shared[64]; /* like /tmp */
static char own[64];    /* where nobody else can write */
static char theirs[64]; /* where a stranger can write, and everybody can read */

/* ---- what is done with the file, in order ---- */

static char calls[256];
static int (*before_rename)(void);

int __real_fsync(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);
int __wrap_fsync(int fd);
int __wrap_renameat(int from, const char *old, int to, const char *new);

int __wrap_fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	snprintf(calls + strlen(calls), sizeof calls - strlen(calls),
		 "sync %d;", (int)st.st_size);
	if (before_rename)
		assert_int_equal(before_rename(), 0);
	return __real_fsync(fd);
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
	snprintf(calls + strlen(calls), sizeof calls - strlen(calls),
		 "rename to %s;", new);
	return __real_renameat(from, old, to, new);
}

/* ---- places ---- */

static const char *in(const char *dir, const char *name)
{
	static char paths[4][96];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", dir, name);
	return path;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_content(const char *path, const char *wanted)
{
	char bytes[256] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	bytes[fread(bytes, 1, sizeof bytes - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(bytes, wanted);
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0);
	strcpy(shared, in(root, "shared"));
	strcpy(own, in(root, "own"));
	strcpy(theirs, in(root, "theirs"));
	assert_int_equal(mkdir(shared, 0700) | chmod(shared, 01777), 0);
	assert_int_equal(mkdir(own, 0700), 0);
	assert_int_equal(mkdir(theirs, 0755), 0);
	put(in(own, "victim"), "precious\n");
	calls[0] = '\0';
	before_rename = NULL;
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

/* Plants a link of another user; false: only root can. */
static bool plant(const char *target, const char *path)
{
	return !symlink(target, path) && !lchown(path, OTHER, OTHER);
}

static struct gk_record_file_options plain(const char *path)
{
	return (struct gk_record_file_options){
	    .path = path, .header = "a,b\n", .header_len = 4, .mode = 0600};
}

static void assert_refused(const char *path, bool append, const char *why)
{
	struct gk_record_file_options options = plain(path);
	struct gk_record_file file;

	options.append = append;
	assert_int_equal(gk_record_file_open(&file, &options),
			 GK_ERR_PERMISSION);
	assert_non_null(strstr(file.trouble, why));
	assert_non_null(strstr(file.trouble, "65534"));
	assert_non_null(strstr(file.trouble, "--output"));
	assert_non_null(strstr(file.trouble, path));
	assert_int_equal(file.fd, -1);
}

static void assert_taken(const char *path, bool append)
{
	struct gk_record_file_options options = plain(path);
	struct gk_record_file file;

	options.append = append;
	if (gk_record_file_open(&file, &options))
		fail_msg("%s", file.trouble);
	assert_int_equal(gk_record_file_close(&file), 0);
}

/* ---- the tests ---- */

static void a_planted_link_is_refused(void **state)
{
	const char *path = in(shared, "log.csv");

	(void)state;
	if (!plant(in(own, "victim"), path))
		CANNOT("other-users", strerror(errno));
	for (int append = 0; append < 2; append++) {
		assert_refused(path, append, "is a link");
		assert_true(is_link(path));
		assert_content(in(own, "victim"), "precious\n");
	}
}

static void a_planted_link_to_nothing_is_refused(void **state)
{
	const char *path = in(shared, "log.csv");

	(void)state;
	if (!plant(in(own, "not-yet"), path))
		CANNOT("other-users", strerror(errno));
	for (int append = 0; append < 2; append++) {
		assert_refused(path, append, "is a link");
		assert_true(is_link(path));
		assert_int_equal(access(in(own, "not-yet"), F_OK), -1);
	}
}

static void a_planted_link_on_the_way_is_refused(void **state)
{
	char path[128];

	(void)state;
	if (!plant(own, in(shared, "logs")))
		CANNOT("other-users", strerror(errno));
	snprintf(path, sizeof path, "%s/logs/log.csv", shared);
	assert_refused(path, false, "'logs' is a link");
	assert_int_equal(access(in(own, "log.csv"), F_OK), -1);
	/* And behind a link of our own. */
	assert_int_equal(symlink(path, in(own, "mine.csv")), 0);
	assert_refused(in(own, "mine.csv"), false, "'logs' is a link");
}

static void a_planted_file_is_refused(void **state)
{
	const char *path = in(shared, "log.csv");

	(void)state;
	put(path, "a,b\n");
	if (chown(path, OTHER, OTHER))
		CANNOT("other-users", strerror(errno));
	for (int append = 0; append < 2; append++) {
		assert_refused(path, append, "is a file");
		assert_content(path, "a,b\n");
	}
}

static void a_planted_fifo_is_refused(void **state)
{
	const char *path = in(shared, "log.csv");

	(void)state;
	assert_int_equal(mkfifo(path, 0622), 0);
	if (chown(path, OTHER, OTHER))
		CANNOT("other-users", strerror(errno));
	assert_refused(path, false, "is a file");
}

static void links_of_our_own_are_followed(void **state)
{
	(void)state;
	assert_int_equal(symlink("../own/victim", in(shared, "log.csv")), 0);
	assert_taken(in(shared, "log.csv"), false);
	assert_true(is_link(in(shared, "log.csv")));
	assert_content(in(own, "victim"), "a,b\n");
	assert_int_equal(symlink(own, in(shared, "logs")), 0);
	assert_taken(in(shared, "logs/new.csv"), true);
	assert_content(in(own, "new.csv"), "a,b\n");
	assert_int_equal(symlink(in(own, "later.csv"), in(own, "now.csv")), 0);
	assert_taken(in(own, "now.csv"), false);
	assert_true(is_link(in(own, "now.csv")));
	assert_content(in(own, "later.csv"), "a,b\n");
}

/* Links there belong to users whom the directory's owner admits. */
static void a_directory_of_few_is_trusted(void **state)
{
	(void)state;
	if (!plant(in(own, "victim"), in(own, "log.csv")))
		CANNOT("other-users", strerror(errno));
	assert_taken(in(own, "log.csv"), false);
	assert_content(in(own, "victim"), "a,b\n");
}

static bool plant_in_theirs(const char *target, const char *name, uid_t owner)
{
	const char *path = in(theirs, name);

	return !symlink(target, path) && !lchown(path, owner, owner) &&
	       !chown(theirs, STRANGER, STRANGER);
}

static void a_link_in_a_strangers_directory_is_refused(void **state)
{
	const char *path = in(theirs, "log.csv");
	struct gk_record_file_options options = plain(path);
	struct gk_record_file file;
	char wanted[512];

	(void)state;
	if (!plant_in_theirs(in(own, "victim"), "log.csv", STRANGER))
		CANNOT("other-users", strerror(errno));
	snprintf(
	    wanted, sizeof wanted,
	    "cannot open %s: 'log.csv' is a link of user 12345 in a "
	    "directory of user 12345, mode 0755, and is not followed; give "
	    "the path that it leads to, or another --output",
	    path);
	for (int append = 0; append < 2; append++) {
		options.append = append;
		assert_int_equal(gk_record_file_open(&file, &options),
				 GK_ERR_PERMISSION);
		assert_string_equal(file.trouble, wanted);
		assert_true(is_link(path));
		assert_content(in(own, "victim"), "precious\n");
	}
}

/*
 * The stranger's directory may be deep in one of ours, with the link on the
 * way.
 */
static void a_strangers_link_on_the_way_is_refused(void **state)
{
	struct gk_record_file_options options;
	struct gk_record_file file;
	char path[128];

	(void)state;
	if (!plant_in_theirs(own, "logs", OTHER))
		CANNOT("other-users", strerror(errno));
	snprintf(path, sizeof path, "%s/logs/log.csv", theirs);
	options = plain(path);
	assert_int_equal(gk_record_file_open(&file, &options),
			 GK_ERR_PERMISSION);
	assert_non_null(strstr(file.trouble, "'logs' is a link of user 65534 "
					     "in a directory of user 12345"));
	assert_int_equal(access(in(own, "log.csv"), F_OK), -1);
}

static void our_links_in_a_strangers_directory_are_followed(void **state)
{
	(void)state;
	if (!plant_in_theirs(in(own, "victim"), "log.csv", geteuid()))
		CANNOT("other-users", strerror(errno));
	assert_taken(in(theirs, "log.csv"), false);
	assert_content(in(own, "victim"), "a,b\n");
	assert_taken(in(theirs, "new.csv"), false); /* and files are written */
	assert_content(in(theirs, "new.csv"), "a,b\n");
}

static void links_in_a_circle_end(void **state)
{
	struct gk_record_file_options options = plain(in(own, "a"));
	struct gk_record_file file;

	(void)state;
	assert_int_equal(symlink("b", in(own, "a")), 0);
	assert_int_equal(symlink("a", in(own, "b")), 0);
	assert_int_not_equal(gk_record_file_open(&file, &options), 0);
	assert_non_null(strstr(file.trouble, "Too many levels"));
}

static void standard_output_has_a_name_too(void **state)
{
	struct gk_record_file_options options;
	struct gk_record_file file;
	char path[32], bytes[8] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
	options = plain(path);
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_false(file.regular);
	assert_int_equal(read(ends[0], bytes, sizeof bytes), 4);
	assert_string_equal(bytes, "a,b\n");
	gk_record_file_close(&file);
	close(ends[0]);
	close(ends[1]);
}

/* The old file exists until the new one is on the disk. */
static void what_replaces_is_synced_first(void **state)
{
	(void)state;
	assert_taken(in(own, "victim"), false);
	assert_string_equal(calls, "sync 4;rename to victim;");
	assert_content(in(own, "victim"), "a,b\n");
}

/* A path of this many bytes to a file in our own directory. */
static const char *lengthen(size_t length)
{
	static char path[2 * PATH_MAX];
	static const char name[] = "log.csv";
	size_t tail = sizeof name - 1;

	memset(path, '/', length);
	memcpy(path, own, strlen(own));
	memcpy(path + length - tail, name, tail + 1);
	return path;
}

/* Compared with the kernel's own limit. */
static void a_path_is_as_long_as_the_kernel_takes_it(void **state)
{
	const char *path = lengthen(PATH_MAX - 1);
	struct gk_record_file_options options;
	struct gk_record_file file;

	(void)state;
	put(path, "");
	assert_taken(path, false);
	assert_content(path, "a,b\n");
	path = lengthen(PATH_MAX);
	assert_int_equal(open(path, O_RDONLY | O_CLOEXEC), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	options = plain(path);
	assert_int_equal(gk_record_file_open(&file, &options), GK_ERR_INVALID);
	assert_non_null(strstr(file.trouble, strerror(ENAMETOOLONG)));
	assert_int_equal(file.fd, -1);
}

static int plant_late(void)
{
	return plant(in(own, "victim"), in(shared, "log.csv")) ? 0 : -1;
}

static void what_is_planted_at_the_last_moment_is_refused(void **state)
{
	(void)state;
	need_root();
	before_rename = plant_late;
	assert_refused(in(shared, "log.csv"), false, "is a link");
	assert_string_equal(calls, "sync 4;");
	assert_true(is_link(in(shared, "log.csv")));
	assert_content(in(own, "victim"), "precious\n");
}

static void what_is_planted_before_a_rotation_is_refused(void **state)
{
	const char *path = in(shared, "log.csv");
	struct gk_record_file_options options = plain(path);
	struct gk_record_file file;

	(void)state;
	assert_int_equal(gk_record_file_open(&file, &options), 0);
	assert_int_equal(unlink(path), 0);
	if (!plant(in(own, "victim"), path))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(gk_record_file_rotate(&file), GK_ERR_PERMISSION);
	assert_non_null(strstr(file.trouble, "is a link"));
	assert_content(in(own, "victim"), "precious\n");
	gk_record_file_close(&file);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(a_planted_link_is_refused),
	    T(a_planted_link_to_nothing_is_refused),
	    T(a_planted_link_on_the_way_is_refused),
	    T(a_planted_file_is_refused),
	    T(a_planted_fifo_is_refused),
	    T(links_of_our_own_are_followed),
	    T(a_directory_of_few_is_trusted),
	    T(a_link_in_a_strangers_directory_is_refused),
	    T(a_strangers_link_on_the_way_is_refused),
	    T(our_links_in_a_strangers_directory_are_followed),
	    T(links_in_a_circle_end),
	    T(standard_output_has_a_name_too),
	    T(a_path_is_as_long_as_the_kernel_takes_it),
	    T(what_replaces_is_synced_first),
	    T(what_is_planted_at_the_last_moment_is_refused),
	    T(what_is_planted_before_a_rotation_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
