/* SPDX-License-Identifier: Apache-2.0 */
/* locks_test.c - checks the locks of a machine, also with overwritten words. */
#include "base/clock.h"
#include "machine/store/emptied.h"
#include "machine/store/locks.h"
#include "unit.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The locks of a file, or of this process alone. */
struct held {
	struct gkf_locks *locks;
	struct gkf_emptied *emptied;
	void *file;
};

enum { FILE_SIZE = 10000, FILE_LOCKS = 3 };

static struct held opened;
static struct gkf_locks *locks;

/* fd -1: locks of this process alone. */
static int hold_locks(int fd, unsigned count, struct held *ret_held)
{
	*ret_held = (struct held){.file = MAP_FAILED};
	if (fd >= 0)
		ret_held->file =
		    mmap(NULL, gkf_locks_end(FILE_SIZE), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	return gkf_emptied_new(&ret_held->emptied) ||
	       gkf_locks_new(fd, ret_held->file, FILE_SIZE, count,
			     &ret_held->emptied->claims, &ret_held->locks);
}

static void drop_locks(struct held *held)
{
	gkf_locks_free(held->locks);
	gkf_emptied_free(held->emptied);
	if (held->file != MAP_FAILED)
		munmap(held->file, gkf_locks_end(FILE_SIZE));
}

static int open_locks(void **state)
{
	int r = hold_locks(-1, FILE_LOCKS, &opened);

	(void)state;
	locks = opened.locks;
	return r;
}

static int close_locks(void **state)
{
	(void)state;
	drop_locks(&opened);
	return 0;
}

static void let_go(unsigned i)
{
	atomic_store(gkf_locks_word(locks, i), 0);
}

/* It would be in glibc's list twice, and end the process when released. */
static void one_that_is_held_is_not_taken_again(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(gkf_locks_take(locks, i, 0), 0);
		let_go(i);
		assert_int_equal(gkf_locks_take(locks, i, 0), EBUSY);
		assert_int_equal(gkf_locks_take(locks, i, 1000), ETIMEDOUT);
	}
	for (unsigned i = 0; i < 3; i++)
		gkf_locks_release(locks, i);
	assert_int_equal(gkf_locks_take(locks, 1, 0), 0);
	gkf_locks_release(locks, 1);
}

static void *take_last(void *ret_error)
{
	*(int *)ret_error = gkf_locks_take(locks, 2, 0);
	return NULL;
}

static void nor_by_another_thread(void **state)
{
	pthread_t other;
	int error = 0;

	(void)state;
	assert_int_equal(gkf_locks_take(locks, 2, 0), 0);
	let_go(2);
	assert_int_equal(pthread_create(&other, NULL, take_last, &error), 0);
	pthread_join(other, NULL);
	assert_int_equal(error, EBUSY);
	gkf_locks_release(locks, 2);
}

/* Locks that the parent's threads hold are not held by the child. */
static void a_child_claims_nothing(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(gkf_locks_take(locks, 0, 0), 0);
	pid = fork();
	if (!pid) {
		let_go(0);
		_exit(gkf_locks_take(locks, 0, 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	gkf_locks_release(locks, 0);
}

/* Takes a lock in a child, which exits with it held unless give_back is set. */
static void take_in_child(unsigned i, bool give_back)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (gkf_locks_take(locks, i, 0))
			_exit(1);
		if (give_back)
			gkf_locks_release(locks, i);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static size_t page;

/*
 * A file of locks that other processes share; the places of its words are
 * known.
 */
static int lock_file(size_t end)
{
	int fd = memfd_create("locks", MFD_CLOEXEC);

	page = (size_t)sysconf(_SC_PAGESIZE);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)end), 0);
	return fd;
}

static int open_shared(void **state)
{
	int fd = lock_file(gkf_locks_end(FILE_SIZE));
	int r = hold_locks(fd, FILE_LOCKS, &opened);

	(void)state;
	close(fd);
	locks = opened.locks;
	return r;
}

static void they_lie_on_pages_behind_the_rest(void **state)
{
	size_t size, p = (size_t)sysconf(_SC_PAGESIZE);
	struct held held;
	int fd;

	(void)state;
	assert_int_equal(gkf_locks_begin(0), 0);
	assert_int_equal(gkf_locks_begin(1), p);
	assert_int_equal(gkf_locks_begin(p), p);
	assert_int_equal(gkf_locks_begin(p + 1), 2 * p);
	assert_int_equal(gkf_locks_end(p), p + 65 * p);
	fd = lock_file(gkf_locks_end(FILE_SIZE));
	assert_int_equal(hold_locks(fd, 5, &held), 0);
	gkf_locks_pages(held.locks, &size);
	assert_int_equal(size, 10 * p);
	drop_locks(&held);
	close(fd);
}

/* Each page of the file ends with a lock's word and one that nobody reads. */
static void whoever_has_the_file_has_the_same_locks(void **state)
{
	int fd = lock_file(gkf_locks_end(FILE_SIZE));
	size_t end = gkf_locks_end(FILE_SIZE);
	uint32_t me = (uint32_t)syscall(SYS_gettid);
	struct held mine, more;
	struct gkf_locks *a, *b;
	int error;

	(void)state;
	assert_int_equal(hold_locks(fd, FILE_LOCKS, &mine), 0);
	/*
	 * A program that knows more locks means the same ones by these numbers.
	 */
	assert_int_equal(hold_locks(fd, FILE_LOCKS + 2, &more), 0);
	a = mine.locks;
	b = more.locks;
	for (unsigned i = 0; i < FILE_LOCKS; i++) {
		uint32_t word = 0;

		assert_int_equal(gkf_locks_take(a, i, 0), 0);
		assert_int_equal(
		    pread(fd, &word, 4, (off_t)(end - i * page - 8)), 4);
		assert_int_equal(word & FUTEX_TID_MASK, me);
		assert_int_equal(atomic_load(gkf_locks_word(b, i)), word);
		assert_true(gkf_locks_is_mine(b, i));
		error = gkf_locks_take(b, i, 0);
		assert_int_equal(error, EBUSY);
		gkf_locks_release(a, i);
		assert_int_equal(
		    pread(fd, &word, 4, (off_t)(end - i * page - 8)), 4);
		assert_int_equal(word, 0);
		assert_false(gkf_locks_is_mine(a, i));
		assert_int_equal(gkf_locks_take(b, i, 0), 0);
		gkf_locks_release(b, i);
	}
	drop_locks(&mine);
	drop_locks(&more);
	close(fd);
}

static void the_lock_of_the_dead_is_taken_and_told(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FILE_LOCKS; i++) {
		take_in_child(i, true);
		assert_int_equal(gkf_locks_take(locks, i, 0), 0);
		gkf_locks_release(locks, i);
		take_in_child(i, false);
		assert_int_equal(gkf_locks_take(locks, i, 0), EOWNERDEAD);
		assert_true(gkf_locks_is_mine(locks, i));
		gkf_locks_release(locks, i);
		assert_int_equal(gkf_locks_take(locks, i, 0), 0);
		gkf_locks_release(locks, i);
	}
}

/* Takes the lock in a child, which keeps it until the pipe is closed. */
static pid_t keep_in_child(unsigned i, int ends[2])
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (gkf_locks_take(locks, i, 0) || write(ready[1], "y", 1) != 1)
			_exit(1);
		if (read(ends[0], &c, 1))
			_exit(2);
		gkf_locks_release(locks, i);
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ends[0]);
	return pid;
}

static void what_another_keeps_is_waited_for_as_long_as_wanted(void **state)
{
	uint64_t begin;
	int ends[2], status;
	pid_t pid = keep_in_child(1, ends);

	(void)state;
	assert_int_equal(gkf_locks_take(locks, 1, 0), EBUSY);
	begin = gk_mono_ns();
	assert_int_equal(gkf_locks_take(locks, 1, 20 * GK_NS_PER_MS),
			 ETIMEDOUT);
	assert_true(gk_mono_ns() - begin >= 15 * GK_NS_PER_MS);
	assert_false(gkf_locks_is_mine(locks, 1));
	assert_int_equal(gkf_locks_take(locks, 0, 0), 0); /* another one */
	gkf_locks_release(locks, 0);
	close(ends[1]);
	assert_int_equal(gkf_locks_take(locks, 1, 60 * GK_NS_PER_S), 0);
	assert_true(gkf_locks_is_mine(locks, 1));
	gkf_locks_release(locks, 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* No thread has such a number: PID_MAX_LIMIT is 4194304. */
static void a_word_of_nobody_is_told_at_once(void **state)
{
	_Atomic uint32_t *word = gkf_locks_word(locks, 2);

	(void)state;
	atomic_store(word, 4194304);
	assert_int_equal(gkf_locks_take(locks, 2, 0), EBUSY);
	atomic_store(word, 4194305);
	assert_int_equal(gkf_locks_take(locks, 2, 60 * GK_NS_PER_S), EINVAL);
	atomic_store(word, FUTEX_WAITERS | 5);
	assert_int_equal(gkf_locks_take(locks, 2, 0), EBUSY);
	assert_false(gkf_locks_is_mine(locks, 2));
	/* The failed attempt claims nothing. */
	atomic_store(word, 0);
	assert_int_equal(gkf_locks_take(locks, 2, 0), 0);
	gkf_locks_release(locks, 2);
}

static void an_overwritten_word_is_given_back_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(gkf_locks_take(locks, 0, 0), 0);
	atomic_store(gkf_locks_word(locks, 0), 4242);
	assert_false(gkf_locks_is_mine(locks, 0));
	gkf_locks_release(locks, 0);
	assert_int_equal(atomic_load(gkf_locks_word(locks, 0)), 0);
	take_in_child(0, true);
	assert_int_equal(gkf_locks_take(locks, 0, 0), 0);
	gkf_locks_release(locks, 0);
}

int main(void)
{
#define SHARED(name)                                                           \
	cmocka_unit_test_setup_teardown(name, open_shared, close_locks)
#define T(name) cmocka_unit_test_setup_teardown(name, open_locks, close_locks)
	const struct CMUnitTest tests[] = {
	    T(one_that_is_held_is_not_taken_again),
	    T(nor_by_another_thread),
	    T(a_child_claims_nothing),
	    cmocka_unit_test(they_lie_on_pages_behind_the_rest),
	    cmocka_unit_test(whoever_has_the_file_has_the_same_locks),
	    SHARED(the_lock_of_the_dead_is_taken_and_told),
	    SHARED(what_another_keeps_is_waited_for_as_long_as_wanted),
	    SHARED(a_word_of_nobody_is_told_at_once),
	    SHARED(an_overwritten_word_is_given_back_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
