/* SPDX-License-Identifier: Apache-2.0 */
/* where.c - finds files that were installed with the command. */
#include "cli/where.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Returns the prefix of the installation: the command's directory without
 * GK_BINDIR at its end, which may consist of several names.
 */
static int find_prefix(char *ret_path, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", ret_path, cap - 1);
	int names =
	    2; /* the command's own name, and the last part of GK_BINDIR */

	if (n < 0)
		return gk_err_from_errno(errno);
	ret_path[n] = '\0';
	for (const char *at = GK_BINDIR; *at; at++)
		names += *at == '/';
	for (; names; names--) {
		char *slash = strrchr(ret_path, '/');

		if (!slash)
			return GK_ERR_NOT_FOUND;
		*slash = '\0';
	}
	return 0;
}

/*
 * Returns the path of a file. `place` is a directory, absolute or below the
 * prefix.
 */
static int find_installed(const char *place, const char *name, char *ret_path,
			  size_t cap)
{
	char prefix[PATH_MAX] = "";
	int r = *place == '/' ? 0 : find_prefix(prefix, sizeof prefix);

	if (r)
		return r;
	if ((size_t)snprintf(ret_path, cap, "%s%s%s/%s", prefix,
			     *place == '/' ? "" : "/", place, name) >= cap)
		return GK_ERR_RANGE;
	return 0;
}

int gk_where_library(const char *name, char *ret_path, size_t cap)
{
	return find_installed(GK_LIBDIR "/gpukit", name, ret_path, cap);
}

int gk_where_data(const char *name, char *ret_path, size_t cap)
{
	return find_installed(GK_DATADIR "/gpukit", name, ret_path, cap);
}

int gk_where_command(char *ret_path, size_t cap)
{
	return find_installed(GK_BINDIR, "gpukit", ret_path, cap);
}

int gk_where_profiles(char *ret_path, size_t cap)
{
	const char *dir = getenv("GPUKIT_PROFILES");

	if (!dir || !*dir)
		return gk_where_data("profiles", ret_path, cap);
	return gk_str_copy(ret_path, cap, dir) < cap ? 0 : GK_ERR_RANGE;
}
