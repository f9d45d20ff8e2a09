/* SPDX-License-Identifier: Apache-2.0 */
/* busy.c - records the work of a slot's process, bin by bin; see busy.h. */
#include "machine/store/process/busy.h"
#include "base/assert.h"
#include "base/min.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/work_state.h"
#include "machine/store/above.h"
#include "machine/store/clock.h"
#include "machine/store/process/identity.h"
#include "machine/store/state_bin.h"
#include "machine/store/process/total.h"
#include "machine/store/process/turn.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/* A word of busy time: bin number in the upper bits, nanoseconds below. */
#define NS_BITS 28
#define NS_MASK ((1ULL << NS_BITS) - 1)
_Static_assert(GKF_BIN_NS <= NS_MASK, "a whole bin has room");

/* A word of bytes: low bits of the bin number in the upper bits, bytes below.
 */
#define BYTES_BITS 36
#define BYTES_MASK ((1ULL << BYTES_BITS) - 1)
#define BIN_MASK   ((1ULL << (64 - BYTES_BITS)) - 1)

/*
 * If a device's state is this many bins behind, a working process computes it.
 * That is half of the bins kept, so another process that is already computing
 * the state has time to finish.
 */
#define BEHIND_BINS (GKF_BUSY_BINS / 2)

/* How many times a reader retries before it assumes that the writer is dead. */
#define READINGS 64

static struct gkf_busy *busy_of(const struct gkf_machine *m, unsigned slot)
{
	return &m->file->busy[slot];
}

static struct gkf_busy_bin *bin_of(struct gkf_busy *b, uint64_t bin)
{
	return &b->bin[bin % GKF_BUSY_BINS];
}

static uint64_t load_busy(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store_busy(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t busy_in(uint64_t word, uint64_t bin)
{
	return word >> NS_BITS == bin ? word & NS_MASK : 0;
}

static uint64_t bytes_in(uint64_t word, uint64_t bin)
{
	return word >> BYTES_BITS == (bin & BIN_MASK) ? word & BYTES_MASK : 0;
}

static bool is_mine(struct gkf_machine *m, unsigned slot)
{
	return slot < GKF_SLOTS_MAX && gkf_owns(m, &m->file->slot[slot]);
}

void gkf_busy_open(struct gkf_machine *m, unsigned slot)
{
	struct gkf_busy *b = busy_of(m, slot);

	GK_ASSERT(slot < GKF_SLOTS_MAX);
	store_busy(&b->since_ns, 0);
	store_busy(&b->ended_ns, 0);
	store_busy(&b->wants_ns, 0);
	for (unsigned i = 0; i < GKF_BUSY_BINS; i++) {
		store_busy(&b->bin[i].busy, 0);
		for (int d = 0; d < GKF_DIRECTIONS; d++)
			store_busy(&b->bin[i].moved[d], 0);
	}
	store_busy(&b->seq, 0);
}

/* ---- for the working process ---- */

/* Computes bins that no process has computed, before they are overwritten. */
static void catch_up(struct gkf_machine *m, unsigned slot, uint64_t bin)
{
	unsigned device =
	    __atomic_load_n(&m->file->slot[slot].device, __ATOMIC_RELAXED);

	if (device >= m->device_count ||
	    gkf_state_bin(m, device) + BEHIND_BINS > bin || !gkf_trylock(m, 0))
		return;
	m->above->state_advance(m, device);
	gkf_unlock(m);
}

/*
 * Adds the time [from, to) to the bins that it covers and that are still kept.
 */
static void note_work(struct gkf_busy *b, uint64_t from, uint64_t to)
{
	uint64_t bin = from / GKF_BIN_NS, last = to / GKF_BIN_NS;

	if (last - bin >= GKF_BUSY_BINS) {
		bin = last - GKF_BUSY_BINS + 1;
		from = bin * GKF_BIN_NS;
	}
	for (; from < to; bin++) {
		uint64_t until = gk_min((bin + 1) * GKF_BIN_NS, to);
		_Atomic uint64_t *word = &bin_of(b, bin)->busy;
		uint64_t ns = busy_in(load_busy(word), bin) + until - from;

		store_busy(word, bin << NS_BITS | gk_min(ns, GKF_BIN_NS));
		from = until;
	}
}

/*
 * Turns running work into finished work. Meanwhile `seq` is odd, which makes
 * concurrent readers retry. If this process is killed here, `seq` stays odd,
 * and the running work is not counted twice.
 */
static void settle_work(struct gkf_machine *m, unsigned slot, uint64_t to)
{
	struct gkf_busy *b = busy_of(m, slot);
	uint64_t seq = load_busy(&b->seq), since = load_busy(&b->since_ns);

	store_busy(&b->seq, seq | 1);
	atomic_thread_fence(memory_order_release);
	if (since && since - 1 < to) {
		note_work(b, since - 1, to);
		gkf_total_busy(m, slot, to - (since - 1));
	}
	store_busy(&b->since_ns, 0);
	store_busy(&b->ended_ns, to + 1);
	atomic_store_explicit(&b->seq, (seq | 1) + 1, memory_order_release);
}

void gkf_busy_begin(struct gkf_machine *m, unsigned slot)
{
	uint64_t now, passed;

	if (!is_mine(m, slot))
		return;
	now = gkf_machine_ns(m);
	/* The device counts as busy while it is handed over. */
	passed = gkf_turn_passed(m, slot);
	if (passed && passed < now)
		now = passed;
	atomic_store_explicit(&busy_of(m, slot)->since_ns, now + 1,
			      memory_order_release);
}

void gkf_busy_end(struct gkf_machine *m, unsigned slot)
{
	uint64_t now;

	if (!is_mine(m, slot))
		return;
	now = gkf_machine_ns(m);
	catch_up(m, slot, now / GKF_BIN_NS);
	settle_work(m, slot, now);
}

void gkf_busy_close(struct gkf_machine *m, unsigned slot, uint64_t machine_ns)
{
	struct gkf_busy *b = busy_of(m, slot);

	GK_ASSERT(gkf_lock_held(m));
	if (!load_busy(&b->since_ns))
		return;
	if (load_busy(&b->seq) & 1) /* already added when the process died */
		store_busy(&b->since_ns, 0);
	settle_work(m, slot, machine_ns);
}

void gkf_busy_moved(struct gkf_machine *m, unsigned slot,
		    enum gkf_direction direction, uint64_t bytes)
{
	_Atomic uint64_t *word;
	uint64_t bin, was;

	if (!is_mine(m, slot) || direction >= GKF_DIRECTIONS)
		return;
	gkf_total_moved(m, slot, direction, bytes);
	bin = gkf_machine_bin(m);
	word = &bin_of(busy_of(m, slot), bin)->moved[direction];
	was = load_busy(word);
	if (was >> BYTES_BITS != (bin & BIN_MASK))
		catch_up(m, slot, bin);
	while (!atomic_compare_exchange_weak_explicit(
	    word, &was,
	    (bin & BIN_MASK) << BYTES_BITS |
		gk_min(bytes_in(was, bin) + gk_min(bytes, BYTES_MASK),
		       BYTES_MASK),
	    memory_order_relaxed, memory_order_relaxed))
		;
}

/* ---- for readers ---- */

/*
 * Reads a consistent pair: the finished work in a bin, and the time + 1 at
 * which the running work began; *ret_since is 0 if none is running.
 */
static uint64_t read_busy(struct gkf_busy *b, uint64_t bin, uint64_t *ret_since)
{
	uint64_t seq, again, word;
	int readings = 0;

	do {
		seq = atomic_load_explicit(&b->seq, memory_order_acquire);
		*ret_since = load_busy(&b->since_ns);
		word = load_busy(&bin_of(b, bin)->busy);
		atomic_thread_fence(memory_order_acquire);
		again = load_busy(&b->seq);
	} while ((seq & 1 || seq != again) && ++readings < READINGS);
	if (seq & 1)
		*ret_since = 0;
	return busy_in(word, bin);
}

/* How many nanoseconds of a bin lie after the time ns. */
static uint64_t bin_part_behind(uint64_t bin, uint64_t ns)
{
	uint64_t begin = bin * GKF_BIN_NS, end = begin + GKF_BIN_NS;

	return ns <= begin ? GKF_BIN_NS : ns < end ? end - ns : 0;
}

void gkf_busy_read(struct gkf_machine *m, unsigned slot, uint64_t bin,
		   struct gkf_done *ret_done)
{
	struct gkf_busy *b = busy_of(m, slot % GKF_SLOTS_MAX);
	uint64_t since, busy = read_busy(b, bin, &since);

	GK_ASSERT(slot < GKF_SLOTS_MAX);
	if (since)
		busy += bin_part_behind(bin, since - 1);
	ret_done->busy_permille =
	    (uint32_t)((gk_min(busy, GKF_BIN_NS) * 1000 + GKF_BIN_NS / 2) /
		       GKF_BIN_NS);
	for (int d = 0; d < GKF_DIRECTIONS; d++)
		ret_done->moved[d] =
		    bytes_in(load_busy(&bin_of(b, bin)->moved[d]), bin);
}

uint64_t gkf_busy_next(struct gkf_machine *m, unsigned slot, uint64_t bin)
{
	struct gkf_busy *b = busy_of(m, slot);
	uint64_t since, next = UINT64_MAX;

	read_busy(b, bin, &since);
	if (since) {
		next = (since - 1) / GKF_BIN_NS;
		next = next < bin ? bin : next;
	}
	for (uint64_t i = bin; i < bin + GKF_BUSY_BINS && i < next; i++) {
		struct gkf_done done;

		gkf_busy_read(m, slot, i, &done);
		if (done.busy_permille || gkf_moved_any(done.moved))
			return i;
	}
	return next;
}
