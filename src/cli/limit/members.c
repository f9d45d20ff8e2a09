/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.c - finds processes that were started in a group, by their initial
 * environment: those that have not used a GPU are not in the ledger.
 */
#include "cli/limit/limit.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool began_with(const char *pid, const char *variable)
{
	char path[300], *line = NULL;
	bool found = false;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/environ", pid);
	f = fopen(path, "re");
	while (f && !found && getdelim(&line, &cap, '\0', f) >= 0)
		found = !strcmp(line, variable);
	free(line);
	if (f)
		fclose(f);
	return found;
}

bool limit_has_members(const char *path)
{
	DIR *dir = opendir("/proc");
	char variable[600];
	bool found = false;
	struct dirent *entry;

	snprintf(variable, sizeof variable, LIMIT_VARIABLE "=%s", path);
	while (dir && !found && (entry = readdir(dir)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			began_with(entry->d_name, variable);
	if (dir)
		closedir(dir);
	return found;
}
