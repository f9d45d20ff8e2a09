/*
 * place.h - where a launch goes: a device of the group, its share of time, and
 * what counts of both now. Used by throttle.c.
 */
#ifndef GKL_PRELOAD_PLACE_H
#define GKL_PRELOAD_PLACE_H

#include "limit/group.h"
#include "limit/share.h"

struct place {
	struct gkl_group *group;
	unsigned device, percent; /* percent 0: no limit */
	struct gkl_share *share;
	uint64_t now_ns;
};

static inline struct gkl_share *place_share(struct gkl_group *group,
					    unsigned device)
{
	return gkl_ledger_share(group->ledger, device);
}

/* The percentage that counts at a moment; 0: no limit. */
unsigned place_percent(struct gkl_group *group, unsigned device,
		       uint64_t now_ns);

/* There is a limit, and HAMi's monitor says that it does not count now. */
bool place_is_off_by_monitor(const struct place *p);

/* Brings `now_ns` and `percent` up to now. */
void place_look_again(struct place *p);

/* Counts for reports. */
void place_count(const struct place *p, enum gkl_count which, uint64_t add);
void place_count_busy(const struct place *p, uint64_t ns);

#endif
