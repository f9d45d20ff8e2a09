/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - runs a command once, its input and output /dev/null, and prints
 * what it cost:
 *
 *     wall_ns cpu_ns rss_kib status
 *
 * A program of its own because a child starts with the peak memory of the
 * process that started it: this one has little.
 */
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * GK_NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

static int run(char **argv, struct rusage *usage, int *ret_status)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return err;
	while (wait4(pid, ret_status, 0, usage) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t began, wall;
	int status, err;

	if (argc < 2) {
		fprintf(stderr, "usage: measure COMMAND [ARGUMENT...]\n");
		return 2;
	}
	began = gk_mono_ns();
	err = run(argv + 1, &usage, &status);
	wall = gk_mono_ns() - began;
	if (err) {
		fprintf(stderr, "measure: %s: %s\n", argv[1], strerror(err));
		return 1;
	}
	printf("%" PRIu64 " %" PRIu64 " %ld %d\n", wall,
	       ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime), usage.ru_maxrss,
	       WIFEXITED(status) ? WEXITSTATUS(status)
				 : 128 + WTERMSIG(status));
	return 0;
}
