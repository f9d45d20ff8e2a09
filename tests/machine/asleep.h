/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asleep.h - waits until the other threads of this process sleep.
 *
 * A thread that waits without working is asleep. That is a state, which the
 * load of the host does not change; CPU time would depend on that load.
 */
#ifndef GK_TESTS_ASLEEP_H
#define GK_TESTS_ASLEEP_H

#include "base/clock.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* Whether a thread of this process sleeps: S in its line, behind its name. */
static inline bool thread_sleeps(const char *tid)
{
	char path[64], line[512] = "";
	const char *name_end;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return true; /* it has ended */
	line[fread(line, 1, sizeof line - 1, f)] = '\0';
	fclose(f);
	name_end = strrchr(line, ')');
	return name_end && !strncmp(name_end, ") S", 3);
}

/* The number of the other threads that sleep; -1: not all do. */
static inline int others_asleep(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char self[24];
	int n = 0;

	assert_non_null(dir);
	snprintf(self, sizeof self, "%ld", syscall(SYS_gettid));
	while (n >= 0 && (entry = readdir(dir)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, self))
			n = thread_sleeps(entry->d_name) ? n + 1 : -1;
	closedir(dir);
	return n;
}

/* Waits until all others slept in ten looks in a row: none works all the time,
 * and none works half of it. */
static inline void await_others_asleep(void)
{
	uint64_t end = gk_mono_ns() + 30 * GK_NS_PER_S;

	for (int looks = 0; looks < 10; looks++) {
		if (others_asleep() < 1)
			looks = -1;
		assert_true(gk_mono_ns() < end);
		usleep(1000);
	}
}

#endif
