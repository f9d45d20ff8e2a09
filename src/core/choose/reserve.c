/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.c - reserves devices by locks on bytes of a file. */
#include "core/choose/reserve.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION      0 /* offset of the byte that guards the critical section */
#define TRY_EVERY_NS (GK_NS_PER_MS / 4)
#define TRIES        16

/* Do not follow a link, block on a pipe, or pass the descriptor on. */
#define SAFELY (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

const char *gk_reserve_path(void)
{
	struct stat st;

	if (!stat("/run/lock", &st) && S_ISDIR(st.st_mode) &&
	    st.st_mode & S_IWOTH && st.st_mode & S_ISVTX)
		return "/run/lock/gpukit-reservations";
	return "/dev/shm/gpukit-reservations";
}

/* ---- opening ---- */

static int bar_error(struct gk_reserve_bar *bar, int error)
{
	*bar = (struct gk_reserve_bar){
	    .kind = GK_BAR_ERROR, .owner = GK_RESERVE_NOBODY, .error = error};
	return gk_err_from_errno(error);
}

static void bar_of(struct gk_reserve_bar *bar, enum gk_reserve_bar_kind kind,
		   const struct stat *st)
{
	*bar = (struct gk_reserve_bar){
	    .kind = kind, .owner = st->st_uid, .mode = st->st_mode};
}

/* Sets *bar if others can replace files in a directory: its owner can, and so
 * can everybody who may write to it. */
static void judge_directory(int dir, struct gk_reserve_bar *bar)
{
	struct stat st;

	if (fstat(dir, &st) < 0)
		bar_error(bar, errno);
	else if (gk_is_stranger(st.st_uid) ||
		 (st.st_mode & S_IWOTH && !(st.st_mode & S_ISVTX)))
		bar_of(bar, GK_BAR_DIRECTORY, &st);
}

static int open_directory(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";

	*ret_name = slash ? slash + 1 : path;
	if (slash && slash - path >= PATH_MAX - 1) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (slash)
		snprintf(dir, sizeof dir, "%.*s/", (int)(slash - path), path);
	return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Makes a file accessible to all users, then gives it its name. */
static int publish_reservation(int fd, int dir, const char *from,
			       const char *name)
{
	int at = *from == '/' ? AT_FDCWD : dir;

	return fchmod(fd, 0666) < 0 ||
		       linkat(at, from, dir, name, AT_SYMLINK_FOLLOW) < 0
		   ? -1
		   : 0;
}

/* For file systems without unnamed files: first makes the file under a
 * temporary name. */
static int make_aside(int dir, const char *name)
{
	char aside[NAME_MAX + 1];
	int fd = -1, error;

	for (unsigned i = 0; i < TRIES && fd < 0; i++) {
		snprintf(aside, sizeof aside, "%.200s.%d.%u.tmp", name,
			 (int)getpid(), i);
		fd = openat(dir, aside, O_RDWR | O_CREAT | O_EXCL | SAFELY,
			    0666);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd < 0)
		return -1;
	error = publish_reservation(fd, dir, aside, name) < 0 ? errno : 0;
	unlinkat(dir, aside, 0);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/*
 * Makes the file, accessible to all users from the moment it becomes visible,
 * even if this process is killed at any moment. Fails with EEXIST if the name
 * exists already.
 */
static int make_file(int dir, const char *name)
{
	int fd = openat(dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0666), error;
	char from[32];

	if (fd < 0)
		return make_aside(dir, name);
	snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
	if (!publish_reservation(fd, dir, from, name))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return error == EEXIST ? -1 : make_aside(dir, name);
}

/*
 * Opens the file, or makes it. Avoids O_CREAT, which the kernel may refuse for
 * other users' files in sticky directories.
 */
static int open_or_make(int dir, const char *name, bool to_take)
{
	int fd = openat(dir, name, (to_take ? O_RDWR : O_RDONLY) | SAFELY);

	return fd >= 0 || errno != ENOENT || !to_take ? fd
						      : make_file(dir, name);
}

/* Sets *bar to the reason why the file could not be opened. */
static int explain_failure(int dir, const char *name, int error,
			   struct gk_reserve_bar *bar)
{
	bool closed = error == EACCES || error == EPERM;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (S_ISREG(st.st_mode) && !closed))
		return bar_error(bar, error);
	bar_of(bar, S_ISREG(st.st_mode) ? GK_BAR_CLOSED : GK_BAR_KIND, &st);
	return GK_ERR_PERMISSION;
}

/* Whether other users are denied access: they could then not see root's
 * reservations. Only root can open such a file. */
static bool is_closed(const struct stat *st)
{
	return st->st_uid != geteuid() && (st->st_mode & 0666) != 0666;
}

static int open_in(int dir, const char *name, bool to_take, int *ret_fd,
		   struct gk_reserve_bar *bar)
{
	struct stat st = {0};
	int fd = open_or_make(dir, name, to_take);

	/* EEXIST: another process has made the file since the first attempt.
	 * Try again, because that process may also have removed it. */
	for (int i = 0; i < TRIES && fd < 0 && errno == EEXIST; i++)
		fd = open_or_make(dir, name, to_take);
	if (fd < 0 && errno == ENOENT && !to_take)
		return 0;
	if (fd < 0)
		return explain_failure(dir, name, errno, bar);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		bar_of(bar, GK_BAR_KIND, &st);
	else if (to_take && is_closed(&st))
		bar_of(bar, GK_BAR_CLOSED, &st);
	else
		return *ret_fd = fd, 0;
	close(fd);
	return GK_ERR_PERMISSION;
}

int gk_reserve_open(const char *path, bool to_take, int *ret_fd,
		    struct gk_reserve_bar *ret_bar)
{
	const char *name;
	int err = 0, dir = open_directory(path, &name);

	*ret_bar = (struct gk_reserve_bar){0};
	*ret_fd = -1;
	if (dir < 0)
		return errno == ENOENT && !to_take ? 0
						   : bar_error(ret_bar, errno);
	judge_directory(dir, ret_bar);
	if (ret_bar->kind && to_take)
		err = GK_ERR_PERMISSION;
	else
		err = open_in(dir, name, to_take, ret_fd, ret_bar);
	close(dir);
	return err;
}

/* ---- locks ---- */

static struct flock lock_of_byte(short type, off_t at)
{
	return (struct flock){
	    .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
}

static int lock_byte(int fd, off_t at)
{
	struct flock wanted = lock_of_byte(F_WRLCK, at);

	if (!fcntl(fd, F_OFD_SETLK, &wanted))
		return 0;
	return errno == EAGAIN || errno == EACCES ? GK_ERR_IN_USE
						  : gk_err_from_errno(errno);
}

/* Describes a lock in *bar, with its holder if the kernel names one. It names
 * none for OFD locks. */
static void bar_lock(struct gk_reserve_bar *bar, const struct flock *held)
{
	char process[32];
	struct stat st;

	*bar = (struct gk_reserve_bar){.kind = GK_BAR_LOCK,
				       .owner = GK_RESERVE_NOBODY};
	if (held->l_pid <= 0)
		return;
	bar->holder = held->l_pid;
	snprintf(process, sizeof process, "/proc/%d", (int)held->l_pid);
	if (!stat(process, &st))
		bar->owner = st.st_uid;
}

int gk_reserve_enter(int fd, uint64_t until_ns, struct gk_reserve_bar *ret_bar)
{
	struct flock held = lock_of_byte(F_WRLCK, SECTION);
	int err;

	while ((err = lock_byte(fd, SECTION)) == GK_ERR_IN_USE) {
		if (gk_mono_ns() >= until_ns) {
			fcntl(fd, F_OFD_GETLK, &held);
			bar_lock(ret_bar, &held);
			return GK_ERR_TIMEOUT;
		}
		gk_sleep_until(gk_mono_ns() + TRY_EVERY_NS);
	}
	return err;
}

void gk_reserve_leave(int fd)
{
	struct flock done = lock_of_byte(F_UNLCK, SECTION);

	fcntl(fd, F_OFD_SETLK, &done);
}

/* The byte that represents a device: 62 bits of an FNV-1a hash of its names. It
 * is never the byte of the critical section. */
static off_t byte_of(const char *scope, const char *uuid)
{
	const char *const parts[] = {scope, "\n", uuid};
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = 0; i < 3; i++)
		for (const char *c = parts[i]; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	return (off_t)(hash >> 2) + 1;
}

/* A reservation is an OFD write lock of one byte. Any other lock is foreign. */
enum gk_reserve_hold gk_reserve_held(int fd, const char *scope,
				     const char *uuid,
				     struct gk_reserve_bar *ret_bar)
{
	struct flock asked = lock_of_byte(F_WRLCK, byte_of(scope, uuid));

	if (fcntl(fd, F_OFD_GETLK, &asked) || asked.l_type == F_UNLCK)
		return GK_HOLD_NONE;
	if (asked.l_type == F_WRLCK && asked.l_len == 1 && asked.l_pid == -1)
		return GK_HOLD_RESERVED;
	bar_lock(ret_bar, &asked);
	return GK_HOLD_FOREIGN;
}

int gk_reserve_take(int fd, const char *scope, const char *uuid)
{
	return lock_byte(fd, byte_of(scope, uuid));
}
