/* SPDX-License-Identifier: Apache-2.0 */
/* others.c - finds processes of other pid namespaces in /proc. */
#include "machine/store/process/others.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/pidstat.h"
#include "machine/store/process/identity.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel's PROC_PID_INIT_INO: this namespace sees all processes. */
#define FIRST_NAMESPACE 0xEFFFFFFCULL

/* Stands for an unknown namespace; no namespace has this number. */
#define UNSEEN 0

enum inner { INNER_NONE, INNER_FOUND, INNER_UNKNOWN };

/*
 * Finds the pid of a process in its own namespace. NONE: it is in our namespace
 * and has only one pid. UNKNOWN: the kernel is older than Linux 4.1, or the
 * line was cut off.
 */
static enum inner find_inner_pid(const char *status, int32_t *ret_pid)
{
	static const char key[] = "\nNSpid:\t";
	const char *line = strstr(status, key), *first, *number, *end;

	end = line ? strchr(line + 1, '\n') : NULL;
	if (!end)
		return INNER_UNKNOWN;
	first = line + sizeof key - 1;
	for (number = end; number > first && number[-1] != '\t';)
		number--;
	*ret_pid = (int32_t)strtol(number, NULL, 10);
	return number > first ? INNER_FOUND : INNER_NONE;
}

static bool add_other(struct gkf_others *o, struct gkf_other other)
{
	if (o->count == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 64;
		struct gkf_other *at = gk_resize(o->at, cap, sizeof *o->at);

		if (!at)
			return false;
		o->at = at;
		o->cap = cap;
	}
	o->at[o->count++] = other;
	return true;
}

static bool is_zombie(const char *status)
{
	return strstr(status, "\nState:\tZ") &&
	       strstr(status, "\nThreads:\t1\n");
}

/*
 * Adds a process if it is of another namespace; false if it could not be read.
 * Ignores a process that has ended since it was listed.
 */
static bool look_at(struct gkf_others *o, int proc, const char *name)
{
	char path[64], status[4096];
	struct stat ns = {.st_ino = UNSEEN};
	int32_t pid;
	ssize_t n;

	snprintf(path, sizeof path, "%.20s/status", name);
	n = gk_read_at(proc, path, status, sizeof status);
	if (n < 0)
		return n == GK_ERR_NOT_FOUND;
	if (is_zombie(status))
		return true;
	switch (find_inner_pid(status, &pid)) {
	case INNER_NONE:
		return true;
	case INNER_UNKNOWN:
		return false;
	case INNER_FOUND:
		break;
	}
	/* The namespace of other users' processes cannot be read. */
	snprintf(path, sizeof path, "%.20s/ns/pid", name);
	if (fstatat(proc, path, &ns, 0) && (errno == ENOENT || errno == ESRCH))
		return true;
	return add_other(o, (struct gkf_other){.pid_ns = ns.st_ino,
					       .pid = pid,
					       .seen = (int32_t)atoi(name)});
}

/* At the end of the list errno is 0; after a failure it is not. */
static const struct dirent *next_entry(DIR *proc)
{
	errno = 0;
	return readdir(proc);
}

static void look_around(struct gkf_others *o)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	o->looked = true;
	/* If hidepid hides process 1, it hides the processes of all other
	 * users. */
	o->blind = !proc || faccessat(dirfd(proc), "1", F_OK, 0);
	if (!proc)
		return;
	while ((entry = next_entry(proc)))
		if (isdigit((unsigned char)*entry->d_name) &&
		    !look_at(o, dirfd(proc), entry->d_name))
			o->blind = true;
	o->blind |= errno != 0;
	closedir(proc);
}

static bool has_other(const struct gkf_others *o,
		      const struct gkf_identity *owner)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->at[i].pid == owner->pid &&
		    (o->at[i].pid_ns == owner->pid_ns ||
		     o->at[i].pid_ns == UNSEEN))
			return true;
	return false;
}

bool gkf_others_live(struct gkf_others *o, uint64_t own_ns,
		     const struct gkf_identity *owner)
{
	if (own_ns != FIRST_NAMESPACE)
		return true;
	if (!o->looked)
		look_around(o);
	return o->blind || has_other(o, owner);
}

/*
 * The namespaces of other users' processes cannot be read, so the start time
 * must tell an owner from other processes with the same pid.
 */
int32_t gkf_others_pid(struct gkf_others *o, const struct gkf_identity *owner)
{
	if (!o->looked)
		look_around(o);
	for (size_t i = 0; i < o->count; i++) {
		const struct gkf_other *other = &o->at[i];
		struct gk_pidstat st;

		if (other->pid == owner->pid &&
		    (other->pid_ns == owner->pid_ns ||
		     other->pid_ns == UNSEEN) &&
		    !gk_pidstat_of(other->seen, &st) &&
		    st.start == owner->start)
			return other->seen;
	}
	return 0;
}

void gkf_others_free(struct gkf_others *o)
{
	free(o->at);
	*o = (struct gkf_others){0};
}
