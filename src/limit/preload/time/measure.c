/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - owns the pairs of events, by context, and reads their intervals.
 */
#include "limit/preload/time/measure.h"
#include "base/assert.h"
#include "base/clock.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/time/measure_capture.h"
#include "limit/preload/time/measure_clock.h"
#include "limit/preload/own_lock.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PAIRS = 64 };

/* After this time other threads may take a pair that a thread has kept. */
#define KEPT_NS GK_NS_PER_S

/*
 * KEPT: begun, and kept by a thread over several launches. ORPHAN: begun, but
 * its context has been forgotten since.
 */
enum state { FREE, BEGUN, KEPT, UNDER_WAY, ORPHAN };

struct measure_pair {
	struct measure_marks marks;
	enum state state;
	struct measured what;
	struct context *context;
};

struct context {
	CUcontext handle;
	CUdevice device;
	bool broken;
	struct measure_clock clock;
	unsigned under_way;
	struct measure_pair pair[PAIRS];
	struct context *next;
};

static struct {
	struct own_lock lock;
	struct context *contexts;
	_Atomic unsigned under_way;
} state;

/* A child has no contexts, and must not destroy its parent's. */
static void empty_state(void)
{
	state.contexts = NULL;
	atomic_store(&state.under_way, 0);
}

static void lock_own(void)
{
	if (own_lock(&state.lock))
		empty_state();
}

/* False: another thread is already looking, so this one need not. */
static bool try_own(void)
{
	bool forked;

	if (!own_trylock(&state.lock, &forked))
		return false;
	if (forked)
		empty_state();
	return true;
}

static CUstreamCaptureMode lock_state(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	lock_own();
	measure_exchange_mode(&mode);
	return mode;
}

static void unlock_state(CUstreamCaptureMode mode)
{
	measure_exchange_mode(&mode);
	own_unlock(&state.lock);
}

/* ---- contexts ---- */

static struct context *find_context(CUcontext handle)
{
	struct context *c = state.contexts;

	GK_ASSERT(own_lock_held(&state.lock));
	while (c && c->handle != handle)
		c = c->next;
	return c;
}

/* Returns an unused entry: one of a forgotten context, or a new one. */
static struct context *make_context(void)
{
	struct context *c = find_context(NULL);

	GK_ASSERT(own_lock_held(&state.lock));
	if (c)
		return c;
	c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->next = state.contexts;
	state.contexts = c;
	return c;
}

/* `handle` is the current context. */
static struct context *add_context(CUcontext handle)
{
	struct context *c;
	CUdevice device;

	GK_ASSERT(own_lock_held(&state.lock));
	if (REAL(cuCtxGetDevice)(&device))
		return NULL;
	c = make_context();
	if (c) {
		c->handle = handle;
		c->device = device;
	}
	return c;
}

static void destroy_event(CUevent event)
{
	if (event)
		REAL(cuEventDestroy_v2)(event);
}

static void forget_pair(struct measure_pair *pair)
{
	GK_ASSERT(own_lock_held(&state.lock));
	/*
	 * The launching thread is in the driver, and may be using the events.
	 */
	if (pair->state == BEGUN) {
		pair->state = ORPHAN;
		return;
	}
	if (pair->state == ORPHAN)
		return;
	destroy_event(pair->marks.begin);
	destroy_event(pair->marks.end);
	*pair = (struct measure_pair){.state = FREE};
}

static void forget_context(struct context *c)
{
	GK_ASSERT(own_lock_held(&state.lock));
	atomic_fetch_sub(&state.under_way, c->under_way);
	destroy_event(c->clock.base);
	for (unsigned i = 0; i < PAIRS; i++)
		forget_pair(&c->pair[i]);
	c->handle = NULL;
	c->broken = false;
	c->clock = (struct measure_clock){0};
	c->under_way = 0;
}

static void forget_if(bool (*goes)(const struct context *c, const void *arg),
		      const void *arg)
{
	CUstreamCaptureMode mode;

	mode = lock_state();
	for (struct context *c = state.contexts; c; c = c->next)
		if (c->handle && goes(c, arg))
			forget_context(c);
	unlock_state(mode);
}

static bool is_context(const struct context *c, const void *arg)
{
	return c->handle == *(const CUcontext *)arg;
}

static bool is_on_device(const struct context *c, const void *arg)
{
	return c->device == *(const CUdevice *)arg;
}

void measure_forget(CUcontext ctx)
{
	forget_if(is_context, &ctx);
}

void measure_forget_device(CUdevice device)
{
	forget_if(is_on_device, &device);
}

/* ---- recording ---- */

static bool make_event(CUevent *event)
{
	return *event || !REAL(cuEventCreate)(event, CU_EVENT_DEFAULT);
}

/* The caller holds state.lock; the pair's context is current. */
static struct measure_pair *take_pair(struct context *c)
{
	uint64_t now = gk_mono_ns();

	GK_ASSERT(own_lock_held(&state.lock));
	for (unsigned i = 0; !c->broken && i < PAIRS; i++) {
		struct measure_pair *pair = &c->pair[i];

		if (pair->state != FREE &&
		    (pair->state != KEPT ||
		     now - pair->marks.begun_ns < KEPT_NS))
			continue;
		if (!make_event(&pair->marks.begin) ||
		    !make_event(&pair->marks.end))
			return NULL;
		pair->context = c;
		pair->state = BEGUN;
		return pair;
	}
	return NULL;
}

static bool record_event(CUevent event, CUstream stream, bool per_thread)
{
	__typeof__(cuEventRecord) *call =
	    per_thread ? REAL(cuEventRecord_ptsz) : REAL(cuEventRecord);

	return call && !call(event, stream);
}

static struct measure_pair *pair_of(CUcontext handle)
{
	CUstreamCaptureMode mode = lock_state();
	struct context *c = find_context(handle);
	struct measure_pair *pair = NULL;

	if (!c)
		c = add_context(handle);
	if (c)
		pair = take_pair(c);
	unlock_state(mode);
	return pair;
}

/* The stream may belong to a context other than the current one. */
static struct measure_pair *pair_of_stream(CUstream stream)
{
	struct measure_pair *pair;
	CUcontext ctx, popped;

	if (!REAL(cuStreamGetCtx) || REAL(cuStreamGetCtx)(stream, &ctx) ||
	    REAL(cuCtxPushCurrent_v2)(ctx))
		return NULL;
	pair = pair_of(ctx);
	REAL(cuCtxPopCurrent_v2)(&popped);
	return pair;
}

static struct measure_pair *begin_pair(struct measure_pair *pair,
				       CUstream stream, bool per_thread)
{
	if (!pair)
		return NULL;
	pair->marks.begun_ns = gk_mono_ns();
	if (record_event(pair->marks.begin, stream, per_thread)) {
		pair->marks.called_ns = gk_mono_ns();
		return pair;
	}
	measure_drop(pair);
	return NULL;
}

struct measure_pair *measure_begin(CUcontext ctx, CUstream stream,
				   bool per_thread)
{
	struct measure_pair *pair =
	    begin_pair(pair_of(ctx), stream, per_thread);

	if (!pair && stream > CU_STREAM_PER_THREAD)
		pair = begin_pair(pair_of_stream(stream), stream, per_thread);
	return pair;
}

/*
 * The events of a forgotten context are left to the driver. The caller holds
 * state.lock.
 */
static void free_pair(struct measure_pair *pair)
{
	GK_ASSERT(own_lock_held(&state.lock));
	if (pair->state == ORPHAN)
		*pair = (struct measure_pair){.state = FREE};
	pair->state = FREE;
}

void measure_drop(struct measure_pair *pair)
{
	lock_own();
	free_pair(pair);
	own_unlock(&state.lock);
}

uint64_t measure_keep(struct measure_pair *pair)
{
	uint64_t kept = pair->marks.begun_ns;

	lock_own();
	if (pair->state == BEGUN)
		pair->state = KEPT;
	else
		free_pair(pair);
	own_unlock(&state.lock);
	return kept;
}

bool measure_found(struct measure_pair *pair, uint64_t kept)
{
	bool found;

	lock_own();
	found = pair->state == KEPT && pair->marks.begun_ns == kept;
	if (found)
		pair->state = BEGUN;
	own_unlock(&state.lock);
	return found;
}

bool measure_end(struct measure_pair *pair, CUstream stream, bool per_thread,
		 const struct measured *what)
{
	bool recorded = record_event(pair->marks.end, stream, per_thread);

	lock_own();
	recorded = recorded && pair->state == BEGUN;
	if (recorded) {
		pair->what = *what;
		pair->state = UNDER_WAY;
		pair->context->under_way++;
		atomic_fetch_add(&state.under_way, 1);
	} else {
		free_pair(pair);
	}
	own_unlock(&state.lock);
	return recorded;
}

/* ---- reading ---- */

static void finish_pair(struct context *c, struct measure_pair *pair)
{
	GK_ASSERT(own_lock_held(&state.lock));
	pair->state = FREE;
	c->under_way--;
	atomic_fetch_sub(&state.under_way, 1);
}

/* True: the pair's work has ended, and its interval is known. */
static bool is_over(struct context *c, struct measure_pair *pair,
		    uint64_t *ret_begin, uint64_t *ret_end)
{
	CUresult r = REAL(cuEventQuery)(pair->marks.end);
	bool known = false;

	GK_ASSERT(own_lock_held(&state.lock));
	if (r == CUDA_ERROR_NOT_READY)
		return false;
	if (r)
		c->broken = true; /* no longer usable */
	else
		known = measure_clock_read(&c->clock, &pair->marks,
					   gk_mono_ns(), ret_begin, ret_end);
	finish_pair(c, pair);
	return known;
}

void measure_poll(void (*done)(const struct measured *what, uint64_t begin_ns,
			       uint64_t end_ns))
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	uint64_t begin, end;

	if (!atomic_load_explicit(&state.under_way, memory_order_relaxed) ||
	    !try_own())
		return;
	measure_exchange_mode(&mode);
	for (struct context *c = state.contexts; c; c = c->next)
		for (unsigned i = 0; c->under_way && i < PAIRS; i++)
			if (c->pair[i].state == UNDER_WAY &&
			    is_over(c, &c->pair[i], &begin, &end))
				done(&c->pair[i].what, begin, end);
	unlock_state(mode);
}

bool measure_is_under_way(uint64_t work)
{
	bool found = false;

	lock_own();
	for (struct context *c = state.contexts; c; c = c->next)
		for (unsigned i = 0; c->under_way && i < PAIRS; i++)
			if (c->pair[i].state == UNDER_WAY &&
			    c->pair[i].what.work == work)
				found = true;
	own_unlock(&state.lock);
	return found;
}

static uint64_t find_owed(const struct measured *what)
{
	return what->usual_ns > what->taken_ns ? what->usual_ns - what->taken_ns
					       : 0;
}

uint64_t measure_owed(int device)
{
	uint64_t owed = 0;

	if (!atomic_load_explicit(&state.under_way, memory_order_relaxed))
		return 0;
	lock_own();
	for (struct context *c = state.contexts; c; c = c->next)
		for (unsigned i = 0; c->under_way && i < PAIRS; i++)
			if (c->pair[i].state == UNDER_WAY &&
			    c->pair[i].what.device == device)
				owed += find_owed(&c->pair[i].what);
	own_unlock(&state.lock);
	return owed;
}
