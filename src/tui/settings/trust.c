/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - checks who can have written to the config file. */
#include "tui/settings/trust.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool judge_file(const struct stat *st, const char *path, char *why,
		       size_t cap)
{
	unsigned me = (unsigned)geteuid(), owner = (unsigned)st->st_uid;

	if (owner && owner != me) {
		snprintf(why, cap,
			 "%s belongs to uid %u, not to you (uid %u); if you "
			 "know what is in it: chown %u %s",
			 path, owner, me, me, path);
		return false;
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		snprintf(why, cap,
			 "others can write to %s (mode %04o); close it: "
			 "chmod go-w %s",
			 path, (unsigned)st->st_mode & 07777, path);
		return false;
	}
	return true;
}

static bool cannot_tell(const char *path, char *why, size_t cap)
{
	snprintf(why, cap, "it is unknown who can write to %s", path);
	return false;
}

/* Checks the directory of a path. */
static bool judge_directory(const char *path, char *why, size_t cap)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	struct stat st;
	int fd, err;

	if (slash)
		snprintf(dir, sizeof dir, "%.*s",
			 (int)(slash - path) + (slash == path), path);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cannot_tell(dir, why, cap);
	err = fstat(fd, &st);
	close(fd);
	return err ? cannot_tell(dir, why, cap)
		   : judge_file(&st, dir, why, cap);
}

/* Whether a path still leads to the file that was opened. */
static bool is_still_at(const char *path, const struct stat *opened)
{
	struct stat st;

	return !lstat(path, &st) && st.st_dev == opened->st_dev &&
	       st.st_ino == opened->st_ino;
}

bool tui_trusts(const char *path, int fd, char *why, size_t cap)
{
	char *real = realpath(path, NULL);
	struct stat st;
	bool good;

	if (!real || fstat(fd, &st) || !is_still_at(real, &st))
		good = cannot_tell(path, why, cap);
	else
		good = judge_file(&st, real, why, cap) &&
		       judge_directory(path, why, cap) &&
		       judge_directory(real, why, cap);
	free(real);
	return good;
}
