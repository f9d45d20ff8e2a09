/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partners.h - devices of this group whose kernels wait for each other while
 * they run, like those of the ranks of a program. Used by throttle.c.
 */
#ifndef GKL_PRELOAD_PARTNERS_H
#define GKL_PRELOAD_PARTNERS_H

#include "limit/preload/time/quota.h"

/*
 * Records a measured kernel; least_ns: how long it takes when it waits for
 * nobody, 0: unknown. Returns the same as gkl_share_meet().
 */
unsigned partners_meet(const struct quota *q, uint64_t begin_ns,
		       uint64_t end_ns, uint64_t least_ns);

/*
 * Returns after how much clock time all partners of the device have saved at
 * least `saved_ns`.
 */
uint64_t partners_wait(const struct quota *q, uint64_t saved_ns);

/*
 * Whether a launch proceeds although no time is left: because a partner that
 * waits for it has proceeded, or because work on another device is overdue and
 * may be waiting for it.
 */
bool partners_need(const struct quota *q, uint64_t since_ns);

/*
 * Records that a launch which has waited since since_ns proceeds. opened: it
 * proceeds because time was left again.
 */
void partners_let_in(const struct quota *q, bool opened, uint64_t since_ns);

/* Whether a device has partners. */
bool partners_are(const struct quota *q);

#endif
