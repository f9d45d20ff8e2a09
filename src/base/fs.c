/* SPDX-License-Identifier: Apache-2.0 */
/* fs.c - reads small files whole, and replaces files atomically. */
#include "base/fs.h"

#include "base/assert.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TRIES 100

ssize_t gk_read_fd(int fd, char *buf, size_t cap)
{
	size_t len = 0;
	ssize_t n = 0;

	GK_ASSERT(cap);
	while (len < cap - 1) {
		n = read(fd, buf + len, cap - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (n < 0)
		return gk_err_from_errno(errno);
	buf[len] = '\0';
	return (ssize_t)len;
}

ssize_t gk_read_at(int dir, const char *path, char *buf, size_t cap)
{
	ssize_t n;
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return gk_err_from_errno(errno);
	n = gk_read_fd(fd, buf, cap);
	close(fd);
	return n;
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return gk_err_from_errno(errno);
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Creates a file beside `path` under a name that no other thread or process
 * uses. If a dead process with the same pid has left a file of that name, tries
 * the next name.
 */
static int open_beside(const char *path, mode_t mode, char *beside, size_t cap)
{
	static _Atomic unsigned serial;
	int fd = -1;

	for (int i = 0; fd < 0 && i < TRIES; i++) {
		if ((size_t)snprintf(beside, cap, "%s.%d.%u.tmp", path,
				     (int)getpid(), serial++) >= cap)
			return GK_ERR_INVALID;
		fd =
		    open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? gk_err_from_errno(errno) : fd;
}

int gk_write_atomic(const char *path, const void *bytes, size_t len,
		    mode_t mode)
{
	char beside[4096];
	int fd = open_beside(path, mode, beside, sizeof beside);
	int r;

	if (fd < 0)
		return fd;
	r = write_all(fd, bytes, len);
	if (!r && fsync(fd) < 0)
		r = gk_err_from_errno(errno);
	if (close(fd) < 0 && !r)
		r = gk_err_from_errno(errno);
	if (!r && rename(beside, path) < 0)
		r = gk_err_from_errno(errno);
	if (r)
		unlink(beside);
	return r;
}
