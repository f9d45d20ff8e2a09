/* SPDX-License-Identifier: Apache-2.0 */
/* turn.c - takes the turns of a device and hands them on; see turn.h. */
#include "machine/store/process/turn.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/pidstat.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/work_state.h"
#include "machine/store/clock.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How often a waiting thread checks the holder and its own stop flag. */
#define LOOK_NS (10 * GK_NS_PER_MS)

/*
 * The age of a turn at which it is taken away: from a holder that has not
 * claimed it, and from a holder that is stopped.
 */
#define UNCLAIMED_NS (10 * GK_NS_PER_MS)
#define STOPPED_NS   (100 * GK_NS_PER_MS)

/* Kernels are often shorter than sleeping and waking up takes. */
#define SPIN_NS (20 * GK_NS_PER_US)

/* The longest time to hand the device over; machine time. */
#define PASSING_NS GK_NS_PER_MS

/* Fields of a holder's word: see struct gkf_turn. */
#define SHARE       (1ULL << 16)
#define SLOT(w)     ((unsigned)((w)&0xffff) - 1) /* UINT32_MAX: none */
#define SHARES(w)   ((unsigned)((w) >> 16 & 0xffff))
#define SAME(w, me) (!(((w) ^ (me)) & ~(0xffffULL << 16)))

/* A slot and the turn that its process takes part in. */
struct place {
	struct gkf_machine *m;
	struct gkf_turn *turn;
	unsigned slot, device, index;
};

static struct gkf_busy *slot_busy(const struct gkf_machine *m, unsigned slot)
{
	return &m->file->busy[slot];
}

/* The word that makes a slot the holder of a turn that no thread shares yet. */
static uint64_t word_of(const struct gkf_machine *m, unsigned slot)
{
	uint64_t life = atomic_load_explicit(&m->file->slot[slot].life,
					     memory_order_relaxed);

	return life << 32 | (slot + 1);
}

/* The index of the turn: 0 for the whole device, or that of a MIG device. */
static unsigned index_of(const struct gkf_machine *m, unsigned device,
			 unsigned slot)
{
	uint32_t instance =
	    __atomic_load_n(&m->file->slot[slot].instance, __ATOMIC_RELAXED);
	unsigned gi = GKF_INSTANCE_GI(instance), ci = GKF_INSTANCE_CI(instance);
	uint64_t word;

	if (gi >= GKF_MIG_GIS || ci >= GKF_MIG_CIS)
		return 0;
	word = atomic_load_explicit(&m->file->device[device].mig.ci[gi][ci],
				    memory_order_relaxed);
	return 1 + (unsigned)(word >> 24 & 0xff) % GKF_MIG_MAX;
}

static bool find_place(struct gkf_machine *m, unsigned slot, struct place *p)
{
	if (slot >= GKF_SLOTS_MAX)
		return false;
	p->m = m;
	p->slot = slot;
	p->device =
	    __atomic_load_n(&m->file->slot[slot].device, __ATOMIC_RELAXED);
	if (p->device >= m->device_count)
		return false;
	p->index = index_of(m, p->device, slot);
	p->turn = &m->file->device[p->device].turn[p->index];
	return true;
}

static bool is_slice_over(const struct gkf_turn *t)
{
	return atomic_load_explicit(&t->asked, memory_order_relaxed) &&
	       gk_mono_ns() - atomic_load_explicit(&t->since_ns,
						   memory_order_relaxed) >=
		   GKF_TURN_SLICE_NS;
}

static void store_turn(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/*
 * Takes the turn if it is free. If the process already has the turn, begins it,
 * or joins the threads that share it.
 */
static bool enter_turn(const struct place *p)
{
	struct gkf_turn *t = p->turn;
	uint64_t me = word_of(p->m, p->slot), w = atomic_load(&t->holder);

	for (;;) {
		bool begins = !w || (SAME(w, me) && !SHARES(w));

		/*
		 * Joining a turn whose slice is over would starve other
		 * processes.
		 */
		if (!begins && (!SAME(w, me) || is_slice_over(t)))
			return false;
		if (!atomic_compare_exchange_weak(&t->holder, &w,
						  (w ? w : me) + SHARE))
			continue;
		if (!w)
			store_turn(&t->passed_ns, 0);
		if (begins)
			store_turn(&t->since_ns, gk_mono_ns());
		return true;
	}
}

static bool is_owner_alive(struct gkf_machine *m, const struct gkf_slot *slot)
{
	struct gkf_identity owner = {.pid = slot->pid,
				     .pid_ns = slot->pid_ns,
				     .start = slot->start,
				     .stack = slot->stack};

	return gkf_alive(gkf_self(m).pid_ns, &owner);
}

static bool is_stopped(struct gkf_machine *m, const struct gkf_slot *slot)
{
	struct gk_pidstat st;

	return slot->pid_ns == gkf_self(m).pid_ns &&
	       !gk_pidstat_of(slot->pid, &st) &&
	       (st.state == 'T' || st.state == 't');
}

/*
 * The slot that has waited longest for the same turn; UINT32_MAX: none.
 * *ret_more: others wait, too. The slot's process may have died while waiting;
 * look_after() then takes the turn away.
 */
static unsigned find_oldest(const struct place *p, bool *ret_more)
{
	unsigned high = gkf_slots_high(p->m), found = UINT32_MAX, n = 0;
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;
		uint64_t wants;

		if (__atomic_load_n(&p->m->file->slot[i].device,
				    __ATOMIC_RELAXED) != p->device)
			continue;
		wants = atomic_load(&slot_busy(p->m, i)->wants_ns);
		if (!wants ||
		    !gkf_slot_read_on(p->m, i, p->device, &slot, NULL) ||
		    index_of(p->m, p->device, i) != p->index)
			continue;
		n++;
		if (wants < oldest) {
			oldest = wants;
			found = i;
		}
	}
	*ret_more = n > 1;
	return found;
}

static void wake_slot(struct gkf_machine *m, unsigned slot)
{
	_Atomic uint32_t *word = &slot_busy(m, slot)->wake;

	atomic_fetch_add(word, 1);
	gk_futex_wake(GK_FUTEX_SHARED, word, INT_MAX);
}

/*
 * Returns when the device was handed over: at the end of the last holder's
 * work, so that the search for the next holder does not count as idle time.
 */
static uint64_t passed_at(const struct place *p, uint64_t was)
{
	uint64_t now = gkf_machine_ns(p->m), ended = 0;
	unsigned from = SLOT(was);

	if (from < GKF_SLOTS_MAX)
		ended = atomic_load_explicit(&slot_busy(p->m, from)->ended_ns,
					     memory_order_relaxed);
	return ended && ended <= now && now - ended < PASSING_NS ? ended - 1
								 : now;
}

/* The word of the next holder, or 0; *ret_slot is its slot. */
static uint64_t choose_next(const struct place *p, unsigned *ret_slot)
{
	struct gkf_turn *t = p->turn;
	bool more;

	/*
	 * `asked` is cleared before the search: processes that begin to wait
	 * later set it again.
	 */
	atomic_store(&t->asked, 0);
	*ret_slot = find_oldest(p, &more);
	if (more)
		atomic_store(&t->asked, 1);
	return *ret_slot == UINT32_MAX ? 0 : word_of(p->m, *ret_slot);
}

/*
 * A word that was changed provisionally, with its old and new value;
 * take_back() undoes the change.
 */
struct claim {
	_Atomic uint64_t *word;
	uint64_t was, is;
};

static struct claim claim_word(_Atomic uint64_t *word, uint64_t is)
{
	return (struct claim){word, atomic_exchange(word, is), is};
}

static void take_back(struct claim c)
{
	atomic_compare_exchange_strong(c.word, &c.is, c.was);
}

/*
 * Changes the holder's word. The start of the turn is stored first, so that
 * look_after() does not consider the new holder late.
 */
static bool hand_to(const struct place *p, uint64_t *was, uint64_t next)
{
	struct gkf_turn *t = p->turn;
	struct claim passed, since;

	if (!next)
		return atomic_compare_exchange_strong(&t->holder, was, 0);
	passed = claim_word(&t->passed_ns, passed_at(p, *was) + 1);
	since = claim_word(&t->since_ns, gk_mono_ns());
	if (atomic_compare_exchange_strong(&t->holder, was, next))
		return true;
	take_back(since);
	take_back(passed);
	return false;
}

/*
 * Ends the turn of holder word `was` and hands it to the slot that waits
 * longest; false when the word has changed since. A waiter announces itself
 * before it checks whether the turn is free, and this function checks for
 * waiters after freeing the turn, so one of the two sees the other.
 */
static bool pass_turn_on(const struct place *p, uint64_t was)
{
	struct gkf_turn *t = p->turn;
	bool ended = false;

	do {
		unsigned slot = UINT32_MAX;
		bool asked = atomic_load(&t->asked);
		uint64_t next = asked ? choose_next(p, &slot) : 0;

		if (!hand_to(p, &was, next)) {
			if (asked)
				atomic_store(&t->asked, 1);
			return ended;
		}
		if (next) {
			wake_slot(p->m, slot);
			return true;
		}
		ended = true;
		was = 0;
	} while (atomic_load(&t->asked));
	return true;
}

/*
 * Takes the turn away from a holder that is dead, is stopped, or has not
 * claimed it in time.
 */
static void look_after(const struct place *p)
{
	struct gkf_turn *t = p->turn;
	uint64_t w = atomic_load(&t->holder);
	uint64_t age = gk_mono_ns() - atomic_load(&t->since_ns);
	unsigned holder = SLOT(w);
	struct gkf_slot slot;
	bool lost;

	if (!w || SAME(w, word_of(p->m, p->slot)))
		return;
	lost = holder >= GKF_SLOTS_MAX || !SAME(w, word_of(p->m, holder)) ||
	       !gkf_slot_read_on(p->m, holder, p->device, &slot, NULL) ||
	       !is_owner_alive(p->m, &slot);
	if (!SHARES(w) && age >= UNCLAIMED_NS)
		lost = true;
	/* Do not hand the turn to this holder again. */
	if (lost && holder < GKF_SLOTS_MAX)
		atomic_store(&slot_busy(p->m, holder)->wants_ns, 0);
	if (lost || (age >= STOPPED_NS && is_stopped(p->m, &slot)))
		pass_turn_on(p, w);
}

/* Spins for a short while; returns whether this process got the turn. */
static bool comes_soon(const struct place *p)
{
	uint64_t me = word_of(p->m, p->slot), until = gk_mono_ns() + SPIN_NS;

	do {
		uint64_t w = atomic_load(&p->turn->holder);

		if (!w || (SAME(w, me) && !SHARES(w)))
			return true;
		gk_cpu_pause();
	} while (gk_mono_ns() < until);
	return false;
}

static int wait_turn(const struct place *p, const atomic_bool *stop)
{
	struct gkf_busy *b = slot_busy(p->m, p->slot);

	for (;;) {
		uint32_t word = atomic_load(&b->wake);
		uint64_t none = 0;
		bool entered;

		atomic_compare_exchange_strong(&b->wants_ns, &none,
					       gk_mono_ns());
		atomic_store(&p->turn->asked, 1);
		entered = enter_turn(p);
		if (entered || (stop && atomic_load(stop))) {
			atomic_store(&b->wants_ns, 0);
			return entered ? 0 : GK_ERR_TIMEOUT;
		}
		if (comes_soon(p))
			continue;
		if (!gk_futex_wait(GK_FUTEX_SHARED, &b->wake, word, LOOK_NS))
			look_after(p);
	}
}

int gkf_turn_take(struct gkf_machine *m, unsigned slot, const atomic_bool *stop)
{
	struct place p;
	uint64_t w;
	int r;

	if (!find_place(m, slot, &p) || !gkf_owns(m, &m->file->slot[slot]))
		return GK_ERR_NOT_FOUND;
	if (__builtin_expect(enter_turn(&p), 1))
		return 0;
	r = wait_turn(&p, stop);
	w = atomic_load(&p.turn->holder);
	/* The turn may have been handed to us in the meantime. */
	if (r && SAME(w, word_of(m, slot)) && !SHARES(w))
		pass_turn_on(&p, w);
	return r;
}

bool gkf_turn_due(struct gkf_machine *m, unsigned slot)
{
	struct place p;
	uint64_t w;

	if (!find_place(m, slot, &p))
		return false;
	w = atomic_load_explicit(&p.turn->holder, memory_order_relaxed);
	return !SAME(w, word_of(m, slot)) || is_slice_over(p.turn);
}

void gkf_turn_give(struct gkf_machine *m, unsigned slot)
{
	uint64_t me, w;
	struct place p;

	if (!find_place(m, slot, &p))
		return;
	me = word_of(m, slot);
	w = atomic_load(&p.turn->holder);
	while (SAME(w, me) && SHARES(w)) {
		if (SHARES(w) > 1 ? atomic_compare_exchange_weak(
					&p.turn->holder, &w, w - SHARE)
				  : pass_turn_on(&p, w))
			return;
		w = atomic_load(&p.turn->holder);
	}
}

void gkf_turn_drop(struct gkf_machine *m, unsigned slot)
{
	struct place p;
	uint64_t w;

	if (!find_place(m, slot, &p))
		return;
	do
		w = atomic_load(&p.turn->holder);
	while (SAME(w, word_of(m, slot)) && !pass_turn_on(&p, w));
}

uint64_t gkf_turn_passed(struct gkf_machine *m, unsigned slot)
{
	struct place p;

	if (!find_place(m, slot, &p) ||
	    !atomic_load_explicit(&p.turn->passed_ns, memory_order_relaxed) ||
	    !SAME(atomic_load(&p.turn->holder), word_of(m, slot)))
		return 0;
	return atomic_exchange(&p.turn->passed_ns, 0) - 1;
}
