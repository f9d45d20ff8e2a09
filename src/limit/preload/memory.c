/*
 * memory.c - reserves for calls that take memory, and settles. The ledger is
 * changed here alone.
 */
#include "limit/preload/memory_state.h"
#include "base/clock.h"
#include "base/log.h"
#include "limit/preload/limited.h"
#include "limit/preload/own.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * How long one for whom there is no room waits for calls that are under way:
 * code that a driver compiles before it loads it may take many seconds.
 */
#define PATIENCE_NS (60 * GK_NS_PER_S)
#define NAP_NS      (50 * GK_NS_PER_US)
#define NAP_MAX_NS  (2 * GK_NS_PER_MS)

_Atomic(struct memory_state *) memory_known_state;

struct memory_state *memory_make_state(void)
{
	struct memory_state *s = own_map(sizeof(*s)), *none = NULL;

	if (s &&
	    !atomic_compare_exchange_strong(&memory_known_state, &none, s)) {
		munmap(s, sizeof(*s));
		return none;
	}
	return s;
}

uint32_t memory_epoch(void)
{
	return atomic_load_explicit(&memory_state()->epoch,
				    memory_order_relaxed);
}

/* ---- the ledger ---- */

static void mirror(int device, enum gkl_kind kind, uint64_t bytes)
{
	if (bytes && limited()->region)
		limited_mirror(device, kind, (int64_t)bytes);
}

void ledger_refund(int device, enum gkl_kind kind, uint64_t bytes)
{
	if (!bytes)
		return;
	gkl_ledger_refund(limited()->ledger, (unsigned)device, kind, bytes);
	mirror(device, kind, -bytes);
}

void ledger_charge(int device, enum gkl_kind kind, uint64_t bytes)
{
	if (!bytes)
		return;
	gkl_ledger_charge(limited()->ledger, (unsigned)device, kind, bytes);
	mirror(device, kind, bytes);
}

void ledger_settle(struct memory_call *call, uint64_t taken)
{
	struct gkl_ledger *ledger = limited()->ledger;
	unsigned device = (unsigned)call->device;
	uint64_t part = taken < call->pending ? taken : call->pending;

	if (part) {
		gkl_ledger_move(ledger, device, GKL_PENDING, call->kind, part);
		mirror(call->device, call->kind, part);
	}
	if (call->pending > part)
		gkl_ledger_refund(ledger, device, GKL_PENDING,
				  call->pending - part);
	ledger_charge(call->device, call->kind, taken - part);
	call->pending = 0;
}

/* ---- reserving ---- */

static uint64_t left_within(int device, uint64_t limit)
{
	uint64_t used = gkl_ledger_used(limited()->ledger, (unsigned)device);

	return used < limit ? limit - used : 0;
}

static bool reserve(struct memory_call *call, uint64_t most, uint64_t limit)
{
	struct gkl_ledger *ledger = limited()->ledger;
	bool all = most == MEMORY_ALL_LEFT;

	if (all && !limit)
		return true;
	do {
		if (all)
			most = left_within(call->device, limit);
		if (!most)
			return true;
		if (gkl_ledger_reserve(ledger, (unsigned)call->device,
				       GKL_PENDING, most, limit)) {
			call->pending = most;
			return true;
		}
	} while (all);
	return false;
}

/*
 * Would it fit if nobody had anything pending? Nothing may be pending any more
 * by now: then there is room.
 */
static bool is_worth_waiting(int device, uint64_t most, uint64_t limit)
{
	uint64_t settled =
	    gkl_ledger_settled(limited()->ledger, (unsigned)device);

	return settled <= limit && most <= limit - settled;
}

/*
 * No room: pools give back their reserves, as a driver does it, and what is
 * measured may be less by now. Then there may be others who reserved more than
 * they will take.
 */
__attribute__((noinline, cold)) static bool
reserve_slowly(struct memory_call *call, uint64_t most)
{
	uint64_t end = gk_mono_ns() + PATIENCE_NS, nap = NAP_NS, limit;

	pools_trim(call->device);
	memory_measure(call->device, GKL_MODULE);
	for (;;) {
		limit = limited_memory(call->device);
		if (reserve(call, most, limit))
			return true;
		if (gk_mono_ns() > end ||
		    !is_worth_waiting(call->device, most, limit))
			return false;
		gk_sleep_until(gk_mono_ns() + nap);
		nap = 2 * nap < NAP_MAX_NS ? 2 * nap : NAP_MAX_NS;
	}
}

static void kill_refused(int device, uint64_t bytes)
{
	uint64_t limit = limited_memory(device);
	char line[200];
	ssize_t written;

	snprintf(line, sizeof(line),
		 "libvgpu: process %d wanted %llu MiB of GPU %d, where %llu of "
		 "%llu MiB are left: killed, as ACTIVE_OOM_KILLER asks\n",
		 (int)getpid(), (unsigned long long)(bytes >> 20), device,
		 (unsigned long long)(left_within(device, limit) >> 20),
		 (unsigned long long)(limit >> 20));
	written = write(STDERR_FILENO, line, strlen(line));
	(void)written;
	kill(getpid(), SIGKILL);
}

void memory_refuse(int device, uint64_t bytes)
{
	gkl_ledger_refused(limited()->ledger, (unsigned)device);
	gk_log(GK_LOG_DEBUG, "GPU %d: no room for %llu bytes", device,
	       (unsigned long long)bytes);
	if (limited_policy()->oom_killer)
		kill_refused(device, bytes);
}

/* What the process had before its first call that we see: its context. */
__attribute__((noinline, cold)) static void join_device(struct memory_state *s,
							int device)
{
	if (!atomic_exchange(&s->device[device].joined, true))
		memory_measure(device, GKL_CONTEXT);
}

CUresult memory_try(struct memory_call *ret_call, int device,
		    enum gkl_kind kind, uint64_t most)
{
	struct memory_state *s;

	*ret_call = (struct memory_call){.device = device, .kind = kind};
	if (device == LIMITED_UNKNOWN || limited_broken())
		return CUDA_ERROR_NOT_PERMITTED;
	if (device < 0)
		return CUDA_SUCCESS;
	s = memory_state();
	if (!s || gkl_ledger_slot(limited()->ledger) < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	limited_wait_while_suspended();
	if (kind != GKL_CONTEXT && !atomic_load(&s->device[device].joined))
		join_device(s, device);
	if (!reserve(ret_call, most, limited_memory(device)) &&
	    !reserve_slowly(ret_call, most))
		return CUDA_ERROR_OUT_OF_MEMORY;
	memory_enter();
	return CUDA_SUCCESS;
}

CUresult memory_begin(struct memory_call *ret_call, int device,
		      enum gkl_kind kind, uint64_t most)
{
	CUresult r = memory_try(ret_call, device, kind, most);

	if (r == CUDA_ERROR_OUT_OF_MEMORY && memory_state())
		memory_refuse(device, most);
	return r;
}

static bool is_counted(enum gkl_kind kind)
{
	return kind != GKL_MANAGED;
}

void memory_end(struct memory_call *call, uint64_t taken)
{
	if (call->device < 0)
		return;
	if (taken && is_counted(call->kind))
		gate_count(&memory_state()->gate, call->device, (int64_t)taken);
	ledger_settle(call, taken);
	memory_leave();
}

void memory_give(int device, enum gkl_kind kind, uint64_t bytes)
{
	if (!bytes)
		return;
	if (is_counted(kind))
		gate_count(&memory_state()->gate, device, -(int64_t)bytes);
	ledger_refund(device, kind, bytes);
}

void memory_doubt(int device, enum gkl_kind kind, uint64_t bytes)
{
	struct memory_device *d = &memory_state()->device[device];

	if (!bytes)
		return;
	if (!atomic_load(&d->seen)) {
		memory_give(device, kind, bytes);
		return;
	}
	atomic_fetch_add(&d->rest[kind], bytes);
	atomic_fetch_add(&d->doubted, bytes);
	gate_count(&memory_state()->gate, device, -(int64_t)bytes);
	memory_expect(device, 1);
}

void memory_expect(int device, unsigned looks)
{
	struct memory_state *s = device < 0 ? NULL : memory_state();

	if (!s)
		return;
	if (atomic_load(&s->device[device].looks) < looks)
		atomic_store(&s->device[device].looks, looks);
	atomic_store(&s->device[device].due, true);
}
