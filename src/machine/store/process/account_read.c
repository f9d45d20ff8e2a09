/* SPDX-License-Identifier: Apache-2.0 */
/* account_read.c - reads the accounts of live and ended processes. */
#include "base/assert.h"
#include "base/pair.h"
#include "machine/file/account_state.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/store/above.h"
#include "machine/store/process/account.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/others.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"

unsigned gkf_accounts_bound(const struct gkf_machine *m)
{
	return gkf_slots_high(m) + GKF_ACCOUNTS_MAX;
}

/* Reads an entry of the ring; false unless it is whole and of this device. */
static bool read_record(struct gkf_machine *m, unsigned device, uint64_t number,
			struct gkf_account *ret)
{
	struct gkf_account_entry *from =
	    &m->file->accounts.ring[number % GKF_ACCOUNTS_MAX];

	if (__atomic_load_n(&from->number, __ATOMIC_ACQUIRE) != number ||
	    __atomic_load_n(&from->device, __ATOMIC_RELAXED) != device)
		return false;
	*ret = (struct gkf_account){
	    .pid = (int32_t)__atomic_load_n(&from->pid, __ATOMIC_RELAXED),
	    .pid_ns = __atomic_load_n(&from->pid_ns, __ATOMIC_RELAXED),
	    .start_ns = __atomic_load_n(&from->start_ns, __ATOMIC_RELAXED),
	    .end_ns = __atomic_load_n(&from->end_ns, __ATOMIC_RELAXED),
	    .peak = __atomic_load_n(&from->peak, __ATOMIC_RELAXED),
	};
	gk_words_copy(&ret->sums, &from->sums, sizeof(struct gkf_sums));
	atomic_thread_fence(memory_order_acquire);
	return __atomic_load_n(&from->number, __ATOMIC_RELAXED) == number;
}

/* A walk through the accounts of a device. */
struct walk {
	gkf_account_visit *visit;
	void *ctx;
	uint64_t own_ns; /* the caller's pid namespace; 0: unknown */
	struct gkf_others others;
};

/* Changes the account's pid to the caller's; false: it sees no such process. */
static bool see_account(struct walk *w, struct gkf_account *a)
{
	struct gkf_identity owner = {
	    .pid = a->pid, .pid_ns = a->pid_ns, .start = a->start};

	if (!w->own_ns || a->pid_ns == w->own_ns)
		return true;
	a->pid = a->start ? gkf_others_pid(&w->others, &owner) : 0;
	return a->pid != 0;
}

/* False when visit returned false. */
static bool show_account(struct walk *w, struct gkf_account *a)
{
	return !see_account(w, a) || w->visit(w->ctx, a);
}

/* False when visit returned false. */
static bool each_slot(struct gkf_machine *m, unsigned device, struct walk *w)
{
	uint64_t cleared = gkf_accounts_cleared_ns(m, device);
	unsigned high = gkf_slots_high(m);

	for (unsigned i = 0; i < high; i++) {
		struct gkf_account a;
		struct gkf_slot slot;

		if (!gkf_slot_read_on(m, i, device, &slot, NULL) ||
		    !gkf_account_of(m, i, &slot, &a) ||
		    (!a.running && a.end_ns <= cleared))
			continue;
		if (!show_account(w, &a))
			return false;
	}
	return true;
}

static void each_record(struct gkf_machine *m, unsigned device, struct walk *w)
{
	uint64_t last = atomic_load(&m->file->accounts.count);
	uint64_t cleared =
	    atomic_load(&m->file->device[device].accounting.cleared_number);

	for (unsigned i = 0;
	     i < GKF_ACCOUNTS_MAX && last - i > cleared && last > i; i++) {
		struct gkf_account a;

		if (read_record(m, device, last - i, &a) &&
		    !show_account(w, &a))
			return;
	}
}

void gkf_accounts_each(struct gkf_machine *m, unsigned device,
		       gkf_account_visit *visit, void *ctx)
{
	struct walk w = {
	    .visit = visit, .ctx = ctx, .own_ns = gkf_own_namespace(m)};

	GK_ASSERT(device < m->device_count);
	m->above->state_catch_up(m, device); /* counts all past bins */
	gkf_reap(m, false);
	if (each_slot(m, device, &w))
		each_record(m, device, &w);
	gkf_others_free(&w.others);
}
