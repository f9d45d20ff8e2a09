/* where.c - finds the files that were installed with the command. */
#include "cli/where.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gk_where(const char *relative, char *ret_path, size_t cap)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

	if (n < 0)
		return gk_err_from_errno(errno);
	exe[n] = '\0';
	/* Twice: the file, then bin/. */
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(exe, '/');

		if (!slash)
			return GK_ERR_NOT_FOUND;
		*slash = '\0';
	}
	if ((size_t)snprintf(ret_path, cap, "%s/%s", exe, relative) >= cap)
		return GK_ERR_RANGE;
	return 0;
}

int gk_where_profiles(char *ret_path, size_t cap)
{
	const char *dir = getenv("GPUKIT_PROFILES");

	if (!dir || !*dir)
		return gk_where("share/gpukit/profiles", ret_path, cap);
	return gk_str_copy(ret_path, cap, dir) < cap ? 0 : GK_ERR_RANGE;
}
