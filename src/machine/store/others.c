/* others.c - looks through /proc for the processes of other pid namespaces. */
#include "machine/store/others.h"
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

/*
 * The number of a process in its own namespace; false: it is in ours, whose
 * numbers alone stand there.
 */
static bool find_inner_pid(const char *status, int32_t *ret_pid)
{
	const char *line = strstr(status, "\nNSpid:") + 1, *number;

	number = line + strcspn(line, "\n");
	while (number[-1] != '\t' && number[-1] != ':')
		number--;
	*ret_pid = (int32_t)strtol(number, NULL, 10);
	/* The first one follows the key. */
	return number - line > (ptrdiff_t)sizeof "NSpid:\t" - 1;
}

/* Whoever shares a machine is of one user: others own no slot in it. */
static bool is_ours(const char *status)
{
	const char *line = strstr(status, "\nUid:");
	unsigned effective;

	return !line || sscanf(line + 5, "%*u %u", &effective) != 1 ||
	       effective == geteuid();
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
	struct stat ns;
	int32_t pid;

	snprintf(path, sizeof path, "%.20s/status", name);
	if (gk_read_at(proc, path, status, sizeof status) <= 0 ||
	    is_zombie(status))
		return true;
	if (!strstr(status, "\nNSpid:"))
		return false; /* before Linux 4.1 nobody can tell */
	if (!find_inner_pid(status, &pid))
		return true;
	snprintf(path, sizeof path, "%.20s/ns/pid", name);
	if (fstatat(proc, path, &ns, 0) == 0)
		return add_other(o, ns.st_ino, pid);
	return errno == ENOENT || errno == ESRCH || !is_ours(status);
}

static void look_around(struct gkf_others *o)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	o->looked = true;
	o->blind = !proc;
	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)*entry->d_name) &&
		    !look_at(o, dirfd(proc), entry->d_name))
			o->blind = true;
	if (proc)
		closedir(proc);
}

static bool knows(const struct gkf_others *o, const struct gkf_identity *owner)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->at[i].pid_ns == owner->pid_ns &&
		    o->at[i].pid == owner->pid)
			return true;
	return false;
}

bool gkf_others_live(struct gkf_others *o, uint64_t own_ns,
		     const struct gkf_identity *owner)
{
	if (own_ns != FIRST_NAMESPACE)
		return true;
	if (o->looked && knows(o, owner))
		return true;
	/* It may have come after the last look. */
	gkf_others_free(o);
	look_around(o);
	return o->blind || knows(o, owner);
}

void gkf_others_free(struct gkf_others *o)
{
	free(o->at);
	*o = (struct gkf_others){0};
}
