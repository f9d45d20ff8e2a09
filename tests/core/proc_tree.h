/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_tree.h - a made-up /proc and a reader of it, for tests of both.
 */
#ifndef TESTS_CORE_PROC_TREE_H
#define TESTS_CORE_PROC_TREE_H

#include "base/clock.h"
#include "core/read/procfs.h"
#include "tree.h"

#include <sys/types.h>

static struct tree tree;
static struct gk_procfs *fs;
static struct gk_arena arena;
static uint64_t tick_ns;

static int setup(void **state)
{
	(void)state;
	tree_make(&tree);
	assert_int_equal(gk_procfs_open(tree.fd, &fs), 0);
	assert_int_equal(gk_procfs_dir(fs), tree.fd);
	tick_ns = GK_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_procfs_close(fs);
	gk_arena_free(&arena);
	/* The directory belongs to the caller. */
	assert_true(fcntl(tree.fd, F_GETFD) >= 0);
	tree_remove(&tree);
	return 0;
}

/* Reads one process for a snapshot, at a moment in seconds. */
static struct gk_process look(pid_t pid, uint64_t at_s, unsigned with)
{
	struct gk_process p = {.pid = pid};

	gk_procfs_begin(fs, at_s * GK_NS_PER_S, at_s * GK_NS_PER_S);
	gk_procfs_read(fs, with, &arena, &p);
	gk_procfs_end(fs);
	return p;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
