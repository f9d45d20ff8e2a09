/* SPDX-License-Identifier: Apache-2.0 */
/*
 * others.c - owns this process's view of other groups' ledgers, which it renews
 * from time to time, since groups come and go.
 */
#include "limit/preload/time/others.h"
#include "base/assert.h"
#include "base/clock.h"
#include "limit/preload/own_lock.h"
#include "limit/share.h"
#include "limit/uncancelled.h"

#include <stdatomic.h>
#include <string.h>

enum { OTHERS = 32 };

#define LOOK_NS (100 * GK_NS_PER_MS)

/*
 * A group whose last request is older than this does not wait for the device.
 */
#define WANTED_NS (50 * GK_NS_PER_MS)

static struct {
	struct own_lock lock;
	uint64_t looked_ns;
	bool more; /* more groups than fit; they may want the device */
	const struct gkl_group *own;
	unsigned count;
	struct gkl_group group[OTHERS];
} others;

static void add_group(const char *name, void *arg)
{
	struct gkl_group *to = &others.group[others.count];

	GK_ASSERT(own_lock_held(&others.lock));
	(void)arg;
	others.more |= others.count == OTHERS;
	if (others.more || gkl_group_open(name, false, to))
		return;
	if (strcmp(to->path, others.own->path) == 0)
		gkl_group_close(to);
	else
		others.count++;
}

static void look_at_groups(const struct gkl_group *own, uint64_t now_ns)
{
	GK_ASSERT(own_lock_held(&others.lock));
	while (others.count)
		gkl_group_close(&others.group[--others.count]);
	others.own = own;
	others.more = false;
	others.looked_ns = now_ns;
	gkl_group_each(add_group, NULL);
}

/*
 * Compares UUIDs, because the other group may have another number for the
 * device.
 */
static bool wants_device(const struct gkl_group *other, const char *uuid,
			 uint64_t now_ns)
{
	struct gkl_device device;

	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (gkl_ledger_device(other->ledger, i, &device) &&
		    strcmp(device.uuid, uuid) == 0)
			return gkl_share_wanted(
				   gkl_ledger_share(other->ledger, i)) +
				   WANTED_NS >
			       now_ns;
	return false;
}

bool others_want(const struct gkl_group *group, unsigned int device,
		 uint64_t now_ns)
{
	struct gkl_device own;
	bool found = false;
	int cancel;

	GK_ASSERT(device < GKL_DEVICES);
	if (!gkl_ledger_device(group->ledger, device, &own))
		return false;
	cancel = gkl_uncancelled_begin();
	own_lock(&others.lock);
	if (now_ns - others.looked_ns > LOOK_NS)
		look_at_groups(group, now_ns);
	found = others.more;
	for (unsigned i = 0; i < others.count && !found; i++)
		found = wants_device(&others.group[i], own.uuid, now_ns);
	own_unlock(&others.lock);
	gkl_uncancelled_end(cancel);
	return found;
}
