/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - finds a path for machines that other users can see (--shared). */
#include "cli/fake/fake.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
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

void fake_shared_dir(char *ret_dir, size_t cap)
{
	snprintf(ret_dir, cap, FAKE_SHARED_PLACE "/" FAKE_SHARED_PREFIX "%u",
		 (unsigned)geteuid());
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

void fake_shared_tell(const char *path)
{
	char dir[PATH_MAX];

	if (fake_where("", dir, sizeof dir))
		*dir = '\0';
	fprintf(stderr,
		"gpukit fake: other users see the machine with "
		"GPUKIT_MACHINE=%s LD_LIBRARY_PATH=%s\n",
		path, dir);
}
