/*
 * policy.h - what a group is allowed: one page of a file that the operator
 * writes and its processes map for reading only. It may change while they run.
 *
 * A change is whole: the record is a pair (base/pair.h), `changed` counts and
 * is what throttled and suspended threads sleep on.
 */
#ifndef GKL_POLICY_H
#define GKL_POLICY_H

#include "limit/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When shares of a GPU's time are kept. */
enum gkl_rule {
	GKL_FIXED,   /* always (HAMi: force) */
	GKL_ELASTIC, /* while another group wants the GPU as well */
	GKL_MONITOR, /* as HAMi's monitor says (utilization_switch) */
	GKL_OFF,     /* never (HAMi: disable) */
};

struct gkl_policy {
	uint64_t memory[GKL_DEVICES];  /* bytes; 0: no limit */
	uint64_t compute[GKL_DEVICES]; /* percent of its time; 0: no limit */
	uint64_t rule;                 /* enum gkl_rule */
	uint64_t priority;             /* 0 goes first; HAMi's: 0 and 1 */
	uint64_t suspended;            /* launches and allocations wait */
	uint64_t contexts_free;        /* contexts do not count as memory */
	uint64_t oversubscribe;        /* what does not fit becomes managed */
	uint64_t oom_killer;           /* who is refused memory is killed */
};

struct gkl_policy_page; /* the mapped file */

/*
 * Makes the file (0600, or `mode`), or opens one that is there, for writing:
 * the operator's side. A gk_err; the page is unmapped by gkl_policy_close().
 */
int gkl_policy_make(const char *path, const struct gkl_policy *first,
		    struct gkl_policy_page **ret_page);
int gkl_policy_open(const char *path, bool writable,
		    struct gkl_policy_page **ret_page);
void gkl_policy_close(struct gkl_policy_page *page);

/* A consistent copy. Costs some ten nanoseconds. */
void gkl_policy_read(const struct gkl_policy_page *page,
		     struct gkl_policy *ret_policy);

/* Counts changes; equal values mean that nothing has changed. One load. */
uint32_t gkl_policy_version(const struct gkl_policy_page *page);

/* Replaces it for all who map the page, and wakes who waits for a change. */
void gkl_policy_write(struct gkl_policy_page *page,
		      const struct gkl_policy *policy);

/* Sleeps until the version is another than `seen`, timeout_ns at most. */
void gkl_policy_wait(const struct gkl_policy_page *page, uint32_t seen,
		     uint64_t timeout_ns);

#endif
