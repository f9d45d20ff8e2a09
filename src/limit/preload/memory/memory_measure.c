/*
 * memory_measure.c - what a process holds besides what was counted: NVML says
 * what it has. For a moment nobody in the process may take or give back any.
 */
#include "limit/preload/memory_state.h"
#include "limit/preload/driver.h"
#include "limit/preload/limited.h"
#include "limit/uncancelled.h"

#include <stdint.h>

#define TRIES 4

enum { PROCESSES = 1024 };

void memory_enter(void)
{
	gate_enter(&memory_state()->gate);
}

void memory_leave(void)
{
	gate_leave(&memory_state()->gate);
}

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

/* Under the lock of measuring. */
bool memory_truth(int device, uint64_t *ret_bytes)
{
	static nvmlProcessInfo_t rows[PROCESSES];
	struct memory_device *d = &memory_state()->device[device];
	nvmlDevice_t handle;
	unsigned count, pid;
	uint64_t sum = 0;
	bool found = false;

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
 * Pools change by themselves, when streams get on: what they say is of the same
 * moment as the truth if it was the same before and after.
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

/* The measured bytes of a device are less: of this kind first. */
void memory_shrink(int device, enum gkl_kind kind, uint64_t bytes)
{
	struct memory_device *d = &memory_state()->device[device];

	for (unsigned i = 0; bytes && i <= GKL_KINDS; i++) {
		enum gkl_kind k = i ? (enum gkl_kind)(GKL_KINDS - i) : kind;
		uint64_t part = take_from(&d->rest[k], bytes);

		bytes -= part;
		if (!is_free_of_charge(k))
			ledger_refund(device, k, part);
	}
}

/*
 * Under the lock of measuring, until the ledger was told of what has grown: who
 * measures next may find that it has gone again, and gives it back. A thread
 * that is cancelled there would keep the lock.
 *
 * Blocks may be shared with what has just come (`came`), and with what is
 * measured when it is another amount than was expected: those that are there
 * now are old (blocks.h).
 */
static bool measure(int device, enum gkl_kind kind, bool came,
		    uint64_t *ret_grown)
{
	struct memory_state *s = memory_state();
	struct memory_device *d = &s->device[device];
	uint64_t truth, counted, want, have;
	bool ok;

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

	ok = measure(device, kind, false, &grown);
	if (!is_free_of_charge(kind))
		ledger_charge(device, kind, grown);
	end_measuring(s, cancel);
	if (!ok)
		memory_expect(device, 1);
	return ok;
}

/* Not to be measured now, or at all: it is as much as was thought. */
static uint64_t take_guess(struct memory_call *call, uint64_t guess)
{
	struct memory_device *d = &memory_state()->device[call->device];

	atomic_fetch_add(&d->rest[call->kind], guess);
	memory_expect(call->device, 1);
	return guess;
}

/* The first context of a process is as large as the others' first ones. */
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
	memory_leave();
	d = &s->device[call->device];
	atomic_store(&d->joined, true);
	cancel = begin_measuring(s);
	first = !atomic_load(&d->rest[GKL_CONTEXT]);
	if (!measure(call->device, call->kind, true, &grown))
		grown = take_guess(call, guess);
	if (first && call->kind == GKL_CONTEXT)
		note_context(call->device, grown);
	ledger_settle(call, is_free_of_charge(call->kind) ? 0 : grown);
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

/* Pools that have anything may have less at any time. */
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
