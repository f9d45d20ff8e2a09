/* file.c - makes and opens the files of a group; see file.h. */
#include "limit/file.h"
#include "base/err.h"
#include "base/log.h"
#include "base/stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAP = 640 };

/* A link in the place of a file is somebody's trap; a FIFO holds nobody up. */
#define FLAGS (O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int refuse(const char *path, const struct stat *st)
{
	gk_log(GK_LOG_ERROR,
	       "%s is not believed: it belongs to user %u, mode %04o", path,
	       (unsigned)st->st_uid, (unsigned)st->st_mode & 07777);
	return GK_ERR_PERMISSION;
}

/* The directory of a path, which has a slash. */
static int copy_directory(const char *path, char *dir, size_t cap)
{
	const char *slash = strrchr(path, '/');

	if (!slash || (size_t)snprintf(dir, cap, "%.*s",
				       (int)(slash - path + 1), path) >= cap)
		return GK_ERR_INVALID;
	return 0;
}

static bool is_sticky(const char *path)
{
	char dir[PATH_CAP];
	struct stat st;

	return copy_directory(path, dir, sizeof dir) || stat(dir, &st) ||
	       st.st_mode & S_ISVTX;
}

static int judge_file(int fd, const char *path,
		      const struct gkl_file_kind *kind)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	if (kind->trust == GKL_PRIVATE && st.st_mode & (S_IWGRP | S_IWOTH))
		return refuse(path, &st);
	if (gk_is_stranger(st.st_uid) &&
	    (kind->trust == GKL_PRIVATE || is_sticky(path)))
		return refuse(path, &st);
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
	else if (gk_is_stranger(st.st_uid) || st.st_mode & (S_IWGRP | S_IWOTH))
		r = refuse(path, &st);
	if (r)
		close(fd);
	return r ? r : fd;
}

/*
 * All of it at once: a file with holes would end its users by SIGBUS when the
 * space runs out. Growing it past the limit of this process would end it by
 * SIGXFSZ.
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
	/* Whatever the umask is, which is the program's. */
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
 * Opens a file in the making. It has no name, so that nothing is left of it
 * when its maker is killed; where that cannot be, it has one beside path, told
 * in name. A descriptor, or a gk_err.
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

/* link() and not rename(): it never takes the place of another. */
static int publish(int fd, const char *name, const char *path)
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
		r = publish(fd, name, path);
	close(fd);
	if (*name)
		unlink(name);
	return r;
}

int gkl_file_open_or_make(const char *path, const struct gkl_file_kind *kind,
			  bool writable)
{
	int fd = gkl_file_open(path, kind, writable), r;

	if (fd != GK_ERR_NOT_FOUND)
		return fd;
	r = make_file(path, kind);
	if (r && r != GK_ERR_EXISTS)
		return r;
	return gkl_file_open(path, kind, writable);
}
