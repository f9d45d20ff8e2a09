/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.c - sends signals and sets nice values after checking the identity of
 * the process.
 */
#include "tui/model/signal.h"

#include "base/assert.h"
#include "base/err.h"
#include "base/memory.h"
#include "base/pidstat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *tui_sent_text(enum tui_sent sent)
{
	static const char *const texts[SENT_COUNT] = {
	    [SENT_DONE] = "done",
	    [SENT_GONE] = "gone",
	    [SENT_ZOMBIE] = "a zombie, its parent must wait for it",
	    [SENT_REFUSED] = "no permission",
	    [SENT_UNKNOWN] = "not in /proc, so it was left alone",
	    [SENT_NEVER] = "the kernel cannot do it safely (needs 5.3)",
	    [SENT_FAILED] = "failed",
	};

	GK_ASSERT(sent < SENT_COUNT);
	return texts[sent];
}

static enum tui_sent sent_of(int error)
{
	switch (error) {
	case 0:
		return SENT_DONE;
	case ESRCH:
		return SENT_GONE;
	case EPERM:
	case EACCES:
		return SENT_REFUSED;
	case ENOSYS:
		return SENT_NEVER;
	default:
		return SENT_FAILED;
	}
}

/*
 * Opens a pidfd of a process. Returns SENT_DONE on success. The pidfd is opened
 * before the start time is checked: if /proc still shows the expected start
 * time, the pidfd refers to the expected process.
 */
static enum tui_sent hold_process(int proc, const struct tui_tag *who,
				  int *ret_fd)
{
	struct gk_pidstat st;
	int fd, r;

	if (!who->start_ticks)
		return SENT_UNKNOWN;
	fd = (int)syscall(SYS_pidfd_open, who->pid, 0);
	if (fd < 0)
		return sent_of(errno);
	r = gk_pidstat_read(proc, who->pid, &st);
	if (!r && st.start == who->start_ticks && st.state != 'Z') {
		*ret_fd = fd;
		return SENT_DONE;
	}
	close(fd);
	if (r)
		return r == GK_ERR_NOT_FOUND ? SENT_GONE : SENT_UNKNOWN;
	return st.start == who->start_ticks ? SENT_ZOMBIE : SENT_GONE;
}

enum tui_sent tui_signal_send(int proc, const struct tui_tag *who, int number)
{
	int fd = -1, error;
	enum tui_sent sent;

	GK_ASSERT(who);
	sent = hold_process(proc, who, &fd);
	if (sent)
		return sent;
	error = syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) ? errno : 0;
	close(fd);
	return sent_of(error);
}

/* ---- priorities ---- */

static DIR *open_dir(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/*
 * Sets the nice value of each thread, because Linux has one per thread. Returns
 * the first errno value, or 0.
 */
static int renice_threads(DIR *tasks, int nice)
{
	struct dirent *entry;
	int error = 0;

	while ((entry = readdir(tasks))) {
		id_t thread = (id_t)strtoul(entry->d_name, NULL, 10);

		if (thread && setpriority(PRIO_PROCESS, thread, nice) &&
		    errno != ESRCH && !error)
			error = errno;
	}
	return error;
}

/*
 * setpriority() takes no pidfd, but an open task directory serves the same
 * purpose: it lists only threads of the process for which it was opened, and
 * none after that process has ended.
 */
enum tui_sent tui_signal_renice(int proc, const struct tui_tag *who, int nice)
{
	char path[32];
	enum tui_sent sent;
	int fd = -1, error;
	DIR *tasks;

	GK_ASSERT(nice >= -20 && nice <= 19);
	snprintf(path, sizeof path, "%d/task", (int)who->pid);
	tasks = open_dir(proc, path);
	sent = hold_process(proc, who, &fd);
	if (!sent) {
		error = tasks ? renice_threads(tasks, nice) : errno;
		close(fd);
		sent = sent_of(error);
	}
	if (tasks)
		closedir(tasks);
	return sent;
}

/* ---- processes with their descendants ---- */

struct relative {
	pid_t parent;
	struct tui_tag who;
	bool taken;
};

struct all {
	struct relative *list;
	size_t count;
};

/* Reads all processes of /proc. */
static int read_all_relatives(int proc, struct all *all)
{
	DIR *dir = open_dir(proc, ".");
	struct dirent *entry;
	struct gk_pidstat st;

	if (!dir)
		return gk_err_from_errno(errno);
	while ((entry = readdir(dir))) {
		struct relative *more;
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || gk_pidstat_read(proc, pid, &st))
			continue;
		more = gk_resize(all->list, all->count + 1, sizeof *more);
		if (!more)
			break;
		all->list = more;
		more[all->count++] = (struct relative){
		    .parent = st.ppid, .who = {st.pid, st.start}};
	}
	closedir(dir);
	return entry ? GK_ERR_NOMEM : 0;
}

static struct relative *find_relative(const struct all *all,
				      const struct tui_tag *who)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].who.pid == who->pid &&
		    all->list[i].who.start_ticks == who->start_ticks)
			return &all->list[i];
	return NULL;
}

/* Adds the descendants of a process, followed by the process itself. */
static void add_tree(struct all *all, struct relative *root,
		     struct tui_tag *out, size_t *count)
{
	if (root->taken)
		return;
	root->taken = true;
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].parent == root->who.pid)
			add_tree(all, &all->list[i], out, count);
	out[(*count)++] = root->who;
}

static void put_last(struct tui_tag *who, size_t count, pid_t pid)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (who[i].pid == pid) {
			struct tui_tag self = who[i];

			who[i] = who[i + 1];
			who[i + 1] = self;
		}
}

int tui_signal_family(int proc, struct tui_tag **who, size_t *count)
{
	struct all all = {0};
	struct tui_tag *out = NULL;
	size_t found = 0;
	int r = read_all_relatives(proc, &all);

	if (!r)
		out = calloc(all.count + *count + 1, sizeof *out);
	if (!r && !out)
		r = GK_ERR_NOMEM;
	for (size_t i = 0; !r && i < *count; i++) {
		struct relative *root = find_relative(&all, &(*who)[i]);

		if (root)
			add_tree(&all, root, out, &found);
		else /* the process has ended, which is reported when it is
		      * signalled */
			out[found++] = (*who)[i];
	}
	free(all.list);
	if (r)
		return r;
	put_last(out, found, getpid());
	free(*who);
	*who = out;
	*count = found;
	return 0;
}
