/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_measure.c - measures what the process holds besides counted memory:
 * what NVML reports, minus what was counted. During a measurement no thread of
 * the process may take or give back memory.
 */
#include "limit/preload/memory/memory_state.h"
#include "base/assert.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/limited.h"
#include "limit/uncancelled.h"

#include <stdint.h>

#define TRIES 4

enum { PROCESSES = 1024 };

/* ---- what NVML says ---- */

static bool read_processes(nvmlDevice_t handle, unsigned *ret_count,
			   nvmlProcessInfo_t *rows)
{
	*ret_count = PROCESSES;
	if (REAL_NVML(nvmlDeviceGetComputeRunningProcesses_v3))
		return !REAL_NVML(nvmlDeviceGetComputeRunningProcesses_v3)(
		    handle, ret_count, rows);
	return REAL_NVML(nvmlDeviceGetComputeRunningProcesses_v2) &&
	       !REAL_NVML(nvmlDeviceGetComputeRunningProcesses_v2)(
		   handle, ret_count, rows);
}

/* The caller holds s->measuring. */
bool memory_truth(int device, uint64_t *ret_bytes)
{
	static nvmlProcessInfo_t rows[PROCESSES];
	struct memory_device *d = &memory_state()->device[device];
	nvmlDevice_t handle;
	unsigned count, pid;
	uint64_t sum = 0;
	bool found = false;

	GK_ASSERT(gk_lock_held(&memory_state()->measuring));
	if (!limited_nvml_handle(device, &handle) ||
	    !read_processes(handle, &count, rows))
		return false;
	pid = limited_nvml_pid();
	for (unsigned i = 0; pid && i < count; i++) {
		if (rows[i].pid != pid)
			continue;
		if (rows[i].usedGpuMemory == UINT64_MAX)
			return false;
		sum += rows[i].usedGpuMemory;
		found = true;
	}
	if (found)
		atomic_store(&d->seen, true);
	*ret_bytes = sum;
	return found || atomic_load(&d->seen);
}

/* ---- measuring ---- */

static uint64_t sum_rest(const struct memory_device *d)
{
	uint64_t sum = 0;

	for (unsigned kind = 0; kind < GKL_KINDS; kind++)
		sum += atomic_load(&d->rest[kind]);
	return sum;
}

/*
 * Pools change on their own as streams proceed. If their figures are the same
 * before and after NVML is read, they fit the figures of NVML.
 */
static bool read_truth(int device, uint64_t *ret_bytes)
{
	uint64_t before, after = pools_settle(device);

	for (unsigned i = 0; i < TRIES; i++) {
		before = after;
		if (!memory_truth(device, ret_bytes))
			return false;
		after = pools_settle(device);
		if (before == after)
			return true;
	}
	return false;
}

static bool is_free_of_charge(enum gkl_kind kind)
{
	return kind == GKL_CONTEXT &&
	       atomic_load(&memory_state()->contexts_free);
}

static uint64_t take_from(_Atomic uint64_t *rest, uint64_t bytes)
{
	uint64_t has = atomic_load(rest), part = has < bytes ? has : bytes;

	atomic_fetch_sub(rest, part);
	return part;
}

/* Lowers the measured bytes of a device, beginning with those of `kind`. */
void memory_shrink(int device, enum gkl_kind kind, uint64_t bytes)
{
	struct memory_device *d = &memory_state()->device[device];

	GK_ASSERT((unsigned)device < GKL_DEVICES);
	for (unsigned i = 0; bytes && i <= GKL_KINDS; i++) {
		enum gkl_kind k = i ? (enum gkl_kind)(GKL_KINDS - i) : kind;
		uint64_t part = take_from(&d->rest[k], bytes);

		bytes -= part;
		if (!is_free_of_charge(k))
			settle_refund(device, k, part);
	}
}

/*
 * The caller holds s->measuring until it has charged the growth to the ledger.
 * Otherwise the next thread to measure could find that memory freed again, and
 * refund bytes that were never charged. The caller's thread must not be
 * cancelled meanwhile, or the lock would stay held.
 *
 * Any block may be shared with measured memory if memory was just added
 * (`came`), or if measured memory does not have the expected size. Then all
 * present blocks count as old (blocks.h).
 */
static bool measure_device(int device, enum gkl_kind kind, bool came,
			   uint64_t *ret_grown)
{
	struct memory_state *s = memory_state();
	struct memory_device *d = &s->device[device];
	uint64_t truth, counted, want, have;
	bool ok;

	GK_ASSERT(gk_lock_held(&s->measuring));
	*ret_grown = 0;
	ok = gate_close(&s->gate);
	if (!ok) {
		if (came)
			atomic_fetch_add(&s->epoch, 1);
		return false;
	}
	ok = read_truth(device, &truth);
	if (ok) {
		counted = gate_counted(&s->gate, device);
		want = truth > counted ? truth - counted : 0;
		have = sum_rest(d);
		came |= want + atomic_exchange(&d->doubted, 0) != have;
		if (want < have)
			memory_shrink(device, kind, have - want);
		*ret_grown = want > have ? want - have : 0;
		atomic_fetch_add(&d->rest[kind], *ret_grown);
	}
	if (came)
		atomic_fetch_add(&s->epoch, 1);
	gate_open(&s->gate);
	return ok;
}

static int begin_measuring(struct memory_state *s)
{
	int cancel = gkl_uncancelled_begin();

	pthread_mutex_lock(&s->measuring);
	return cancel;
}

static void end_measuring(struct memory_state *s, int cancel)
{
	pthread_mutex_unlock(&s->measuring);
	gkl_uncancelled_end(cancel);
}

bool memory_measure(int device, enum gkl_kind kind)
{
	struct memory_state *s = memory_state();
	uint64_t grown;
	bool ok;
	int cancel = begin_measuring(s);

	GK_ASSERT((unsigned)device < GKL_DEVICES);
	ok = measure_device(device, kind, false, &grown);
	if (!is_free_of_charge(kind))
		settle_charge(device, kind, grown);
	end_measuring(s, cancel);
	if (!ok)
		memory_expect(device, 1);
	return ok;
}

/*
 * Counts the guess, because measuring failed this time or is impossible here.
 */
static uint64_t take_guess(struct memory_call *call, uint64_t guess)
{
	struct memory_device *d = &memory_state()->device[call->device];

	atomic_fetch_add(&d->rest[call->kind], guess);
	memory_expect(call->device, 1);
	return guess;
}

/* The first contexts of all processes have the same size. */
static void note_context(int device, uint64_t bytes)
{
	struct gkl_ledger *ledger = limited()->ledger;
	struct gkl_device told;

	if (!bytes || !gkl_ledger_device(ledger, (unsigned)device, &told) ||
	    told.context_bytes)
		return;
	told.context_bytes = bytes;
	gkl_ledger_set_device(ledger, (unsigned)device, &told);
}

bool memory_end_measured(struct memory_call *call, uint64_t guess)
{
	struct memory_state *s = memory_state();
	struct memory_device *d;
	uint64_t grown, pending = call->pending, limit;
	bool first;
	int cancel;

	if (call->device < 0)
		return true;
	memory_end_call(call);
	d = &s->device[call->device];
	atomic_store(&d->joined, true);
	cancel = begin_measuring(s);
	first = !atomic_load(&d->rest[GKL_CONTEXT]);
	if (!measure_device(call->device, call->kind, true, &grown))
		grown = take_guess(call, guess);
	if (first && call->kind == GKL_CONTEXT)
		note_context(call->device, grown);
	settle_call(call, is_free_of_charge(call->kind) ? 0 : grown);
	end_measuring(s, cancel);
	limit = limited_memory(call->device);
	return !limit || grown <= pending ||
	       gkl_ledger_used(limited()->ledger, (unsigned)call->device) <=
		   limit;
}

static bool take_look(struct memory_device *d)
{
	uint32_t looks = atomic_load(&d->looks);

	return looks &&
	       atomic_compare_exchange_strong(&d->looks, &looks, looks - 1);
}

/*
 * As long as pools hold memory, they may give some back at any time, so another
 * refresh stays due.
 */
void memory_refresh(int device)
{
	struct memory_state *s = memory_state();
	struct memory_device *d;
	uint64_t pooled;

	if (device < 0 || !s)
		return;
	d = &s->device[device];
	if (!atomic_load_explicit(&d->due, memory_order_relaxed))
		return;
	if (take_look(d))
		memory_measure(device, GKL_MODULE);
	memory_enter();
	pooled = pools_settle(device);
	memory_leave();
	if (!pooled && !atomic_load(&d->looks))
		atomic_store(&d->due, false);
}

void memory_refresh_all(void)
{
	if (!limited())
		return;
	for (int i = 0; i < GKL_DEVICES; i++)
		memory_refresh(i);
}
