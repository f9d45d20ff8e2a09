/* SPDX-License-Identifier: Apache-2.0 */
/*
 * can.h - what a machine or a container may lack. A test that tried it and
 * cannot have it says so and is skipped; tests/may-skip.txt has a row for each,
 * cannot:NAME, as for tests/can.py.
 */
#ifndef TESTS_CAN_H
#define TESTS_CAN_H

#include "unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Leaves the test: `name` is not available, with the reason. */
#define CANNOT(name, why)                                                      \
	do {                                                                   \
		print_message("cannot:%s: %s\n", name, why);                   \
		skip();                                                        \
	} while (0)

/* Leaves a test that needs other users' files, or to be another user. */
static inline void need_root(void)
{
	if (geteuid())
		CANNOT("other-users", "only root can become another user");
}

#endif
