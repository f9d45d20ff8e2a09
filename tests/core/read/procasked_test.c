/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procasked_test.c - checks facts of processes that are read from /proc only
 * when asked for.
 */
#include "proc_tree.h"

#include <stdint.h>
#include <stddef.h>
#include <sys/wait.h>

static void io_says(const char *read, const char *written)
{
	char text[256];

	snprintf(text, sizeof text,
		 "rchar: 7\nwchar: 8\nsyscr: 1\nsyscw: 2\nread_bytes: %s\n"
		 "write_bytes: %s\ncancelled_write_bytes: 9\n",
		 read, written);
	tree_text(&tree, "42/io", text);
}

static void all_of_a_process_is_read_when_asked_for(void **state)
{
	static const char environ[] = "A=1\0XRANK=9\0RANK=3\0SLURM_PROCID=5";
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'D', 7, 0, 0, 5, 1});
	tree_write(&tree, "42/environ", environ, sizeof environ);
	io_says("4096", "8192");
	assert_int_equal(symlinkat("/srv/a\nb", tree.fd, "42/cwd"), 0);
	p = look(42, 10, GK_WITH_PROCESS_ALL);
	assert_int_equal(p.stat, 'D');
	assert_int_equal(p.m[GK_PM_THREADS].v, 1);
	assert_int_equal(p.m[GK_PM_PRIORITY].v, 20);
	assert_int_equal(p.m[GK_PM_NICE].v, 0);
	assert_int_equal(p.m[GK_PM_IO_READ].v, 4096);
	assert_int_equal(p.m[GK_PM_IO_WRITTEN].v, 8192);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].why, GK_ABSENT_ONE_SNAPSHOT);
	assert_int_equal(p.m[GK_PM_RANK].why, GK_PRESENT);
	assert_int_equal(p.m[GK_PM_RANK].v, 3);
	assert_int_equal(p.cwd_why, GK_PRESENT);
	assert_string_equal(p.cwd, "/srv/a?b");
}

static void none_of_it_is_read_when_not_asked_for(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	tree_text(&tree, "42/environ", "RANK=3");
	io_says("4096", "8192");
	assert_int_equal(symlinkat("/srv", tree.fd, "42/cwd"), 0);
	p = look(42, 10, 0);
	for (int i = 0; i < GK_PM_COUNT; i++)
		if (gk_process_metrics[i].tier == GK_TIER_HOST_ASKED)
			assert_int_equal(p.m[i].why, GK_ABSENT_NOT_READ);
	assert_int_equal(p.cwd_why, GK_ABSENT_NOT_READ);
	assert_string_equal(p.cwd, "");
	p = look(42, 11, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ].v, 4096);
	assert_int_equal(p.m[GK_PM_RANK].why, GK_ABSENT_NOT_READ);
	assert_int_equal(p.m[GK_PM_THREADS].why, GK_ABSENT_NOT_READ);
}

static void io_rates_are_the_difference_of_two_snapshots(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	io_says("1000", "500");
	look(42, 10, GK_WITH_IO);
	io_says("5000", "900");
	p = look(42, 12, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].why, GK_PRESENT);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].v, 2000);
	assert_int_equal(p.m[GK_PM_IO_WRITE_RATE].why, GK_PRESENT);
	assert_int_equal(p.m[GK_PM_IO_WRITE_RATE].v, 200);
	/* It was not asked for meanwhile: the previous value is too old. */
	look(42, 13, 0);
	p = look(42, 14, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].why, GK_ABSENT_ONE_SNAPSHOT);
	/* A count that goes back gives a rate of 0. */
	io_says("1", "1");
	p = look(42, 15, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].v, 0);
	/* A recycled pid. */
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 6, 1});
	p = look(42, 16, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].why, GK_ABSENT_ONE_SNAPSHOT);
}

/*
 * Large numbers do not become negative, and a file cut in half gives no value.
 */
static void io_is_whole_or_absent(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	io_says("18446744073709551615", "9223372036854775808");
	p = look(42, 10, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ].v, INT64_MAX);
	assert_int_equal(p.m[GK_PM_IO_WRITTEN].v, INT64_MAX);
	tree_text(&tree, "42/io", "read_bytes: 5\n");
	p = look(42, 11, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_IO_WRITTEN].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_IO_WRITE_RATE].why, GK_ABSENT_HIDDEN);
	tree_text(&tree, "42/io", "xread_bytes: 5\nwrite_bytes: 6\n");
	assert_int_equal(look(42, 12, GK_WITH_IO).m[GK_PM_IO_READ].why,
			 GK_ABSENT_HIDDEN);
	/* The earlier value is no base for a rate. */
	io_says("10", "10");
	p = look(42, 13, GK_WITH_IO);
	assert_int_equal(p.m[GK_PM_IO_READ].v, 10);
	assert_int_equal(p.m[GK_PM_IO_READ_RATE].why, GK_ABSENT_ONE_SNAPSHOT);
}

static const struct {
	const char *environ;
	int64_t rank; /* -1: none */
} ranks[] = {
    {"RANK=0", 0},
    {"RANK=17;SLURM_PROCID=5;OMPI_COMM_WORLD_RANK=4;PMI_RANK=3", 17},
    {"SLURM_PROCID=5;OMPI_COMM_WORLD_RANK=4;PMI_RANK=3", 4},
    {"SLURM_PROCID=5;PMI_RANK=3", 3},
    {"A=b;SLURM_PROCID=5;C=d", 5},
    {"LOCAL_RANK=5", -1},
    {"RANK=", -1},
    {"RANK=high", -1},
    {"RANK=-1", -1},
    {"RANK=x;PMI_RANK=2", 2},
    {"", -1},
};

static void ranks_are_found_in_their_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT(ranks); i++) {
		char bytes[128];
		size_t len = strlen(ranks[i].environ);
		struct gk_value rank;

		memcpy(bytes, ranks[i].environ, len + 1);
		for (size_t c = 0; c < len; c++)
			if (bytes[c] == ';')
				bytes[c] = '\0';
		tree_stat(&tree,
			  (struct tree_stat){42, "x", 'S', 7, 0, 0, 5 + i, 1});
		tree_write(&tree, "42/environ", bytes, len);
		rank = look(42, 10 + i, GK_WITH_RANK).m[GK_PM_RANK];
		if (ranks[i].rank < 0) {
			assert_int_equal(rank.why, GK_ABSENT_NONE);
			continue;
		}
		assert_int_equal(rank.why, GK_PRESENT);
		assert_int_equal(rank.v, ranks[i].rank);
	}
}

static void a_rank_behind_a_long_environment_is_found(void **state)
{
	enum { LONG = 200000 };
	char *bytes = malloc(LONG);

	(void)state;
	memset(bytes, 'x', LONG);
	bytes[1000] = '\0';
	bytes[150000] = '\0';
	memcpy(bytes + LONG - 8, "\0RANK=77", 8);
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	tree_write(&tree, "42/environ", bytes, LONG);
	assert_int_equal(look(42, 10, GK_WITH_RANK).m[GK_PM_RANK].v, 77);
	free(bytes);
}

/* A launcher forks and then execs a program with a rank. */
static void a_rank_that_comes_later_is_seen(void **state)
{
	struct gk_value rank = {.why = GK_ABSENT_ERROR};

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	tree_text(&tree, "42/environ", "A=b");
	rank = look(42, 10, GK_WITH_RANK).m[GK_PM_RANK];
	assert_int_equal(rank.why, GK_ABSENT_NONE);
	tree_text(&tree, "42/environ", "RANK=2");
	/* For ten snapshots the absence is not checked. */
	for (unsigned i = 0; i < 10; i++) {
		rank = look(42, 11 + i, GK_WITH_RANK).m[GK_PM_RANK];
		assert_int_equal(rank.why, GK_ABSENT_NONE);
	}
	rank = look(42, 21, GK_WITH_RANK).m[GK_PM_RANK];
	assert_int_equal(rank.why, GK_PRESENT);
	assert_int_equal(rank.v, 2);
	/* Once found it stays, and is not read again. */
	assert_int_equal(unlinkat(tree.fd, "42/environ", 0), 0);
	rank = look(42, 30, GK_WITH_RANK).m[GK_PM_RANK];
	assert_int_equal(rank.v, 2);
}

static void what_is_not_there_says_why(void **state)
{
	struct gk_process p;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	p = look(42, 10, GK_WITH_PROCESS_ALL);
	assert_int_equal(p.m[GK_PM_IO_READ].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_IO_WRITE_RATE].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_RANK].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.cwd_why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_THREADS].why, GK_PRESENT);
	p = look(43, 10, GK_WITH_PROCESS_ALL);
	assert_int_equal(p.state, GK_PROCESS_GONE);
	assert_int_equal(p.m[GK_PM_THREADS].why, GK_ABSENT_HIDDEN);
	assert_int_equal(p.m[GK_PM_RANK].why, GK_ABSENT_HIDDEN);
}

/* The kernel shows stat of another user's process, and little more. */
static void what_is_not_permitted_says_so(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	tree_text(&tree, "42/environ", "RANK=2");
	io_says("1", "2");
	chmod(tree.path, 0755);
	assert_int_equal(fchmodat(tree.fd, "42/environ", 0, 0), 0);
	assert_int_equal(fchmodat(tree.fd, "42/io", 0, 0), 0);
	pid = fork();
	if (!pid) {
		struct gk_process p;

		if (geteuid() == 0 && setresuid(12345, 12345, 12345))
			_exit(9);
		p = look(42, 100, GK_WITH_PROCESS_ALL);
		_exit(p.m[GK_PM_THREADS].why != GK_PRESENT             ? 1
		      : p.m[GK_PM_IO_READ].why != GK_ABSENT_PERMISSION ? 2
		      : p.m[GK_PM_RANK].why != GK_ABSENT_PERMISSION    ? 3
								       : 0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void a_pod_is_told_by_its_cgroup(void **state)
{
	(void)state;
	tree_stat(&tree, (struct tree_stat){42, "x", 'S', 7, 0, 0, 5, 1});
	tree_text(&tree, "42/cgroup",
		  "0::/kubepods/burstable/"
		  "pod8dc9e1a4-5c0b-4d4e-9f0a-0123456789ab/cafe\n");
	assert_string_equal(look(42, 10, 0).pod,
			    "8dc9e1a4-5c0b-4d4e-9f0a-0123456789ab");
	tree_text(&tree, "42/cgroup", "0::/lxc/box\n");
	assert_string_equal(look(42, 20, 0).pod, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(all_of_a_process_is_read_when_asked_for),
	    T(none_of_it_is_read_when_not_asked_for),
	    T(io_rates_are_the_difference_of_two_snapshots),
	    T(io_is_whole_or_absent),
	    T(ranks_are_found_in_their_order),
	    T(a_rank_behind_a_long_environment_is_found),
	    T(a_rank_that_comes_later_is_seen),
	    T(what_is_not_there_says_why),
	    T(what_is_not_permitted_says_so),
	    T(a_pod_is_told_by_its_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
