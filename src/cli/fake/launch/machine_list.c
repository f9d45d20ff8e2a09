/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_list.c - lists the machines of this user and those that other users
 * share, and removes those that were left behind.
 */
#include "base/err.h"
#include "base/memory.h"
#include "base/pidstat.h"
#include "base/str.h"
#include "cli/fake/fake.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/machine.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/trouble/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL_TYPES (GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS)

/* The maximum number of files that are examined in a shared directory. */
#define OTHERS_MAX 64

/* ---- where machines are, and whose they are ---- */

int fake_private_dir(char *ret_dir, size_t cap)
{
	/* Any name will do, because only the directory of the path is used. */
	int err = gkf_machine_path("x", ret_dir, cap);

	if (!err)
		*strrchr(ret_dir, '/') = '\0';
	return err;
}

void fake_shared_dir(char *ret_dir, size_t cap)
{
	snprintf(ret_dir, cap, FAKE_SHARED_PLACE "/" FAKE_SHARED_PREFIX "%u",
		 (unsigned)geteuid());
}

void fake_user(uid_t user, char *ret_who, size_t cap)
{
	struct passwd *owner = getpwuid(user);

	if (owner)
		gk_str_copy(ret_who, cap, owner->pw_name);
	else
		snprintf(ret_who, cap, "user %u", (unsigned)user);
}

/* ---- the list ---- */

/*
 * Finds out whether the launcher is alive. This is unknown if the launcher is
 * in another pid namespace.
 */
static void judge_creator(const struct gkf_file *file,
			  struct fake_machine *machine)
{
	struct gk_pidstat stat_line;
	struct stat ns;
	int proc;

	machine->creator = file->creator_pid;
	if (!file->creator_pid)
		return;
	if (stat("/proc/self/ns/pid", &ns) || ns.st_ino != file->creator_ns) {
		machine->creator_foreign = true;
		return;
	}
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	machine->creator_alive =
	    !gk_pidstat_read(proc, file->creator_pid, &stat_line) &&
	    stat_line.start == file->creator_start && stat_line.state != 'Z' &&
	    stat_line.state != 'X';
	if (proc >= 0)
		close(proc);
}

static void inspect_machine(const char *path, struct fake_machine *machine)
{
	struct gkf_machine *m;

	machine->err = gkf_machine_open(path, &m);
	if (machine->err)
		return;
	machine->gpus = gkf_device_count(m);
	gkf_reap(m, true);
	for (unsigned i = 0; i < machine->gpus; i++) {
		unsigned count = 0;

		gkf_processes(m, i, ALL_TYPES, NULL, 0, &count);
		machine->processes += count;
	}
	judge_creator(gkf_machine_file(m), machine);
	gkf_machine_close(m);
}

/* Skips hidden files, and files that are still being created. */
static int is_machine(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' &&
	       (len < 4 || strcmp(entry->d_name + len - 4, ".tmp"));
}

/* A list of machines that grows. */
struct list {
	struct fake_machine *at;
	unsigned count, room;
};

static struct fake_machine *add_row(struct list *l)
{
	if (l->count == l->room) {
		unsigned room = l->room ? 2 * l->room : 16;
		void *at = gk_resize(l->at, room, sizeof *l->at);

		if (!at)
			return NULL;
		l->at = at;
		l->room = room;
	}
	l->at[l->count] = (struct fake_machine){.err = 0};
	return &l->at[l->count++];
}

/*
 * Adds a machine. Machines shared by other users are added only if they are
 * files that this user may read: the directories of other users may contain
 * anything.
 */
static void add_machine(struct list *l, const char *path, const char *name)
{
	struct fake_machine *machine;
	struct stat st;

	if (lstat(path, &st))
		return;
	if (st.st_uid != geteuid() &&
	    (!S_ISREG(st.st_mode) || access(path, R_OK)) && *name == '/')
		return;
	machine = add_row(l);
	if (!machine)
		return;
	gk_str_copy(machine->name, sizeof machine->name, name);
	machine->owner = st.st_uid;
	inspect_machine(path, machine);
	if (machine->err && st.st_uid != geteuid() && *name == '/')
		l->count--;
}

/*
 * Adds the machines in a directory. Shared ones are named by their paths, which
 * every program understands.
 */
static void add_dir(struct list *l, const char *dir, bool shared)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, is_machine, alphasort);
	char path[PATH_MAX];

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) <
			sizeof path &&
		    (!shared || i < OTHERS_MAX))
			add_machine(l, path, shared ? path : name);
		free(entries[i]);
	}
	free(entries);
}

static int is_shared_dir(const struct dirent *entry)
{
	return !strncmp(entry->d_name, FAKE_SHARED_PREFIX,
			strlen(FAKE_SHARED_PREFIX));
}

/* Adds the machines that other users share. */
static void add_others(struct list *l, const char *own)
{
	struct dirent **entries = NULL;
	int n = scandir(FAKE_SHARED_PLACE, &entries, is_shared_dir, alphasort);
	char dir[PATH_MAX];

	for (int i = 0; i < n; i++) {
		snprintf(dir, sizeof dir, FAKE_SHARED_PLACE "/%s",
			 entries[i]->d_name);
		if (strcmp(dir, own) != 0)
			add_dir(l, dir, true);
		free(entries[i]);
	}
	free(entries);
}

static void add_own(struct list *l)
{
	char dir[PATH_MAX];

	if (!fake_private_dir(dir, sizeof dir))
		add_dir(l, dir, false);
	fake_shared_dir(dir, sizeof dir);
	add_dir(l, dir, true);
}

unsigned fake_own_machines(struct fake_machine **ret_machines)
{
	struct list l = {0};

	add_own(&l);
	*ret_machines = l.at;
	return l.count;
}

unsigned fake_machines(struct fake_machine **ret_machines)
{
	char own[PATH_MAX];
	struct list l = {0};

	add_own(&l);
	fake_shared_dir(own, sizeof own);
	add_others(&l, own);
	*ret_machines = l.at;
	return l.count;
}

static bool is_orphan(const struct fake_machine *machine)
{
	return !machine->err && machine->owner == geteuid() &&
	       machine->creator && !machine->creator_foreign &&
	       !machine->creator_alive && !machine->processes;
}

void fake_remove_orphans(void)
{
	struct fake_machine *machines;
	unsigned count = fake_own_machines(&machines);
	char path[PATH_MAX];

	for (unsigned i = 0; i < count; i++)
		if (is_orphan(&machines[i]) &&
		    !gkf_machine_path(machines[i].name, path, sizeof path))
			unlink(path);
	free(machines);
}
