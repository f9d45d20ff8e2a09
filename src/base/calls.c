/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - closes descriptors, on old kernels one by one. */
#include "base/calls.h"

#include <dirent.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool close_listed(unsigned first)
{
	DIR *list = opendir("/proc/thread-self/fd");
	const struct dirent *entry;

	if (!list)
		return false;
	while ((entry = readdir(list))) {
		int fd = *entry->d_name == '.' ? -1 : atoi(entry->d_name);

		if (fd >= (int)first && fd != dirfd(list))
			close(fd);
	}
	closedir(list);
	return true;
}

bool gk_descriptors_close(unsigned first, bool apart)
{
	/*
	 * A container's seccomp filter may make this call fail with any error.
	 */
	if (!syscall(SYS_close_range, first, ~0U,
		     apart ? CLOSE_RANGE_UNSHARE : 0))
		return true;
	return (!apart || !unshare(CLONE_FILES)) && close_listed(first);
}
