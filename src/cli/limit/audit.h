/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - compares a group's ledger with the driver's figures, for `gpukit
 * limit audit`.
 */
#ifndef GK_CLI_LIMIT_AUDIT_H
#define GK_CLI_LIMIT_AUDIT_H

#include "cli/limit/limit.h"

#include <gpukit/gpukit.h>

/*
 * A process and a GPU on which the ledger and the driver report different
 * memory.
 */
struct limit_audit_row {
	unsigned device; /* the device's number in the group */
	int32_t pid;     /* pid visible to this process; 0: not visible */
	bool in_ledger, in_driver;
	uint64_t ledger; /* bytes */
	uint64_t driver; /* bytes; -1: the driver does not report it */
	char command[64];
};

#define LIMIT_AUDIT_UNTOLD UINT64_MAX

/* The result of comparing the ledger with the driver once. */
struct limit_audit {
	struct limit_view view;
	struct limit_audit_row *rows; /* differences */
	size_t count, cap;
	/* sums over all processes */
	uint64_t ledger[GKL_DEVICES], driver[GKL_DEVICES];
	unsigned processes;
	bool failed; /* memory ran out */
};

/*
 * Compares the ledger with the driver, up to eight times. Reports only
 * processes that differ in every reading, because ledger and driver are not
 * read at the same moment, and memory pools shrink on their own. Returns 0 or a
 * gk_err. Release the result with limit_audit_free().
 */
int limit_audit_read(const char *name, struct gk *gk,
		     struct limit_audit *ret_audit);
void limit_audit_free(struct limit_audit *audit);

/*
 * Whether a process that is not in the ledger belongs to the group
 * nevertheless. It does if it was started with the group's variable; if it is a
 * descendant of such a process or of one in the ledger; or if it shares a
 * cgroup (a container) with one in the ledger, unless the caller is in that
 * cgroup too.
 */
bool limit_belongs(const struct limit_view *view, pid_t pid);

/*
 * Returns the pid, as visible to this process, of a process in a ledger; 0 if
 * it is not visible.
 */
int32_t limit_visible_pid(const struct gkl_process *process);

void limit_audit_text(struct gk_buf *out, const struct limit_audit *audit,
		      size_t columns);
void limit_audit_json(struct gk_buf *out, const struct limit_audit *audit,
		      bool one_line);

#endif
