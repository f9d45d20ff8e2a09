/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - opens machine files that can be trusted; see trust.h. */
#include "machine/store/trust.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opening a device or a pipe must not block. */
#define FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

#define WRITTEN_BY_OTHERS (S_IWGRP | S_IWOTH)

int gkf_private_dir(char *dir, size_t cap)
{
	return gk_name_shared_dir("gpukit", dir, cap);
}

static bool is_foreign(const struct stat *st)
{
	return st->st_uid != geteuid() && st->st_uid != 0;
}

/* 0, or an error if an opened file or directory cannot be trusted. */
static int judge_opened(int fd, const char *what, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	if (!is_foreign(&st) && !(st.st_mode & WRITTEN_BY_OTHERS))
		return 0;
	gk_log(GK_LOG_ERROR,
	       "the %s of machine %s is not trusted: it belongs to user %u and "
	       "has mode %04o; remove it",
	       what, path, (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
	return GK_ERR_PERMISSION;
}

/* Opens a file or directory; refuses symbolic links, which may be attacks. */
static int open_judged(int dir, const char *name, int flags, const char *what,
		       const char *path)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | FLAGS), r;

	if (fd < 0)
		return errno == ELOOP ||
			       (flags & O_DIRECTORY && errno == ENOTDIR)
			   ? GK_ERR_PERMISSION
			   : gk_err_from_errno(errno);
	r = judge_opened(fd, what, path);
	if (r)
		close(fd);
	return r ? r : fd;
}

static int open_private(const char *dir, const char *name, const char *path)
{
	int at =
	    open_judged(AT_FDCWD, dir, O_PATH | O_DIRECTORY, "directory", path);
	int fd;

	if (at < 0)
		return at;
	fd = open_judged(at, name, O_RDWR, "file", path);
	close(at);
	return fd;
}

/* Whether this process was told to trust a user as it trusts root. */
static bool is_trusted(uid_t user)
{
	const char *named = secure_getenv("GPUKIT_TRUST");
	int64_t uid;

	return named && !gk_parse_int(named, &uid) && uid == (int64_t)user;
}

static int open_named(const char *path, bool *ret_foreign)
{
	struct stat st;
	int fd = open(path, O_RDONLY | FLAGS), whole;

	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	*ret_foreign = is_foreign(&st) && !is_trusted(st.st_uid);
	if (!*ret_foreign) {
		whole = open(path, O_RDWR | FLAGS);
		/* Others let us read their file, but not write it. */
		*ret_foreign =
		    whole < 0 && errno == EACCES && st.st_uid != geteuid();
		if (*ret_foreign)
			return fd;
		close(fd);
		fd = whole;
	}
	/* The file may have been replaced since the first open(). */
	if (fd >= 0 && !fstat(fd, &st) &&
	    *ret_foreign == (is_foreign(&st) && !is_trusted(st.st_uid)))
		return fd;
	if (fd >= 0)
		errno = EACCES;
out:
	if (fd >= 0)
		close(fd);
	return gk_err_from_errno(errno);
}

int gkf_trust_open(const char *path, bool *ret_foreign)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	size_t len;

	*ret_foreign = false;
	if (gkf_private_dir(dir, sizeof dir))
		return GK_ERR_INVALID;
	len = strlen(dir);
	if (slash && (size_t)(slash - path) == len && !strncmp(path, dir, len))
		return open_private(dir, slash + 1, path);
	return open_named(path, ret_foreign);
}
