/* ledger_bury.c - gives back what the dead hold. */
#include "base/clock.h"
#include "base/log.h"
#include "limit/ledger_op.h"
#include "limit/uncancelled.h"
#include "limit/life.h"

/* What one operation can give back; more stands in damaged files only. */
static uint64_t most_of(uint64_t held)
{
	return held < 1ULL << 63 ? held : 1ULL << 63;
}

/* Swaps the pending operation to one that gives back all; or finds it there. */
static bool plan_return(struct gkl_account *a, union gkl_wide was,
			union gkl_wide held)
{
	union gkl_wide plan = {.low = 0 - most_of(held.low),
			       .high = gkl_number_after(held.high)};

	return was.both == plan.both || gkl_wide_swap(&a->op, was, plan);
}

/* False: the slot is not that owner's any more. */
static bool empty_account(struct gkl_ledger_file *f, unsigned int device,
			  unsigned int slot, union gkl_wide life)
{
	struct gkl_taken *taken = &f->taken[device];
	struct gkl_slot *s = &f->slots[slot];
	struct gkl_account *a = &s->account[device];
	union gkl_wide total, held, op, to;

	for (;;) {
		total = gkl_wide_read(&taken->total);
		gkl_op_finish_last(f, device, total);
		op = gkl_wide_read(&a->op);
		held = gkl_wide_read(&a->held);
		/* All of it was read while the slot was the dead's. */
		if (gkl_wide_read(&s->life).both != life.both)
			return false;
		if (!held.low)
			return true;
		if (!plan_return(a, op, held))
			continue;
		/* If it had happened since, this total would be another. */
		to.low = gkl_add(total.low, (int64_t)(0 - most_of(held.low)));
		to.high = gkl_name_of(slot, gkl_number_after(held.high));
		gkl_wide_swap(&taken->total, total, to);
	}
}

struct sums {
	uint64_t refused[GKL_DEVICES], counts[GKL_DEVICES][GKL_COUNTS];
};

static void read_counters(const struct gkl_slot *s, struct sums *ret_sums)
{
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		const struct gkl_account *a = &s->account[d];

		ret_sums->refused[d] = atomic_load(&a->refused);
		for (unsigned c = 0; c < GKL_COUNTS; c++)
			ret_sums->counts[d][c] = atomic_load(&a->counts[c]);
	}
}

/* What the group had of its devices is told when its processes are gone. */
static void keep_counters(struct gkl_ledger_file *f, const struct sums *sums)
{
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		struct gkl_taken *taken = &f->taken[d];

		atomic_fetch_add(&taken->refused, sums->refused[d]);
		for (unsigned c = 0; c < GKL_COUNTS; c++)
			atomic_fetch_add(&taken->counts[c], sums->counts[d][c]);
	}
}

bool gkl_bury_slot(struct gkl_ledger_file *f, unsigned int slot,
		   union gkl_wide life)
{
	static const union gkl_wide free_slot = {.both = 0};
	struct gkl_slot *s = &f->slots[slot];
	struct sums sums = {0};
	uint64_t high;

	for (unsigned d = 0; d < GKL_DEVICES; d++)
		if (!empty_account(f, d, slot, life))
			return false;
	if (atomic_load(&s->counted) == life.high)
		read_counters(s, &sums);
	/* The next owner has no lock before it says so. */
	high = life.high;
	atomic_compare_exchange_strong(&s->locked, &high, 0);
	atomic_fetch_add(&f->burials, 1);
	if (!gkl_wide_swap(&s->life, life, free_slot))
		return false;
	keep_counters(f, &sums);
	return true;
}

struct gkl_round gkl_bury_round(const struct gkl_ledger *ledger)
{
	struct gkl_ledger_file *f = ledger->file;
	unsigned high = gkl_slots_high(f);
	struct gkl_round round = {0};
	struct gkl_look look;
	int cancel = gkl_uncancelled_begin();

	atomic_store(&f->looked_ns, gk_clock_ns(CLOCK_MONOTONIC_COARSE));
	gkl_look_begin(&look, ledger);
	for (unsigned i = 0; i < high; i++) {
		union gkl_wide life = gkl_wide_read(&f->slots[i].life);
		enum gkl_life is =
		    life.high ? gkl_look_at(&look, i, life) : GKL_ALIVE;

		round.dying += is == GKL_DYING;
		round.found += is == GKL_DEAD;
		if (is == GKL_DEAD && gkl_bury_slot(f, i, life)) {
			gk_log(GK_LOG_INFO, "process %d is dead, slot %u free",
			       gkl_life_pid(life), i);
			round.buried++;
		}
	}
	gkl_look_end(&look);
	gkl_uncancelled_end(cancel);
	return round;
}

int gkl_ledger_bury(const struct gkl_ledger *ledger)
{
	return gkl_bury_round(ledger).buried;
}

void gkl_bury_former(struct gkl_ledger_file *f, union gkl_wide self)
{
	unsigned high = gkl_slots_high(f);

	for (unsigned i = 0; i < high; i++) {
		union gkl_wide life = gkl_wide_read(&f->slots[i].life);

		if (life.high == self.high &&
		    gkl_life_ns(life) == gkl_life_ns(self) &&
		    gkl_life_stack(life) != gkl_life_stack(self))
			gkl_bury_slot(f, i, life);
	}
}
