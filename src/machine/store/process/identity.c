/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - identifies processes and checks whether they still live. */
#include "machine/store/process/identity.h"
#include "base/pidstat.h"
#include "machine/file/slot.h"
#include "machine/store/emptied.h"
#include "machine/store/view.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t gkf_own_namespace(const struct gkf_machine *m)
{
	return gkf_self(m).pid_ns;
}

/*
 * Keeps no descriptor of /proc, because the program may close it and reuse its
 * number. If /proc belongs to another pid namespace, our pid means another
 * process there.
 */
struct gkf_identity gkf_self_look_up(void)
{
	struct gkf_identity self = {.pid = (int32_t)getpid()};
	struct gk_pidstat st;
	struct stat ns;

	if (gk_pidstat_self(&st) || st.pid != self.pid)
		return self;
	if (stat("/proc/self/ns/pid", &ns) == 0)
		self.pid_ns = ns.st_ino;
	self.start = st.start;
	self.stack = st.stack;
	return self;
}

/* Threads that look up the identity at the same time store the same words. */
static void keep_identity(struct gkf_own *own, const struct gkf_identity *self)
{
	atomic_store_explicit(&own->pid, self->pid, memory_order_relaxed);
	atomic_store_explicit(&own->pid_ns, self->pid_ns, memory_order_relaxed);
	atomic_store_explicit(&own->start, self->start, memory_order_relaxed);
	atomic_store_explicit(&own->stack, self->stack, memory_order_relaxed);
	atomic_store_explicit(&own->ready, 1, memory_order_release);
}

struct gkf_identity gkf_self(const struct gkf_machine *m)
{
	struct gkf_own *own = &m->emptied->own;
	struct gkf_identity self;

	if (atomic_load_explicit(&own->ready, memory_order_acquire))
		return (struct gkf_identity){
		    .pid =
			atomic_load_explicit(&own->pid, memory_order_relaxed),
		    .pid_ns = atomic_load_explicit(&own->pid_ns,
						   memory_order_relaxed),
		    .start =
			atomic_load_explicit(&own->start, memory_order_relaxed),
		    .stack = atomic_load_explicit(&own->stack,
						  memory_order_relaxed)};
	self = gkf_self_look_up();
	/* A failed lookup is repeated next time. */
	if (gkf_is_known(&self))
		keep_identity(own, &self);
	return self;
}

bool gkf_owns(const struct gkf_machine *m, const struct gkf_slot *slot)
{
	struct gkf_identity self = gkf_self(m);

	return (atomic_load_explicit(&slot->life, memory_order_acquire) & 1) &&
	       __atomic_load_n(&slot->pid, __ATOMIC_RELAXED) == self.pid &&
	       __atomic_load_n(&slot->pid_ns, __ATOMIC_RELAXED) == self.pid_ns;
}

bool gkf_is_gone(uint64_t own_ns, const struct gkf_identity *owner)
{
	return owner->pid_ns == own_ns && kill(owner->pid, 0) < 0 &&
	       errno == ESRCH;
}

bool gkf_alive(uint64_t own_ns, const struct gkf_identity *owner)
{
	struct gk_pidstat st;

	/* A process of unknown identity never gets a slot; see gkf_attach(). */
	if (!gkf_is_known(owner))
		return false;
	if (owner->pid_ns != own_ns)
		return true;
	if (gkf_is_gone(own_ns, owner))
		return false;
	/* hidepid may hide the process; kill() found it alive. */
	if (gk_pidstat_of(owner->pid, &st) != 0)
		return true;
	if (st.start != owner->start)
		return false;
	/*
	 * After an exec the process no longer holds what the old program held.
	 */
	if (owner->stack && st.stack && st.stack != owner->stack)
		return false;
	/*
	 * A process whose first thread has ended lives as long as other threads
	 * do.
	 */
	return !((st.state == 'Z' || st.state == 'X') && st.threads <= 1);
}
