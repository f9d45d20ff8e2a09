/* SPDX-License-Identifier: Apache-2.0 */
/* ofd_locks.c - reads the list of locks, /proc/locks. */
#include "base/ofd_locks.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * The kernel returns the list a page at a time. If a lock ends between two
 * reads, another lock may move from the second page to the first and be missed.
 * So a list of several pages is read several times.
 */
enum { PAGE = 4096, READINGS = 3 };

bool gk_ofd_lock_parse(const char *line, struct gk_ofd_lock *ret_lock)
{
	unsigned major, minor;
	char end[24];
	struct gk_ofd_lock lock;

	if (sscanf(line,
		   "%*u: OFDLCK %*s %*s %*d %x:%x:%" SCNu64 " %" SCNu64 " %23s",
		   &major, &minor, &lock.inode, &lock.begin, end) != 5)
		return false;
	lock.device = makedev(major, minor);
	if (!strcmp(end, "EOF"))
		lock.end = UINT64_MAX;
	else if (sscanf(end, "%" SCNu64, &lock.end) != 1)
		return false;
	else
		lock.end++;
	*ret_lock = lock;
	return true;
}

struct reader {
	int fd;
	unsigned pages;
	size_t length; /* length of the incomplete line at the end */
	char text[PAGE + 1];
};

static void visit_lines(struct reader *r, gk_ofd_lock_visit *visit, void *arg)
{
	char *line = r->text, *end;
	struct gk_ofd_lock lock;

	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		if (gk_ofd_lock_parse(line, &lock))
			visit(arg, &lock);
		line = end + 1;
	}
	r->length = strlen(line);
	memmove(r->text, line, r->length + 1);
}

/*
 * ENOENT, EACCES, EPERM: the file does not exist, or this process may not see
 * it.
 */
static int error_of(int error)
{
	return error == ENOENT || error == EACCES || error == EPERM
		   ? GK_ERR_NOT_SUPPORTED
		   : gk_err_from_errno(error);
}

static int read_all(struct reader *r, gk_ofd_lock_visit *visit, void *arg)
{
	ssize_t n;

	r->length = r->pages = 0;
	while (r->length < PAGE) {
		n = read(r->fd, r->text + r->length, PAGE - r->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? error_of(errno) : 0;
		r->pages++;
		r->length += (size_t)n;
		r->text[r->length] = '\0';
		visit_lines(r, visit, arg);
	}
	return GK_ERR_NOT_SUPPORTED; /* no line of the file is this long */
}

int gk_ofd_locks(gk_ofd_lock_visit *visit, void *arg)
{
	struct reader r = {.fd = open("/proc/locks", O_RDONLY | O_CLOEXEC)};
	int err = r.fd < 0 ? error_of(errno) : 0;

	for (int i = 0; !err && i < READINGS; i++) {
		err = read_all(&r, visit, arg);
		if (r.pages <= 1)
			break;
		if (!err && lseek(r.fd, 0, SEEK_SET) < 0)
			err = error_of(errno);
	}
	if (r.fd >= 0)
		close(r.fd);
	return err;
}
