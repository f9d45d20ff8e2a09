/*
 * limited.c - owns this process's group and its copies of the policy.
 */
#include "limit/preload/limited.h"
#include "base/clock.h"
#include "base/err.h"
#include "limit/environment.h"
#include "limit/preload/mirror.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What stands for "looked, and there is none" and "there is a limit, but". */
static struct gkl_group none[2];
#define UNLIMITED (&none[0])
#define BROKEN    (&none[1])

/* NULL: nobody has looked yet. Set once. */
static struct gkl_group *_Atomic known;

/* The same, if it is a group. */
struct gkl_group *_Atomic limited_found;

/*
 * Two threads may look at the same time, each with a group of its own, and one
 * is kept: so there is no lock that a forked child could find held.
 */
__attribute__((noinline, cold)) static struct gkl_group *look(void)
{
	struct gkl_group *found, *earlier = NULL;
	struct gkl_group *fresh = calloc(1, sizeof *fresh);
	int err;

	gkl_environment_set_log();
	err = fresh ? gkl_group_from_environment(fresh) : GK_ERR_NOMEM;
	if (err)
		found = err == GK_ERR_NOT_FOUND ? UNLIMITED : BROKEN;
	else
		found = fresh;
	if (!atomic_compare_exchange_strong(&known, &earlier, found)) {
		if (!err)
			gkl_group_close(fresh);
		err = err ? err : GK_ERR_EXISTS;
		found = earlier;
	} else if (!err) {
		mirror_begin(found);
	}
	if (err)
		free(fresh);
	return found;
}

static struct gkl_group *find_group(void)
{
	struct gkl_group *group =
	    atomic_load_explicit(&known, memory_order_acquire);

	return __builtin_expect(!group, 0) ? look() : group;
}

struct gkl_group *limited_look(void)
{
	struct gkl_group *group = find_group();

	if (group == UNLIMITED || group == BROKEN)
		return NULL;
	atomic_store_explicit(&limited_found, group, memory_order_release);
	return group;
}

bool limited_broken(void)
{
	return !limited() && find_group() == BROKEN;
}

/*
 * Initial-exec: a preloaded library is there at the start, and the policy is
 * asked for at every launch.
 */
static _Thread_local struct {
	bool filled;
	uint32_t version;
	struct gkl_policy policy;
} copy __attribute__((tls_model("initial-exec")));

__attribute__((noinline, cold)) static void fill_copy(struct gkl_group *group,
						      uint32_t version)
{
	gkl_policy_read(group->policy, &copy.policy);
	copy.version = version;
	copy.filled = true;
	mirror_policy(group, &copy.policy);
}

static inline const struct gkl_policy *read_policy(struct gkl_group *group)
{
	uint32_t version = gkl_policy_version(group->policy);

	if (__builtin_expect(!copy.filled || copy.version != version, 0))
		fill_copy(group, version);
	return &copy.policy;
}

const struct gkl_policy *limited_policy(void)
{
	struct gkl_group *group = limited();

	/* Without a group the copy is never filled: it limits nothing. */
	return group ? read_policy(group) : &copy.policy;
}

uint64_t limited_memory(int device)
{
	return device < 0 ? 0 : limited_policy()->memory[device];
}

__attribute__((noinline)) static void sleep_while_suspended(void)
{
	struct gkl_group *group = limited();

	mirror_suspended(group, true);
	while (read_policy(group)->suspended)
		gkl_policy_wait(group->policy, copy.version, GK_NS_PER_S);
	mirror_suspended(group, false);
}

void limited_wait_while_suspended(void)
{
	if (__builtin_expect(limited_policy()->suspended != 0, 0))
		sleep_while_suspended();
}

/*
 * What is reserved for a call that is under way is not used yet: it may be all
 * that is left, for as long as a context is made.
 */
uint64_t limited_used(int device)
{
	struct gkl_group *group = limited();

	if (!group || device < 0)
		return 0;
	mirror_bury(group);
	/* Looking at the total buries those who died a while ago. */
	(void)gkl_ledger_used(group->ledger, (unsigned)device);
	return gkl_ledger_settled(group->ledger, (unsigned)device);
}

void limited_before_launch(void)
{
	struct gkl_group *group = limited();

	if (!group)
		return;
	if (__builtin_expect(read_policy(group)->suspended != 0, 0))
		sleep_while_suspended();
	if (group->region)
		mirror_launch(group->region, copy.policy.priority);
}

bool limited_monitor_wants_shares(void)
{
	struct gkl_group *group = limited();

	return !group || !group->region ||
	       atomic_load_explicit(&group->region->utilization_switch,
				    memory_order_relaxed);
}

uint64_t limited_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

unsigned int limited_nvml_pid(void)
{
	return (unsigned int)getpid();
}
