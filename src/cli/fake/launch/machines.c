/* SPDX-License-Identifier: Apache-2.0 */
/* machines.c - finds, checks and opens the machine files of this user. */
#include "base/assert.h"
#include "base/err.h"
#include "base/pidstat.h"
#include "base/str.h"
#include "cli/fake/fake.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL_TYPES (GKF_COMPUTE | GKF_GRAPHICS | GKF_MPS)

static int private_dir(char *dir, size_t cap)
{
	/* Any name will do, because only the directory of the path is used. */
	int err = gkf_machine_path("x", dir, cap);

	if (!err)
		*strrchr(dir, '/') = '\0';
	return err;
}

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

unsigned fake_machines(struct fake_machine **ret_machines)
{
	char dir[PATH_MAX], path[PATH_MAX + 256];
	struct fake_machine *machines;
	struct dirent **entries = NULL;
	int n = private_dir(dir, sizeof dir)
		    ? -1
		    : scandir(dir, &entries, is_machine, alphasort);

	machines = n > 0 ? calloc((size_t)n, sizeof *machines) : NULL;
	for (int i = 0; i < n; i++) {
		if (machines) {
			gk_str_copy(machines[i].name, sizeof machines[i].name,
				    entries[i]->d_name);
			snprintf(path, sizeof path, "%s/%s", dir,
				 entries[i]->d_name);
			inspect_machine(path, &machines[i]);
		}
		free(entries[i]);
	}
	free(entries);
	*ret_machines = machines;
	return machines ? (unsigned)n : 0;
}

static bool is_orphan(const struct fake_machine *machine)
{
	return !machine->err && machine->creator && !machine->creator_foreign &&
	       !machine->creator_alive && !machine->processes;
}

void fake_remove_orphans(void)
{
	struct fake_machine *machines;
	unsigned count = fake_machines(&machines);
	char path[PATH_MAX];

	for (unsigned i = 0; i < count; i++)
		if (is_orphan(&machines[i]) &&
		    !gkf_machine_path(machines[i].name, path, sizeof path))
			unlink(path);
	free(machines);
}

static int choose_only(char *ret_path, size_t cap)
{
	struct fake_machine *machines;
	unsigned count = fake_machines(&machines);
	struct gk_buf names = {0};
	int code = 0;

	for (unsigned i = 0; i < count; i++)
		gk_buf_printf(&names, "%s%s", i ? ", " : "", machines[i].name);
	if (!count)
		code = fake_failure("no made-up machine exists; `gpukit fake "
				    "-- CMD` creates one");
	else if (count > 1)
		code = fake_failure(
		    "which machine: %s? Use --name or set GPUKIT_MACHINE",
		    names.data ? names.data : "many");
	else if (gkf_machine_path(machines[0].name, ret_path, cap))
		code = fake_failure("%s: name too long", machines[0].name);
	gk_buf_free(&names);
	free(machines);
	return code;
}

int fake_choose(const char *name, char *ret_path, size_t cap)
{
	GK_ASSERT(cap >= PATH_MAX);
	if (!name)
		name = getenv("GPUKIT_MACHINE");
	if (!name)
		return choose_only(ret_path, cap);
	if (gkf_machine_path(name, ret_path, cap))
		return fake_usage(
		    "'%s' is not a machine name; allowed is a name or a path",
		    name);
	/*
	 * A missing machine is an error here; opening it would create the
	 * default one.
	 */
	if (access(ret_path, F_OK) && errno != EACCES)
		return fake_failure("no machine at %s: %s; `gpukit fake ctl "
				    "ls` lists them",
				    ret_path, strerror(errno));
	return 0;
}

static void name_owner(const struct stat *st, char *ret_who, size_t cap)
{
	struct passwd *owner = getpwuid(st->st_uid);

	if (owner)
		gk_str_copy(ret_who, cap, owner->pw_name);
	else
		snprintf(ret_who, cap, "user %u", (unsigned)st->st_uid);
}

/*
 * Whether another user controls the file at path. A symbolic link counts as
 * such a file, because it may lead anywhere.
 */
static bool is_others(const char *path, struct stat *ret_st)
{
	return !lstat(path, ret_st) &&
	       ((ret_st->st_uid != geteuid() && ret_st->st_uid) ||
		S_ISLNK(ret_st->st_mode) ||
		ret_st->st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Checks first the directory of this user's machines, in /dev/shm, and then the
 * machine's file.
 */
bool fake_trap(const char *path, char *ret_text, size_t cap)
{
	char dir[PATH_MAX], who[64];
	const char *trap = dir;
	struct stat st;

	if (private_dir(dir, sizeof dir) || strncmp(path, dir, strlen(dir)) ||
	    path[strlen(dir)] != '/')
		return false;
	if (!is_others(dir, &st))
		trap = path;
	if (!is_others(trap, &st))
		return false;
	name_owner(&st, who, sizeof who);
	snprintf(
	    ret_text, cap,
	    "machine %s: %s belongs to %s, mode %04o; others can write there, "
	    "so it is not trusted; remove it (as %s or root: `rm -r %s`) or "
	    "set GPUKIT_MACHINE to the path of a machine of yours",
	    path, trap, who, (unsigned)st.st_mode & 07777, who, trap);
	return true;
}

void fake_owner(const char *path, char *ret_who, size_t cap)
{
	struct stat st;

	gk_str_copy(ret_who, cap, "another user");
	if (!stat(path, &st))
		name_owner(&st, ret_who, cap);
}

void fake_whose(const char *path, char *ret_text, size_t cap)
{
	struct stat st;
	char who[64];

	GK_ASSERT(cap >= FAKE_MESSAGE_MAX);
	if (fake_trap(path, ret_text, cap))
		return;
	if (stat(path, &st)) {
		snprintf(ret_text, cap,
			 "machine %s: you cannot enter its directory; set "
			 "GPUKIT_MACHINE to a machine of yours, or create this "
			 "one elsewhere with --name PATH",
			 path);
		return;
	}
	name_owner(&st, who, sizeof who);
	snprintf(ret_text, cap,
		 "machine %s belongs to %s and you may not read and write it "
		 "(mode %04o); `chmod a+rw` as %s allows it for everybody, or "
		 "set GPUKIT_MACHINE to a machine of yours",
		 path, who, (unsigned)st.st_mode & 07777, who);
}

static const char *describe_error(int err)
{
	switch (err) {
	case GK_ERR_VERSION:
		return "made by another version of gpukit; end what uses it "
		       "and remove the file, or choose another --name";
	case GK_ERR_CORRUPT:
		return "is not a machine file; remove it or choose another "
		       "--name";
	case GK_ERR_NOT_FOUND:
		return "does not exist; `gpukit fake ctl ls` lists the "
		       "machines";
	default:
		return gk_strerror(err);
	}
}

int fake_open(const char *path, struct gkf_machine **ret)
{
	char found[PATH_MAX] = "", text[FAKE_MESSAGE_MAX];
	int err = gkf_machine_open(path, ret);

	if (!err)
		return 0;
	gkf_machine_path(path, found, sizeof found);
	if (err == GK_ERR_PERMISSION) {
		fake_whose(found, text, sizeof text);
		return fake_failure("%s", text);
	}
	return fake_failure("machine %s: %s", found, describe_error(err));
}
