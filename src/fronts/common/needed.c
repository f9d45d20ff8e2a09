/* SPDX-License-Identifier: Apache-2.0 */
/* needed.c - opens third-party libraries, or our own in their place. */
#include "fronts/common/needed.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Finds the path of a file in the directory of our library, which contains this
 * code.
 */
static bool path_beside(const char *file, char ret_path[PATH_MAX])
{
	Dl_info own;
	const char *slash = NULL;
	int n;

	if (dladdr(needed_libraries, &own) && own.dli_fname)
		slash = strrchr(own.dli_fname, '/');
	if (!slash)
		return false;
	n = snprintf(ret_path, PATH_MAX, "%.*s/%s",
		     (int)(slash - own.dli_fname), own.dli_fname, file);
	return n > 0 && n < PATH_MAX;
}

void *needed_open(enum needed_id id)
{
	const struct needed *needed = &needed_libraries[id];
	void *library = dlopen(needed->file, RTLD_NOW | RTLD_LOCAL);
	char path[PATH_MAX];

	if (library || !path_beside(needed->inside, path) || access(path, R_OK))
		return library;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
