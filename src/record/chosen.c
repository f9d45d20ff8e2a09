/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.c - owns the table of processes that have been seen, and decides which
 * of them are recorded.
 */
#include "record/chosen.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/pidstat.h"
#include "base/secret.h"
#include "base/str.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COMMAND_MAX 65536 /* longer command lines are truncated */
#define DEPTH_MAX   256   /* maximum number of ancestors to check */
#define WHY_MAX     256
/* Half of the 1024 descriptors that a process may have open by default. */
#define PIDFDS_MAX 512

/* A process that has been seen. */
struct entry {
	pid_t pid;
	uint64_t start; /* start time in ticks since boot */
	char name[64];  /* changes when the process runs another program */
	char *command;
	bool chosen;
	int pidfd;       /* readable when the process has ended; -1: none */
	unsigned sample; /* number of the last sample that contained it */
};

/* A process that the user has named by its pid. */
struct root {
	pid_t pid;
	uint64_t start; /* 0: no process has had this pid yet */
};

struct gk_chosen {
	int proc;
	bool children, ever;
	bool failed; /* memory ran out during the current sample */
	struct root *roots;
	size_t root_count;
	pcre2_code *regex;
	pcre2_match_data *match;
	struct entry *entries;
	size_t count, cap;
	size_t next; /* index of the entry to try first */
	unsigned sample;
	char room[COMMAND_MAX];
};

/* ---- judging ---- */

/* Joins arguments into one text, separated by blanks. */
static void join_command(char *args, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!args[i])
			args[i] = ' ';
	args[len] = '\0';
}

/*
 * Reads a command line into c->room, unchanged. Returns a copy in which secrets
 * are masked, or NULL when out of memory.
 */
static char *copy_command(struct gk_chosen *c, pid_t pid)
{
	struct gk_buf shown = {0};
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "%d/cmdline", (int)pid);
	n = gk_read_at(c->proc, path, c->room, sizeof c->room);
	while (n > 0 && c->room[n - 1] == '\0')
		n--;
	n = n < 0 ? 0 : n;
	gk_buf_puts(&shown, ""); /* data must not be NULL */
	gk_secret_arguments(&shown, c->room, (size_t)n);
	join_command(c->room, (size_t)n);
	if (shown.failed) {
		gk_buf_free(&shown);
		return NULL;
	}
	join_command(shown.data, shown.len);
	return shown.data;
}

/*
 * Whether the process is one that the user has named by its pid. That is the
 * first process with this pid; a later one with the same pid is not meant.
 */
static bool is_named(struct gk_chosen *c, pid_t pid, uint64_t start)
{
	for (size_t i = 0; i < c->root_count; i++) {
		struct root *root = &c->roots[i];

		if (root->pid != pid)
			continue;
		if (!root->start)
			root->start = start;
		if (root->start == start)
			return true;
	}
	return false;
}

/*
 * Whether the process's command line, which is in c->room, matches. Our own
 * process never matches, although the expression is part of its command line.
 */
static bool matches_regex(struct gk_chosen *c, const struct entry *e)
{
	int r;

	if (!c->regex || e->pid == getpid())
		return false;
	r = pcre2_match(c->regex, (PCRE2_SPTR)c->room, strlen(c->room), 0, 0,
			c->match, NULL);
	c->failed |= r == PCRE2_ERROR_NOMEMORY;
	return r >= 0;
}

static struct entry *look_at_process(struct gk_chosen *c, pid_t pid,
				     uint64_t start, pid_t parent,
				     const char *name, unsigned depth);

static bool of_chosen(struct gk_chosen *c, pid_t parent, unsigned depth)
{
	struct gk_pidstat st;
	const struct entry *e;

	if (!c->children || parent <= 0 || depth > DEPTH_MAX ||
	    gk_pidstat_read(c->proc, parent, &st))
		return false;
	e = look_at_process(c, parent, st.start, st.ppid, st.comm, depth);
	return e && e->chosen;
}

/* ---- the table of processes ---- */

static struct entry *find_chosen(struct gk_chosen *c, pid_t pid, uint64_t start)
{
	for (size_t n = 0; n < c->count; n++) {
		size_t i = (c->next + n) % c->count;

		if (c->entries[i].pid != pid || c->entries[i].start != start)
			continue;
		c->next = i + 1;
		return &c->entries[i];
	}
	return NULL;
}

/* Whether the process has ended. If so, another process may have its pid. */
static bool has_ended(const struct entry *e)
{
	struct pollfd end = {.fd = e->pidfd, .events = POLLIN};

	return e->pidfd < 0 || poll(&end, 1, 0) != 0;
}

/* Finds a known process by its pid alone. Returns NULL if /proc must be
 * read. */
static struct entry *recall_chosen(struct gk_chosen *c, pid_t pid)
{
	for (size_t n = 0; n < c->count; n++) {
		size_t i = (c->next + n) % c->count;

		if (c->entries[i].pid != pid)
			continue;
		c->next = i + 1;
		return has_ended(&c->entries[i]) ? NULL : &c->entries[i];
	}
	return NULL;
}

static void forget_chosen(struct entry *e)
{
	free(e->command);
	if (e->pidfd >= 0)
		close(e->pidfd);
}

static struct entry *add_chosen(struct gk_chosen *c, pid_t pid, uint64_t start)
{
	int pidfd =
	    c->count < PIDFDS_MAX ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (c->count == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 64;
		struct entry *more = realloc(c->entries, cap * sizeof *more);

		if (!more) {
			if (pidfd >= 0)
				close(pidfd);
			return NULL;
		}
		c->entries = more;
		c->cap = cap;
	}
	c->entries[c->count] =
	    (struct entry){.pid = pid, .start = start, .pidfd = pidfd};
	return &c->entries[c->count++];
}

/*
 * Returns the entry of a process. If the process now runs another program,
 * decides again whether to record it.
 */
static struct entry *look_at_process(struct gk_chosen *c, pid_t pid,
				     uint64_t start, pid_t parent,
				     const char *name, unsigned depth)
{
	struct entry *e = find_chosen(c, pid, start);
	bool all = !c->root_count && !c->regex, inherited;

	if (!e || strncmp(e->name, name, sizeof e->name - 1) != 0) {
		/* of_chosen() may move the table */
		inherited = of_chosen(c, parent, depth + 1);
		e = find_chosen(c, pid, start);
		if (!e)
			e = add_chosen(c, pid, start);
		if (!e) {
			c->failed = true;
			return NULL;
		}
		gk_str_copy(e->name, sizeof e->name, name);
		free(e->command);
		e->command = copy_command(c, pid);
		c->failed |= !e->command;
		e->chosen |= all || inherited || is_named(c, pid, start) ||
			     matches_regex(c, e);
		c->ever |= e->chosen;
	}
	e->sample = c->sample;
	return e;
}

/*
 * Looks a process up in /proc. If it is not visible there, its start is 0 and
 * its name is empty.
 */
static struct entry *look_up_process(struct gk_chosen *c, pid_t pid)
{
	struct gk_pidstat st = {0};

	gk_pidstat_read(c->proc, pid, &st);
	return look_at_process(c, pid, st.start, st.ppid, st.comm, 0);
}

bool gk_chosen_take(struct gk_chosen *c, pid_t pid,
		    struct gk_chosen_process *ret_process)
{
	struct entry *e = recall_chosen(c, pid);

	if (!e)
		e = look_up_process(c, pid);
	if (!e)
		return false;
	e->sample = c->sample;
	*ret_process =
	    (struct gk_chosen_process){e->name, e->command ? e->command : ""};
	return e->chosen;
}

int gk_chosen_end(struct gk_chosen *c)
{
	int r = c->failed ? GK_ERR_NOMEM : 0;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (c->entries[i].sample == c->sample)
			c->entries[kept++] = c->entries[i];
		else
			forget_chosen(&c->entries[i]);
	}
	c->count = kept;
	c->next = 0;
	c->failed = false;
	c->sample++;
	return r;
}

/* ---- the end of processes ---- */

static bool is_gone(const struct gk_chosen *c, pid_t pid, uint64_t start)
{
	struct gk_pidstat st;

	return !start || gk_pidstat_read(c->proc, pid, &st) ||
	       st.start != start || st.state == 'Z' || st.state == 'X';
}

/*
 * Whether a process has ended. The start of a process in another pid namespace
 * is unknown; it counts as running as long as samples contain it.
 */
static bool is_entry_gone(const struct gk_chosen *c, const struct entry *e)
{
	return e->start && is_gone(c, e->pid, e->start);
}

bool gk_chosen_all_gone(struct gk_chosen *c)
{
	for (size_t i = 0; i < c->root_count; i++)
		if (!is_gone(c, c->roots[i].pid, c->roots[i].start))
			return false;
	for (size_t i = 0; i < c->count; i++)
		if (c->entries[i].chosen && !is_entry_gone(c, &c->entries[i]))
			return false;
	return c->ever || c->root_count;
}

/* ---- creating and freeing ---- */

static int take_roots(struct gk_chosen *c, const struct gk_chosen_options *o)
{
	struct gk_pidstat st;

	c->roots = calloc(o->pid_count + 1, sizeof *c->roots);
	if (!c->roots)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < o->pid_count; i++) {
		bool there = !gk_pidstat_read(c->proc, o->pids[i], &st);

		c->roots[i] = (struct root){o->pids[i], there ? st.start : 0};
	}
	c->root_count = o->pid_count;
	return 0;
}

static int compile_regex(struct gk_chosen *c, const char *regex,
			 bool *ret_literal, char *ret_why)
{
	/* A command line may contain any bytes, including newlines. */
	uint32_t how = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
	PCRE2_SIZE at;
	int error;

	*ret_literal = false;
	c->regex = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
				 how | PCRE2_DOTALL, &error, &at, NULL);
	if (!c->regex && error == PCRE2_ERROR_HEAP_FAILED)
		return GK_ERR_NOMEM;
	if (!c->regex) {
		pcre2_get_error_message(error, (PCRE2_UCHAR *)ret_why, WHY_MAX);
		*ret_literal = true;
		c->regex =
		    pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
				  PCRE2_LITERAL, &error, &at, NULL);
	}
	if (c->regex)
		c->match = pcre2_match_data_create(1, NULL);
	return c->match ? 0 : GK_ERR_NOMEM;
}

int gk_chosen_new(const struct gk_chosen_options *o, bool *ret_literal,
		  char *ret_why, struct gk_chosen **ret_chosen)
{
	struct gk_chosen *c = calloc(1, sizeof *c);
	int r;

	*ret_literal = false;
	if (!c)
		return GK_ERR_NOMEM;
	c->children = o->children;
	c->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = c->proc < 0 ? gk_err_from_errno(errno) : take_roots(c, o);
	if (!r && o->regex)
		r = compile_regex(c, o->regex, ret_literal, ret_why);
	if (r) {
		gk_chosen_free(c);
		return r;
	}
	*ret_chosen = c;
	return 0;
}

void gk_chosen_free(struct gk_chosen *c)
{
	if (!c)
		return;
	if (c->proc >= 0)
		close(c->proc);
	for (size_t i = 0; i < c->count; i++)
		forget_chosen(&c->entries[i]);
	free(c->entries);
	free(c->roots);
	pcre2_match_data_free(c->match);
	pcre2_code_free(c->regex);
	free(c);
}
