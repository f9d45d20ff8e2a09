/* SPDX-License-Identifier: Apache-2.0 */
/* procasked.c - reads I/O, the working directory and the rank of a process. */
#include "core/read/procasked.h"
#include "base/array.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM 32

/*
 * The number of snapshots after which the rank is read again. A process without
 * a rank may get one later, by calling exec.
 */
#define RANK_AGE_MAX 10

/* The bit of gk_with that requests each metric. */
static const struct {
	enum gk_process_metric metric;
	unsigned with;
} bits[] = {
    {GK_PM_THREADS, GK_WITH_THREADS},  {GK_PM_PRIORITY, GK_WITH_THREADS},
    {GK_PM_NICE, GK_WITH_THREADS},     {GK_PM_IO_READ, GK_WITH_IO},
    {GK_PM_IO_WRITTEN, GK_WITH_IO},    {GK_PM_IO_READ_RATE, GK_WITH_IO},
    {GK_PM_IO_WRITE_RATE, GK_WITH_IO}, {GK_PM_RANK, GK_WITH_RANK},
};

static enum gk_absence absence_of_error(long err)
{
	return err == GK_ERR_PERMISSION ? GK_ABSENT_PERMISSION
					: GK_ABSENT_HIDDEN;
}

static struct gk_value present_value(uint64_t value)
{
	return (struct gk_value){
	    .v = value > INT64_MAX ? INT64_MAX : (int64_t)value,
	};
}

void gk_procasked_absent(unsigned with, enum gk_absence why,
			 struct gk_process *p)
{
	for (size_t i = 0; i < COUNT(bits); i++)
		p->m[bits[i].metric].why =
		    with & bits[i].with ? why : GK_ABSENT_NOT_READ;
	p->cwd = "";
	p->cwd_why = with & GK_WITH_CWD ? why : GK_ABSENT_NOT_READ;
}

void gk_procasked_stat(unsigned with, const struct gk_pidstat *st,
		       struct gk_process *p)
{
	if (!(with & GK_WITH_THREADS))
		return;
	p->m[GK_PM_THREADS] = present_value(st->threads);
	p->m[GK_PM_PRIORITY] = (struct gk_value){.v = st->priority};
	p->m[GK_PM_NICE] = (struct gk_value){.v = st->nice};
}

/* ---- I/O ---- */

/* Finds a line such as "read_bytes: 123", see proc(5). */
static bool find_count(const char *text, const char *name, uint64_t *ret_count)
{
	size_t len = strlen(name);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, name, len))
			continue;
		*ret_count = strtoull(text + len, NULL, 10);
		return true;
	}
	return false;
}

static struct gk_value rate_of_io(bool known, uint64_t before, uint64_t now,
				  uint64_t span_ns)
{
	uint64_t bytes = now > before ? now - before : 0;

	if (!known || !span_ns)
		return (struct gk_value){.why = GK_ABSENT_ONE_SNAPSHOT};
	return (struct gk_value){
	    .v = (int64_t)((double)bytes * (double)GK_NS_PER_S /
			   (double)span_ns),
	};
}

static void set_io_absent(enum gk_absence why, struct gk_process *p)
{
	p->m[GK_PM_IO_READ].why = p->m[GK_PM_IO_WRITTEN].why = why;
	p->m[GK_PM_IO_READ_RATE].why = p->m[GK_PM_IO_WRITE_RATE].why = why;
}

static void read_io(const struct gk_procasked_from *from,
		    const struct gk_procasked *before, struct gk_procasked *now,
		    struct gk_process *p)
{
	bool known = before && before->has_io;
	char path[PATH_ROOM], text[512];
	ssize_t n;

	snprintf(path, sizeof path, "%d/io", (int)p->pid);
	n = gk_read_at(from->dir, path, text, sizeof text);
	now->has_io = n > 0 && find_count(text, "read_bytes:", &now->read) &&
		      find_count(text, "write_bytes:", &now->written);
	if (!now->has_io) {
		set_io_absent(absence_of_error(n), p);
		return;
	}
	p->m[GK_PM_IO_READ] = present_value(now->read);
	p->m[GK_PM_IO_WRITTEN] = present_value(now->written);
	p->m[GK_PM_IO_READ_RATE] = rate_of_io(known, known ? before->read : 0,
					      now->read, from->span_ns);
	p->m[GK_PM_IO_WRITE_RATE] = rate_of_io(
	    known, known ? before->written : 0, now->written, from->span_ns);
}

/* ---- working directory ---- */

static void read_cwd(const struct gk_procasked_from *from, struct gk_process *p)
{
	char path[PATH_ROOM], target[PATH_MAX];
	ssize_t n;
	char *text;

	snprintf(path, sizeof path, "%d/cwd", (int)p->pid);
	n = readlinkat(from->dir, path, target, sizeof target);
	if (n < 0) {
		p->cwd_why = absence_of_error(gk_err_from_errno(errno));
		return;
	}
	/* Each byte that is not valid UTF-8 becomes three bytes. */
	text = gk_arena_room(from->arena, (size_t)n * 3 + 1);
	if (!text)
		return;
	gk_str_clean(text, (size_t)n * 3 + 1, target, (size_t)n);
	p->cwd = text;
	p->cwd_why = GK_PRESENT;
}

/* ---- rank ---- */

/*
 * Variables set by torchrun and similar launchers, Open MPI, MPICH and Slurm.
 * The first one found wins.
 */
static const char *const ranks[] = {
    "RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID="};
#define RANKS COUNT(ranks)

static void take_variable(const char *text, struct gk_value found[RANKS])
{
	for (size_t i = 0; i < RANKS; i++) {
		size_t len = strlen(ranks[i]);
		int64_t number;

		if (strncmp(text, ranks[i], len) ||
		    gk_parse_int(text + len, &number) || number < 0)
			continue;
		found[i] = (struct gk_value){.v = number};
	}
}

/* Parses the complete variables in the buffer, moves the rest to its start and
 * returns the length of the rest. Skips a variable that is longer than the
 * buffer. */
static size_t take_piece(char *room, size_t len, size_t cap,
			 struct gk_value found[RANKS])
{
	char *at = room, *end;

	while ((end = memchr(at, '\0', len - (size_t)(at - room)))) {
		take_variable(at, found);
		at = end + 1;
	}
	len -= (size_t)(at - room);
	memmove(room, at, len);
	return len == cap ? 0 : len;
}

static int scan_environ(const struct gk_procasked_from *from, pid_t pid,
			struct gk_value found[RANKS])
{
	char path[PATH_ROOM];
	size_t cap = from->room_size - 1, len = 0;
	ssize_t n;
	int fd, error;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	fd = openat(from->dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return gk_err_from_errno(errno);
	while ((n = read(fd, from->room + len, cap - len)) > 0)
		len = take_piece(from->room, len + (size_t)n, cap, found);
	error = errno;
	close(fd);
	if (n < 0)
		return gk_err_from_errno(error);
	from->room[len] = '\0';
	take_variable(from->room, found);
	return 0;
}

static struct gk_value read_rank(const struct gk_procasked_from *from,
				 pid_t pid)
{
	struct gk_value found[RANKS];
	int err;

	for (size_t i = 0; i < RANKS; i++)
		found[i] = (struct gk_value){.why = GK_ABSENT_NONE};
	err = scan_environ(from, pid, found);
	if (err)
		return (struct gk_value){.why = absence_of_error(err)};
	for (size_t i = 0; i < RANKS; i++)
		if (found[i].why == GK_PRESENT)
			return found[i];
	return found[0];
}

/* Whether the rank read before is still valid. */
static bool rank_holds(const struct gk_procasked *before)
{
	return before && before->has_rank &&
	       (before->rank.why == GK_PRESENT ||
		before->rank_age < RANK_AGE_MAX);
}

void gk_procasked_read(const struct gk_procasked_from *from,
		       const struct gk_procasked *before,
		       struct gk_procasked *now, struct gk_process *p)
{
	if (from->with & GK_WITH_IO)
		read_io(from, before, now, p);
	if (from->with & GK_WITH_CWD)
		read_cwd(from, p);
	if (!(from->with & GK_WITH_RANK))
		return;
	if (rank_holds(before)) {
		now->rank = before->rank;
		now->rank_age = before->rank_age + 1;
	} else {
		now->rank = read_rank(from, p->pid);
	}
	now->has_rank = true;
	p->m[GK_PM_RANK] = now->rank;
}
