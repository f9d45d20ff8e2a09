/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar.c - describes what blocks reservations: the problem, the file's owner and
 * the fix; see select.h.
 */
#include "cli/select/select.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	mode_t kind;
	const char *name;
} kinds[] = {
    {S_IFDIR, "a directory"}, {S_IFIFO, "a FIFO"},   {S_IFLNK, "a link"},
    {S_IFSOCK, "a socket"},   {S_IFCHR, "a device"}, {S_IFBLK, "a device"},
};

static const char *file_kind_name(mode_t mode)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].kind == (mode & S_IFMT))
			return kinds[i].name;
	return "no file";
}

static void put_owner(struct gk_buf *out, uid_t uid)
{
	struct passwd *entry = getpwuid(uid);

	if (uid == GK_RESERVE_NOBODY)
		gk_buf_puts(out, "an unknown user");
	else if (entry)
		gk_buf_printf(out, "%s (uid %u)", entry->pw_name,
			      (unsigned)uid);
	else
		gk_buf_printf(out, "uid %u", (unsigned)uid);
}

static void put_kind(struct gk_buf *out, const char *path,
		     const struct gk_reserve_bar *bar)
{
	gk_buf_printf(out, "%s is %s of ", path, file_kind_name(bar->mode));
	put_owner(out, bar->owner);
	gk_buf_printf(out,
		      ", not the file of reservations; that user or root "
		      "removes it: rm -r %s",
		      path);
}

static void put_closed(struct gk_buf *out, const char *path,
		       const struct gk_reserve_bar *bar)
{
	gk_buf_printf(out, "%s (mode %04o) is closed to others by ", path,
		      (unsigned)bar->mode & 07777);
	put_owner(out, bar->owner);
	gk_buf_printf(out, "; that user or root opens it: chmod 666 %s", path);
}

static void put_directory(struct gk_buf *out, const char *path,
			  const struct gk_reserve_bar *bar)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) + (slash == path) : 1;
	const char *dir = slash ? path : ".";

	gk_buf_printf(out,
		      "others can replace what lies in %.*s (mode %04o) "
		      "of ",
		      len, dir, (unsigned)bar->mode & 07777);
	put_owner(out, bar->owner);
	gk_buf_printf(out,
		      "; root closes it: chown root %.*s && chmod o-w,+t "
		      "%.*s",
		      len, dir, len, dir);
}

static void put_locked(struct gk_buf *out, const char *path,
		       const struct gk_reserve_bar *bar)
{
	gk_buf_printf(out, "%s is locked by ", path);
	if (bar->holder) {
		gk_buf_printf(out, "process %d of ", (int)bar->holder);
		put_owner(out, bar->owner);
		gk_buf_printf(out, ", which reserves nothing; end it: kill %d",
			      (int)bar->holder);
		return;
	}
	gk_buf_printf(out,
		      "a process that reserves nothing; root finds it: "
		      "fuser -v %s",
		      path);
}

void gk_select_bar_text(struct gk_buf *out, const char *path,
			const struct gk_reserve_bar *bar)
{
	switch (bar->kind) {
	case GK_BAR_KIND:
		put_kind(out, path, bar);
		break;
	case GK_BAR_CLOSED:
		put_closed(out, path, bar);
		break;
	case GK_BAR_DIRECTORY:
		put_directory(out, path, bar);
		break;
	case GK_BAR_LOCK:
		put_locked(out, path, bar);
		break;
	case GK_BAR_ERROR:
		gk_buf_printf(out,
			      "cannot open %s: %s; all users must be able to "
			      "read and write it",
			      path, strerror(bar->error));
		break;
	case GK_BAR_NONE:
		break;
	}
}
