/* SPDX-License-Identifier: Apache-2.0 */
/* root.c - reads files below the root that the doctor examines. */
#include "base/err.h"
#include "base/fs.h"
#include "cli/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST (4 << 20)

/* Returns the path relative to the root's descriptor. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

ssize_t gk_doctor_read(const struct gk_doctor *d, const char *path, char *buf,
		       size_t cap)
{
	ssize_t n = gk_read_at(d->root, below(path), buf, cap);

	if (n < 0)
		*buf = '\0';
	return n;
}

char *gk_doctor_read_whole(const struct gk_doctor *d, const char *path)
{
	char *text = malloc(FILE_MOST);

	if (text)
		gk_doctor_read(d, path, text, FILE_MOST);
	return text;
}

bool gk_doctor_exists(const struct gk_doctor *d, const char *path)
{
	return !faccessat(d->root, below(path), F_OK, 0);
}

void gk_doctor_link(const struct gk_doctor *d, const char *path, char *buf,
		    size_t cap)
{
	ssize_t n = readlinkat(d->root, below(path), buf, cap - 1);

	buf[n < 0 ? 0 : n] = '\0';
}

int gk_doctor_access(const struct gk_doctor *d, const char *path)
{
	return faccessat(d->root, below(path), R_OK | W_OK, AT_EACCESS) ? errno
									: 0;
}

DIR *gk_doctor_dir(const struct gk_doctor *d, const char *path)
{
	int fd =
	    openat(d->root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}
