/* others.c - looks through /proc for the processes of other pid namespaces. */
#include "machine/store/others.h"
#include "base/err.h"
#include "base/fs.h"
#include "machine/store/identity.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PROC_PID_INIT_INO of the kernel: in it all processes of the host are seen. */
#define FIRST_NAMESPACE 0xEFFFFFFCULL

/* The namespace of who may be in any: no namespace has this number. */
#define UNSEEN 0

enum inner { INNER_NONE, INNER_FOUND, INNER_UNKNOWN };

/*
 * The number of a process in its own namespace. None: it is in ours, whose
 * numbers alone stand there. Unknown: before Linux 4.1, or not the whole line
 * was read.
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

static bool add_other(struct gkf_others *o, uint64_t pid_ns, int32_t pid)
{
	if (o->count == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 64;
		struct gkf_other *at = reallocarray(o->at, cap, sizeof *o->at);

		if (!at)
			return false;
		o->at = at;
		o->cap = cap;
	}
	o->at[o->count++] = (struct gkf_other){pid_ns, pid};
	return true;
}

static bool is_zombie(const char *status)
{
	return strstr(status, "\nState:\tZ") &&
	       strstr(status, "\nThreads:\t1\n");
}

/* False: it may be anybody. Who has ended meanwhile is nobody. */
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
	/* Those of other users keep their namespace to themselves. */
	snprintf(path, sizeof path, "%.20s/ns/pid", name);
	if (fstatat(proc, path, &ns, 0) && (errno == ENOENT || errno == ESRCH))
		return true;
	return add_other(o, ns.st_ino, pid);
}

/* errno tells a list that broke off from its end. */
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
	/* Whom hidepid does not show process 1 it shows no other user. */
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

static bool knows(const struct gkf_others *o, const struct gkf_identity *owner)
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
	return o->blind || knows(o, owner);
}

void gkf_others_free(struct gkf_others *o)
{
	free(o->at);
	*o = (struct gkf_others){0};
}
