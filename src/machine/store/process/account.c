/* SPDX-License-Identifier: Apache-2.0 */
/* account.c - owns the accounts of slots and the ring of ended processes. */
#include "machine/store/process/account.h"
#include "base/assert.h"
#include "base/pair.h"
#include "machine/file/account_state.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/store/above.h"
#include "machine/store/clock.h"
#include "machine/store/process/lent.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

bool gkf_account_is_on(const struct gkf_machine *m, unsigned device)
{
	GK_ASSERT(device < m->device_count);
	return atomic_load_explicit(
		   &m->file->device[device].set[GKF_V_ACCOUNTING],
		   memory_order_relaxed) == 1;
}

static void store_field(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void read_sums(const struct gkf_tally *t, struct gkf_sums *ret_sums)
{
	gk_pair_read(&t->seq, t->sums, ret_sums, sizeof *ret_sums);
}

static void commit_sums(struct gkf_tally *t, const struct gkf_sums *sums)
{
	gk_pair_write(&t->seq, t->sums, sums, sizeof *sums);
}

void gkf_account_open(struct gkf_machine *m, unsigned slot)
{
	struct gkf_tally *t = &m->file->tally[slot];

	GK_ASSERT(gkf_lock_held(m));
	atomic_store_explicit(&t->peak, 0, memory_order_relaxed);
	commit_sums(t, &(struct gkf_sums){0});
}

void gkf_account_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes)
{
	struct gkf_tally *t = &m->file->tally[slot];

	GK_ASSERT(slot < GKF_SLOTS_MAX);
	if (atomic_load_explicit(&t->peak, memory_order_relaxed) < bytes)
		atomic_store_explicit(&t->peak, bytes, memory_order_relaxed);
}

bool gkf_account_of(struct gkf_machine *m, unsigned index,
		    const struct gkf_slot *slot, struct gkf_account *ret)
{
	const struct gkf_tally *t = &m->file->tally[index];
	uint64_t bin = gkf_machine_bin(m), stop = slot->wave.stop_bin;

	if (gkf_is_lent(slot) || (stop && bin < slot->wave.start_bin))
		return false;
	*ret = (struct gkf_account){
	    .pid = slot->pid,
	    .pid_ns = slot->pid_ns,
	    .start = slot->start,
	    .running = !stop || bin < stop,
	    .start_ns = slot->wave.start_bin * GKF_BIN_NS,
	    .end_ns = stop * GKF_BIN_NS,
	    .peak = atomic_load_explicit(&t->peak, memory_order_relaxed),
	};
	read_sums(t, &ret->sums);
	return true;
}

uint64_t gkf_accounts_cleared_ns(const struct gkf_machine *m, unsigned device)
{
	return atomic_load(&m->file->device[device].accounting.cleared_ns);
}

/* The number is erased first and written last, for concurrent readers. */
static void push_account(struct gkf_machine *m, unsigned device,
			 const struct gkf_account *a)
{
	struct gkf_accounts *all = &m->file->accounts;
	uint64_t number = atomic_load(&all->count) + 1;
	struct gkf_account_entry *to = &all->ring[number % GKF_ACCOUNTS_MAX];

	store_field(&to->number, 0);
	atomic_thread_fence(memory_order_release);
	store_field(&to->device, device);
	store_field(&to->pid, (uint32_t)a->pid);
	store_field(&to->pid_ns, a->pid_ns);
	store_field(&to->start_ns, a->start_ns);
	store_field(&to->end_ns, a->end_ns);
	store_field(&to->peak, a->peak);
	gk_words_copy(&to->sums, &a->sums, sizeof(struct gkf_sums));
	__atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
	atomic_store(&all->count, number);
}

void gkf_account_close(struct gkf_machine *m, unsigned index)
{
	struct gkf_account a;
	struct gkf_slot slot;

	GK_ASSERT(gkf_lock_held(m));
	if (!gkf_slot_read(m, index, &slot, NULL) ||
	    !gkf_account_is_on(m, slot.device) ||
	    !gkf_account_of(m, index, &slot, &a))
		return;
	if (a.running)
		a.end_ns = gkf_machine_ns(m);
	else if (a.end_ns <= gkf_accounts_cleared_ns(m, slot.device))
		return;
	push_account(m, slot.device, &a);
}

void gkf_account_add(struct gkf_machine *m, unsigned slot,
		     const struct gkf_sums *more)
{
	struct gkf_tally *t = &m->file->tally[slot];
	struct gkf_sums sums;

	GK_ASSERT(gkf_lock_held(m));
	read_sums(t, &sums);
	sums.bins += more->bins;
	sums.sm += more->sm;
	sums.mem += more->mem;
	commit_sums(t, &sums);
}

static void forget_ended(struct gkf_machine *m, unsigned device)
{
	struct gkf_accounting *a = &m->file->device[device].accounting;

	atomic_store(&a->cleared_number, atomic_load(&m->file->accounts.count));
	atomic_store(&a->cleared_ns, gkf_machine_ns(m));
}

void gkf_account_forget(struct gkf_machine *m, unsigned device)
{
	unsigned high = gkf_slots_high(m);
	struct gkf_slot slot;

	GK_ASSERT(gkf_lock_held(m));
	forget_ended(m, device);
	for (unsigned i = 0; i < high; i++)
		if (gkf_slot_read_on(m, i, device, &slot, NULL))
			commit_sums(&m->file->tally[i], &(struct gkf_sums){0});
}

int gkf_accounts_clear(struct gkf_machine *m, unsigned device)
{
	int r = gkf_lock(m);

	GK_ASSERT(device < m->device_count);
	if (r)
		return r;
	forget_ended(m, device);
	gkf_unlock(m);
	return 0;
}
