/* SPDX-License-Identifier: Apache-2.0 */
/* mirror.c - writes what this process holds to HAMi's region. */
#include "limit/preload/report/mirror.h"
#include "base/clock.h"
#include "limit/life.h"
#include "limit/preload/limited.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/*
 * The bytes of this process. Every change rewrites all of them in the region,
 * so that nothing written there by others stays for long.
 */
static struct {
	_Atomic uint64_t bytes[GKL_DEVICES][GKL_REGION_CLASSES];
	_Atomic bool fork_handled;
} own;

_Atomic int32_t mirror_launched = INT32_MIN;

/* A forked child has no bytes, no slot and no launches of its own yet. */
static void forget_parent(void)
{
	memset(&own.bytes, 0, sizeof own.bytes);
	atomic_store(&mirror_launched, INT32_MIN);
	atomic_store(&mirror_own_slot, MIRROR_NOT_JOINED);
	mirror_busy_forget();
}

void mirror_suspended(struct gkl_group *group, bool suspended)
{
	int slot = mirror_slot();

	if (group->region && slot >= 0)
		gkl_region_set_suspended(group->region, (unsigned)slot,
					 suspended);
}

static int join_region(struct gkl_group *group)
{
	int seen = atomic_load_explicit(&mirror_own_slot, memory_order_acquire);
	int slot = gkl_ledger_slot(group->ledger);

	if (slot < 0 || __builtin_expect(seen == slot, 1))
		return slot;
	if (seen == MIRROR_LEFT)
		return MIRROR_LEFT;
	if (!atomic_exchange(&own.fork_handled, true))
		pthread_atfork(NULL, NULL, forget_parent);
	mirror_bury(group);
	gkl_region_join(group->region, (unsigned)slot, getpid(),
			limited_namespace() == GKL_FIRST_NAMESPACE ? getpid()
								   : 0);
	atomic_store(&mirror_own_slot, slot);
	return slot;
}

static void read_own(int device, uint64_t ret_bytes[GKL_REGION_CLASSES])
{
	for (int i = 0; i < GKL_REGION_CLASSES; i++)
		ret_bytes[i] = atomic_load(&own.bytes[device][i]);
}

/*
 * Writes the bytes, and writes them again if they have changed during the
 * write. So if several threads do this, the last one to write leaves the
 * current bytes.
 */
static void publish_bytes(struct gkl_region *region, unsigned slot, int device)
{
	uint64_t bytes[GKL_REGION_CLASSES], now[GKL_REGION_CLASSES];

	read_own(device, now);
	do {
		memcpy(bytes, now, sizeof bytes);
		gkl_region_set_used(region, slot, (unsigned)device, bytes);
		atomic_thread_fence(memory_order_seq_cst);
		read_own(device, now);
	} while (memcmp(bytes, now, sizeof bytes));
}

void limited_mirror(int device, enum gkl_kind kind, int64_t bytes)
{
	struct gkl_group *group = limited();
	int slot;

	if (device < 0 || kind >= GKL_PENDING || !group || !group->region)
		return;
	slot = join_region(group);
	if (slot < 0)
		return;
	atomic_fetch_add(&own.bytes[device][gkl_region_class(kind)],
			 (uint64_t)bytes);
	publish_bytes(group->region, (unsigned)slot, device);
}

/* Polls, because HAMi's monitor looks once a second and wakes no waiter. */
static void wait_for_monitor(struct gkl_region *region)
{
	struct timespec t = gk_timespec(50 * GK_NS_PER_MS);

	while (atomic_load(&region->recent_kernel) < 0)
		nanosleep(&t, NULL);
}

void mirror_launch_slowly(struct gkl_region *region, uint64_t priority)
{
	int slot;

	if (priority)
		wait_for_monitor(region);
	atomic_store(&mirror_launched, GKL_REGION_JUST_LAUNCHED);
	atomic_store(&region->recent_kernel, GKL_REGION_JUST_LAUNCHED);
	gkl_region_set_kernel_time(region, time(NULL));
	slot = atomic_load(&mirror_own_slot);
	for (int i = 0; slot >= 0 && i < GKL_DEVICES; i++)
		publish_bytes(region, (unsigned)slot, i);
	mirror_bury(limited());
}

/*
 * When the last process of a container ends, no process is left that could
 * remove it from the region. So a process that exits normally removes itself,
 * and dead processes, from the region.
 */
__attribute__((destructor)) static void leave(void)
{
	struct gkl_group *group;
	int slot = atomic_exchange(&mirror_own_slot, MIRROR_LEFT);

	if (slot < 0)
		return;
	group = limited();
	gkl_region_leave(group->region, (unsigned)slot, getpid());
	gkl_group_bury(group);
}
