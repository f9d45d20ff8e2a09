/*
 * policy.h - what a group is allowed: one page of a file that the operator
 * writes and its processes map for reading only. It may change while they run.
 *
 * A change is whole: the record is a pair (base/pair.h), `changed` counts and
 * is what throttled and suspended threads sleep on.
 */
#ifndef GKL_POLICY_H
#define GKL_POLICY_H

#include "limit/file.h"
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
 * Makes the file, which only its owner writes (GKL_PRIVATE: and reads); or
 * opens the one that is there, as it is. The page is for reading.
 */
int gkl_policy_make(const char *path, enum gkl_trust trust,
		    const struct gkl_policy *first,
		    struct gkl_policy_page **ret_page);

/* Opens one that is there; writable: the operator's side. */
int gkl_policy_open(const char *path, enum gkl_trust trust, bool writable,
		    struct gkl_policy_page **ret_page);
void gkl_policy_close(struct gkl_policy_page *page);

/* A consistent copy. Costs some ten nanoseconds. */
void gkl_policy_read(const struct gkl_policy_page *page,
		     struct gkl_policy *ret_policy);

/*
 * Another one after each change; equal values mean that nothing has changed.
 * One load.
 */
uint32_t gkl_policy_version(const struct gkl_policy_page *page);

/*
 * Replaces it for all who map the page, and wakes who waits for a change. The
 * page is writable. Writers of any process take turns. A gk_err.
 */
int gkl_policy_write(struct gkl_policy_page *page,
		     const struct gkl_policy *policy);

/*
 * Sleeps until the version is another than `seen`, timeout_ns at most; maybe
 * shorter.
 */
void gkl_policy_wait(const struct gkl_policy_page *page, uint32_t seen,
		     uint64_t timeout_ns);

#endif
