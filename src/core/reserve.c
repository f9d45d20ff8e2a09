/* reserve.c - reservations of devices by file locks; see reserve.h. */
#include "core/reserve.h"

#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION       0 /* the byte of the section; devices have others */
#define PATIENCE_NS   (5 * GK_NS_PER_S)
#define TRY_EVERY_NS  (GK_NS_PER_MS / 4)
#define TRIES_TO_OPEN 100

const char *gk_reserve_path(void)
{
	struct stat st;

	if (!stat("/run/lock", &st) && S_ISDIR(st.st_mode) &&
	    st.st_mode & S_IWOTH)
		return "/run/lock/gpukit-reservations";
	return "/dev/shm/gpukit-reservations";
}

/*
 * Opens the file or makes it for everybody. Without O_CREAT first: the kernel
 * may refuse that on others' files in sticky directories.
 */
static int open_or_make(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0666);
	if (fd >= 0 && fchmod(fd, 0666) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int gk_reserve_open(const char *path, int *ret_fd)
{
	struct stat st;
	int fd = -1;

	for (int i = 0; i < TRIES_TO_OPEN && fd < 0; i++) {
		fd = open_or_make(path);
		/* Somebody was faster, or has not opened it to us yet. */
		if (fd < 0 && (errno == EEXIST || errno == EACCES))
			gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
		else if (fd < 0)
			break;
	}
	if (fd < 0)
		return gk_err_from_errno(errno);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return GK_ERR_INVALID;
	}
	*ret_fd = fd;
	return 0;
}

static struct flock byte(short type, off_t at)
{
	return (struct flock){
	    .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
}

static int lock(int fd, off_t at)
{
	struct flock wanted = byte(F_WRLCK, at);

	if (!fcntl(fd, F_OFD_SETLK, &wanted))
		return 0;
	return errno == EAGAIN || errno == EACCES ? GK_ERR_IN_USE
						  : gk_err_from_errno(errno);
}

int gk_reserve_enter(int fd)
{
	uint64_t until = gk_mono_ns() + PATIENCE_NS;
	int err;

	while ((err = lock(fd, SECTION)) == GK_ERR_IN_USE) {
		if (gk_mono_ns() > until)
			return GK_ERR_TIMEOUT;
		gk_sleep_until(gk_mono_ns() + TRY_EVERY_NS);
	}
	return err;
}

void gk_reserve_leave(int fd)
{
	struct flock done = byte(F_UNLCK, SECTION);

	fcntl(fd, F_OFD_SETLK, &done);
}

/* The byte of a device: FNV-1a, 62 bits of it, never the section's. */
static off_t byte_of(const char *scope, const char *uuid)
{
	const char *const parts[] = {scope, "\n", uuid};
	uint64_t hash = 0xcbf29ce484222325;

	for (int i = 0; i < 3; i++)
		for (const char *c = parts[i]; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	return (off_t)(hash >> 2) + 1;
}

bool gk_reserve_held(int fd, const char *scope, const char *uuid)
{
	struct flock asked = byte(F_WRLCK, byte_of(scope, uuid));

	return !fcntl(fd, F_OFD_GETLK, &asked) && asked.l_type != F_UNLCK;
}

int gk_reserve_take(int fd, const char *scope, const char *uuid)
{
	return lock(fd, byte_of(scope, uuid));
}
