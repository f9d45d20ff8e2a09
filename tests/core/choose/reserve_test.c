/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve_test.c - checks reservations by locks on a file: who holds what, and
 * the section.
 */
#include "core/reserve_tree.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static enum gk_reserve_hold held(int fd, const char *scope, const char *uuid)
{
	memset(&bar, 0xee, sizeof bar);
	return gk_reserve_held(fd, scope, uuid, &bar);
}

static void one_holds_a_device_at_a_time(void **state)
{
	int a = take_file(), b = take_file();

	(void)state;
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_NONE);
	assert_int_equal(gk_reserve_take(a, "", "GPU-1"), 0);
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_RESERVED);
	assert_int_equal(gk_reserve_take(b, "", "GPU-1"), GK_ERR_IN_USE);
	/* A process's own reservation does not block it. */
	assert_int_equal(held(a, "", "GPU-1"), GK_HOLD_NONE);
	assert_int_equal(gk_reserve_take(a, "", "GPU-1"), 0);
	/* Another device, and the same UUID on another machine. */
	assert_int_equal(held(b, "", "GPU-2"), GK_HOLD_NONE);
	assert_int_equal(held(b, "m", "GPU-1"), GK_HOLD_NONE);
	assert_int_equal(gk_reserve_take(b, "m", "GPU-1"), 0);
	assert_int_equal(held(a, "m", "GPU-1"), GK_HOLD_RESERVED);
	close(a);
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_NONE);
	assert_int_equal(gk_reserve_take(b, "", "GPU-1"), 0);
	close(b);
}

static void put_lock(int fd, int command, short type, off_t at, off_t len)
{
	struct flock f = {
	    .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = len};

	assert_int_equal(fcntl(fd, command, &f), 0);
}

/* Every version of the program must find them at the same offsets: the first 62
 * bits of FNV-1a of scope, newline and UUID, plus one. */
#define BYTE_OF_GPU_1   4266214917270777869
#define BYTE_OF_M_GPU_1 3075894440931374736

static void the_bytes_of_devices_are_fixed(void **state)
{
	int a = take_file(), b = take_file();

	(void)state;
	put_lock(a, F_OFD_SETLK, F_WRLCK, BYTE_OF_GPU_1, 1);
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_RESERVED);
	assert_int_equal(held(b, "m", "GPU-1"), GK_HOLD_NONE);
	put_lock(a, F_OFD_SETLK, F_UNLCK, BYTE_OF_GPU_1, 1);
	put_lock(a, F_OFD_SETLK, F_WRLCK, BYTE_OF_M_GPU_1, 1);
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_NONE);
	assert_int_equal(held(b, "m", "GPU-1"), GK_HOLD_RESERVED);
	close(a);
	close(b);
}

static void locks_of_another_kind_reserve_nothing(void **state)
{
	int a = take_file(), b = take_file();

	(void)state;
	put_lock(a, F_OFD_SETLK, F_WRLCK, BYTE_OF_GPU_1, 2);
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_FOREIGN);
	check_bar(GK_BAR_LOCK, GK_RESERVE_NOBODY, 0);
	put_lock(a, F_OFD_SETLK, F_UNLCK, 0, 0);
	put_lock(a, F_OFD_SETLK, F_RDLCK, BYTE_OF_GPU_1, 1);
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_FOREIGN);
	check_bar(GK_BAR_LOCK, GK_RESERVE_NOBODY, 0);
	/* The lock is queried as for writing. */
	assert_int_equal(gk_reserve_take(b, "", "GPU-1"), GK_ERR_IN_USE);
	close(a);
	close(b);
}

/* Starts a child that calls act() on the file and stays until it is ended. */
static pid_t start_child(void (*act)(void))
{
	int ready[2];
	char c;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		act();
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return child;
}

static void end_child(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void lock_all_of_it(void)
{
	put_lock(take_file(), F_SETLK, F_WRLCK, 0, 0);
}

static void who_locks_the_file_as_a_whole_is_named(void **state)
{
	int fd = take_file();
	pid_t child = start_child(lock_all_of_it);

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(i ? gk_reserve_enter(fd, 0, &bar)
				   : (int)held(fd, "", "GPU-1"),
				 i ? GK_ERR_TIMEOUT : (int)GK_HOLD_FOREIGN);
		assert_int_equal(bar.kind, GK_BAR_LOCK);
		assert_int_equal(bar.holder, child);
		assert_int_equal(bar.owner, geteuid());
		memset(&bar, 0xee, sizeof bar);
	}
	end_child(child);
	assert_int_equal(held(fd, "", "GPU-1"), GK_HOLD_NONE);
	close(fd);
}

static void reserve_gpu_1(void)
{
	assert_int_equal(gk_reserve_take(take_file(), "", "GPU-1"), 0);
}

static void a_reservation_ends_with_its_holder(void **state)
{
	int fd = take_file();
	pid_t child = start_child(reserve_gpu_1);

	(void)state;
	assert_int_equal(held(fd, "", "GPU-1"), GK_HOLD_RESERVED);
	end_child(child);
	assert_int_equal(held(fd, "", "GPU-1"), GK_HOLD_NONE);
	close(fd);
}

static void what_cannot_lock_says_so(void **state)
{
	int fd;

	(void)state;
	close(take_file());
	assert_int_equal(gk_reserve_open(path, false, &fd, &bar), 0);
	assert_int_equal(gk_reserve_take(fd, "", "GPU-1"), GK_ERR_IO);
	assert_int_equal(gk_reserve_enter(fd, 0, &bar), GK_ERR_IO);
	assert_int_equal(held(-1, "", "GPU-1"), GK_HOLD_NONE);
	close(fd);
}

/* ---- the section ---- */

static void one_is_in_the_section_at_a_time(void **state)
{
	int a = take_file(), b = take_file();
	uint64_t begin;

	(void)state;
	assert_int_equal(gk_reserve_enter(a, 0, &bar), 0);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	assert_int_equal(gk_reserve_enter(b, 0, &bar), GK_ERR_TIMEOUT);
	check_bar(GK_BAR_LOCK, GK_RESERVE_NOBODY, 0);
	begin = gk_mono_ns();
	assert_int_equal(gk_reserve_enter(b, begin + 5 * GK_NS_PER_MS, &bar),
			 GK_ERR_TIMEOUT);
	assert_true(gk_mono_ns() >= begin + 5 * GK_NS_PER_MS);
	/* The section is the first byte, which belongs to no device. */
	assert_int_equal(held(b, "", "GPU-1"), GK_HOLD_NONE);
	gk_reserve_leave(a);
	put_lock(a, F_OFD_SETLK, F_WRLCK, 1, 0);
	assert_int_equal(gk_reserve_enter(b, 0, &bar), 0);
	close(a);
	close(b);
}

static void *enter_later(void *fd)
{
	struct gk_reserve_bar none;

	return (void *)(intptr_t)gk_reserve_enter(*(int *)fd, FAR, &none);
}

static void the_next_enters_when_one_leaves(void **state)
{
	int a = take_file(), b = take_file();
	pthread_t thread;
	void *err;

	(void)state;
	assert_int_equal(gk_reserve_enter(a, 0, &bar), 0);
	assert_int_equal(pthread_create(&thread, NULL, enter_later, &b), 0);
	gk_reserve_leave(a);
	assert_int_equal(pthread_join(thread, &err), 0);
	assert_int_equal((intptr_t)err, 0);
	assert_int_equal(gk_reserve_enter(a, 0, &bar), GK_ERR_TIMEOUT);
	close(b);
	assert_int_equal(gk_reserve_enter(a, 0, &bar), 0);
	close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    RESERVE_TEST(one_holds_a_device_at_a_time),
	    RESERVE_TEST(the_bytes_of_devices_are_fixed),
	    RESERVE_TEST(locks_of_another_kind_reserve_nothing),
	    RESERVE_TEST(who_locks_the_file_as_a_whole_is_named),
	    RESERVE_TEST(a_reservation_ends_with_its_holder),
	    RESERVE_TEST(what_cannot_lock_says_so),
	    RESERVE_TEST(one_is_in_the_section_at_a_time),
	    RESERVE_TEST(the_next_enters_when_one_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
