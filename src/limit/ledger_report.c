/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_report.c - reads and writes a ledger's sums, counters and devices. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/pair.h"
#include "limit/ledger.h"
#include "limit/ledger_op.h"
#include "limit/life.h"

#include <string.h>

/* How long dead owners may still be counted. */
#define LOOK_EVERY_NS (50 * GK_NS_PER_MS)

static void bury_now_and_then(const struct gkl_ledger *ledger)
{
	uint64_t last = atomic_load_explicit(&ledger->file->looked_ns,
					     memory_order_relaxed);

	/*
	 * If `last` is in the future, it comes from another time namespace: the
	 * unsigned difference is huge, and dead owners are buried.
	 */
	if (gk_clock_ns(CLOCK_MONOTONIC_COARSE) - last > LOOK_EVERY_NS)
		gkl_ledger_bury(ledger);
}

uint64_t gkl_ledger_used(const struct gkl_ledger *ledger, unsigned int device)
{
	const union gkl_wide *total = &ledger->file->taken[device].total;

	GK_ASSERT(device < GKL_DEVICES);
	if (gkl_low(total))
		bury_now_and_then(ledger);
	return gkl_low(total);
}

uint64_t gkl_ledger_own(struct gkl_ledger *ledger, unsigned int device)
{
	const struct gkl_slot *slot = gkl_own_slot(ledger);

	GK_ASSERT(device < GKL_DEVICES);
	return slot ? gkl_low(&slot->account[device].held) : 0;
}

/* Whether the counters of a slot belong to its owner. */
static bool is_counted(const struct gkl_slot *s, union gkl_wide life)
{
	return atomic_load(&s->counted) == life.high;
}

uint64_t gkl_ledger_pending(const struct gkl_ledger *ledger,
			    unsigned int device, enum gkl_kind kind)
{
	const struct gkl_ledger_file *f = ledger->file;
	unsigned high = gkl_slots_high(f);
	uint64_t sum = 0;

	GK_ASSERT(device < GKL_DEVICES);
	GK_ASSERT(kind == GKL_PENDING || kind == GKL_LOADING);
	for (unsigned i = 0; i < high; i++) {
		const struct gkl_slot *s = &f->slots[i];
		union gkl_wide life = gkl_wide_read(&s->life);

		if (life.high && is_counted(s, life) && !gkl_is_ended(s, life))
			sum += atomic_load(&s->account[device].kinds[kind]);
	}
	return sum;
}

/*
 * Adds up the bytes of each kind. Subtracting the pending bytes from the total
 * would be wrong, because both may change between reading one and reading the
 * other.
 */
uint64_t gkl_ledger_settled(const struct gkl_ledger *ledger,
			    unsigned int device)
{
	const struct gkl_ledger_file *f = ledger->file;
	unsigned high = gkl_slots_high(f);
	uint64_t sum = 0;

	GK_ASSERT(device < GKL_DEVICES);
	for (unsigned i = 0; i < high; i++) {
		const struct gkl_slot *s = &f->slots[i];
		union gkl_wide life = gkl_wide_read(&s->life);

		if (life.high && gkl_is_ended(s, life)) {
			sum += gkl_low(&s->account[device].held);
			continue;
		}
		if (!life.high || !is_counted(s, life))
			continue;
		for (int k = 0; k < GKL_PENDING; k++)
			sum += atomic_load_explicit(
			    &s->account[device].kinds[k], memory_order_relaxed);
	}
	return sum;
}

static void copy_device(const struct gkl_slot *s, unsigned d,
			struct gkl_process *p)
{
	const struct gkl_account *a = &s->account[d];

	for (unsigned k = 0; k < GKL_KINDS; k++)
		p->kinds[d][k] = atomic_load(&a->kinds[k]);
	p->peak[d] = atomic_load(&a->peak);
	p->refused[d] = atomic_load(&a->refused);
	p->busy_ns[d] = atomic_load(&a->counts[GKL_BUSY_NS]);
	p->throttled_ns[d] = atomic_load(&a->counts[GKL_THROTTLED_NS]);
	p->launches[d] = atomic_load(&a->counts[GKL_LAUNCHES]);
}

/* Shows all memory of a dead process as exported: its kinds are out of date. */
static void tell_exported(struct gkl_process *p, unsigned d)
{
	p->ended = true;
	memset(p->kinds[d], 0, sizeof p->kinds[d]);
	p->kinds[d][GKL_EXPORTED] = p->held[d];
}

/* False: the slot is free, or its owner changed while it was being read. */
static bool read_process(const struct gkl_ledger_file *f, unsigned slot,
			 struct gkl_process *ret)
{
	const struct gkl_slot *s = &f->slots[slot];
	union gkl_wide life = gkl_wide_read(&s->life);

	if (!life.high)
		return false;
	*ret = (struct gkl_process){
	    .slot = (int)slot,
	    .pid = gkl_life_pid(life),
	    .pid_ns = gkl_life_ns(life),
	};
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		ret->held[d] = gkl_low(&s->account[d].held);
		if (is_counted(s, life))
			copy_device(s, d, ret);
		if (gkl_is_ended(s, life))
			tell_exported(ret, d);
	}
	if (is_counted(s, life))
		ret->host_pid = atomic_load(&s->host_pid);
	return gkl_wide_read(&s->life).both == life.both;
}

void gkl_ledger_each(const struct gkl_ledger *ledger,
		     void (*each)(const struct gkl_process *process, void *arg),
		     void *arg)
{
	unsigned high = gkl_slots_high(ledger->file);
	struct gkl_process process;

	for (unsigned i = 0; i < high; i++)
		if (read_process(ledger->file, i, &process))
			each(&process, arg);
}

struct sum {
	unsigned device;
	struct gkl_total *total;
};

static void add_process(const struct gkl_process *p, void *arg)
{
	struct sum *sum = arg;

	sum->total->refused += p->refused[sum->device];
	sum->total->busy_ns += p->busy_ns[sum->device];
	sum->total->throttled_ns += p->throttled_ns[sum->device];
	sum->total->launches += p->launches[sum->device];
}

void gkl_ledger_total(const struct gkl_ledger *ledger, unsigned int device,
		      struct gkl_total *ret_total)
{
	const struct gkl_taken *taken = &ledger->file->taken[device];
	struct gkl_total total = {
	    .used = gkl_ledger_used(ledger, device),
	    .peak = atomic_load(&taken->peak),
	    .refused = atomic_load(&taken->refused),
	    .busy_ns = atomic_load(&taken->counts[GKL_BUSY_NS]),
	    .throttled_ns = atomic_load(&taken->counts[GKL_THROTTLED_NS]),
	    .launches = atomic_load(&taken->counts[GKL_LAUNCHES]),
	};

	gkl_ledger_each(ledger, add_process,
			&(struct sum){.device = device, .total = &total});
	*ret_total = total;
}

static void add_relaxed(_Atomic uint64_t *word, uint64_t add)
{
	atomic_fetch_add_explicit(word, add, memory_order_relaxed);
}

void gkl_ledger_count(struct gkl_ledger *ledger, unsigned int device,
		      enum gkl_count which, uint64_t add)
{
	int slot = gkl_ledger_slot(ledger);

	GK_ASSERT(device < GKL_DEVICES);
	GK_ASSERT((unsigned)which < GKL_COUNTS);
	if (slot >= 0)
		add_relaxed(
		    &ledger->file->slots[slot].account[device].counts[which],
		    add);
}

void gkl_ledger_refused(struct gkl_ledger *ledger, unsigned int device)
{
	int slot = gkl_ledger_slot(ledger);

	GK_ASSERT(device < GKL_DEVICES);
	add_relaxed(slot < 0
			? &ledger->file->taken[device].refused
			: &ledger->file->slots[slot].account[device].refused,
		    1);
}

bool gkl_ledger_device(const struct gkl_ledger *ledger, unsigned int device,
		       struct gkl_device *ret_device)
{
	const struct gkl_device_pair *pair = &ledger->file->devices[device];
	struct gkl_device now;

	GK_ASSERT(device < GKL_DEVICES);
	gk_pair_read(&pair->seq, pair->copies, &now, sizeof now);
	now.uuid[sizeof now.uuid - 1] = '\0';
	if (!now.uuid[0])
		return false;
	*ret_device = now;
	return true;
}

/* All processes write the same values, except the size of a context. */
void gkl_ledger_set_device(struct gkl_ledger *ledger, unsigned int device,
			   const struct gkl_device *set)
{
	struct gkl_device_pair *pair = &ledger->file->devices[device];

	GK_ASSERT(device < GKL_DEVICES);
	gk_pair_write(&pair->seq, pair->copies, set, sizeof *set);
}

void *gkl_ledger_share(struct gkl_ledger *ledger, unsigned int device)
{
	GK_ASSERT(device < GKL_DEVICES);
	return ledger->file->share[device];
}
