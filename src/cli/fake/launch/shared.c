/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - finds a path for machines that other users can see (--shared). */
#include "cli/fake/fake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Makes the directory, or checks it if it exists: in /dev/shm another user may
 * have made it first. Sets its mode regardless of the umask.
 */
static int make_shared_dir(const char *dir)
{
	struct stat st;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return fake_failure("cannot create %s: %s", dir,
				    strerror(errno));
	if (lstat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return fake_failure("%s belongs to somebody else, or others "
				    "can write there; remove it, or choose "
				    "another place with --name PATH",
				    dir);
	if ((st.st_mode & 0755) != 0755 && chmod(dir, 0755))
		return fake_failure("%s: %s", dir, strerror(errno));
	return 0;
}

int fake_shared_path(const char *name, unsigned attempt, char *ret_path,
		     size_t cap)
{
	char dir[64], fresh[48];
	int code, n;

	fake_shared_dir(dir, sizeof dir);
	snprintf(fresh, sizeof fresh, attempt ? "run-%d-%u" : "run-%d",
		 (int)getpid(), attempt);
	code = make_shared_dir(dir);
	if (code)
		return code;
	n = snprintf(ret_path, cap, "%s/%s", dir, name ? name : fresh);
	return n < 0 || (size_t)n >= cap || (name && (!*name || *name == '.'))
		   ? fake_usage(
			 "--name: '%s' is not a machine name; allowed is "
			 "a name or a path",
			 name ? name : "")
		   : 0;
}

/*
 * Finds the first directory in the path of a file that some users may not
 * enter. Returns false if all users may enter all of them, or if the path
 * cannot be followed.
 */
static bool find_door(const char *path, char *ret_dir, struct stat *ret_st)
{
	char real[PATH_MAX];
	char *slash;

	snprintf(ret_dir, PATH_MAX, "%s", path);
	slash = strrchr(ret_dir, '/');
	if (!slash)
		return false;
	slash[1] = '\0';
	if (!realpath(ret_dir, real))
		return false;
	for (char *end = real + 1;; *end++ = '/') {
		end += strcspn(end, "/");
		snprintf(ret_dir, PATH_MAX, "%.*s", (int)(end - real), real);
		if (!stat(ret_dir, ret_st) && !(ret_st->st_mode & S_IXOTH))
			return true;
		if (!*end)
			return false;
	}
}

int fake_shared_check(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	if (!find_door(path, dir, &st) || st.st_mode & S_IXGRP ||
	    st.st_uid != geteuid())
		return 0;
	return fake_failure(
	    "--shared: nobody else may enter %s (mode %04o), so nobody would "
	    "see the machine; choose another place with --name, or leave it "
	    "out",
	    dir, (unsigned)st.st_mode & 07777);
}

/*
 * If some users cannot reach the file, prints who may enter the directory that
 * keeps the others out.
 */
static void tell_door(const char *path)
{
	char dir[PATH_MAX], who[64];
	struct stat st;

	if (!find_door(path, dir, &st))
		return;
	fake_user(st.st_uid, who, sizeof who);
	fake_tell("only %s%s may enter %s (mode %04o), nobody else", who,
		  st.st_mode & S_IXGRP ? " and its group" : "", dir,
		  (unsigned)st.st_mode & 07777);
}

void fake_shared_tell(const char *path)
{
	char dir[PATH_MAX];

	tell_door(path);
	if (fake_where("", dir, sizeof dir))
		*dir = '\0';
	fprintf(stderr,
		"gpukit fake: other users see the machine by `gpukit fake join "
		"%s`, or with GPUKIT_MACHINE=%s LD_LIBRARY_PATH=%s\n",
		path, path, dir);
}
