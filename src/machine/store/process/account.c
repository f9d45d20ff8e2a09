/* account.c - keeps what slots used, and the ring of the ended. */
#include "machine/store/account.h"
#include "base/pair.h"
#include "machine/file/account_state.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/store/above.h"
#include "machine/store/clock.h"
#include "machine/store/ledger.h"
#include "machine/store/slot.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

bool gkf_account_is_on(const struct gkf_machine *m, unsigned device)
{
	return atomic_load_explicit(
		   &m->file->device[device].set[GKF_V_ACCOUNTING],
		   memory_order_relaxed) == 1;
}

static uint64_t load_field(const uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
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

	atomic_store_explicit(&t->peak, 0, memory_order_relaxed);
	commit_sums(t, &(struct gkf_sums){0});
}

void gkf_account_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes)
{
	struct gkf_tally *t = &m->file->tally[slot];

	if (atomic_load_explicit(&t->peak, memory_order_relaxed) < bytes)
		atomic_store_explicit(&t->peak, bytes, memory_order_relaxed);
}

/* Reads the account of a slot; false when its load has not begun. */
static bool account_of(struct gkf_machine *m, unsigned index,
		       const struct gkf_slot *slot, struct gkf_account *ret)
{
	const struct gkf_tally *t = &m->file->tally[index];
	uint64_t bin = gkf_machine_bin(m), stop = slot->wave.stop_bin;

	if (stop && bin < slot->wave.start_bin)
		return false;
	*ret = (struct gkf_account){
	    .pid = slot->pid,
	    .running = !stop || bin < stop,
	    .start_ns = slot->wave.start_bin * GKF_BIN_NS,
	    .end_ns = stop * GKF_BIN_NS,
	    .peak = atomic_load_explicit(&t->peak, memory_order_relaxed),
	};
	read_sums(t, &ret->sums);
	return true;
}

/* Loads that were over by then are forgotten. */
static uint64_t cleared_ns(const struct gkf_machine *m, unsigned device)
{
	return atomic_load(&m->file->device[device].accounting.cleared_ns);
}

/* The number is taken away first and given last. */
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

	if (!gkf_slot_read(m, index, &slot, NULL) ||
	    !gkf_account_is_on(m, slot.device) ||
	    !account_of(m, index, &slot, &a))
		return;
	if (a.running)
		a.end_ns = gkf_machine_ns(m);
	else if (a.end_ns <= cleared_ns(m, slot.device))
		return;
	push_account(m, slot.device, &a);
}

void gkf_account_add(struct gkf_machine *m, unsigned slot,
		     const struct gkf_sums *more)
{
	struct gkf_tally *t = &m->file->tally[slot];
	struct gkf_sums sums;

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

	forget_ended(m, device);
	for (unsigned i = 0; i < high; i++)
		if (gkf_slot_read_on(m, i, device, &slot, NULL))
			commit_sums(&m->file->tally[i], &(struct gkf_sums){0});
}

int gkf_accounts_clear(struct gkf_machine *m, unsigned device)
{
	int r = gkf_lock(m);

	if (r)
		return r;
	forget_ended(m, device);
	gkf_unlock(m);
	return 0;
}

unsigned gkf_accounts_bound(const struct gkf_machine *m)
{
	return gkf_slots_high(m) + GKF_ACCOUNTS_MAX;
}

/* A record that is whole, of this device and not forgotten. */
static bool read_record(struct gkf_machine *m, unsigned device, uint64_t number,
			struct gkf_account *ret)
{
	struct gkf_account_entry *from =
	    &m->file->accounts.ring[number % GKF_ACCOUNTS_MAX];

	if (__atomic_load_n(&from->number, __ATOMIC_ACQUIRE) != number ||
	    load_field(&from->device) != device)
		return false;
	*ret = (struct gkf_account){
	    .pid = (int32_t)load_field(&from->pid),
	    .start_ns = load_field(&from->start_ns),
	    .end_ns = load_field(&from->end_ns),
	    .peak = load_field(&from->peak),
	};
	gk_words_copy(&ret->sums, &from->sums, sizeof(struct gkf_sums));
	atomic_thread_fence(memory_order_acquire);
	return load_field(&from->number) == number;
}

/* False when visit has had enough. */
static bool each_slot(struct gkf_machine *m, unsigned device,
		      gkf_account_visit *visit, void *ctx)
{
	uint64_t cleared = cleared_ns(m, device);
	unsigned high = gkf_slots_high(m);

	for (unsigned i = 0; i < high; i++) {
		struct gkf_account a;
		struct gkf_slot slot;

		if (!gkf_slot_read_on(m, i, device, &slot, NULL) ||
		    !account_of(m, i, &slot, &a) ||
		    (!a.running && a.end_ns <= cleared))
			continue;
		if (!visit(ctx, &a))
			return false;
	}
	return true;
}

void gkf_accounts_each(struct gkf_machine *m, unsigned device,
		       gkf_account_visit *visit, void *ctx)
{
	uint64_t last, cleared;

	gkf_state_catch_up(m, device); /* counts all bins that passed */
	gkf_reap(m, false);
	if (!each_slot(m, device, visit, ctx))
		return;
	last = atomic_load(&m->file->accounts.count);
	cleared =
	    atomic_load(&m->file->device[device].accounting.cleared_number);
	for (unsigned i = 0;
	     i < GKF_ACCOUNTS_MAX && last - i > cleared && last > i; i++) {
		struct gkf_account a;

		if (read_record(m, device, last - i, &a) && !visit(ctx, &a))
			return;
	}
}
