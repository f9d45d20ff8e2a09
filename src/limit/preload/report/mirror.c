/*
 * mirror.c - writes what this process has to HAMi's region, and takes out the
 * dead.
 */
#include "limit/preload/mirror.h"
#include "base/clock.h"
#include "limit/life.h"
#include "limit/preload/limited.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { NOT_JOINED = -1, LEFT = -2 };

/*
 * The bytes of this process, as the region has them in the end: every change
 * writes all of them anew, so that nothing which somebody else wrote there
 * stays for long.
 */
static struct {
	_Atomic uint64_t bytes[GKL_DEVICES][GKL_REGION_CLASSES];
	_Atomic int slot;
	_Atomic bool fork_handled;
} own = {.slot = NOT_JOINED};

/* A child has no bytes and no slot of its own yet. */
static void forget_parent(void)
{
	memset(&own.bytes, 0, sizeof own.bytes);
	atomic_store(&own.slot, NOT_JOINED);
	mirror_busy_forget();
}

int mirror_slot(void)
{
	return atomic_load_explicit(&own.slot, memory_order_acquire);
}

void mirror_suspended(struct gkl_group *group, bool suspended)
{
	int slot = mirror_slot();

	if (group->region && slot >= 0)
		gkl_region_set_suspended(group->region, (unsigned)slot,
					 suspended);
}

/* Owners of slots as the region has them, less those that the ledger has. */
struct gone {
	int32_t pids[GKL_PROCESSES];
};

static void strike_living(const struct gkl_process *process, void *arg)
{
	struct gone *gone = arg;
	int slot = process->slot;

	if (slot >= 0 && slot < GKL_PROCESSES &&
	    gone->pids[slot] == process->pid)
		gone->pids[slot] = 0;
}

/*
 * The region's owners are read before the ledger's: an owner comes to the
 * ledger first, so whom the region names and the ledger does not is gone.
 */
static void drop_dead(struct gkl_group *group)
{
	unsigned count = gkl_region_slots(group->region);
	struct gone gone;

	memset(&gone, 0, sizeof gone);
	for (unsigned i = 0; i < count; i++)
		gone.pids[i] = gkl_region_pid(group->region, i);
	gkl_ledger_each(group->ledger, strike_living, &gone);
	for (unsigned i = 0; i < count; i++)
		if (gone.pids[i])
			gkl_region_leave(group->region, i, gone.pids[i]);
}

void mirror_bury(struct gkl_group *group)
{
	static _Atomic uint64_t last;
	uint64_t now, then;

	if (!group->region)
		return;
	now = gk_mono_ns();
	then = atomic_load_explicit(&last, memory_order_relaxed);
	if (now - then < 50 * GK_NS_PER_MS ||
	    !atomic_compare_exchange_strong(&last, &then, now))
		return;
	/* Looking buries those who died a while ago. */
	(void)gkl_ledger_used(group->ledger, 0);
	drop_dead(group);
}

static int join(struct gkl_group *group)
{
	int seen = atomic_load_explicit(&own.slot, memory_order_acquire);
	int slot = gkl_ledger_slot(group->ledger);

	if (slot < 0 || __builtin_expect(seen == slot, 1))
		return slot;
	if (seen == LEFT)
		return LEFT;
	if (!atomic_exchange(&own.fork_handled, true))
		pthread_atfork(NULL, NULL, forget_parent);
	mirror_bury(group);
	gkl_region_join(group->region, (unsigned)slot, getpid(),
			limited_namespace() == GKL_FIRST_NAMESPACE ? getpid()
								   : 0);
	atomic_store(&own.slot, slot);
	return slot;
}

static void read_own(int device, uint64_t ret_bytes[GKL_REGION_CLASSES])
{
	for (int i = 0; i < GKL_REGION_CLASSES; i++)
		ret_bytes[i] = atomic_load(&own.bytes[device][i]);
}

/* Whoever writes last has looked again since, and found nothing newer. */
static void publish(struct gkl_region *region, unsigned slot, int device)
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

	if (device < 0 || kind == GKL_PENDING || !group || !group->region)
		return;
	slot = join(group);
	if (slot < 0)
		return;
	atomic_fetch_add(&own.bytes[device][gkl_region_class(kind)],
			 (uint64_t)bytes);
	publish(group->region, (unsigned)slot, device);
}

void mirror_begin(struct gkl_group *group)
{
	struct gkl_policy policy;

	gkl_policy_read(group->policy, &policy);
	mirror_policy(group, &policy);
	mirror_devices(group);
}

void mirror_policy(struct gkl_group *group, const struct gkl_policy *policy)
{
	if (group->region)
		gkl_region_set_policy(group->region, policy);
}

void mirror_devices(struct gkl_group *group)
{
	struct gkl_device device;

	for (unsigned i = 0; group->region && i < GKL_DEVICES; i++)
		if (gkl_ledger_device(group->ledger, i, &device))
			gkl_region_set_device(group->region, i, device.uuid);
}

/* HAMi's own look once a second; nobody wakes who waits for the monitor. */
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
	atomic_store(&region->recent_kernel, GKL_REGION_JUST_LAUNCHED);
	atomic_store(&region->last_kernel_time, time(NULL));
	slot = atomic_load(&own.slot);
	for (int i = 0; slot >= 0 && i < GKL_DEVICES; i++)
		publish(region, (unsigned)slot, i);
	mirror_bury(limited());
}

/*
 * A container whose last process ends has nobody left who buries: so who ends
 * in an orderly way leaves the region itself.
 */
__attribute__((destructor)) static void leave(void)
{
	struct gkl_group *group;
	int slot = atomic_exchange(&own.slot, LEFT);

	if (slot < 0)
		return;
	group = limited();
	gkl_region_leave(group->region, (unsigned)slot, getpid());
}
