/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alone.h - runs each test in a process of its own, since CUDA is initialised
 * once in a process: the program runs itself again with the test's name.
 */
#ifndef TESTS_CUDA_ALONE_H
#define TESTS_CUDA_ALONE_H

#include "fronts/cuda/cuda_test.h"

#include <spawn.h>

struct alone {
	const char *name;
	void (*body)(struct fixture *fx);
};

#define ALONE(test)                                                            \
	{                                                                      \
#test, test                                                    \
	}

extern char **environ;

static inline void run_alone(void **state)
{
	const struct alone *test = *state;
	char own[] = "alone",
	     *argv[] = {own, (char *)(uintptr_t)test->name, NULL};
	int status = -1;
	pid_t child;

	assert_int_equal(
	    posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ),
	    0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		fail_msg("%s: status %#x", test->name, status);
}

/*
 * Makes a machine of two A100 unless the test makes another one; CUDA is not
 * initialised.
 */
static inline void body_alone(void **state)
{
	const struct alone *test = *state;
	struct fixture fx;

	fixture_open(&fx, 2);
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("CUDA_DEVICE_ORDER");
	cuda_load(CUDA_FRONT);
	test->body(&fx);
	fixture_close(&fx);
}

/* The main() of a file of such tests. */
static inline int alone_main(int argc, char **argv, const struct alone *tests,
			     size_t count)
{
	struct CMUnitTest *rows = calloc(count, sizeof(*rows));
	int failed;

	for (size_t i = 0; i < count; i++) {
		rows[i] = (struct CMUnitTest){
		    .name = tests[i].name,
		    .test_func = argc > 1 ? body_alone : run_alone,
		    .initial_state = (void *)(uintptr_t)&tests[i],
		};
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = _cmocka_run_group_tests("cuda", rows, count, NULL, NULL);
	free(rows);
	return failed;
}

#define ALONE_MAIN(tests)                                                      \
	int main(int argc, char **argv)                                        \
	{                                                                      \
		return alone_main(argc, argv, tests,                           \
				  sizeof(tests) / sizeof(*(tests)));           \
	}

#endif
