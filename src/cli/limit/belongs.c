/* SPDX-License-Identifier: Apache-2.0 */
/*
 * belongs.c - decides whether a process that the driver lists, but that is not
 * in a ledger, belongs to the group: by its environment, parents and cgroup.
 */
#include "base/pidstat.h"
#include "cli/limit/audit.h"
#include "limit/life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * PARENTS: more ancestors than any process has. CGROUP: the number of bytes
 * read of a cgroup file.
 */
enum { PARENTS = 64, CGROUP = 4096 };

int32_t limit_visible_pid(const struct gkl_process *process)
{
	struct stat ours;

	if (!stat("/proc/self/ns/pid", &ours) && ours.st_ino == process->pid_ns)
		return process->pid;
	return process->host_pid;
}

static bool is_in_ledger(const struct limit_view *view, pid_t pid)
{
	for (size_t i = 0; i < view->process_count; i++)
		if (limit_visible_pid(&view->processes[i]) == pid)
			return true;
	return false;
}

/*
 * Whether a process belongs to a group according to its environment, and to
 * which.
 */
enum start { NO_GROUP, THIS_GROUP, OTHER_GROUP };

static enum start judge_variable(const char *line, const char *path)
{
	static const char *const names[] = {LIMIT_VARIABLE "=",
					    "CUDA_DEVICE_MEMORY_SHARED_CACHE="};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(line, names[i], strlen(names[i])))
			return strcmp(line + strlen(names[i]), path)
				   ? OTHER_GROUP
				   : THIS_GROUP;
	return NO_GROUP;
}

/* Our variable takes precedence over HAMi's. */
static enum start find_start(pid_t pid, const char *group)
{
	char path[64], *line = NULL;
	enum start found = NO_GROUP, one;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	while (f && getdelim(&line, &cap, '\0', f) >= 0) {
		one = judge_variable(line, group);
		if (one != NO_GROUP)
			found = one;
		if (!strncmp(line, LIMIT_VARIABLE, strlen(LIMIT_VARIABLE)))
			break;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool has_parent_in(const struct limit_view *view, pid_t pid)
{
	struct gk_pidstat line;

	for (unsigned i = 0; i < PARENTS; i++) {
		if (gk_pidstat_of(pid, &line) || line.ppid <= 1)
			return false;
		pid = line.ppid;
		if (is_in_ledger(view, pid) ||
		    find_start(pid, view->path) == THIS_GROUP)
			return true;
	}
	return false;
}

/*
 * Reads the process's cgroups in all hierarchies; "" if /proc does not have
 * them.
 */
static void read_cgroup(const char *pid, char text[CGROUP])
{
	char path[64];
	size_t len = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/cgroup", pid);
	f = fopen(path, "re");
	if (f) {
		len = fread(text, 1, CGROUP - 1, f);
		fclose(f);
	}
	text[len] = '\0';
}

static void read_cgroup_of(pid_t pid, char text[CGROUP])
{
	char name[16];

	snprintf(name, sizeof name, "%d", (int)pid);
	read_cgroup(name, text);
}

static bool shares_cgroup(const struct limit_view *view, pid_t pid)
{
	char own[CGROUP], its[CGROUP], other[CGROUP];

	read_cgroup("self", own);
	read_cgroup_of(pid, its);
	if (!*its || !strcmp(its, own))
		return false;
	for (size_t i = 0; i < view->process_count; i++) {
		read_cgroup_of(limit_visible_pid(&view->processes[i]), other);
		if (!strcmp(its, other))
			return true;
	}
	return false;
}

bool limit_belongs(const struct limit_view *view, pid_t pid)
{
	enum start start = find_start(pid, view->path);

	if (start != NO_GROUP)
		return start == THIS_GROUP;
	return has_parent_in(view, pid) || shares_cgroup(view, pid);
}
