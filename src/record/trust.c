/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - follows a path name by name, and checks each step. */
#include "record/trust.h"

#include "base/assert.h"
#include "base/err.h"
#include "base/stranger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_MAGIC 0x9fa0 /* PROC_SUPER_MAGIC of linux/magic.h */
#define LINKS_MAX  40     /* the same limit as the kernel's */

/* The state while a path is being followed. */
struct walk {
	struct gk_spot *spot;
	char rest[2 * PATH_MAX]; /* the rest of the path */
	unsigned links;
	char *why;
	size_t cap;
};

static int __attribute__((format(printf, 4, 5)))
told(char *why, size_t cap, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, cap, format, args);
	va_end(args);
	return err;
}

static int tell_walk_error(const struct walk *w, int error)
{
	return told(w->why, w->cap, gk_err_from_errno(error), "%s",
		    strerror(error));
}

/* ---- owners ---- */

static bool is_ours(const struct stat *st, const struct stat *dir)
{
	return st->st_uid == geteuid() || st->st_uid == dir->st_uid;
}

/*
 * Whether another user may have planted a link. In a directory that everyone
 * may write to, a link is trusted if it belongs to the user or to the owner of
 * the directory. Elsewhere it is trusted if the link or the directory belongs
 * to the user or root: an owner who lets others write to a directory trusts
 * them.
 */
static bool is_planted_link(const struct stat *st, const struct stat *dir)
{
	return (dir->st_mode & S_IWOTH && !is_ours(st, dir)) ||
	       (gk_is_stranger(st->st_uid) && gk_is_stranger(dir->st_uid));
}

static bool is_planted_file(const struct stat *st, const struct stat *dir)
{
	mode_t shared = S_IWOTH | S_ISVTX;

	return (dir->st_mode & shared) == shared && !is_ours(st, dir);
}

static int judge_spot(const struct gk_spot *spot, const struct stat *st,
		      char *why, size_t cap)
{
	struct stat dir;

	if (fstat(spot->dir, &dir) < 0)
		return told(why, cap, gk_err_from_errno(errno), "%s",
			    strerror(errno));
	if (S_ISLNK(st->st_mode))
		return !is_planted_link(st, &dir)
			   ? 0
			   : told(why, cap, GK_ERR_PERMISSION,
				  "'%s' is a link of user %u in a directory of "
				  "user %u, mode %04o, and is not followed; "
				  "give the path that it leads to, or another "
				  "--output",
				  spot->name, (unsigned)st->st_uid,
				  (unsigned)dir.st_uid,
				  (unsigned)dir.st_mode & 07777);
	if (!is_planted_file(st, &dir))
		return 0;
	return told(why, cap, GK_ERR_PERMISSION,
		    "'%s' is a file of user %u in a directory that everyone "
		    "may write, and is not written to; give another --output",
		    spot->name, (unsigned)st->st_uid);
}

/* ---- a step ---- */

static int enter_directory(struct walk *w, int dir)
{
	if (dir < 0)
		return tell_walk_error(w, errno);
	gk_spot_close(w->spot);
	w->spot->dir = dir;
	return 0;
}

/*
 * Reads the next name of the path. Names are separated by any number of
 * slashes.
 */
static int take_name(struct walk *w, bool *ret_last)
{
	char *rest = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(rest, "/");

	if (len > NAME_MAX)
		return tell_walk_error(w, ENAMETOOLONG);
	memcpy(w->spot->name, rest, len);
	w->spot->name[len] = '\0';
	*ret_last = !rest[len];
	memmove(w->rest, rest + len, strlen(rest + len) + 1);
	return 0;
}

/* Whether a link's target cannot be opened by name: "pipe:[123]", or a removed
 * file. */
static bool is_magic(const struct gk_spot *spot, const char *target)
{
	struct statfs fs;

	return !fstatfs(spot->dir, &fs) && fs.f_type == PROC_MAGIC &&
	       (target[0] == '/' ? access(target, F_OK) < 0
				 : strchr(target, ':') != NULL);
}

/* Puts the target of a link before the rest of the path. */
static int follow_link(struct walk *w, const struct stat *st, bool *ret_end)
{
	struct gk_spot *spot = w->spot;
	char target[PATH_MAX], rest[2 * PATH_MAX];
	ssize_t n = readlinkat(spot->dir, spot->name, target, sizeof target);
	int r = judge_spot(spot, st, w->why, w->cap);

	if (r)
		return r;
	if (n < 0 || n == sizeof target)
		return tell_walk_error(w, n < 0 ? errno : ENAMETOOLONG);
	target[n] = '\0';
	if (is_magic(spot, target)) {
		if (*w->rest)
			return tell_walk_error(w, ENOTDIR);
		spot->magic = *ret_end = true;
		return fstatat(spot->dir, spot->name, &spot->st, 0) < 0
			   ? tell_walk_error(w, errno)
			   : 0;
	}
	if (++w->links > LINKS_MAX)
		return tell_walk_error(w, ELOOP);
	if ((size_t)snprintf(rest, sizeof rest, "%s%s", target, w->rest) >=
	    sizeof rest)
		return tell_walk_error(w, ENAMETOOLONG);
	strcpy(w->rest, rest);
	return target[0] == '/'
		   ? enter_directory(w, open("/", O_PATH | O_CLOEXEC))
		   : 0;
}

static int step_path(struct walk *w, bool *ret_end)
{
	struct gk_spot *spot = w->spot;
	struct stat st;
	bool last = false;
	int r = take_name(w, &last);

	if (r)
		return r;
	if (!*spot->name) /* "/", or a trailing slash */
		strcpy(spot->name, ".");
	if (fstatat(spot->dir, spot->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		*ret_end = last && errno == ENOENT;
		return *ret_end ? 0 : tell_walk_error(w, errno);
	}
	if (S_ISLNK(st.st_mode))
		return follow_link(w, &st, ret_end);
	if (!last)
		return enter_directory(
		    w, openat(spot->dir, spot->name,
			      O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
	spot->there = *ret_end = true;
	spot->st = st;
	return judge_spot(spot, &st, w->why, w->cap);
}

int gk_spot_find(const char *path, struct gk_spot *ret_spot, char *ret_why,
		 size_t cap)
{
	struct walk w = {.spot = ret_spot, .why = ret_why, .cap = cap};
	bool end = false;
	int r;

	*ret_spot = (struct gk_spot){.dir = -1};
	if (strlen(path) >= PATH_MAX)
		return tell_walk_error(&w, ENAMETOOLONG);
	strcpy(w.rest, path);
	r = enter_directory(&w,
			    open(*path == '/' ? "/" : ".", O_PATH | O_CLOEXEC));
	while (!r && !end)
		r = step_path(&w, &end);
	ret_spot->there |= ret_spot->magic;
	if (!r && ret_spot->there && S_ISDIR(ret_spot->st.st_mode))
		r = tell_walk_error(&w, EISDIR);
	if (r)
		gk_spot_close(ret_spot);
	return r;
}

void gk_spot_close(struct gk_spot *spot)
{
	if (spot->dir >= 0)
		close(spot->dir);
	spot->dir = -1;
}

int gk_spot_look(struct gk_spot *spot, char *ret_why, size_t cap)
{
	int flags = spot->magic ? 0 : AT_SYMLINK_NOFOLLOW;
	int r;

	GK_ASSERT(spot->dir >= 0);
	spot->there = !fstatat(spot->dir, spot->name, &spot->st, flags);
	if (!spot->there)
		return errno == ENOENT
			   ? 0
			   : told(ret_why, cap, gk_err_from_errno(errno), "%s",
				  strerror(errno));
	if (spot->magic)
		return 0;
	r = judge_spot(spot, &spot->st, ret_why, cap);
	if (!r && S_ISLNK(spot->st.st_mode))
		r = told(ret_why, cap, GK_ERR_PERMISSION,
			 "'%s' has become a link", spot->name);
	return r;
}
