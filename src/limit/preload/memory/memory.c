/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - reserves for calls that take memory. Only this file and settle.c
 * change the ledger.
 */
#include "limit/preload/memory/memory_state.h"
#include "base/clock.h"
#include "base/log.h"
#include "limit/preload/limited.h"
#include "limit/preload/report/refusal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * How long a call waits for calls in progress if its memory does not fit. A
 * load of code may compile for seconds, and its process may be stopped. So
 * after LOAD_PATIENCE_NS the upper bounds of loads count as used.
 */
#define PATIENCE_NS      (60 * GK_NS_PER_S)
#define LOAD_PATIENCE_NS (100 * GK_NS_PER_MS)
#define NAP_NS           (50 * GK_NS_PER_US)
#define NAP_MAX_NS       (2 * GK_NS_PER_MS)

/* ---- reserving ---- */

static uint64_t left_within(int device, uint64_t limit)
{
	uint64_t used = gkl_ledger_used(limited()->ledger, (unsigned)device);

	return used < limit ? limit - used : 0;
}

/* The minimum and the maximum number of bytes that a call may need. */
struct need {
	uint64_t least, most;
};

/*
 * Returns how much to reserve: what is left of the limit, but at least
 * need.least and at most need.most. Without a limit: need.least.
 */
static uint64_t part_of_left(int device, struct need need, uint64_t limit)
{
	uint64_t left;

	if (!limit || need.least == need.most)
		return need.least;
	left = left_within(device, limit);
	if (left > need.most)
		return need.most;
	return left > need.least ? left : need.least;
}

static bool reserve_part(struct memory_call *call, struct need need,
			 uint64_t limit)
{
	struct gkl_ledger *ledger = limited()->ledger;
	uint64_t part;

	do {
		part = part_of_left(call->device, need, limit);
		if (!part)
			return true;
		if (gkl_ledger_reserve(ledger, (unsigned)call->device,
				       call->pending_kind, part, limit)) {
			call->pending = part;
			return true;
		}
	} while (part > need.least);
	return false;
}

/*
 * Whether `least` bytes would fit if the calls in progress took nothing. If
 * `loads` is false, loads in progress are assumed to take all that they have
 * reserved. Also true if `least` fits already because calls have ended.
 */
static bool is_worth_waiting(int device, uint64_t least, uint64_t limit,
			     bool loads)
{
	struct gkl_ledger *ledger = limited()->ledger;
	uint64_t held = gkl_ledger_settled(ledger, (unsigned)device);

	if (!loads)
		held +=
		    gkl_ledger_pending(ledger, (unsigned)device, GKL_LOADING);
	return held <= limit && least <= limit - held;
}

/*
 * Called when a reservation does not fit. Makes pools give back their reserves,
 * as a driver does, and measures again, since less may be in use by now. Then
 * waits for calls that may have reserved more than they will take.
 */
__attribute__((noinline, cold)) static bool
reserve_slowly(struct memory_call *call, struct need need)
{
	uint64_t begin = gk_mono_ns(), waited, nap = NAP_NS, limit;

	pools_trim(call->device);
	memory_measure(call->device, GKL_MODULE);
	for (;;) {
		limit = limited_memory(call->device);
		if (reserve_part(call, need, limit))
			return true;
		waited = gk_mono_ns() - begin;
		if (waited > PATIENCE_NS ||
		    !is_worth_waiting(call->device, need.least, limit,
				      waited < LOAD_PATIENCE_NS))
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

/*
 * Measures the memory that the process held before its first hooked call: that
 * of its context.
 */
__attribute__((noinline, cold)) static void join_device(struct memory_state *s,
							int device)
{
	if (!atomic_exchange(&s->device[device].joined, true))
		memory_measure(device, GKL_CONTEXT);
}

static CUresult begin_call(struct memory_call *call, struct need need)
{
	struct memory_state *s;
	int device = call->device;

	if (device == LIMITED_UNKNOWN || limited_broken())
		return CUDA_ERROR_NOT_PERMITTED;
	if (device < 0)
		return CUDA_SUCCESS;
	s = memory_state();
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (gkl_ledger_slot(limited()->ledger) < 0) {
		refusal_no_slot();
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	limited_wait_while_suspended();
	if (call->kind != GKL_CONTEXT &&
	    !atomic_load(&s->device[device].joined))
		join_device(s, device);
	if (!reserve_part(call, need, limited_memory(device)) &&
	    !reserve_slowly(call, need))
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* The files may have been truncated while they were read. */
	if (limited_broken())
		return CUDA_ERROR_NOT_PERMITTED;
	if (memory_passes_gate(call))
		memory_enter();
	return CUDA_SUCCESS;
}

CUresult memory_try(struct memory_call *ret_call, int device,
		    enum gkl_kind kind, uint64_t most)
{
	*ret_call = (struct memory_call){
	    .device = device, .kind = kind, .pending_kind = GKL_PENDING};
	return begin_call(ret_call, (struct need){most, most});
}

static CUresult note_refusal(CUresult r, int device, uint64_t bytes)
{
	if (r == CUDA_ERROR_OUT_OF_MEMORY && memory_state())
		memory_refuse(device, bytes);
	return r;
}

CUresult memory_begin(struct memory_call *ret_call, int device,
		      enum gkl_kind kind, uint64_t most)
{
	return note_refusal(memory_try(ret_call, device, kind, most), device,
			    most);
}

CUresult memory_begin_load(struct memory_call *ret_call, int device,
			   enum gkl_kind kind, uint64_t least, uint64_t most)
{
	*ret_call = (struct memory_call){
	    .device = device, .kind = kind, .pending_kind = GKL_LOADING};
	return note_refusal(begin_call(ret_call, (struct need){least, most}),
			    device, least);
}
