/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_bury.c - gives back what dead processes hold and nobody else uses. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "limit/ledger_op.h"
#include "limit/uncancelled.h"
#include "limit/life.h"

/*
 * The bytes that a dead process still holds, and whether some were given back.
 */
struct gkl_left {
	uint64_t bytes;
	bool less;
};

/*
 * The most bytes that one operation can give back; only a damaged file holds
 * more.
 */
static uint64_t most_of(uint64_t held)
{
	return held < 1ULL << 63 ? held : 1ULL << 63;
}

/*
 * Makes giving back `bytes` the account's pending operation. Returns true if it
 * now is the pending operation, whichever process set it.
 */
static bool plan_return(struct gkl_account *a, union gkl_wide was,
			union gkl_wide held, uint64_t bytes)
{
	union gkl_wide plan = {.low = 0 - bytes,
			       .high = gkl_number_after(held.high)};

	return was.both == plan.both || gkl_wide_swap(&a->op, was, plan);
}

/*
 * Several processes may empty the account at once. They must leave the same
 * amount, but may have read different ones. So the first process records its
 * amount, and all others use that. Sets *kept to the recorded amount. False:
 * read everything again.
 */
static bool agree_on_kept(struct gkl_account *a, union gkl_wide was,
			  union gkl_wide held, uint64_t *kept)
{
	union gkl_wide mine = {.low = *kept,
			       .high = gkl_number_after(held.high)};

	if (was.high != mine.high)
		return gkl_wide_swap(&a->kept, was, mine);
	*kept = was.low < held.low ? was.low : held.low;
	return true;
}

/*
 * Gives back all but `kept` bytes of an account. False: the slot has another
 * owner by now.
 */
static bool empty_account(struct gkl_ledger_file *f, unsigned int device,
			  unsigned int slot, union gkl_wide life, uint64_t kept,
			  struct gkl_left *left)
{
	struct gkl_taken *taken = &f->taken[device];
	struct gkl_slot *s = &f->slots[slot];
	struct gkl_account *a = &s->account[device];
	union gkl_wide total, held, op, agreed, to;

	for (;;) {
		uint64_t keep = kept, bytes;

		total = gkl_wide_read(&taken->total);
		gkl_op_finish_last(f, device, total);
		op = gkl_wide_read(&a->op);
		agreed = gkl_wide_read(&a->kept);
		held = gkl_wide_read(&a->held);
		/*
		 * If the slot still has the same owner, everything above was
		 * read while the dead process owned it.
		 */
		if (gkl_wide_read(&s->life).both != life.both)
			return false;
		left->bytes |= held.low;
		if (held.low <= kept)
			return true;
		left->bytes = 0;
		left->less = true;
		if (!agree_on_kept(a, agreed, held, &keep))
			continue;
		bytes = most_of(held.low - keep);
		if (!plan_return(a, op, held, bytes))
			continue;
		/* If the operation has already happened, the total differs, and
		 * the swap fails. */
		to.low = gkl_add(total.low, (int64_t)(0 - bytes));
		to.high = gkl_name_of(slot, gkl_number_after(held.high));
		gkl_wide_swap(&taken->total, total, to);
	}
}

/* False: the slot has another owner by now. */
static bool empty_accounts(struct gkl_ledger_file *f, unsigned int slot,
			   union gkl_wide life, struct gkl_holds *holds,
			   struct gkl_left *ret_left)
{
	uint64_t kept[GKL_DEVICES];
	bool any = false;

	*ret_left = (struct gkl_left){0};
	gkl_exports_sum(f, life, holds, kept);
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		struct gkl_left left = {.less = ret_left->less};

		if (!empty_account(f, d, slot, life, kept[d], &left))
			return false;
		any |= left.bytes != 0;
		ret_left->less = left.less;
	}
	ret_left->bytes = any;
	return true;
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

/* Reports still show the group's use after its processes have ended. */
static void keep_counters(struct gkl_ledger_file *f, const struct sums *sums)
{
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		struct gkl_taken *taken = &f->taken[d];

		atomic_fetch_add(&taken->refused, sums->refused[d]);
		for (unsigned c = 0; c < GKL_COUNTS; c++)
			atomic_fetch_add(&taken->counts[c], sums->counts[d][c]);
	}
}

/*
 * Marks the owner as ended. Whoever sees the mark also sees the bytes given
 * back.
 */
static enum gkl_burial leave_to_others(struct gkl_ledger_file *f,
				       struct gkl_slot *s, union gkl_wide life,
				       bool less)
{
	if (!less && gkl_is_ended(s, life))
		return GKL_KEPT;
	atomic_fetch_add(&f->burials, 1);
	while (!gkl_wide_swap(&s->ended, gkl_wide_read(&s->ended), life))
		;
	return GKL_BY_OTHER;
}

enum gkl_burial gkl_bury_slot(struct gkl_ledger_file *f, unsigned int slot,
			      union gkl_wide life, struct gkl_holds *holds)
{
	static const union gkl_wide free_slot = {.both = 0};
	struct gkl_slot *s = &f->slots[slot];
	struct sums sums = {0};
	struct gkl_left left;
	uint64_t high;

	GK_ASSERT(slot < GKL_PROCESSES);
	if (!empty_accounts(f, slot, life, holds, &left))
		return GKL_BY_OTHER;
	if (left.bytes)
		return leave_to_others(f, s, life, left.less);
	gkl_exports_free(f, life);
	if (atomic_load(&s->counted) == life.high)
		read_counters(s, &sums);
	/*
	 * The next owner counts as holding no lock until it sets `locked`
	 * itself.
	 */
	high = life.high;
	atomic_compare_exchange_strong(&s->locked, &high, 0);
	atomic_fetch_add(&f->burials, 1);
	if (!gkl_wide_swap(&s->life, life, free_slot))
		return GKL_BY_OTHER;
	keep_counters(f, &sums);
	return GKL_BURIED;
}

static enum gkl_life look_at(const struct gkl_look *look, unsigned int slot,
			     union gkl_wide life)
{
	return gkl_is_ended(&look->ledger->file->slots[slot], life)
		   ? GKL_DEAD
		   : gkl_look_at(look, slot, life);
}

static void bury_dead(struct gkl_ledger_file *f, unsigned int slot,
		      union gkl_wide life, struct gkl_holds *holds,
		      struct gkl_round *round)
{
	enum gkl_burial burial = gkl_bury_slot(f, slot, life, holds);

	round->found += burial != GKL_KEPT;
	round->buried += burial == GKL_BURIED;
	if (burial == GKL_BURIED)
		gk_log(GK_LOG_INFO, "process %d is dead, slot %u free",
		       gkl_life_pid(life), slot);
}

enum { ROW = 64 };

/*
 * Finds all dead owners among ROW adjacent slots first. One search for the
 * holders of exports is then valid for all of them.
 */
static void bury_row(const struct gkl_look *look, unsigned int first,
		     struct gkl_round *round)
{
	struct gkl_ledger_file *f = look->ledger->file;
	struct gkl_holds holds = {.looked = false};
	union gkl_wide lives[ROW];
	uint64_t dead = 0;

	for (unsigned i = 0; i < ROW && first + i < GKL_PROCESSES; i++) {
		enum gkl_life is;

		lives[i] = gkl_wide_read(&f->slots[first + i].life);
		is = lives[i].high ? look_at(look, first + i, lives[i])
				   : GKL_ALIVE;
		round->dying += is == GKL_DYING;
		dead |= (uint64_t)(is == GKL_DEAD) << i;
	}
	for (; dead; dead &= dead - 1) {
		unsigned i = (unsigned)__builtin_ctzll(dead);

		bury_dead(f, first + i, lives[i], &holds, round);
	}
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
	for (unsigned i = 0; i < high; i += ROW)
		bury_row(&look, i, &round);
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
	struct gkl_holds holds = {.looked = false};

	for (unsigned i = 0; i < high; i++) {
		union gkl_wide life = gkl_wide_read(&f->slots[i].life);

		if (life.high == self.high &&
		    gkl_life_ns(life) == gkl_life_ns(self) &&
		    gkl_life_stack(life) != gkl_life_stack(self))
			gkl_bury_slot(f, i, life, &holds);
	}
}
