/* SPDX-License-Identifier: Apache-2.0 */
/* reap.c - removes the slots of dead owners. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/above.h"
#include "machine/store/process/busy.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/lent.h"
#include "machine/store/process/others.h"
#include "machine/store/process/slot.h"
#include "machine/store/state_bin.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <stdlib.h>

/*
 * A scan of all owners takes some microseconds per process. The pause after it
 * keeps the cost below 5 % of a thread's time. Cost is measured as CPU time, so
 * that a busy host does not lengthen the pause.
 */
#define PAUSE_MIN_NS (50 * GK_NS_PER_MS)
#define PAUSE_MAX_NS (5 * GK_NS_PER_S)
#define PAUSE_FACTOR 20

/*
 * Between two scans a process quickly checks (glances at) whether owners still
 * exist, so that a program that has waited for another one to end finds the
 * other's memory free. A glance costs one system call per owner.
 */
#define GLANCE_MIN_NS GK_NS_PER_MS
#define GLANCE_MAX_NS PAUSE_MIN_NS

static uint64_t bound_pause(uint64_t pause)
{
	return pause < PAUSE_MIN_NS   ? PAUSE_MIN_NS
	       : pause > PAUSE_MAX_NS ? PAUSE_MAX_NS
				      : pause;
}

void gkf_reap_busy(struct gkf_machine *m, unsigned device)
{
	unsigned high = gkf_slots_high(m);
	uint64_t own_ns = 0, computed = gkf_state_bin(m, device) * GKF_BIN_NS;

	GK_ASSERT(gkf_lock_held(m));
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;
		struct gkf_identity owner;

		if (!atomic_load_explicit(&m->file->busy[i].since_ns,
					  memory_order_relaxed) ||
		    !gkf_slot_read_on(m, i, device, &slot, NULL))
			continue;
		own_ns = own_ns ? own_ns : gkf_own_namespace(m);
		owner = (struct gkf_identity){slot.pid, slot.pid_ns, slot.start,
					      slot.stack};
		if (!gkf_alive(own_ns, &owner))
			gkf_busy_close(m, i, computed);
	}
}

/*
 * Claims the next scan if it is due. Only one process of the machine gets it.
 */
static bool claim_look(struct gkf_file *f, bool force, uint64_t *ret_now)
{
	uint64_t last = atomic_load(&f->reaped_ns);
	uint64_t now = gk_mono_ns(); /* read last, so that last <= now */
	uint64_t pause = atomic_load(&f->reap_pause_ns);

	*ret_now = now;
	/* The recorded pause is 0 until the first scan has ended. */
	pause = bound_pause(pause);
	/* A time ahead of ours (of another time namespace) counts as old. */
	if (!force && now - last < pause)
		return false;
	return atomic_compare_exchange_strong(&f->reaped_ns, &last, now) ||
	       force;
}

static uint64_t pause_after(uint64_t cost_ns)
{
	return bound_pause(cost_ns * PAUSE_FACTOR);
}

/* Frees the slot unless another process has taken it since. */
static bool free_dead_slot(struct gkf_machine *m, unsigned index, uint64_t life,
			   unsigned device)
{
	struct gkf_slot *slot = &m->file->slot[index];
	bool freed = false;

	/*
	 * A reader must not wait for the lock; a later reader will free the
	 * slot.
	 */
	if (!gkf_trylock(m, 0))
		return false;
	if (atomic_load(&slot->life) == life) {
		m->above->state_advance(m, device);
		gkf_slot_free(m, index, device, 0);
		freed = atomic_load(&slot->life) != life;
	}
	gkf_unlock(m);
	return freed;
}

/*
 * The data of one scan of all owners: which processes are alive, and the lives
 * of the slots, which are read first.
 */
struct look {
	uint64_t own_ns;
	unsigned high;
	struct gkf_others others;
	uint64_t *lives; /* lives of the slots below high; NULL: not yet read */
};

/* Records the lives of the slots; false: out of memory. */
static bool note_lives(const struct gkf_machine *m, struct look *look)
{
	look->lives = malloc(look->high * sizeof *look->lives);
	for (unsigned i = 0; look->lives && i < look->high; i++)
		look->lives[i] = atomic_load(&m->file->slot[i].life);
	return look->lives;
}

/*
 * Whether an owner is alive. Checks owners in containers, too, because nobody
 * else frees their slots when the container has ended. A slot taken after this
 * scan began is left to the next scan.
 */
static bool is_alive(const struct gkf_machine *m, unsigned index, uint64_t life,
		     const struct gkf_identity *owner, struct look *look)
{
	if (!gkf_alive(look->own_ns, owner))
		return false;
	return owner->pid_ns == look->own_ns ||
	       (!look->lives && !note_lives(m, look)) ||
	       look->lives[index] != life ||
	       gkf_others_live(&look->others, look->own_ns, owner);
}

typedef bool judge(const struct gkf_machine *m, unsigned index, uint64_t life,
		   const struct gkf_identity *owner, struct look *look);

/*
 * Whether other processes now use less of a lent slot's memory (lent.h) than
 * the slot holds.
 */
static bool is_given_back(const struct gkf_machine *m, unsigned index,
			  const struct gkf_slot *slot)
{
	return gkf_lent_bytes(m, index) < gkf_slot_held(slot);
}

/*
 * Frees the slots of dead owners; returns how many. Consecutive slots of one
 * owner need only one check.
 */
static unsigned free_dead_slots(judge *lives, struct gkf_machine *m,
				struct look *look)
{
	struct gkf_identity last = {0};
	bool last_lives = true;
	unsigned freed = 0;

	look->own_ns = gkf_own_namespace(m);
	look->high = gkf_slots_high(m);
	for (unsigned i = 0; i < look->high; i++) {
		struct gkf_slot slot;
		uint64_t life;

		if (!gkf_slot_read(m, i, &slot, &life))
			continue;
		if (gkf_is_lent(&slot)) {
			freed += is_given_back(m, i, &slot) &&
				 free_dead_slot(m, i, life, slot.device);
			continue;
		}
		if (slot.pid != last.pid || slot.start != last.start ||
		    slot.stack != last.stack || slot.pid_ns != last.pid_ns) {
			last = (struct gkf_identity){.pid = slot.pid,
						     .pid_ns = slot.pid_ns,
						     .start = slot.start,
						     .stack = slot.stack};
			last_lives = lives(m, i, life, &last, look);
		}
		if (!last_lives && free_dead_slot(m, i, life, slot.device))
			freed++;
	}
	if (freed)
		gk_log(GK_LOG_INFO, "removed %u slots of dead processes",
		       freed);
	return freed;
}

static bool is_there(const struct gkf_machine *m, unsigned index, uint64_t life,
		     const struct gkf_identity *owner, struct look *look)
{
	(void)m;
	(void)index;
	(void)life;
	return !gkf_is_gone(look->own_ns, owner);
}

static unsigned glance_at_owners(struct gkf_machine *m, uint64_t begin)
{
	uint64_t due = atomic_load(&m->glance_ns), pause;
	struct look look = {0};
	unsigned freed;

	if (begin < due || !atomic_compare_exchange_strong(
			       &m->glance_ns, &due, begin + GLANCE_MAX_NS))
		return 0;
	freed = free_dead_slots(is_there, m, &look);
	pause = (gk_mono_ns() - begin) * PAUSE_FACTOR;
	pause = pause < GLANCE_MIN_NS ? GLANCE_MIN_NS : pause;
	if (pause < GLANCE_MAX_NS)
		atomic_store(&m->glance_ns, begin + pause);
	return freed;
}

unsigned gkf_reap(struct gkf_machine *m, bool force)
{
	struct look look = {0};
	unsigned freed;
	uint64_t begin;

	if (!claim_look(m->file, force, &begin))
		return glance_at_owners(m, begin);
	begin = gk_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	freed = free_dead_slots(is_alive, m, &look);
	gkf_others_free(&look.others);
	free(look.lives);
	atomic_store(&m->file->reap_pause_ns,
		     pause_after(gk_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin));
	return freed;
}
