/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - gives each test a fake machine of its own: in a fresh directory,
 * selected by GPUKIT_MACHINE, deleted at the end.
 */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct gkf_file;
struct gkf_machine;
struct gkf_machine_spec;
struct gkf_profile;
struct gkf_wave;

struct fixture {
	char dir[64], path[80];
	struct gkf_machine *m;
	struct gkf_file *file;
};

/* Makes a machine from a spec. conftest.py removes those of dead processes. */
void fixture_open_spec(struct fixture *fx, const struct gkf_machine_spec *spec);

/* A machine of `count` GPUs. */
void fixture_open_of(struct fixture *fx, const struct gkf_profile *profiles,
		     unsigned count);

/* A machine of `count` default GPUs. */
void fixture_open(struct fixture *fx, unsigned count);

/* Programs that open the machine from now on see this driver version. */
void fixture_set_driver(struct fixture *fx, const char *version);

void fixture_close(struct fixture *fx);

/* A process that holds bytes on a device until fixture_end() or its death. */
struct resident {
	pid_t pid;
};
struct resident fixture_resident(struct fixture *fx, unsigned device,
				 unsigned types, uint64_t bytes,
				 const struct gkf_wave *wave);

/* Waits for a child and checks its exit code. */
static inline void fixture_await(pid_t pid, int code)
{
	int status;

	assert_true(waitpid(pid, &status, 0) > 0);
	assert_int_equal(status, code << 8);
}

/* Ends a resident and reaps it. */
void fixture_end(struct resident *r);

#endif
