/* SPDX-License-Identifier: Apache-2.0 */
/* account_read.c - reads the accounts of live and ended processes. */
#include "base/assert.h"
#include "base/pair.h"
#include "machine/file/account_state.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/store/above.h"
#include "machine/store/process/account.h"
#include "machine/store/process/ledger.h"
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
	    .start_ns = __atomic_load_n(&from->start_ns, __ATOMIC_RELAXED),
	    .end_ns = __atomic_load_n(&from->end_ns, __ATOMIC_RELAXED),
	    .peak = __atomic_load_n(&from->peak, __ATOMIC_RELAXED),
	};
	gk_words_copy(&ret->sums, &from->sums, sizeof(struct gkf_sums));
	atomic_thread_fence(memory_order_acquire);
	return __atomic_load_n(&from->number, __ATOMIC_RELAXED) == number;
}

/* False when visit returned false. */
static bool each_slot(struct gkf_machine *m, unsigned device,
		      gkf_account_visit *visit, void *ctx)
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
		if (!visit(ctx, &a))
			return false;
	}
	return true;
}

void gkf_accounts_each(struct gkf_machine *m, unsigned device,
		       gkf_account_visit *visit, void *ctx)
{
	uint64_t last, cleared;

	GK_ASSERT(device < m->device_count);
	m->above->state_catch_up(m, device); /* counts all past bins */
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
