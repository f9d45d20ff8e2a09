/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofd_locks_test.c - checks locks of open files, which last as long as anybody
 * has them open.
 */
#include "base/ofd_locks.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct wanted {
	struct stat st;
	uint64_t begin, end;
	unsigned found;
};

static void look(void *arg, const struct gk_ofd_lock *lock)
{
	struct wanted *w = arg;

	if (lock->device == w->st.st_dev && lock->inode == w->st.st_ino &&
	    lock->begin == w->begin && lock->end == w->end)
		w->found++;
}

static bool is_held(const struct stat *st, uint64_t begin, uint64_t end)
{
	struct wanted w = {.st = *st, .begin = begin, .end = end};

	assert_int_equal(gk_ofd_locks(look, &w), 0);
	return w.found;
}

/* Opens an unnamed file with a lock on 100 bytes of it from `begin`. */
static int open_locked(uint64_t begin, struct stat *ret_st)
{
	struct flock range = {
	    .l_type = F_RDLCK, .l_start = (off_t)begin, .l_len = 100};
	int fd = memfd_create("locked", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &range), 0);
	assert_int_equal(fstat(fd, ret_st), 0);
	return fd;
}

static void a_lock_lasts_as_long_as_the_open_file(void **state)
{
	uint64_t begin = 1ULL << 62;
	struct stat st;
	int fd = open_locked(begin, &st), copy = dup(fd);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	(void)state;
	assert_true(is_held(&st, begin, begin + 100));
	assert_false(is_held(&st, begin, begin + 101));
	close(fd);
	assert_true(is_held(&st, begin, begin + 100));
	close(copy);
	assert_true(is_held(&st, begin, begin + 100));
	munmap(map, 4096);
	assert_false(is_held(&st, begin, begin + 100));
}

static void many_locks_are_all_found(void **state)
{
	enum { COUNT = 300 };
	struct stat st[COUNT];
	int fd[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++)
		fd[i] = open_locked(1000u + (unsigned)i, &st[i]);
	for (int i = 0; i < COUNT; i += 37)
		assert_true(
		    is_held(&st[i], 1000u + (unsigned)i, 1100u + (unsigned)i));
	for (int i = 0; i < COUNT; i++)
		close(fd[i]);
}

static void other_lines_are_none(void **state)
{
	struct gk_ofd_lock lock;

	(void)state;
	assert_false(gk_ofd_lock_parse("", &lock));
	assert_false(gk_ofd_lock_parse(
	    "1: POSIX  ADVISORY  WRITE 699 00:17:907 0 9", &lock));
	assert_false(gk_ofd_lock_parse(
	    "1: -> OFDLCK ADVISORY  WRITE -1 00:17:907 0 9", &lock));
	assert_false(gk_ofd_lock_parse(
	    "1: OFDLCK ADVISORY  READ -1 00:17:907 0", &lock));
	assert_true(gk_ofd_lock_parse(
	    "7: OFDLCK ADVISORY  READ  -1 fd:1f:907 5 EOF", &lock));
	assert_int_equal(lock.inode, 907);
	assert_int_equal(lock.begin, 5);
	assert_int_equal(lock.end, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_lock_lasts_as_long_as_the_open_file),
	    cmocka_unit_test(many_locks_are_all_found),
	    cmocka_unit_test(other_lines_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
