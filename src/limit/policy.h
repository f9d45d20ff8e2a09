/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - the policy of a group: what its processes may use. It is one page
 * of a file, which the operator writes and the processes map for reading only.
 * It may change while they run.
 *
 * A change takes effect as a whole: the record is a pair (base/pair.h), whose
 * sequence word is the version. Throttled and suspended threads sleep on that
 * word.
 */
#ifndef GKL_POLICY_H
#define GKL_POLICY_H

#include "limit/file.h"
#include "limit/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a group's share of a GPU's time is enforced. */
enum gkl_rule {
	GKL_FIXED,   /* always (HAMi: force) */
	GKL_ELASTIC, /* while another group wants the GPU as well */
	GKL_MONITOR, /* as HAMi's monitor says (utilization_switch) */
	GKL_OFF,     /* never (HAMi: disable) */
};

struct gkl_policy {
	uint64_t memory[GKL_DEVICES]; /* bytes; 0: no limit */
	/* Percent of the GPU's time; 0: no limit. */
	uint64_t compute[GKL_DEVICES];
	uint64_t rule;          /* enum gkl_rule */
	uint64_t priority;      /* 0 is served first; HAMi uses 0 and 1 */
	uint64_t suspended;     /* launches and allocations wait */
	uint64_t contexts_free; /* the memory of contexts is not counted */
	/* Memory that does not fit on the GPU becomes managed memory. */
	uint64_t oversubscribe;
	uint64_t oom_killer; /* kills a process that is refused memory */
};

struct gkl_policy_page; /* the mapped file */

/*
 * Makes the file, or opens the existing one unchanged. Only its owner may write
 * the file (GKL_PRIVATE: or read it). The page is mapped read-only.
 */
int gkl_policy_make(const char *path, enum gkl_trust trust,
		    const struct gkl_policy *first,
		    struct gkl_policy_page **ret_page);

/* Opens an existing file; writable: for the operator. */
int gkl_policy_open(const char *path, enum gkl_trust trust, bool writable,
		    struct gkl_policy_page **ret_page);
void gkl_policy_close(struct gkl_policy_page *page);

/*
 * Whether the file was ever truncated, even if it has its old size again; its
 * content is then meaningless. Costs two loads.
 */
bool gkl_policy_is_damaged(const struct gkl_policy_page *page);

/* A consistent copy. Costs some ten nanoseconds. */
void gkl_policy_read(const struct gkl_policy_page *page,
		     struct gkl_policy *ret_policy);

/*
 * The version of the policy. Equal values mean that nothing has changed. Costs
 * one load.
 */
uint32_t gkl_policy_version(const struct gkl_policy_page *page);

/*
 * Replaces the policy for all processes that map the page, and wakes the
 * threads that wait for a change. The page must be writable; writers in any
 * process take turns. Returns 0 or a gk_err.
 */
int gkl_policy_write(struct gkl_policy_page *page,
		     const struct gkl_policy *policy);

/*
 * Sleeps until the version differs from `seen`, at most timeout_ns; may return
 * early.
 */
void gkl_policy_wait(const struct gkl_policy_page *page, uint32_t seen,
		     uint64_t timeout_ns);

#endif
