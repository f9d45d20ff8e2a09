/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_pid.c - finds the host's pid of a process in a container. The kernel
 * does not show it inside the container, but processes in the host's first pid
 * namespace can see it.
 */
#include "cli/limit/limit.h"
#include "limit/life.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t namespace_of(const char *pid)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%s/ns/pid", pid);
	return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

/*
 * Returns a process's pid in its own pid namespace: the last number of the line
 * NSpid in /proc/PID/status.
 */
static int inner_pid(const char *pid)
{
	char path[300], *line = NULL, *last = NULL;
	size_t cap = 0;
	int inner = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f && !last && getline(&line, &cap, f) >= 0)
		if (!strncmp(line, "NSpid:", 6))
			last = strrchr(line, '\t');
	if (last)
		inner = atoi(last);
	free(line);
	if (f)
		fclose(f);
	return inner;
}

int32_t limit_find_host_pid(const struct gkl_process *process)
{
	DIR *dir = namespace_of("self") == GKL_FIRST_NAMESPACE
		       ? opendir("/proc")
		       : NULL;
	struct dirent *entry;
	int32_t found = 0;

	while (dir && !found && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    namespace_of(entry->d_name) == process->pid_ns &&
		    inner_pid(entry->d_name) == process->pid)
			found = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}
