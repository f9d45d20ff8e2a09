/* SPDX-License-Identifier: Apache-2.0 */
/* procfs.c - reads the processes of a snapshot from /proc. */
#include "core/read/procfs.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/pidstat.h"
#include "base/secret.h"
#include "base/str.h"
#include "core/read/procasked.h"
#include "core/read/procwords.h"
#include "core/read/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer command lines are truncated: some programs pass whole scripts. */
#define ARGS_MAX 65536
/* The maximum number of descriptors to keep open in the calling process. */
#define KEPT_MAX 64

/* The facts about a process that the next snapshot needs. */
struct seen {
	pid_t pid;
	int stat_fd; /* -1: not kept open */
	uint64_t start, ticks;
	struct gk_procasked asked;
	struct gk_procwords words;
};

struct gk_procfs {
	int dir;
	bool own_dir;
	uint64_t tick_ns, page_size;
	/* when this snapshot was taken, by two clocks */
	uint64_t mono_ns, boot_ns;
	/* mono_ns of the previous snapshot; 0: there was none. */
	uint64_t before_ns;
	struct seen *before, *now; /* processes in the order of reading */
	size_t before_count, now_count, cap;
	/* index in `before` of the process that is likely read next */
	size_t next;
	/* number of descriptors kept open, including the current one */
	size_t kept;
	struct gk_users users;
	char args[ARGS_MAX + 1];
};

int gk_procfs_open(int dir, struct gk_procfs **ret_fs)
{
	struct gk_procfs *fs = malloc(sizeof *fs);
	long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);

	if (!fs)
		return GK_ERR_NOMEM;
	memset(fs, 0, offsetof(struct gk_procfs, args));
	fs->own_dir = dir < 0;
	fs->dir =
	    dir < 0 ? open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dir;
	if (fs->dir < 0) {
		int r = gk_err_from_errno(errno);

		free(fs);
		return r;
	}
	fs->tick_ns = GK_NS_PER_S / (uint64_t)(ticks > 0 ? ticks : 100);
	fs->page_size = (uint64_t)(page > 0 ? page : 4096);
	*ret_fs = fs;
	return 0;
}

static void drop_stat(struct gk_procfs *fs, int fd)
{
	if (fd < 0)
		return;
	close(fd);
	fs->kept--;
}

static void forget_before(struct gk_procfs *fs)
{
	for (size_t i = 0; i < fs->before_count; i++) {
		gk_procwords_free(&fs->before[i].words);
		drop_stat(fs, fs->before[i].stat_fd);
	}
	fs->before_count = 0;
}

void gk_procfs_close(struct gk_procfs *fs)
{
	if (!fs)
		return;
	if (fs->own_dir)
		close(fs->dir);
	gk_users_free(&fs->users);
	forget_before(fs);
	free(fs->before);
	free(fs->now);
	free(fs);
}

int gk_procfs_dir(const struct gk_procfs *fs)
{
	return fs->dir;
}

void gk_procfs_forget(struct gk_procfs *fs)
{
	forget_before(fs);
}

void gk_procfs_begin(struct gk_procfs *fs, uint64_t mono_ns, uint64_t boot_ns)
{
	fs->mono_ns = mono_ns;
	fs->boot_ns = boot_ns;
	fs->now_count = fs->next = 0;
}

void gk_procfs_end(struct gk_procfs *fs)
{
	struct seen *swap = fs->before;

	/* Only ended processes are left in `before`; the others were moved to
	 * `now`. */
	forget_before(fs);
	fs->before = fs->now;
	fs->before_count = fs->now_count;
	fs->now = swap;
	fs->before_ns = fs->mono_ns;
}

/* Enlarges both lists to the same size, because they are swapped later. Does
 * nothing if memory runs out. */
static void make_list_room(struct gk_procfs *fs)
{
	size_t cap = fs->cap ? fs->cap * 2 : 64;
	struct seen *before, *now;

	if (fs->now_count < fs->cap)
		return;
	before = realloc(fs->before, cap * sizeof *before);
	if (before)
		fs->before = before;
	now = realloc(fs->now, cap * sizeof *now);
	if (now)
		fs->now = now;
	if (before && now)
		fs->cap = cap;
}

/* Adds a process to `now`; NULL: the list is full. */
static struct seen *remember_process(struct gk_procfs *fs,
				     const struct gk_pidstat *st,
				     const struct gk_procasked *asked)
{
	if (fs->now_count == fs->cap)
		return NULL;
	fs->now[fs->now_count] = (struct seen){.pid = st->pid,
					       .stat_fd = -1,
					       .start = st->start,
					       .ticks = st->utime + st->stime,
					       .asked = *asked};
	return &fs->now[fs->now_count++];
}

/* Finds a process in `before`. Starts after the one found last, because all
 * snapshots read processes in the same order. */
static struct seen *recall_pid(struct gk_procfs *fs, pid_t pid)
{
	for (size_t n = 0; n < fs->before_count; n++) {
		size_t i = (fs->next + n) % fs->before_count;

		if (fs->before[i].pid != pid)
			continue;
		fs->next = i + 1;
		return &fs->before[i];
	}
	return NULL;
}

/* Reads the stat line of a process, through the descriptor in `before` if there
 * is one. *fd becomes the descriptor to keep. */
static int read_stat(struct gk_procfs *fs, pid_t pid, struct seen *before,
		     int *fd, struct gk_pidstat *ret_st)
{
	bool had = before && before->stat_fd >= 0;
	int r;

	*fd = -1;
	if (!had && (!fs->own_dir || fs->kept == KEPT_MAX))
		return gk_pidstat_read(fs->dir, pid, ret_st);
	if (had) {
		*fd = before->stat_fd;
		before->stat_fd = -1;
	}
	r = gk_pidstat_read_kept(fs->dir, pid, fd, ret_st);
	fs->kept += (*fd >= 0) - had;
	return r;
}

/* Nanoseconds since the previous snapshot; 0: there was none. */
static uint64_t span_of(const struct gk_procfs *fs)
{
	return fs->before_ns && fs->mono_ns > fs->before_ns
		   ? fs->mono_ns - fs->before_ns
		   : 0;
}

/* A product of numbers from the kernel, limited to INT64_MAX. */
static int64_t bounded_product(uint64_t count, uint64_t unit)
{
	return count > INT64_MAX / unit ? INT64_MAX : (int64_t)(count * unit);
}

/* The CPU share between two snapshots, in hundredths of a percent of one core.
 */
static struct gk_value process_cpu_share(const struct gk_procfs *fs,
					 const struct seen *seen,
					 const struct gk_pidstat *st)
{
	uint64_t ticks = st->utime + st->stime, span = span_of(fs);

	if (!seen || !span)
		return (struct gk_value){.why = GK_ABSENT_ONE_SNAPSHOT};
	ticks = ticks > seen->ticks ? ticks - seen->ticks : 0;
	return (struct gk_value){
	    .v = (int64_t)((double)(ticks * fs->tick_ns) * 10000.0 /
			   (double)span),
	};
}

static struct gk_value run_time(const struct gk_procfs *fs,
				const struct gk_pidstat *st)
{
	uint64_t start = (uint64_t)bounded_product(st->start, fs->tick_ns);

	return (struct gk_value){
	    .v = fs->boot_ns > start ? (int64_t)(fs->boot_ns - start) : 0,
	};
}

static void set_absent(unsigned with, struct gk_process *p, enum gk_absence why)
{
	gk_procasked_absent(with, why, p);
	p->m[GK_PM_CPU].why = why;
	p->m[GK_PM_RSS].why = why;
	p->m[GK_PM_RUN_TIME].why = why;
}

/* Copies bytes of a process to the arena as printable UTF-8. */
static const char *clean_text(struct gk_arena *arena, const char *bytes,
			      size_t len)
{
	/* Each byte that is not valid UTF-8 becomes three bytes. */
	char *out = gk_arena_room(arena, len * 3 + 1);

	if (!out)
		return "";
	gk_str_clean(out, len * 3 + 1, bytes, len);
	return out;
}

static ssize_t read_of(const struct gk_procfs *fs, pid_t pid, const char *name,
		       char *buf, size_t cap)
{
	char path[48];

	snprintf(path, sizeof path, "%d/%s", (int)pid, name);
	return gk_read_at(fs->dir, path, buf, cap);
}

/* Joins arguments into one line. */
static const char *join_arguments(struct gk_arena *arena, char *args,
				  size_t len)
{
	while (len > 0 && args[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (args[i] == '\0')
			args[i] = ' ';
	return clean_text(arena, args, len);
}

static void read_command_line(struct gk_procfs *fs, struct gk_arena *arena,
			      struct gk_process *p)
{
	ssize_t n = read_of(fs, p->pid, "cmdline", fs->args, sizeof fs->args);
	struct gk_buf covered = {0};
	const char *args;

	if (n <= 0)
		return;
	gk_secret_arguments(&covered, fs->args, (size_t)n);
	args = covered.failed ? NULL
			      : gk_arena_copy(arena, covered.data, covered.len);
	if (args) {
		p->args = args;
		p->args_len = covered.len;
		p->command = join_arguments(arena, covered.data, covered.len);
	}
	gk_buf_free(&covered);
}

static void read_container(struct gk_procfs *fs, struct gk_arena *arena,
			   struct gk_process *p)
{
	char cgroup[4096], pod[GK_POD_UID_MAX];
	const char *id;
	size_t len;

	if (read_of(fs, p->pid, "cgroup", cgroup, sizeof cgroup) <= 0)
		return;
	id = gk_container_id(cgroup, &len);
	if (id)
		p->container = clean_text(arena, id, len);
	len = gk_pod_uid(cgroup, pod);
	if (len)
		p->pod = clean_text(arena, pod, len);
}

static void read_owner(struct gk_procfs *fs, struct gk_arena *arena,
		       struct gk_process *p)
{
	char path[16];
	struct stat st;
	const char *name;

	snprintf(path, sizeof path, "%d", (int)p->pid);
	if (fstatat(fs->dir, path, &st, 0) < 0)
		return;
	p->uid = st.st_uid;
	name = gk_users_name(&fs->users, st.st_uid);
	p->user = clean_text(arena, name, strlen(name));
}

static void read_asked(struct gk_procfs *fs, unsigned with,
		       struct gk_arena *arena, const struct seen *before,
		       struct gk_procasked *now, struct gk_process *p)
{
	const struct gk_procasked_from from = {
	    .dir = fs->dir,
	    .with = with,
	    .span_ns = span_of(fs),
	    .arena = arena,
	    .room = fs->args,
	    .room_size = sizeof fs->args,
	};

	gk_procasked_read(&from, before ? &before->asked : NULL, now, p);
}

/* Sets the values that are in the stat line. Returns where to keep the
 * process's texts for later snapshots, or NULL if they cannot be kept. */
static struct gk_procwords *take_stat(struct gk_procfs *fs, unsigned with,
				      struct gk_arena *arena,
				      struct seen *before, int stat_fd,
				      const struct gk_pidstat *st,
				      struct gk_process *p)
{
	struct seen *now;
	struct gk_procasked asked = {0};

	if (before && before->start != st->start)
		before = NULL;
	p->parent = st->ppid;
	p->start_ticks = st->start;
	p->state = st->state == 'Z' || st->state == 'X' ? GK_PROCESS_ZOMBIE
							: GK_PROCESS_RUNNING;
	p->name = clean_text(arena, st->comm, strlen(st->comm));
	p->stat = st->state;
	p->m[GK_PM_CPU] = process_cpu_share(fs, before, st);
	p->m[GK_PM_RSS] = (struct gk_value){
	    .v = bounded_product(st->rss_pages, fs->page_size),
	};
	p->m[GK_PM_RUN_TIME] = run_time(fs, st);
	gk_procasked_stat(with, st, p);
	read_asked(fs, with, arena, before, &asked, p);
	now = remember_process(fs, st, &asked);
	if (now)
		now->stat_fd = stat_fd;
	else
		drop_stat(fs, stat_fd);
	if (now && before) {
		now->words = before->words;
		before->words = (struct gk_procwords){0};
	}
	return now ? &now->words : NULL;
}

static void read_process_words(struct gk_procfs *fs, unsigned with,
			       struct gk_arena *arena,
			       struct gk_procwords *kept, struct gk_process *p)
{
	if (kept && gk_procwords_give(kept, fs->mono_ns, arena, p))
		return;
	read_owner(fs, arena, p);
	if (!(with & GK_WITHOUT_COMMANDS)) {
		read_command_line(fs, arena, p);
		read_container(fs, arena, p);
	}
	if (kept)
		gk_procwords_keep(kept, fs->mono_ns, p);
}

void gk_procfs_pass(unsigned with, struct gk_process *p)
{
	p->uid = (uid_t)-1;
	p->user = p->name = p->command = p->container = p->pod = p->args = "";
	set_absent(with, p, GK_ABSENT_NOT_READ);
}

void gk_procfs_read(struct gk_procfs *fs, unsigned with, struct gk_arena *arena,
		    struct gk_process *p)
{
	struct gk_procwords *kept = NULL;
	struct gk_pidstat st;
	struct seen *before;
	int r, stat_fd;

	p->uid = (uid_t)-1;
	p->user = p->name = p->command = p->container = p->pod = p->args = "";
	gk_procasked_absent(with, GK_ABSENT_HIDDEN, p);
	/* This may move both lists, so it must precede recall_pid(). */
	make_list_room(fs);
	before = recall_pid(fs, p->pid);
	r = read_stat(fs, p->pid, before, &stat_fd, &st);
	if (!r) {
		kept = take_stat(fs, with, arena, before, stat_fd, &st, p);
	} else if (r == GK_ERR_NOT_FOUND) {
		p->state = GK_PROCESS_GONE;
		set_absent(with, p, GK_ABSENT_HIDDEN);
		read_owner(fs, arena, p);
		return;
	} else {
		p->state = GK_PROCESS_NO_PERMISSION;
		set_absent(with, p,
			   r == GK_ERR_PERMISSION ? GK_ABSENT_PERMISSION
						  : GK_ABSENT_HIDDEN);
	}
	read_process_words(fs, with, arena, kept, p);
}
