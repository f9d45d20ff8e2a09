/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserve_tree.h - a file of reservations in a directory of the test's own.
 */
#ifndef TESTS_CORE_RESERVE_H
#define TESTS_CORE_RESERVE_H

#include "base/clock.h"
#include "core/choose/reserve.h"
#include "unit.h"

#include <gpukit/gpukit.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAR (gk_mono_ns() + 60 * GK_NS_PER_S)

static char dir[64], path[96];
static struct gk_reserve_bar bar;

static inline int reserve_setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/gpukit-reserve-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/file", dir);
	memset(&bar, 0xee, sizeof bar);
	return 0;
}

static inline int reserve_teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
	return 0;
}

/* Opens it for reserving, which must work without an obstacle. */
static inline int take_file(void)
{
	int fd;

	assert_int_equal(gk_reserve_open(path, true, &fd, &bar), 0);
	assert_true(fd >= 0);
	assert_int_equal(bar.kind, GK_BAR_NONE);
	return fd;
}

static inline void check_bar(enum gk_reserve_bar_kind kind, uid_t owner,
			     mode_t mode)
{
	assert_int_equal(bar.kind, kind);
	assert_int_equal(bar.owner, owner);
	assert_int_equal(bar.mode, mode);
	assert_int_equal(bar.error, 0);
	assert_int_equal(bar.holder, 0);
}

#define RESERVE_TEST(name)                                                     \
	cmocka_unit_test_setup_teardown(name, reserve_setup, reserve_teardown)

#endif
