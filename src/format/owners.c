/* SPDX-License-Identifier: Apache-2.0 */
/* owners.c - divides the memory of a GPU among its owners. */
#include "format/owners.h"

#include "base/assert.h"
#include "base/str.h"
#include "format/names.h"

#include <stdlib.h>
#include <string.h>

/* If more memory than this (in bytes) has no known owner, it cannot all be the
 * driver's. */
#define DRIVER_MOST ((int64_t)2 << 30)

/* ---- the owner of a process ---- */

static bool is_known_user(const struct gk_process *p)
{
	return *p->user && p->uid != (uid_t)-1;
}

static int find_owner(const struct gk_owners *owners, const char *user)
{
	for (int i = 0; i < owners->count; i++)
		if (!strcmp(owners->names[i], user))
			return i;
	return GK_OWNER_REST;
}

void gk_owners_take(struct gk_owners *owners, const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (owners->count < GK_OWNERS && is_known_user(p) &&
		    find_owner(owners, p->user) == GK_OWNER_REST)
			gk_str_copy(owners->names[owners->count++], GK_NAME_MAX,
				    p->user);
	}
}

/*
 * Returns a process's position among the processes of its device, ordered by
 * start time.
 */
static int rank_of(const struct gk_snapshot *snap, const struct gk_process *p)
{
	int before = 0;

	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *q = &snap->processes[i];

		before +=
		    q->device == p->device &&
		    (q->start_ticks < p->start_ticks ||
		     (q->start_ticks == p->start_ticks && q->pid < p->pid));
	}
	return before;
}

int gk_owner_of(const struct gk_owners *owners, const struct gk_snapshot *snap,
		const struct gk_process *p)
{
	int rank;

	if (owners->count > 1)
		return find_owner(owners, p->user);
	rank = rank_of(snap, p);
	return rank < GK_OWNERS ? rank : GK_OWNER_REST;
}

/* ---- shares of the memory ---- */

static const char *share_name(const struct gk_owners *owners,
			      const struct gk_process *p, int owner)
{
	if (owner == GK_OWNER_REST)
		return "others";
	return owners->count < 2 ? p->name : p->user;
}

static void add_share(const struct gk_owners *owners,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p, struct gk_share *shares,
		      int *count)
{
	int owner = gk_owner_of(owners, snap, p), i = 0;
	struct gk_value bytes = p->m[GK_PM_GPU_MEM];

	while (i < *count && shares[i].owner != owner)
		i++;
	if (i == *count)
		shares[(*count)++] = (struct gk_share){
		    .owner = owner,
		    .name = share_name(owners, p, owner),
		    .pid = owners->count < 2 && owner != GK_OWNER_REST ? p->pid
								       : 0};
	shares[i].bytes += bytes.why == GK_PRESENT ? bytes.v : 0;
	shares[i].processes++;
}

static int more_first(const void *a, const void *b)
{
	const struct gk_share *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->owner - y->owner;
}

static const char *name_of_rest(const struct gk_device *d, int64_t rest)
{
	if (gk_is_unified(d))
		return "host";
	return rest > DRIVER_MOST ? "others" : "driver";
}

/* Adds a share for used memory that belongs to no known process. */
static int add_rest(const struct gk_device *d, struct gk_share *shares,
		    int count)
{
	struct gk_value used = d->m[GK_M_MEM_USED];
	int64_t rest = used.why == GK_PRESENT ? used.v : 0;

	for (int i = 0; i < count; i++)
		rest -= shares[i].bytes;
	if (rest <= 0)
		return count;
	for (int i = 0; i < count; i++)
		if (shares[i].owner == GK_OWNER_REST) {
			shares[i].bytes += rest;
			return count;
		}
	shares[count] = (struct gk_share){.owner = GK_OWNER_REST,
					  .name = name_of_rest(d, rest),
					  .bytes = rest};
	return count + 1;
}

int gk_shares_of(const struct gk_owners *owners, const struct gk_snapshot *snap,
		 size_t device, struct gk_share shares[GK_SHARES])
{
	const struct gk_device *d = &snap->devices[device];
	int count = 0;

	GK_ASSERT(device < snap->device_count);
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (p->device == device ||
		    (d->mig_index < 0 &&
		     snap->devices[p->device].parent == (int)device))
			add_share(owners, snap, p, shares, &count);
	}
	qsort(shares, (size_t)count, sizeof *shares, more_first);
	return add_rest(d, shares, count);
}
