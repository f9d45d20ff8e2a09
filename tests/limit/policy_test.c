/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_test.c - checks the policy's page: changes are complete, seen by all,
 * and survive the death of their writer.
 */
#include "base/clock.h"
#include "base/err.h"
#include "limit/fixture.h"
#include "limit/policy.h"
#include "stepping.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char dir[64], path[96];
static struct gkl_policy_page *page, *writer;

/* A policy whose words are all made from one number. */
static struct gkl_policy make_policy(uint64_t number)
{
	struct gkl_policy p = {.rule = number % 4, .priority = number};

	for (int i = 0; i < GKL_DEVICES; i++) {
		p.memory[i] = number;
		p.compute[i] = number % 100;
	}
	p.suspended = p.contexts_free = number;
	p.oversubscribe = p.oom_killer = number;
	return p;
}

static uint64_t number_of(const struct gkl_policy *p)
{
	struct gkl_policy wanted = make_policy(p->memory[0]);

	assert_memory_equal(p, &wanted, sizeof wanted);
	return p->memory[0];
}

static uint64_t read_number(void)
{
	struct gkl_policy p;

	gkl_policy_read(page, &p);
	return number_of(&p);
}

static int open_it(void **state)
{
	struct gkl_policy first = make_policy(1);

	(void)state;
	strcpy(dir, "/dev/shm/gpukit-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/policy", dir);
	return gkl_policy_make(path, GKL_PRIVATE, &first, &page) ||
	       gkl_policy_open(path, GKL_PRIVATE, true, &writer);
}

static int close_it(void **state)
{
	(void)state;
	gkl_policy_close(page);
	gkl_policy_close(writer);
	unlink(path);
	rmdir(dir);
	return 0;
}

static void write_number(uint64_t number)
{
	struct gkl_policy p = make_policy(number);

	assert_int_equal(gkl_policy_write(writer, &p), 0);
}

static void a_change_is_seen_by_all_who_map_it(void **state)
{
	uint32_t version = gkl_policy_version(page);

	(void)state;
	assert_int_equal(read_number(), 1);
	assert_int_equal(gkl_policy_version(page), version);
	write_number(2);
	assert_int_not_equal(gkl_policy_version(page), version);
	assert_int_equal(read_number(), 2);
	/* A later process with another initial policy gets the existing one. */
	struct gkl_policy other = make_policy(3);
	gkl_policy_close(page);
	assert_int_equal(gkl_policy_make(path, GKL_PRIVATE, &other, &page), 0);
	assert_int_equal(read_number(), 2);
}

static void who_only_reads_cannot_write(void **state)
{
	struct gkl_policy p = make_policy(9);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(gkl_policy_write(page, &p), GK_ERR_PERMISSION);
	pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile char *)page = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(read_number(), 1);
}

static void the_file_is_the_owners_and_in_hamis_directory_for_all(void **state)
{
	struct gkl_policy first = make_policy(1);
	struct gkl_policy_page *other;
	char common[96];
	struct stat st;
	mode_t mask = umask(077);

	(void)state;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	snprintf(common, sizeof common, "%s/common", dir);
	assert_int_equal(gkl_policy_make(common, GKL_COMMON, &first, &other),
			 0);
	assert_int_equal(umask(mask), 077);
	assert_int_equal(stat(common, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	gkl_policy_close(other);
	unlink(common);
}

static void shares_and_rules_out_of_range_are_bounded(void **state)
{
	struct gkl_policy p = make_policy(1);

	(void)state;
	p.compute[3] = 101;
	p.compute[4] = UINT64_MAX;
	p.compute[5] = 100;
	p.rule = 77;
	assert_int_equal(gkl_policy_write(writer, &p), 0);
	gkl_policy_read(page, &p);
	assert_int_equal(p.compute[3], 100);
	assert_int_equal(p.compute[4], 100);
	assert_int_equal(p.compute[5], 100);
	assert_int_equal(p.compute[6], 1);
	assert_int_equal(p.rule, GKL_FIXED);
}

static void another_magic_is_no_policy(void **state)
{
	struct gkl_policy_page *other;

	(void)state;
	*(uint64_t *)writer ^= 1;
	assert_int_equal(gkl_policy_open(path, GKL_PRIVATE, false, &other),
			 GK_ERR_CORRUPT);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(gkl_policy_open(path, GKL_PRIVATE, false, &other),
			 GK_ERR_CORRUPT);
}

/* A child that writes 2, 3, ... without end. */
static void write_all_the_time(void)
{
	struct gkl_policy_page *own;

	if (gkl_policy_open(path, GKL_PRIVATE, true, &own))
		_exit(1);
	for (uint64_t n = 2;; n++) {
		struct gkl_policy p = make_policy(n);

		gkl_policy_write(own, &p);
	}
}

static void a_reader_never_sees_half_of_a_change(void **state)
{
	pid_t pid[2];
	uint64_t end;

	(void)state;
	pid[0] = start_child(write_all_the_time);
	pid[1] = start_child(write_all_the_time);
	end = gk_mono_ns() + GK_NS_PER_S / 2;
	while (gk_mono_ns() < end)
		read_number();
	for (int i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
	}
	/* Their locks have died with them. */
	write_number(7);
	assert_int_equal(read_number(), 7);
}

static char before[2 * sizeof(struct gkl_policy) + 64];

static bool changed(void)
{
	if (!memcmp(before, page, sizeof before))
		return false;
	memcpy(before, page, sizeof before);
	return true;
}

static pid_t start_writing(void)
{
	struct gkl_policy p = make_policy(2);
	pid_t pid = fork();

	if (!pid) {
		struct gkl_policy_page *own;

		if (gkl_policy_open(path, GKL_PRIVATE, true, &own))
			_exit(1);
		TRACED(gkl_policy_write(own, &p));
	}
	await_start(pid);
	return pid;
}

static void
a_writer_killed_behind_any_store_leaves_the_old_or_the_new(void **state)
{
	struct site sites[STORES_MAX];
	unsigned int stores, old = 0, new = 0;
	pid_t pid;

	(void)state;
	if (!CAN_RECORD)
		skip();
	/* Both copies are full, so that the same words change each time. */
	write_number(1);
	write_number(1);
	pid = start_writing();
	stores = record(pid, sites, changed);
	end(pid);
	assert_int_equal(read_number(), 2);
	for (unsigned int k = 0; k < stores; k++) {
		write_number(1);
		write_number(1);
		pid = start_writing();
		run_to(pid, &sites[k]);
		read_number() == 2 ? new ++ : old++;
		end(pid);
		read_number();
	}
	/* The last store alone makes the new policy current. */
	assert_int_equal(new, 1);
	assert_int_equal(old, stores - 1);
	assert_true(stores > sizeof(struct gkl_policy) / 8);
}

static void a_sleeper_wakes_when_the_policy_changes(void **state)
{
	uint32_t version = gkl_policy_version(page);
	uint64_t begin = gk_mono_ns();
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		while (gkl_policy_version(page) == version)
			gkl_policy_wait(page, version, 60 * GK_NS_PER_S);
		_exit(0);
	}
	write_number(5);
	await_end(pid, 0);
	/*
	 * A waiter that has seen an old version does not sleep; no waiter
	 * sleeps for ever.
	 */
	gkl_policy_wait(page, version, 60 * GK_NS_PER_S);
	gkl_policy_wait(page, gkl_policy_version(page), GK_NS_PER_MS);
	assert_true(gk_mono_ns() - begin < 30 * GK_NS_PER_S);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_change_is_seen_by_all_who_map_it),
	    T(who_only_reads_cannot_write),
	    T(the_file_is_the_owners_and_in_hamis_directory_for_all),
	    T(shares_and_rules_out_of_range_are_bounded),
	    T(another_magic_is_no_policy),
	    T(a_reader_never_sees_half_of_a_change),
	    T(a_writer_killed_behind_any_store_leaves_the_old_or_the_new),
	    T(a_sleeper_wakes_when_the_policy_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
