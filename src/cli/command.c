/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - finds a command and execs it. */
#include "cli/command.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gk_command_find(const char *name, char *ret_path, size_t cap)
{
	const char *dir = getenv("PATH");
	size_t len;

	if (strchr(name, '/'))
		return (size_t)snprintf(ret_path, cap, "%s", name) < cap;
	for (; dir; dir = dir[len] ? dir + len + 1 : NULL) {
		len = strcspn(dir, ":");
		if ((size_t)snprintf(ret_path, cap, "%.*s/%s", (int)len, dir,
				     name) < cap &&
		    !access(ret_path, X_OK))
			return true;
	}
	return false;
}

int gk_command_become(const char *verb, char *const *argv)
{
	char clean[1024];
	int error;

	execvp(argv[0], argv);
	error = errno;
	gk_str_clean(clean, sizeof clean, argv[0], strlen(argv[0]));
	fprintf(stderr, "gpukit %s: %s: %s\n", verb, clean,
		error == ENOENT ? "command not found" : strerror(error));
	return error == ENOENT ? GK_EXIT_NOT_THERE : GK_EXIT_NOT_RUN;
}
