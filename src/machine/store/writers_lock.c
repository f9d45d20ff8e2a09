/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writers_lock.c - owns the robust lock of all writers, and records which
 * thread is applying a step of the scenario.
 */
#include "machine/store/writers_lock.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "machine/store/locks.h"
#include "machine/store/view.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE_NS GK_NS_PER_S

/*
 * 0 or an errno. Holders commit each change by one store, so the data of a dead
 * holder is consistent and needs no repair.
 */
static int lock_within(struct gkf_machine *m, uint64_t ns)
{
	int error = gkf_locks_take(m->locks, GKF_LOCK_WRITERS, ns);

	if (error != EOWNERDEAD)
		return error;
	gk_log(GK_LOG_INFO, "a process died while changing the machine");
	return 0;
}

int gkf_lock_to_compute(struct gkf_machine *m)
{
	int error = gkf_applying(m) ? 0 : lock_within(m, PATIENCE_NS);

	if (error == EINVAL)
		return GK_ERR_CORRUPT;
	return error ? gk_err_from_errno(error) : 0;
}

/* Only steps of the scenario may change a copy. */
int gkf_lock(struct gkf_machine *m)
{
	return m->copied && !gkf_applying(m) ? GK_ERR_PERMISSION
					     : gkf_lock_to_compute(m);
}

/* Whether this thread seems to hold the lock and must not wait for it. */
static bool may_hold(const struct gkf_machine *m)
{
	return gkf_locks_is_mine(m->locks, GKF_LOCK_WRITERS);
}

bool gkf_trylock(struct gkf_machine *m, uint64_t patience_ns)
{
	if (gkf_applying(m))
		return true;
	return !lock_within(m, patience_ns && may_hold(m) ? 0 : patience_ns);
}

bool gkf_is_applier(const struct gkf_machine *m)
{
	return atomic_load(&m->applier) == (pid_t)syscall(SYS_gettid);
}

void gkf_apply_at(struct gkf_machine *m, uint64_t machine_ns)
{
	atomic_store(&m->applier, (pid_t)syscall(SYS_gettid));
	atomic_store(&m->applied_ns, machine_ns + 1);
}

void gkf_apply_end(struct gkf_machine *m)
{
	atomic_store(&m->applied_ns, 0);
}

void gkf_unlock(struct gkf_machine *m)
{
	if (!gkf_applying(m))
		gkf_locks_release(m->locks, GKF_LOCK_WRITERS);
}

bool gkf_lock_held(const struct gkf_machine *m)
{
	return m->scratch || gkf_applying(m) ||
	       gkf_locks_held(m->locks, GKF_LOCK_WRITERS);
}
