/*
 * limit.h - what the files of the verb `gpukit limit` share.
 */
#ifndef GK_CLI_LIMIT_H
#define GK_CLI_LIMIT_H

#include "base/err.h"
#include "base/str.h"
#include "limit/group.h"
#include "limit/name.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Both print "gpukit limit: ..." as one line on stderr; return an exit code. */
int limit_failure(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
int limit_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- what is wanted of a policy (wish.c) ---- */

/* A number for each device; only those given are meant. */
struct limit_each {
	uint64_t value[GKL_DEVICES];
	bool given[GKL_DEVICES];
	bool for_all; /* it began with one for all devices */
};

/* An option that was not given is -1. */
struct limit_wish {
	struct limit_each memory, compute;
	int rule, priority, contexts_free, oversubscribe;
};

extern const struct argp limit_wish_argp; /* its input is a limit_wish */

struct limit_wish limit_wish_none(void);
bool limit_each_is_given(const struct limit_each *each); /* for any device */
bool limit_wish_is_none(const struct limit_wish *wish);
void limit_wish_apply(const struct limit_wish *wish, struct gkl_policy *policy);

extern const char *const limit_rules[]; /* by enum gkl_rule */

/* ---- running a command (run.c, reach.c, mps.c) ---- */

struct limit_run {
	struct limit_wish wish;
	const char *group; /* NULL: one that ends with the command */
	bool mps;          /* the driver's own limits in place of hooks */
	char **command;
};

/* An exit code: the command's own, or after a message. */
int limit_run(const struct limit_run *run);

/* Says on stderr why a command would not be limited; silent if it would. */
void limit_warn_of_reach(const char *command);

/* Becomes the command under MPS's own limits; returns only on failure. */
int limit_become_under_mps(const struct limit_run *run);

/* ---- looking at groups (view.c) ---- */

struct limit_view_device {
	unsigned index;
	struct gkl_device device; /* uuid "": nobody has used it yet */
	struct gkl_total total;   /* of the living and the dead */
	uint64_t kinds[GKL_KINDS];
	double share; /* percent of its time in the last second; -1: unknown */
};

/* A group at one moment. */
struct limit_view {
	char name[sizeof((struct gkl_group *)0)->path]; /* or its path */
	char path[sizeof((struct gkl_group *)0)->path];
	int err; /* of opening: then the rest is 0 */
	struct gkl_policy policy;
	struct limit_view_device devices[GKL_DEVICES];
	unsigned device_count;
	struct gkl_process *processes;
	size_t process_count;
};

/* Reads a group; an error is in view->err. limit_view_free() it. */
void limit_view_read(const char *name, struct limit_view *ret_view);
void limit_view_free(struct limit_view *view);

/* Whether time of a device is measured: where there is a limit of it. */
bool limit_measures_time(const struct limit_view *view, unsigned device);

/*
 * All groups of this user, by name; only != NULL: that one, there or not. 0 or
 * an exit code, told. limit_views_free() them.
 */
struct limit_views {
	struct limit_view *all;
	size_t count;
};
int limit_views_read(const char *only, struct limit_views *ret_views);
void limit_views_free(struct limit_views *views);

/* The group that the caller's shell is in: a name or a path; NULL: none. */
const char *limit_own_group(void);

extern const char *const limit_kinds[]; /* by enum gkl_kind */

/* The name of a process; "" of one in another pid namespace. */
void limit_process_command(const struct gkl_process *process, char *ret_name,
			   size_t cap);

/* ---- what is printed (text.c, json.c): pure functions ---- */

/* Columns that a table may have: the terminal's, or any number of them. */
size_t limit_columns(void);

/* One row for each device of each group, at most so many columns wide. */
void limit_list_text(struct gk_buf *out, const struct limit_views *views,
		     size_t columns);
/* All that is known of one group. */
void limit_view_text(struct gk_buf *out, const struct limit_view *view,
		     size_t columns);
/* docs/limit.schema.json describes it. */
void limit_views_json(struct gk_buf *out, const struct limit_views *views,
		      bool one_line);

/* ---- verbs of the verb: exit codes ---- */

struct limit_ask {
	const char *name; /* NULL: none was named */
	bool json;
	struct limit_wish wish; /* set */
	uint64_t interval_ns;   /* top */
};

int limit_ls(const struct limit_ask *ask);
int limit_show(const struct limit_ask *ask);
int limit_top(const struct limit_ask *ask);
int limit_set(const struct limit_ask *ask);
int limit_suspend(const struct limit_ask *ask);
int limit_resume(const struct limit_ask *ask);
int limit_rm(const struct limit_ask *ask);

/*
 * Says in one line why a group cannot be opened, made or removed, and what to
 * do; an exit code.
 */
int limit_tell(const char *name, int err);

/* The variable that names the group of a process, by its directory. */
#define LIMIT_VARIABLE "GPUKIT_LIMIT_GROUP"

/*
 * The pid that the host has for a process of a container; 0: not known, as to
 * who is in a container, or may not look at it.
 */
int32_t limit_find_host_pid(const struct gkl_process *process);

/* Whether a process that this one may ask was started in that group. */
bool limit_has_members(const char *path);

/*
 * A process in our process group that takes no signals; below 0: there is none.
 * saw: whether it got the signal that we have just got, which was sent to the
 * whole group then; another takes its place.
 */
pid_t limit_witness_start(void);
bool limit_witness_saw(pid_t *witness, int number);
void limit_witness_end(pid_t witness);

#endif
