/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - finds, makes, lists and removes groups. */
#include "limit/group.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "limit/environment.h"
#include "limit/name.h"
#include "limit/reason.h"
#include "limit/region.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	PATH_CAP = sizeof((struct gkl_group *)0)->path,
	/* The size of a directory's path: leaves space for a name and a suffix.
	 */
	BASE_CAP = PATH_CAP - 2 * GKL_NAME,
};

/* Prefix of a group that is still being made; no group's name has it. */
#define UNFINISHED ".new-"

enum { OLD_S = 60 };

/* The files of a group. */
struct files {
	char policy[PATH_CAP + 32], ledger[PATH_CAP + 32];
	enum gkl_trust trust;
};

/*
 * Makes the paths of a group's files, in our directory or beside HAMi's file.
 */
static void name_files(const char *path, bool is_region, struct files *files)
{
	size_t len = strlen(path);
	const char *between = is_region ? ".gpukit-" : "/";

	/* HAMi's monitor counts files whose names have ".cache" in them. */
	if (is_region && len > 6 && !strcmp(path + len - 6, ".cache"))
		len -= 6;
	snprintf(files->policy, sizeof files->policy, "%.*s%spolicy", (int)len,
		 path, between);
	snprintf(files->ledger, sizeof files->ledger, "%.*s%sledger", (int)len,
		 path, between);
	files->trust = is_region ? GKL_COMMON : GKL_PRIVATE;
}

static int note_path(struct gkl_group *group, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (*path != '/' || len >= sizeof group->path)
		return GK_ERR_INVALID;
	snprintf(group->path, sizeof group->path, "%.*s", (int)len, path);
	return 0;
}

void gkl_group_close(struct gkl_group *group)
{
	gkl_policy_close(group->policy);
	gkl_ledger_close(group->ledger);
	gkl_region_close(group->region);
	*group = (struct gkl_group){0};
}

/* On an error, closes the open parts of the group; else sets *ret_group. */
static int hand_on(struct gkl_group *group, int r, struct gkl_group *ret_group)
{
	if (r)
		gkl_group_close(group);
	else
		*ret_group = *group;
	return r;
}

/* Opens the two files of a group; both must exist. */
static int open_files(const char *path, bool is_region, bool writable,
		      struct gkl_group *ret_group)
{
	struct gkl_group group = {0};
	struct files files;
	int r = note_path(&group, path);

	if (r)
		return r;
	name_files(group.path, is_region, &files);
	r = gkl_policy_open(files.policy, files.trust, writable, &group.policy);
	if (!r)
		r = gkl_ledger_open(files.ledger, files.trust, &group.ledger);
	if (!r && is_region && gkl_region_open_there(group.path, &group.region))
		gk_log(GK_LOG_WARN, "%s is not HAMi's region", group.path);
	return hand_on(&group, r, ret_group);
}

static int open_directory(const char *path, bool writable,
			  struct gkl_group *ret_group)
{
	int fd = gkl_directory_open(path);

	if (fd < 0)
		return fd;
	close(fd);
	return open_files(path, false, writable, ret_group);
}

/*
 * Warns if policy and environment differ, as they do after the operator has
 * changed the policy, or the environment has changed.
 */
static void compare_policies(const struct gkl_group *group,
			     const struct gkl_policy *wanted)
{
	struct gkl_policy holds;

	gkl_policy_read(group->policy, &holds);
	if (memcmp(&holds, wanted, sizeof holds))
		gk_log(GK_LOG_WARN,
		       "the limits of %s stay as they are; the environment has "
		       "others",
		       group->path);
}

static void count_process(const struct gkl_process *process, void *arg)
{
	(void)process;
	++*(int *)arg;
}

/* Counts living processes that have used a GPU. */
static int count_living(const struct gkl_group *group)
{
	int living = 0;

	gkl_ledger_bury(group->ledger);
	gkl_ledger_each(group->ledger, count_process, &living);
	return living;
}

/* Replaces the policy, also for processes that already map its page. */
static int write_policy(const struct files *files,
			const struct gkl_policy *wanted)
{
	struct gkl_policy_page *page;
	int r = gkl_policy_open(files->policy, files->trust, true, &page);

	if (r)
		return r;
	r = gkl_policy_write(page, wanted);
	gkl_policy_close(page);
	return r;
}

/*
 * If HAMi's region was removed and no process uses the group, also replaces the
 * policy: by removing the region, the operator asks for the limits of the next
 * environment.
 */
static int renew_policy(struct gkl_group *group, const struct files *files,
			const struct gkl_policy *wanted)
{
	struct stat st;

	if (!lstat(group->path, &st) || errno != ENOENT || count_living(group))
		return 0;
	if (!write_policy(files, wanted))
		return 0;
	/*
	 * unlink() may fail because another user of the container owns the
	 * file; the old policy then stays.
	 */
	if (unlink(files->policy))
		return 0;
	gkl_policy_close(group->policy);
	group->policy = NULL;
	return gkl_policy_make(files->policy, files->trust, wanted,
			       &group->policy);
}

static int open_hami_files(const struct gkl_environment *e,
			   const struct files *files, struct gkl_group *group)
{
	int r = gkl_policy_make(files->policy, files->trust, &e->policy,
				&group->policy);

	if (!r)
		r = gkl_ledger_open(files->ledger, files->trust,
				    &group->ledger);
	if (!r)
		r = renew_policy(group, files, &e->policy);
	if (!r)
		compare_policies(group, &e->policy);
	/*
	 * Only HAMi's monitor reads the region, so a failure does not weaken
	 * the limits.
	 */
	if (!r && gkl_region_open(group->path, &group->region))
		gk_log(GK_LOG_WARN, "%s is not HAMi's region", group->path);
	return r;
}

/*
 * The first process makes HAMi's group. Processes take turns, so that none
 * mistakes a group being made for one whose region was removed.
 */
static int open_hami(const struct gkl_environment *e,
		     struct gkl_group *ret_group)
{
	struct gkl_group group = {0};
	struct files files;
	int r = note_path(&group, e->region), lock;

	if (r)
		return r;
	name_files(group.path, true, &files);
	lock = gkl_file_lock_directory(files.policy);
	r = open_hami_files(e, &files, &group);
	if (lock >= 0)
		close(lock);
	return hand_on(&group, r, ret_group);
}

int gkl_group_from_environment(struct gkl_group *ret_group)
{
	struct gkl_environment e;
	const char *path;
	int r;

	gkl_environment_set_log();
	r = gkl_environment_read(&e);
	if (r)
		return r;
	path = e.group ? e.group : e.region;
	if (!path)
		return GK_ERR_NOT_FOUND;
	r = e.group ? open_directory(path, false, ret_group)
		    : open_hami(&e, ret_group);
	if (r) {
		gk_log(GK_LOG_ERROR, "the limits of %s cannot be enforced: %s",
		       path, gk_strerror(r));
		gkl_reason_note("the limits of %s cannot be enforced: %s", path,
				gk_strerror(r));
	}
	/* A missing group must not mean that nothing is limited. */
	return r == GK_ERR_NOT_FOUND ? GK_ERR_CORRUPT : r;
}

/* The directory of this user's groups. */
static int name_base(char *dir, size_t cap)
{
	return gk_name_shared_dir("gpukit-limit", dir, cap);
}

static int name_group(const char *name, char *path, size_t cap)
{
	char base[BASE_CAP];

	if (!gkl_name_is_good(name) || name_base(base, sizeof base))
		return GK_ERR_INVALID;
	snprintf(path, cap, "%s/%s", base, name);
	return 0;
}

static int open_path(const char *path, bool writable,
		     struct gkl_group *ret_group)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return gk_err_from_errno(errno);
	return S_ISDIR(st.st_mode)
		   ? open_directory(path, writable, ret_group)
		   : open_files(path, true, writable, ret_group);
}

int gkl_group_open(const char *name, bool writable, struct gkl_group *ret_group)
{
	char path[PATH_CAP];
	int r;

	if (strchr(name, '/'))
		return open_path(name, writable, ret_group);
	r = name_group(name, path, sizeof path);
	return r ? r : open_directory(path, writable, ret_group);
}

static void remove_files(const char *path)
{
	struct files files;

	name_files(path, false, &files);
	unlink(files.policy);
	unlink(files.ledger);
	rmdir(path);
}

/* Makes a group in a directory whose name no group can have. */
static int make_unnamed(const char *path, const struct gkl_policy *first)
{
	struct gkl_policy_page *policy = NULL;
	struct gkl_ledger *ledger = NULL;
	struct files files;
	int r;

	name_files(path, false, &files);
	r = gkl_policy_make(files.policy, files.trust, first, &policy);
	if (!r)
		r = gkl_ledger_open(files.ledger, files.trust, &ledger);
	gkl_policy_close(policy);
	gkl_ledger_close(ledger);
	return r;
}

/* Makes a finished group appear whole; never replaces another group. */
static int publish_group(const char *from, const char *path)
{
	if (rename(from, path) == 0)
		return 0;
	return errno == ENOTEMPTY ? GK_ERR_EXISTS : gk_err_from_errno(errno);
}

/* Removes groups whose makers were killed before they finished. */
static void remove_unfinished(const char *base)
{
	DIR *dir = opendir(base);
	time_t old = time(NULL) - OLD_S;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[BASE_CAP + sizeof entry->d_name + 1];
		struct stat st;

		snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
		if (!strncmp(entry->d_name, UNFINISHED, strlen(UNFINISHED)) &&
		    lstat(path, &st) == 0 && st.st_mtime < old)
			remove_files(path);
	}
	if (dir)
		closedir(dir);
}

int gkl_group_make(const char *name, const struct gkl_policy *first,
		   struct gkl_group *ret_group)
{
	char base[BASE_CAP], path[PATH_CAP], making[PATH_CAP];
	int r = name_group(name, path, sizeof path);

	if (!r)
		r = name_base(base, sizeof base);
	if (!r)
		r = gk_make_private_dir(base);
	if (r)
		return r;
	remove_unfinished(base);
	snprintf(making, sizeof making, "%s/%sXXXXXX", base, UNFINISHED);
	if (!mkdtemp(making))
		return gk_err_from_errno(errno);
	r = make_unnamed(making, first);
	if (!r)
		r = publish_group(making, path);
	if (r)
		remove_files(making);
	return r ? r : gkl_group_open(name, true, ret_group);
}

int gkl_group_each(void (*each)(const char *name, void *arg), void *arg)
{
	char base[BASE_CAP];
	struct dirent *entry;
	DIR *dir;
	int fd = name_base(base, sizeof base);

	if (!fd)
		fd = gkl_directory_open(base);
	if (fd < 0)
		return fd == GK_ERR_NOT_FOUND ? 0 : fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return GK_ERR_NOMEM;
	}
	while ((entry = readdir(dir)))
		if (gkl_name_is_good(entry->d_name))
			each(entry->d_name, arg);
	closedir(dir);
	return 0;
}

int gkl_group_remove(const char *name)
{
	char path[PATH_CAP];
	struct gkl_group group = {0};
	int living, r = name_group(name, path, sizeof path);

	if (!r)
		r = gkl_group_open(name, true, &group);
	if (r)
		return r;
	living = count_living(&group);
	gkl_group_close(&group);
	if (living)
		return GK_ERR_IN_USE;
	remove_files(path);
	return 0;
}
