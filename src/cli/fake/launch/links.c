/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c - finds the drop-in libraries. An installation from a Python wheel
 * has no symbolic links, because wheels cannot contain any. It has a list of
 * them instead. This file creates the links in a private directory, once for
 * each version of an installation: each library gets a link under all of its
 * names.
 *
 * The list is the file "links" in the directory of the libraries. Its first
 * line is the version. Each further line is "PATH TARGET", a link to create and
 * the file to which it leads. Both are relative to that directory.
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/mix.h"
#include "cli/fake/fake.h"
#include "cli/where.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIST_MAX (1U << 20)

#define UNFINISHED "unfinished-"
/* An older unfinished directory was left by a killed process. */
#define UNFINISHED_S 3600

/* The installed libraries and the place of their links. */
struct links {
	char installed[PATH_MAX]; /* the directory of the libraries */
	/* The contents of the list. NULL: there is none. */
	char *list;
	/* Contains the directories of links of all installations. */
	char above[PATH_MAX];
	/* All directories of this installation begin with this. */
	char prefix[18];
	char name[40]; /* name of this version's directory */
};

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = gkf_mix(hash ^ (unsigned char)*text);
	return hash;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	(void)(type == FTW_DP ? rmdir(path) : unlink(path));
	return 0;
}

/* Other processes may remove the same tree meanwhile. */
static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Creates the directories above the last name of a path; they may exist. */
static int make_parents(char *path, size_t from)
{
	for (char *at = path + from; (at = strchr(at, '/')); at++) {
		int r;

		*at = '\0';
		r = mkdir(path, 0700);
		*at = '/';
		if (r < 0 && errno != EEXIST)
			return gk_err_from_errno(errno);
	}
	return 0;
}

static int lay_link(const char *dir, const char *path, const char *from,
		    const char *target)
{
	char link[PATH_MAX], full[PATH_MAX];
	int r, len = snprintf(link, sizeof link, "%s/", dir);

	if ((size_t)snprintf(link + len, sizeof link - (size_t)len, "%s",
			     path) >= sizeof link - (size_t)len ||
	    (size_t)snprintf(full, sizeof full, "%s/%s", from, target) >=
		sizeof full)
		return GK_ERR_RANGE;
	r = make_parents(link, (size_t)len);
	if (!r && symlink(full, link) < 0)
		r = gk_err_from_errno(errno);
	return r;
}

/* Creates all links of the list. Changes the list's text. */
static int lay_list(const struct links *links, char *list, const char *dir)
{
	char *rest = list, *line = strsep(&rest, "\n"); /* skips the version */
	int r = 0;

	while (!r && (line = strsep(&rest, "\n")) && *line) {
		char *path = strsep(&line, " ");

		if (!line || *path == '/' || *line == '/' || strstr(path, ".."))
			return GK_ERR_INVALID;
		r = lay_link(dir, path, links->installed, line);
	}
	return r;
}

/*
 * Creates the links in a temporary directory, which is renamed when it is
 * complete. If another process was faster, the directory of that process stays.
 */
static int lay(const struct links *links, const char *dir)
{
	char beside[PATH_MAX], *list = strdup(links->list);
	int r;

	if (!list)
		return GK_ERR_NOMEM;
	if ((size_t)snprintf(beside, sizeof beside, "%s/" UNFINISHED "XXXXXX",
			     links->above) >= sizeof beside)
		r = GK_ERR_RANGE;
	else if (!mkdtemp(beside))
		r = gk_err_from_errno(errno);
	else {
		r = lay_list(links, list, beside);
		if (!r && rename(beside, dir) < 0 && errno != ENOTEMPTY &&
		    errno != EEXIST)
			r = gk_err_from_errno(errno);
		/* Does nothing after a successful rename. */
		remove_tree(beside);
	}
	free(list);
	return r;
}

/*
 * Whether a directory of links is no longer used: it belongs to another version
 * of this installation, or was never completed.
 */
static bool is_left_over(const struct links *links, const char *name,
			 const char *path)
{
	struct stat st;

	if (!strncmp(name, UNFINISHED, strlen(UNFINISHED)))
		return !lstat(path, &st) &&
		       st.st_mtime + UNFINISHED_S < time(NULL);
	return !strncmp(name, links->prefix, strlen(links->prefix)) &&
	       strcmp(name, links->name) != 0;
}

static void remove_left_over(const struct links *links)
{
	DIR *above = opendir(links->above);
	struct dirent *entry;
	char path[PATH_MAX];

	while (above && (entry = readdir(above)))
		if ((size_t)snprintf(path, sizeof path, "%s/%s", links->above,
				     entry->d_name) < sizeof path &&
		    is_left_over(links, entry->d_name, path))
			remove_tree(path);
	if (above)
		closedir(above);
}

/*
 * Reads the list. Sets links->list to NULL if the installation has links and
 * therefore no list. Returns 0 or a gk_err.
 */
static int read_list(struct links *links)
{
	char path[PATH_MAX + 8];
	ssize_t n;

	links->list = NULL;
	snprintf(path, sizeof path, "%s/links", links->installed);
	if (access(path, F_OK) < 0)
		return 0;
	links->list = malloc(LIST_MAX);
	n = links->list ? gk_read_at(AT_FDCWD, path, links->list, LIST_MAX)
			: GK_ERR_NOMEM;
	if (n < 0) {
		free(links->list);
		links->list = NULL;
	}
	return n < 0 ? (int)n : 0;
}

/* Finds the directory of links. Creates it if it is missing. */
static int find_laid(struct links *links, char *ret_dir, size_t cap)
{
	int r = gk_name_shared_dir("gpukit-links", links->above, PATH_MAX);
	struct stat st = {0};

	if (!r)
		r = gk_make_private_dir(links->above);
	if (!r && stat(links->installed, &st) < 0)
		r = gk_err_from_errno(errno);
	if (r)
		return r;
	/*
	 * The device number is included, because containers that share /dev/shm
	 * may have installations with the same path.
	 */
	snprintf(links->prefix, sizeof links->prefix, "%016" PRIx64 "-",
		 hash_text(links->installed) ^ gkf_mix(st.st_dev));
	snprintf(links->name, sizeof links->name, "%s%016" PRIx64,
		 links->prefix, hash_text(links->list));
	if ((size_t)snprintf(ret_dir, cap, "%s/%s", links->above,
			     links->name) >= cap)
		return GK_ERR_RANGE;
	if (!access(ret_dir, F_OK))
		return 0;
	r = lay(links, ret_dir);
	if (!r)
		remove_left_over(links);
	return r;
}

int fake_where(const char *name, char *ret_path, size_t cap)
{
	struct links links;
	char dir[PATH_MAX];
	int r =
	    gk_where_library("fake", links.installed, sizeof links.installed);

	if (!r)
		r = read_list(&links);
	if (r)
		return r;
	if (links.list)
		r = find_laid(&links, dir, sizeof dir);
	else
		snprintf(dir, sizeof dir, "%s", links.installed);
	free(links.list);
	if (!r && (size_t)snprintf(ret_path, cap, "%s%s%s", dir,
				   *name ? "/" : "", name) >= cap)
		r = GK_ERR_RANGE;
	return r;
}
