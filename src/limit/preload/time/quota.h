/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - the device time that a launch may use: the device, the group's
 * share of its time, and the limit that applies now. Used by throttle.c.
 */
#ifndef GKL_PRELOAD_QUOTA_H
#define GKL_PRELOAD_QUOTA_H

#include "limit/group.h"
#include "limit/share.h"

#include <stdbool.h>

struct quota {
	struct gkl_group *group;
	unsigned device, percent; /* percent 0: no limit */
	bool observed; /* no limit, but the time is reported in HAMi's region */
	struct gkl_share *share;
	uint64_t now_ns;
};

static inline struct gkl_share *quota_share(struct gkl_group *group,
					    unsigned device)
{
	return gkl_ledger_share(group->ledger, device);
}

/* The percentage that applies at a moment; 0: no limit. */
unsigned quota_percent(struct gkl_group *group, unsigned device,
		       uint64_t now_ns);

/* Whether there is a limit that HAMi's monitor has switched off. */
bool quota_is_off_by_monitor(const struct quota *q);

/* Updates `now_ns`, `percent` and `observed`. */
void quota_look_again(struct quota *q);

/* Add to the counters that reports show. */
void quota_count(const struct quota *q, enum gkl_count which, uint64_t add);
void quota_count_busy(const struct quota *q, uint64_t ns);

#endif
