/* aside.c - names and numbers of files put aside; see aside.h. */
#include "record/aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX 16 /* ".4294967295" */

/* The length of NAME; a dot that begins a name begins no extension. */
static size_t stem_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

/* Replaces nothing; not every file system can promise that. */
static int move_to(const char *from, const char *to)
{
	struct stat st;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -1;
	if (!lstat(to, &st)) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

/* N of NAME.N.EXT; of other files 0. */
static unsigned number_of(const char *file, const char *base, size_t stem)
{
	unsigned number = 0;

	if (strncmp(file, base, stem) != 0 || file[stem] != '.')
		return 0;
	for (file += stem + 1; *file >= '0' && *file <= '9'; file++)
		if (number < UINT_MAX / 100)
			number = number * 10 + (unsigned)(*file - '0');
	return strcmp(file, base + stem) != 0 ? 0 : number;
}

/* The highest number there is: what somebody deleted leaves gaps. */
static unsigned last_number(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t stem = stem_of(base);
	struct dirent *entry;
	char dir[PATH_MAX];
	unsigned last = 0;
	DIR *entries;

	snprintf(dir, sizeof dir, "%.*s", (int)(base - path), path);
	entries = opendir(*dir ? dir : ".");
	while (entries && (entry = readdir(entries))) {
		unsigned number = number_of(entry->d_name, base, stem);

		last = number > last ? number : last;
	}
	if (entries)
		closedir(entries);
	return last;
}

int gk_aside(const char *path, unsigned *number)
{
	char name[PATH_MAX + SUFFIX];
	size_t stem = stem_of(path);
	int r;

	if (!*number)
		*number = last_number(path);
	do {
		snprintf(name, sizeof name, "%.*s.%u%s", (int)stem, path,
			 ++*number, path + stem);
		r = move_to(path, name);
	} while (r < 0 && errno == EEXIST);
	return r;
}
