/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.h - what the files of the verb `gpukit limit` share. A group of
 * processes has a policy, which contains its limits, and a ledger, in which its
 * processes reserve memory; see limit/group.h.
 */
#ifndef GK_CLI_LIMIT_H
#define GK_CLI_LIMIT_H

#include "base/err.h"
#include "base/str.h"
#include "cli/page.h"
#include "limit/group.h"
#include "limit/name.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Both print one line, "gpukit limit: ...", on stderr and return an exit code.
 */
int limit_failure(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
int limit_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the policy that the options request (wish.c, gpus.c) ---- */

/* A number for each device. A number is valid only if it is marked as given. */
struct limit_each {
	uint64_t value[GKL_DEVICES];
	bool given[GKL_DEVICES];
	bool of_whole[GKL_DEVICES]; /* a percentage of the GPU's total */
	bool for_all; /* the list began with a number for all devices */
};

/* The requested policy. An option that was not given is -1. */
struct limit_wish {
	struct limit_each memory, compute;
	int rule, priority, contexts_free, oversubscribe;
};

/* The subcommands that show and change groups, and their options. */
enum limit_verb {
	LIMIT_LS,
	LIMIT_SHOW,
	LIMIT_TOP,
	LIMIT_SET,
	LIMIT_SUSPEND,
	LIMIT_RESUME,
	LIMIT_RM,
	LIMIT_AUDIT,
	LIMIT_VERIFY,
	LIMIT_DOCTOR,
	LIMIT_VERBS,
};
extern const struct argp limit_argp, limit_argps[LIMIT_VERBS];

extern const struct argp limit_wish_argp; /* its input is a struct limit_wish */

struct limit_wish limit_wish_none(void);
bool limit_each_is_given(
    const struct limit_each *each); /* whether any device has a number */
bool limit_wish_is_none(const struct limit_wish *wish);
void limit_wish_apply(const struct limit_wish *wish, struct gkl_policy *policy);

/*
 * Replaces percentages of memory by bytes. Uses the GPUs in the group's ledger
 * or, if that is NULL or has none, the GPUs that NVML lists. Returns 0, or an
 * exit code after a message.
 */
int limit_wish_resolve(struct limit_wish *wish,
		       const struct gkl_ledger *ledger);

/*
 * Checks that a context fits into the requested memory under the rest of the
 * policy. Returns 0, or an exit code after a message.
 */
int limit_wish_judge(const struct limit_wish *wish,
		     const struct gkl_policy *policy,
		     const struct gkl_ledger *ledger);

extern const char *const limit_rules[]; /* indexed by enum gkl_rule */

/*
 * From now on NVML reports whole GPUs to this process, even if it is limited.
 */
void limit_ask_the_driver(void);

/* ---- running a command (run.c, reach.c, mps.c) ---- */

struct limit_run {
	struct limit_wish wish;
	const char *group; /* NULL: a group that ends with the command */
	bool mps;          /* use MPS's own limits instead of hooks */
	bool strict;       /* fail if the library cannot hook the command */
	char **command;
};

/* Runs the command. Returns its exit code, or one of ours after a message. */
int limit_run(struct limit_run *run);

/* Whether the library can hook the command's calls; if not, prints why. */
bool limit_reaches(const char *command);

/*
 * Replaces this process by the command, under MPS's own limits. Returns only on
 * failure.
 */
int limit_become_under_mps(const struct limit_run *run);

/* ---- looking at groups (view.c) ---- */

struct limit_view_device {
	unsigned index;
	/*
	 * A device of the group. Its uuid is "" if the group has not used it
	 * yet.
	 */
	struct gkl_device device;
	struct gkl_total total; /* sums over all processes, living or dead */
	uint64_t kinds[GKL_KINDS];
	double share; /* percent of device time in the last second; -1:
		       * unknown */
};

/* The state of a group at one moment. */
struct limit_view {
	/* The group's name, or its path if it has none. */
	char name[sizeof((struct gkl_group *)0)->path];
	char path[sizeof((struct gkl_group *)0)->path];
	/*
	 * The error from opening the group. If it is set, the members below are
	 * 0.
	 */
	int err;
	struct gkl_policy policy;
	/*
	 * The group is a memory region of HAMi, another limiter. Device times
	 * are also reported to HAMi's monitor.
	 */
	bool has_region;
	struct limit_view_device devices[GKL_DEVICES];
	unsigned device_count;
	struct gkl_process *processes;
	size_t process_count;
};

/*
 * Reads a group. An error is stored in view->err. Release the view with
 * limit_view_free().
 */
void limit_view_read(const char *name, struct limit_view *ret_view);
void limit_view_free(struct limit_view *view);

/*
 * Whether the time of a device is measured. It is if the time is limited, or if
 * it is reported to HAMi's monitor.
 */
bool limit_measures_time(const struct limit_view *view, unsigned device);

/*
 * All groups of this user, sorted by name. limit_views_read() reads them or, if
 * `only` is not NULL, reads just that group, whether it exists or not. It
 * returns 0, or an exit code after a message. Release the groups with
 * limit_views_free().
 */
struct limit_views {
	struct limit_view *all;
	size_t count;
};
int limit_views_read(const char *only, struct limit_views *ret_views);
void limit_views_free(struct limit_views *views);

/*
 * Returns the group of the caller's shell: a name, or the path of a directory
 * or of HAMi's region. NULL: none.
 */
const char *limit_own_group(void);

extern const char *const limit_kinds[]; /* indexed by enum gkl_kind */

/* Writes the name of a process; "" if it is in another pid namespace. */
void limit_process_command(const struct gkl_process *process, char *ret_name,
			   size_t cap);

/* ---- what is printed (text.c, json.c): pure functions ---- */

/*
 * Returns the columns available to a table: the terminal's width, or SIZE_MAX
 * if stdout is not a terminal.
 */
size_t limit_columns(void);

/*
 * Adds a table with a row for each device of each group, at most `columns`
 * wide.
 */
void limit_list_text(struct gk_buf *out, const struct limit_views *views,
		     size_t columns);
/* Adds everything that is known about one group. */
void limit_view_text(struct gk_buf *out, const struct limit_view *view,
		     size_t columns);
/*
 * Adds the limits of memory, such as "memory: 4GiB of each GPU", then
 * `between`, then the limits of time in the same form.
 */
void limit_limits_text(struct gk_buf *out, const struct gkl_policy *policy,
		       const char *between);
/* Adds JSON as described by docs/limit.schema.json. */
void limit_views_json(struct gk_buf *out, const struct limit_views *views,
		      bool one_line);

/* Writes a buffer to stdout and frees it. Returns an exit code. */
int limit_write_out(struct gk_buf *out);

/* ---- subcommands: they return exit codes ---- */

struct limit_ask {
	const char *name; /* the group's name; for doctor, a pid; NULL: not
			   * given */
	bool json;
	struct limit_wish wish; /* used by set */
	uint64_t interval_ns;   /* used by top and audit */
	bool follow;            /* used by audit */
	unsigned gpu;           /* used by verify */
	uint64_t seconds;       /* used by verify */
};

int limit_ls(struct limit_ask *ask);
int limit_show(struct limit_ask *ask);
int limit_top(struct limit_ask *ask);
int limit_set(struct limit_ask *ask);
int limit_suspend(struct limit_ask *ask);
int limit_resume(struct limit_ask *ask);
int limit_rm(struct limit_ask *ask);
int limit_audit(struct limit_ask *ask);
int limit_verify(struct limit_ask *ask);
int limit_doctor(struct limit_ask *ask);

/*
 * Prints a line that says why a group cannot be opened, made or removed, and
 * what to do. Returns an exit code.
 */
int limit_tell(const char *name, int err);

/* The environment variable that holds the directory of a process's group. */
#define LIMIT_VARIABLE "GPUKIT_LIMIT_GROUP"

/*
 * Returns the host's pid of a process in a container. Returns 0 if it is
 * unknown: the caller is in a container itself, or may not examine the process.
 */
int32_t limit_find_host_pid(const struct gkl_process *process);

/*
 * Whether any process that the caller may examine was started in the group at
 * that path.
 */
bool limit_has_members(const char *path);

/*
 * A witness is a process in our process group that blocks all signals.
 * limit_witness_start() returns its pid, or a negative value on failure.
 * limit_witness_saw() returns whether the witness also got the signal that we
 * have just got, which means that the signal was sent to the whole group; it
 * then replaces the witness by a new one.
 */
pid_t limit_witness_start(void);
bool limit_witness_saw(pid_t *witness, int number);
void limit_witness_end(pid_t witness);

#endif
