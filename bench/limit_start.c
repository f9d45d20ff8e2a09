/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_start.c - what a preloaded library costs a program that never uses a
 * GPU: limit_start ROUNDS LIBRARY... runs /bin/true without a library and with
 * each, one after the other each round. Prints a line for each, "LEAST_US
 * MEDIAN_US".
 */
#include "base/clock.h"

#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { ROUNDS_MAX = 10000, LIBRARIES_MAX = 8 };

static uint64_t took[LIBRARIES_MAX + 1][ROUNDS_MAX];

static uint64_t run(const char *library)
{
	char preload[4096], program[] = "/bin/true";
	char *argv[] = {program, NULL}, *env[] = {preload, NULL};
	uint64_t began = gk_mono_ns();
	int status;
	pid_t pid;

	snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
	if (posix_spawn(&pid, program, NULL, NULL, argv, env) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "limit_start: /bin/true fails\n");
		exit(1);
	}
	return gk_mono_ns() - began;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	int libraries = argc - 2;

	if (rounds < 1 || rounds > ROUNDS_MAX || libraries > LIBRARIES_MAX)
		return 2;
	for (int i = 0; i < rounds; i++)
		for (int k = 0; k <= libraries; k++)
			took[k][i] = run(k ? argv[k + 1] : "");
	for (int k = 0; k <= libraries; k++) {
		qsort(took[k], (size_t)rounds, sizeof **took, compare);
		printf("%.2f %.2f\n", (double)took[k][0] / 1e3,
		       (double)took[k][rounds / 2] / 1e3);
	}
	return 0;
}
