/* SPDX-License-Identifier: Apache-2.0 */
/* fs_private.c - private directories, which only one user can access. */
#include "base/err.h"
#include "base/fs.h"
#include "base/stranger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int gk_make_private_dir(const char *path)
{
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return gk_err_from_errno(errno);
	if (lstat(path, &st) < 0)
		return gk_err_from_errno(errno);
	/* In /dev/shm another user may have created the directory first. */
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return GK_ERR_PERMISSION;
	return 0;
}

static bool is_private(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) &&
	       !gk_is_stranger(st.st_uid) && !(st.st_mode & 022) &&
	       !access(path, W_OK | X_OK);
}

/* Whether the directory is private, or does not exist and can be created. */
static bool may_be_private(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		return !access("/dev/shm", W_OK | X_OK);
	return is_private(path);
}

int gk_name_shared_dir(const char *name, char *ret_path, size_t cap)
{
	const char *own = getenv("XDG_RUNTIME_DIR");
	char shared[64];
	int n = snprintf(shared, sizeof shared, "/dev/shm/%s-%u", name,
			 (unsigned)geteuid());

	if (n < 0 || (size_t)n >= sizeof shared)
		return GK_ERR_INVALID;
	/*
	 * After su, XDG_RUNTIME_DIR may still name the directory of the
	 * previous user.
	 */
	if (own && *own == '/' && !may_be_private(shared) && is_private(own))
		n = snprintf(ret_path, cap, "%s/%s", own, name);
	else
		n = snprintf(ret_path, cap, "%s", shared);
	return n < 0 || (size_t)n >= cap ? GK_ERR_INVALID : 0;
}
