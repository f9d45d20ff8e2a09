/* SPDX-License-Identifier: Apache-2.0 */
/* family.c - reads the list of all processes and their parents. */
#include "core/read/family.h"

#include "base/err.h"
#include "base/pidstat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A scan rereads one in eight of the known processes. The parent of a process
 * changes rarely, except when that parent ends, which a scan detects at once.
 */
#define TURNS 8

struct list {
	struct gk_member *members;
	size_t count, cap;
};

struct gk_family {
	struct gk_procfs *fs;
	uint64_t mono_ns; /* time of the snapshot; 0: none yet */
	unsigned turn;
	struct list now, before;
	struct gk_arena arena;
};

int gk_family_open(int dir, struct gk_family **ret_family)
{
	struct gk_family *family = calloc(1, sizeof *family);
	int r = family ? gk_procfs_open(dir, &family->fs) : GK_ERR_NOMEM;

	if (r)
		free(family);
	else
		*ret_family = family;
	return r;
}

void gk_family_close(struct gk_family *family)
{
	if (!family)
		return;
	if (family->mono_ns)
		gk_procfs_end(family->fs);
	gk_procfs_close(family->fs);
	gk_arena_free(&family->arena);
	free(family->now.members);
	free(family->before.members);
	free(family);
}

/* ---- lists ---- */

static struct gk_member *add_member(struct list *list)
{
	size_t cap = list->cap ? list->cap * 2 : 256;
	struct gk_member *more;

	if (list->count == list->cap) {
		more = realloc(list->members, cap * sizeof *more);
		if (!more)
			return NULL;
		list->members = more;
		list->cap = cap;
	}
	list->members[list->count] = (struct gk_member){0};
	return &list->members[list->count++];
}

static int compare_member_pids(const void *left, const void *right)
{
	const struct gk_member *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct gk_member *find_member(const struct list *list, pid_t pid)
{
	struct gk_member key = {.pid = pid};

	return list->count ? bsearch(&key, list->members, list->count,
				     sizeof key, compare_member_pids)
			   : NULL;
}

/* ---- reading ---- */

static bool read_member_stat(const struct gk_family *family,
			     struct gk_member *m)
{
	struct gk_pidstat st;

	if (gk_pidstat_read(gk_procfs_dir(family->fs), m->pid, &st))
		return false;
	m->ppid = st.ppid;
	m->start = st.start;
	m->threads = st.threads;
	return true;
}

static int list_pids(struct gk_family *family)
{
	int fd = openat(gk_procfs_dir(family->fs), ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	int r = 0;

	if (!dir) {
		r = gk_err_from_errno(errno);
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (!r && (d = readdir(dir))) {
		char *end;
		long pid = strtol(d->d_name, &end, 10);
		struct gk_member *m;

		if (*end || pid <= 0)
			continue;
		m = add_member(&family->now);
		if (!m)
			r = GK_ERR_NOMEM;
		else
			*m = (struct gk_member){.pid = (pid_t)pid,
						.inode = d->d_ino};
	}
	closedir(dir);
	return r;
}

/* Copies a member's facts from the previous scan. Returns false if they must be
 * read anew. */
static bool recall_member(const struct gk_family *family, struct gk_member *m)
{
	const struct gk_member *known = find_member(&family->before, m->pid);

	if (!known || known->inode != m->inode ||
	    (unsigned)m->pid % TURNS == family->turn)
		return false;
	m->ppid = known->ppid;
	m->start = known->start;
	m->threads = known->threads;
	return m->ppid <= 0 || find_member(&family->now, m->ppid);
}

/* Rereads members whose parent has ended, because they now have a new
 * parent. */
static void read_orphans(struct gk_family *family)
{
	for (size_t i = 0; i < family->now.count; i++) {
		struct gk_member *m = &family->now.members[i];
		const struct gk_member *parent =
		    find_member(&family->now, m->ppid);

		if (!m->ended && parent && parent->ended)
			m->ended = !read_member_stat(family, m);
	}
}

/* Reads all members, and drops those that have ended since they were listed. */
static void read_members(struct gk_family *family)
{
	struct list *now = &family->now;
	size_t kept = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct gk_member *m = &now->members[i];

		m->ended =
		    !recall_member(family, m) && !read_member_stat(family, m);
		kept += !m->ended;
	}
	if (kept == now->count)
		return;
	read_orphans(family);
	kept = 0;
	for (size_t i = 0; i < now->count; i++)
		if (!now->members[i].ended)
			now->members[kept++] = now->members[i];
	now->count = kept;
}

int gk_family_scan(struct gk_family *family, const struct gk_snapshot *snap)
{
	struct list swap = family->before;
	int r;

	if (family->mono_ns == snap->mono_ns && family->mono_ns)
		return 0;
	if (family->mono_ns)
		gk_procfs_end(family->fs);
	gk_arena_free(&family->arena);
	family->before = family->now;
	family->now = swap;
	family->now.count = 0;
	family->mono_ns = snap->mono_ns;
	family->turn = (family->turn + 1) % TURNS;
	gk_procfs_begin(family->fs, snap->mono_ns, snap->host.boot_ns);
	r = list_pids(family);
	if (family->now.count)
		qsort(family->now.members, family->now.count,
		      sizeof *family->now.members, compare_member_pids);
	read_members(family);
	return r;
}

struct gk_member *gk_family_members(struct gk_family *family, size_t *ret_count)
{
	*ret_count = family->now.count;
	return family->now.members;
}

const struct gk_process *gk_family_read(struct gk_family *family,
					struct gk_member *member)
{
	struct gk_process *p;

	if (member->process)
		return member->process;
	p = gk_arena_room(&family->arena, sizeof *p);
	if (!p)
		return NULL;
	*p = (struct gk_process){.pid = member->pid};
	for (int m = 0; m < GK_PM_COUNT; m++)
		p->m[m].why = GK_ABSENT_NOT_SUPPORTED;
	gk_procfs_read(family->fs, GK_WITH_THREADS, &family->arena, p);
	member->process = p;
	return p;
}
