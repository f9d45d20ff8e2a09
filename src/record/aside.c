/* SPDX-License-Identifier: Apache-2.0 */
/* aside.c - chooses new names for old files and renames them. */
#include "record/aside.h"
#include "base/calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX 16 /* ".4294967295" */

/*
 * Returns the length of NAME in NAME.EXT. A leading dot does not begin an
 * extension.
 */
static size_t stem_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/*
 * Renames a file. Does not replace another file, if the file system can
 * guarantee that.
 */
static int move_to(int dir, const char *from, const char *to)
{
	struct stat st;

	if (!gk_rename(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -1;
	if (!fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return renameat(dir, from, dir, to);
}

/* Returns N if the file is called NAME.N.EXT, else 0. */
static unsigned number_put_aside(const char *file, const char *base,
				 size_t stem)
{
	unsigned number = 0;

	if (strncmp(file, base, stem) != 0 || file[stem] != '.')
		return 0;
	for (file += stem + 1; *file >= '0' && *file <= '9'; file++)
		if (number < UINT_MAX / 100)
			number = number * 10 + (unsigned)(*file - '0');
	return strcmp(file, base + stem) != 0 ? 0 : number;
}

/*
 * Returns the highest number in use. Counting files would not do, because
 * deleted ones leave gaps.
 */
static unsigned last_number(int dir, const char *name)
{
	int list =
	    openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
	DIR *entries = list < 0 ? NULL : fdopendir(list);
	size_t stem = stem_of(name);
	struct dirent *entry;
	unsigned last = 0;

	while (entries && (entry = readdir(entries))) {
		unsigned number = number_put_aside(entry->d_name, name, stem);

		last = number > last ? number : last;
	}
	if (entries)
		closedir(entries);
	else if (list >= 0)
		close(list);
	return last;
}

int gk_aside(int dir, const char *name, unsigned *number)
{
	char to[NAME_MAX + SUFFIX];
	size_t stem = stem_of(name);
	int r;

	if (!*number)
		*number = last_number(dir, name);
	do {
		snprintf(to, sizeof to, "%.*s.%u%s", (int)stem, name, ++*number,
			 name + stem);
		r = move_to(dir, name, to);
	} while (r < 0 && errno == EEXIST);
	return r;
}
