/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - makes and opens the files of a group; see file.h. */
#include "limit/file.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/stranger.h"
#include "limit/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAP = 640 };

#define WRITTEN_BY_OTHERS (S_IWGRP | S_IWOTH)

/*
 * Do not follow a symbolic link, which may be an attack, and do not wait for
 * the other end of a FIFO.
 */
#define FLAGS (O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int refuse_foreign_file(const char *path, const struct stat *st)
{
	gkl_reason_note("%s belongs to user %u, mode %04o, so others could "
			"have changed it; remove it, or name another place",
			path, (unsigned)st->st_uid,
			(unsigned)st->st_mode & 07777);
	gk_log(GK_LOG_ERROR,
	       "%s is not trusted: it belongs to user %u, mode %04o", path,
	       (unsigned)st->st_uid, (unsigned)st->st_mode & 07777);
	return GK_ERR_PERMISSION;
}

/* The directory part of a path, with the slash. */
static int copy_directory(const char *path, char *dir, size_t cap)
{
	const char *slash = strrchr(path, '/');

	if (!slash || (size_t)snprintf(dir, cap, "%.*s",
				       (int)(slash - path + 1), path) >= cap)
		return GK_ERR_INVALID;
	return 0;
}

/* The mode of a path's directory; S_ISVTX if it cannot be read. */
static mode_t directory_mode(const char *path)
{
	char dir[PATH_CAP];
	struct stat st;

	return copy_directory(path, dir, sizeof dir) || stat(dir, &st)
		   ? S_ISVTX
		   : st.st_mode;
}

bool gkl_file_is_shared(const char *path)
{
	mode_t mode = directory_mode(path);

	if (mode & S_ISVTX)
		return false;
	return mode & WRITTEN_BY_OTHERS || !(mode & (S_IXGRP | S_IXOTH));
}

/*
 * Makes sure that nobody else can write the file; refuses it if somebody can.
 * Returns 0 or a gk_err.
 */
static int close_to_others(int fd, const char *path, const struct stat *st,
			   enum gkl_trust trust)
{
	if (!(st->st_mode & WRITTEN_BY_OTHERS))
		return 0;
	/*
	 * HAMi-core and older versions of gpukit let all users write the file.
	 */
	if (trust == GKL_COMMON && st->st_uid == geteuid() &&
	    !fchmod(fd, st->st_mode & 07777 & ~(mode_t)WRITTEN_BY_OTHERS))
		return 0;
	return refuse_foreign_file(path, st);
}

static int judge_file(int fd, const char *path,
		      const struct gkl_file_kind *kind)
{
	bool alone =
	    kind->trust == GKL_PRIVATE || directory_mode(path) & S_ISVTX;
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	if (alone && gk_is_stranger(st.st_uid))
		return refuse_foreign_file(path, &st);
	if (alone)
		r = close_to_others(fd, path, &st, kind->trust);
	if (r)
		return r;
	return S_ISREG(st.st_mode) && st.st_size >= (off_t)kind->size
		   ? 0
		   : GK_ERR_CORRUPT;
}

int gkl_file_open(const char *path, const struct gkl_file_kind *kind,
		  bool writable)
{
	int fd = open(path, FLAGS | (writable ? O_RDWR : O_RDONLY)), r;

	if (fd < 0)
		return errno == ELOOP ? GK_ERR_PERMISSION
				      : gk_err_from_errno(errno);
	r = judge_file(fd, path, kind);
	if (r)
		close(fd);
	return r ? r : fd;
}

int gkl_directory_open(const char *path)
{
	int fd = open(path, FLAGS | O_RDONLY | O_DIRECTORY), r = 0;
	struct stat st;

	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR
			   ? GK_ERR_PERMISSION
			   : gk_err_from_errno(errno);
	if (fstat(fd, &st) < 0)
		r = gk_err_from_errno(errno);
	else if (gk_is_stranger(st.st_uid) || st.st_mode & WRITTEN_BY_OTHERS)
		r = refuse_foreign_file(path, &st);
	if (r)
		close(fd);
	return r ? r : fd;
}

/*
 * Allocates the whole file: if it had holes, processes that map it would die of
 * SIGBUS when space runs out. Checks the file size limit first, because growing
 * the file past it would raise SIGXFSZ.
 */
static int reserve_space(int fd, size_t size)
{
	struct rlimit limit;
	int error;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size)
		return GK_ERR_NO_SPACE;
	error = posix_fallocate(fd, 0, (off_t)size);
	return error ? gk_err_from_errno(error) : 0;
}

static int fill_new(int fd, const struct gkl_file_kind *kind)
{
	void *at;
	int r = reserve_space(fd, kind->size);

	if (r)
		return r;
	/* The mode must not depend on the program's umask. */
	if (fchmod(fd, kind->mode) < 0)
		return gk_err_from_errno(errno);
	at = mmap(NULL, kind->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return gk_err_from_errno(errno);
	kind->fill(at, kind->arg);
	munmap(at, kind->size);
	return 0;
}

/*
 * Opens a new file without a name, so that nothing is left if this process is
 * killed. Where that is impossible, the file gets a name next to `path`, which
 * is returned in `name`. Returns a descriptor or a gk_err.
 */
static int open_unfinished(const char *path, char *name, size_t cap)
{
	int fd = -1, r = copy_directory(path, name, cap);

	if (r)
		return r;
	if (!access("/proc/self/fd", X_OK))
		fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	*name = '\0';
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(name, cap, "%s.XXXXXX.tmp", path) >= cap)
		return GK_ERR_INVALID;
	fd = mkostemps(name, 4, O_CLOEXEC);
	return fd < 0 ? gk_err_from_errno(errno) : fd;
}

/* link(), not rename(): it never replaces another file. */
static int publish_shared_file(int fd, const char *name, const char *path)
{
	char nameless[32];

	snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, *name ? name : nameless, AT_FDCWD, path,
		      AT_SYMLINK_FOLLOW) < 0
		   ? gk_err_from_errno(errno)
		   : 0;
}

static int make_file(const char *path, const struct gkl_file_kind *kind)
{
	char name[PATH_CAP];
	int fd = open_unfinished(path, name, sizeof name), r;

	if (fd < 0)
		return fd;
	r = fill_new(fd, kind);
	if (!r)
		r = publish_shared_file(fd, name, path);
	close(fd);
	if (*name)
		unlink(name);
	return r;
}

int gkl_file_open_or_make(const char *path, const struct gkl_file_kind *kind,
			  bool writable)
{
	int fd, r;

	GK_ASSERT(kind->fill && kind->size);
	fd = gkl_file_open(path, kind, writable);
	if (fd != GK_ERR_NOT_FOUND)
		return fd;
	r = make_file(path, kind);
	if (r && r != GK_ERR_EXISTS)
		return r;
	return gkl_file_open(path, kind, writable);
}

int gkl_file_lock_directory(const char *path)
{
	const uint64_t end = gk_mono_ns() + GK_NS_PER_S;
	char dir[PATH_CAP];
	int fd;

	if (copy_directory(path, dir, sizeof dir))
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || gk_mono_ns() > end) {
			close(fd);
			return -1;
		}
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	}
	return fd;
}
