/* SPDX-License-Identifier: Apache-2.0 */
/* system.c - reads the threads, CPUs and descendants of processes. */
#include "record/system.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/pidstat.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MAX 8192

/*
 * Fields of /proc/PID/stat after the name, up to `processor`, which is field 39
 * in proc(5).
 */
#define FIELDS_TO_PROCESSOR 37

struct family {
	int proc;
	uint64_t tick_hz, boot_ns;
	const struct gk_snapshot *snap;
	bool *cpus; /* CPUS_MAX */
	struct gk_usage *sum;
};

/* pid and parent of each running process. */
struct kin {
	pid_t pid, parent;
	bool chosen;
};

static long processor_of(const char *stat)
{
	const char *at = strrchr(stat, ')');

	for (int i = 0; at && i < FIELDS_TO_PROCESSOR; i++)
		at = strchr(at + 1, ' ');
	return at ? strtol(at, NULL, 10) : -1;
}

static void add_threads(const struct family *f, pid_t pid)
{
	char path[64], stat[1024];
	struct dirent *entry;
	DIR *tasks;
	int fd;

	snprintf(path, sizeof path, "%d/task", (int)pid);
	fd = openat(f->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tasks = fd < 0 ? NULL : fdopendir(fd);
	if (!tasks && fd >= 0)
		close(fd);
	while (tasks && (entry = readdir(tasks))) {
		long cpu = -1;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof path, "%.16s/stat", entry->d_name);
		if (gk_read_at(fd, path, stat, sizeof stat) > 0)
			cpu = processor_of(stat);
		if (cpu >= 0 && cpu < CPUS_MAX)
			f->cpus[cpu] = true;
	}
	if (tasks)
		closedir(tasks);
}

static void add_cpu(const struct family *f, const struct gk_pidstat *st)
{
	uint64_t now = f->boot_ns / (GK_NS_PER_S / f->tick_hz);
	uint64_t age = now > st->start ? now - st->start : 0;
	struct gk_value *cpu = &f->sum->cpu;

	/* As in ps, the CPU use is 0 until some time has passed. */
	if (!age)
		return;
	cpu->v = (cpu->why ? 0 : cpu->v) +
		 (int64_t)((st->utime + st->stime) * 1000 / age);
	cpu->why = GK_PRESENT;
}

/* Adds the process's GPU memory. Returns whether any GPU lists the process. */
static bool add_gpu_memory(const struct family *f, pid_t pid)
{
	bool listed = false;

	for (size_t i = 0; i < f->snap->process_count; i++) {
		const struct gk_process *p = &f->snap->processes[i];
		struct gk_value *used = &f->sum->used;

		listed |= p->pid == pid;
		if (p->pid != pid || p->m[GK_PM_GPU_MEM].why)
			continue;
		used->v = (used->why ? 0 : used->v) + p->m[GK_PM_GPU_MEM].v;
		used->why = GK_PRESENT;
	}
	return listed;
}

static void add_one(const struct family *f, const struct gk_pidstat *st)
{
	add_threads(f, st->pid);
	add_cpu(f, st);
	add_gpu_memory(f, st->pid);
}

/* ---- descendants ---- */

static size_t list_kin(int proc, struct kin **ret_kin)
{
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);
	size_t count = 0, cap = 0;
	struct gk_pidstat st;
	struct dirent *entry;

	if (!all && fd >= 0)
		close(fd);
	while (all && (entry = readdir(all))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    gk_pidstat_read(proc, atoi(entry->d_name), &st))
			continue;
		if (count == cap) {
			struct kin *more =
			    realloc(*ret_kin,
				    (cap = cap ? 2 * cap : 256) * sizeof *more);

			if (!more)
				break;
			*ret_kin = more;
		}
		(*ret_kin)[count++] = (struct kin){st.pid, st.ppid, false};
	}
	if (all)
		closedir(all);
	return count;
}

static bool is_child(const struct kin *kin, size_t count, pid_t root,
		     pid_t parent)
{
	if (parent == root)
		return true;
	for (size_t i = 0; i < count; i++)
		if (kin[i].pid == parent)
			return kin[i].chosen;
	return false;
}

/*
 * Repeats until no further descendants are found, because a child may have a
 * lower pid than its parent.
 */
static void add_descendants(const struct family *f, pid_t root)
{
	struct kin *kin = NULL;
	size_t count = list_kin(f->proc, &kin);
	struct gk_pidstat st;
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			if (kin[i].chosen ||
			    !is_child(kin, count, root, kin[i].parent))
				continue;
			kin[i].chosen = more = true;
			if (!gk_pidstat_read(f->proc, kin[i].pid, &st))
				add_one(f, &st);
		}
	}
	free(kin);
}

static void list_cpus(const bool *cpus, struct gk_buf *out)
{
	for (int i = 0; i < CPUS_MAX; i++)
		if (cpus[i])
			gk_buf_printf(out, "%s%d", out->len ? "/" : "", i);
}

void gk_usage_read(int proc, pid_t pid, uint64_t *start, bool children,
		   const struct gk_snapshot *snap, struct gk_usage *ret_usage)
{
	bool cpus[CPUS_MAX] = {0};
	struct family family = {.proc = proc,
				.tick_hz = (uint64_t)sysconf(_SC_CLK_TCK),
				.boot_ns = gk_boot_ns(),
				.snap = snap,
				.cpus = cpus,
				.sum = ret_usage};
	struct gk_pidstat st;

	GK_ASSERT(pid > 0);
	*ret_usage = (struct gk_usage){
	    .cpu.why = GK_ABSENT_HIDDEN,
	    .used.why = GK_ABSENT_NONE,
	};
	if (gk_pidstat_read(proc, pid, &st)) {
		/*
		 * The process may be in another pid namespace; then only the
		 * GPUs list it.
		 */
		ret_usage->there = !*start && add_gpu_memory(&family, pid);
		return;
	}
	if (st.state == 'Z' || (*start && st.start != *start))
		return;
	*start = st.start;
	ret_usage->there = true;
	add_one(&family, &st);
	if (children)
		add_descendants(&family, pid);
	list_cpus(cpus, &ret_usage->cpus);
}
