/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart_test.h - the runtime as a program links it, on the scripted driver. A
 * process starts it once: a test with another start runs in a child.
 */
#ifndef TESTS_CUDART_TEST_H
#define TESTS_CUDART_TEST_H

#include "abi/cudart/cudart_abi.h"
#include "fronts/cudart/scripted.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define assert_cuda(call, result) assert_int_equal((int)(call), cuda##result)

/* cmocka does not report a failure in a child, so it is printed here. */
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#condition);                                   \
			_exit(1);                                              \
		}                                                              \
	} while (0)
#define CHECK_CUDA(call, result)                                               \
	do {                                                                   \
		cudaError_t told = (call);                                     \
		if (told != cuda##result) {                                    \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, \
				#call, (int)told);                             \
			_exit(1);                                              \
		}                                                              \
	} while (0)

static inline void in_child(void (*work)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#endif
