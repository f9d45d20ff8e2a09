/* SPDX-License-Identifier: Apache-2.0 */
/* machines.c - chooses, checks and opens machine files. */
#include "base/assert.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/fake/fake.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes a list of machines, for a message. */
static void write_names(const struct fake_machine *machines, unsigned count,
			struct gk_buf *ret_text)
{
	for (unsigned i = 0; i < count; i++)
		gk_buf_printf(ret_text, "%s%s", i ? ", " : "",
			      machines[i].name);
}

static bool is_own(const struct fake_machine *machine)
{
	return *machine->name != '/' || machine->owner == geteuid();
}

static bool others_share(void)
{
	struct fake_machine *machines;
	unsigned count = fake_machines(&machines);

	free(machines);
	return count;
}

/* Chooses the only machine of this user. */
static int choose_only(char *ret_path, size_t cap)
{
	struct fake_machine *machines;
	unsigned count = fake_own_machines(&machines), own = 0;
	struct gk_buf names = {0};
	int code = 0;

	while (own < count && is_own(&machines[own]))
		own++;
	write_names(machines, own, &names);
	if (!own && !others_share())
		code = fake_failure("no made-up machine exists; `gpukit fake "
				    "-- CMD` creates one");
	else if (!own)
		code = fake_failure("no made-up machine of yours exists; "
				    "`gpukit fake ctl ls` lists those of "
				    "others, for --name or GPUKIT_MACHINE");
	else if (own > 1)
		code = fake_failure(
		    "which machine: %s? Use --name or set GPUKIT_MACHINE",
		    names.data ? names.data : "many");
	else if (gkf_machine_path(machines[0].name, ret_path, cap))
		code = fake_failure("%s: name too long", machines[0].name);
	gk_buf_free(&names);
	free(machines);
	return code;
}

/* Whether a machine that others can see has this name. */
static bool is_called(const struct fake_machine *machine, const char *name)
{
	const char *slash = strrchr(machine->name, '/');

	return slash && !strcmp(slash + 1, name);
}

/*
 * Finds a shared machine by its name: this user's own or, if this user has none
 * of that name, the only one of other users. Returns 0 even if there is none;
 * returns an exit code after a message if there are several.
 */
static int choose_shared(const char *name, char *ret_path, size_t cap)
{
	struct fake_machine *machines;
	unsigned count = fake_machines(&machines), found = 0;
	struct gk_buf names = {0};
	int code = 0;

	for (unsigned i = 0; i < count; i++)
		if (is_called(&machines[i], name))
			machines[found++] = machines[i];
	write_names(machines, found, &names);
	if (found > 1 && machines[0].owner != geteuid())
		code = fake_failure("which machine: %s? Name it by its path",
				    names.data ? names.data : "many");
	else if (found)
		gk_str_copy(ret_path, cap, machines[0].name);
	gk_buf_free(&names);
	free(machines);
	return code;
}

int fake_choose(const char *name, char *ret_path, size_t cap)
{
	int code = 0;

	GK_ASSERT(cap >= PATH_MAX);
	if (!name)
		name = getenv("GPUKIT_MACHINE");
	if (!name)
		return choose_only(ret_path, cap);
	if (gkf_machine_path(name, ret_path, cap))
		return fake_usage(
		    "'%s' is not a machine name; allowed is a name or a path",
		    name);
	if (!strchr(name, '/') && access(ret_path, F_OK))
		code = choose_shared(name, ret_path, cap);
	/*
	 * A missing machine is an error here; opening it would create the
	 * default one.
	 */
	if (!code && access(ret_path, F_OK) && errno != EACCES)
		return fake_failure("no machine at %s: %s; `gpukit fake ctl "
				    "ls` lists them",
				    ret_path, strerror(errno));
	return code;
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

	if (fake_private_dir(dir, sizeof dir) ||
	    strncmp(path, dir, strlen(dir)) || path[strlen(dir)] != '/')
		return false;
	if (!is_others(dir, &st))
		trap = path;
	if (!is_others(trap, &st))
		return false;
	fake_user(st.st_uid, who, sizeof who);
	snprintf(
	    ret_text, cap,
	    "machine %s: %s belongs to %s, mode %04o; others can write there, "
	    "so it is not trusted; remove it (as %s or root: `rm -r %s`) or "
	    "set GPUKIT_MACHINE to the path of a machine of yours",
	    path, trap, who, (unsigned)st.st_mode & 07777, who, trap);
	return true;
}

static void name_owner(const char *path, char *ret_who, size_t cap)
{
	struct stat st;

	gk_str_copy(ret_who, cap, "another user");
	if (!stat(path, &st))
		fake_user(st.st_uid, ret_who, cap);
}

int fake_refuse_change(const char *path)
{
	char who[64];

	name_owner(path, who, sizeof who);
	return fake_failure(
	    "machine %s belongs to %s and can only be shown (show, topology, "
	    "coverage); change it as %s, or create one of yours",
	    path, who, who);
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
	fake_user(st.st_uid, who, sizeof who);
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
