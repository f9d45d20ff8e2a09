/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited.c - owns this process's group and its copies of the policy.
 */
#include "limit/preload/limited_policy.h"
#include "base/err.h"
#include "limit/environment.h"
#include "limit/preload/report/mirror.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Two values of `known`: "nothing is limited" and "a limit cannot be enforced".
 */
static struct gkl_group none[2];
#define UNLIMITED (&none[0])
#define BROKEN    (&none[1])

/* NULL: the group has not been looked for yet. Set once. */
static struct gkl_group *_Atomic known;

/* The group in `known`, or NULL if `known` has one of the two values above. */
struct gkl_group *_Atomic limited_found;

/*
 * Finds the group. Two threads that do this at once both open it, and one
 * result is kept: so there is no lock that a forked child could find held.
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

bool limited_is_unreadable(void)
{
	return find_group() == BROKEN;
}

_Thread_local struct limited_copy limited_copy;

__attribute__((noinline, cold)) void limited_fill_copy(struct gkl_group *group,
						       uint32_t version)
{
	gkl_policy_read(group->policy, &limited_copy.policy);
	limited_copy.version = version;
	limited_copy.filled = true;
	mirror_policy(group, &limited_copy.policy);
}

const struct gkl_policy *limited_policy(void)
{
	struct gkl_group *group = limited();

	/* Without a group the copy is never filled, and so limits nothing. */
	return group ? limited_read_policy(group) : &limited_copy.policy;
}

uint64_t limited_memory(int device)
{
	return device < 0 ? 0 : limited_policy()->memory[device];
}

/*
 * Memory reserved for a call in progress does not count as used: while a
 * context is being made, all that is left may be reserved.
 */
uint64_t limited_used(int device)
{
	struct gkl_group *group = limited();

	if (!group || device < 0)
		return 0;
	mirror_bury(group);
	/* Reading the total buries owners that died a while ago. */
	(void)gkl_ledger_used(group->ledger, (unsigned)device);
	return gkl_ledger_settled(group->ledger, (unsigned)device);
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
