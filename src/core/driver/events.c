/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - runs the thread that waits for Xids. */
#include "core/driver/events.h"

#include "base/clock.h"
#include "core/read/gate.h"
#include "core/driver/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Waits in the driver are short while GPUs are being opened, because a wait
 * reports only events of GPUs that were registered before it began. For a GPU
 * that cannot be opened, they stay short for OPENING_NS only. */
#define WAIT_FIRST_MS 20
#define WAIT_MAX_MS   1000
#define OPENING_NS    (10 * GK_NS_PER_S)

/* The first pause after an error of the driver; it doubles with each further
 * error. */
#define REST_FIRST_MS 100

/* How long gk_events_close() waits for a thread that is about to end. */
#define CLOSE_NS (100 * GK_NS_PER_MS)

/*
 * Only the thread uses `handle` and `registered`. The lock guards the other
 * members.
 */
struct gpu {
	bool wanted;  /* the thread must register the GPU */
	bool renewed; /* requested again after the thread took the request */
	nvmlDevice_t wanted_handle;
	bool registered;
	nvmlDevice_t handle;
	enum gk_absence why; /* why the values below are absent */
	uint64_t count, last, last_ns;
	struct gk_xids *xids; /* NULL: none yet, or out of memory */
	uint64_t heard_ns;    /* when a wait in the driver last returned */
};

struct gk_events {
	struct gk_nvml *nvml;
	atomic_uint references;
	nvmlEventSet_t set; /* the thread's own; NULL: none */
	/* The thread's own: the timeout of the next wait, and the pause after
	 * an error. */
	unsigned wait_ms, rest_ms;
	uint64_t began_ns;
	bool failed;   /* the thread's own: the last wait was refused */
	unsigned seen; /* the thread's own: value of `asks` last handled */
	pthread_mutex_t lock;
	pthread_cond_t wake; /* wakes the thread */
	/* wakes callers when `waiting` or `ended` changes */
	pthread_cond_t told;
	bool stop, waiting, ended;
	unsigned asks; /* number of calls of gk_events_want() */
	size_t gpu_count;
	struct gpu gpu[];
};

struct gk_events *gk_events_ref(struct gk_events *e)
{
	if (e)
		atomic_fetch_add(&e->references, 1);
	return e;
}

void gk_events_unref(struct gk_events *e)
{
	if (!e || atomic_fetch_sub(&e->references, 1) != 1)
		return;
	pthread_cond_destroy(&e->wake);
	pthread_cond_destroy(&e->told);
	pthread_mutex_destroy(&e->lock);
	for (size_t i = 0; i < e->gpu_count; i++)
		free(e->gpu[i].xids);
	free(e);
}

/* ---- lists of Xids ---- */

/* Finds the entry of an Xid number, or inserts one in order. If the list is
 * full, returns the entry for all other numbers. */
static struct gk_xid_count *kind_of_xid(struct gk_xids *xids, uint32_t number)
{
	struct gk_xid_count *kinds = xids->kinds;
	size_t at = 0;

	while (at < xids->kind_count && kinds[at].number < number)
		at++;
	if (at < xids->kind_count && kinds[at].number == number)
		return &kinds[at];
	/* Reserve an entry for all other numbers; it has number 0 and comes
	 * first. */
	if (number &&
	    xids->kind_count + (kinds[0].number != 0) >= GK_XID_KINDS_MAX)
		return kind_of_xid(xids, 0);
	memmove(&kinds[at + 1], &kinds[at],
		(xids->kind_count++ - at) * sizeof *kinds);
	kinds[at] = (struct gk_xid_count){.number = number};
	return &kinds[at];
}

void gk_xids_add(struct gk_xids *xids, const struct gk_xid *xid)
{
	if (xids->count == GK_XIDS_MAX)
		memmove(xids->last, xids->last + 1,
			--xids->count * sizeof *xids->last);
	xids->last[xids->count++] = *xid;
}

void gk_xids_count(struct gk_xids *xids, uint32_t number, uint64_t count)
{
	kind_of_xid(xids, number)->count += count;
}

/* ---- the thread ---- */

/* Detaches the event set, so that no GPU is registered. Returns NULL if there
 * was none. */
static nvmlEventSet_t take_set(struct gk_events *e)
{
	nvmlEventSet_t set = e->set;

	e->set = NULL;
	for (size_t i = 0; i < e->gpu_count; i++)
		e->gpu[i].registered = false;
	return set;
}

static void free_event_set(struct gk_events *e, nvmlEventSet_t set)
{
	if (set)
		GK_NVML_CALL(e->nvml, nvmlEventSetFree, set);
}

static nvmlReturn_t listen_to(struct gk_events *e, nvmlDevice_t handle)
{
	unsigned long long types = 0;
	nvmlReturn_t r = NVML_ERROR_FUNCTION_NOT_FOUND;

	if (e->nvml->nvmlEventSetWait_v2 || e->nvml->nvmlEventSetWait)
		r = GK_NVML_CALL(e->nvml, nvmlDeviceGetSupportedEventTypes,
				 handle, &types);
	if (!r && !(types & nvmlEventTypeXidCriticalError))
		r = NVML_ERROR_NOT_SUPPORTED;
	if (!r && !e->set)
		r = GK_NVML_CALL(e->nvml, nvmlEventSetCreate, &e->set);
	if (!r)
		r = GK_NVML_CALL(e->nvml, nvmlDeviceRegisterEvents, handle,
				 nvmlEventTypeXidCriticalError, e->set);
	return r;
}

/* Registers a GPU. A lost GPU is tried again later; a GPU that does not support
 * events is not. */
static void listen_to_gpu(struct gk_events *e, struct gpu *gpu)
{
	nvmlReturn_t r = listen_to(e, gpu->handle);
	enum gk_absence why = gk_nvml_absence(r);

	gpu->registered = !r;
	pthread_mutex_lock(&e->lock);
	if (!r || why == GK_ABSENT_NOT_SUPPORTED ||
	    why == GK_ABSENT_NO_FUNCTION || why == GK_ABSENT_PERMISSION)
		gpu->wanted = gpu->renewed;
	if (!r)
		gpu->heard_ns = gk_mono_ns();
	/*
	 * Values that are present stay: they were reported before the GPU was
	 * lost.
	 */
	if (gpu->why)
		gpu->why = why;
	pthread_mutex_unlock(&e->lock);
}

/* Copies the requests. *ret_again: a registered GPU was requested again, so
 * that a new set is needed. */
static void take_wanted(struct gk_events *e, bool *ret_again)
{
	bool again = false;

	pthread_mutex_lock(&e->lock);
	e->seen = e->asks;
	for (size_t i = 0; i < e->gpu_count; i++)
		again |= e->gpu[i].wanted && e->gpu[i].registered;
	for (size_t i = 0; i < e->gpu_count; i++) {
		struct gpu *gpu = &e->gpu[i];

		gpu->wanted |= again && gpu->registered;
		gpu->renewed = false;
		if (gpu->wanted)
			gpu->handle = gpu->wanted_handle;
	}
	pthread_mutex_unlock(&e->lock);
	*ret_again = again;
}

static bool is_wanted(struct gk_events *e, const struct gpu *gpu)
{
	bool wanted;

	pthread_mutex_lock(&e->lock);
	wanted = gpu->wanted && gpu->handle && !e->stop;
	pthread_mutex_unlock(&e->lock);
	return wanted;
}

/* Registers the requested GPUs. An old set is freed only after the new one is
 * filled, so that no event is missed. */
static void register_wanted(struct gk_events *e)
{
	nvmlEventSet_t old = NULL;
	bool again;

	take_wanted(e, &again);
	if (again)
		old = take_set(e);
	for (size_t i = 0; i < e->gpu_count; i++)
		if (is_wanted(e, &e->gpu[i]))
			listen_to_gpu(e, &e->gpu[i]);
	free_event_set(e, old);
}

static struct gpu *gpu_of(struct gk_events *e, nvmlDevice_t handle)
{
	unsigned index;

	for (size_t i = 0; i < e->gpu_count; i++)
		if (e->gpu[i].registered && e->gpu[i].handle == handle)
			return &e->gpu[i];
	if (GK_NVML_CALL(e->nvml, nvmlDeviceGetIndex, handle, &index) ||
	    index >= e->gpu_count)
		return NULL;
	return &e->gpu[index];
}

static void note_heard(struct gk_events *e)
{
	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; i < e->gpu_count; i++)
		if (e->gpu[i].registered)
			e->gpu[i].heard_ns = gk_mono_ns();
	pthread_mutex_unlock(&e->lock);
}

static void count_event(struct gk_events *e, const nvmlEventData_t *data)
{
	struct gpu *gpu = gpu_of(e, data->device);

	if (!gpu || !(data->eventType & nvmlEventTypeXidCriticalError))
		return;
	pthread_mutex_lock(&e->lock);
	gpu->count++;
	gpu->last = data->eventData;
	gpu->last_ns = gk_wall_ns();
	if (!gpu->xids)
		gpu->xids = calloc(1, sizeof *gpu->xids);
	if (gpu->xids && data->eventData <= UINT32_MAX) {
		uint32_t number = (uint32_t)data->eventData;

		gk_xids_add(gpu->xids, &(struct gk_xid){.at = gpu->count,
							.wall_ns = gpu->last_ns,
							.number = number});
		gk_xids_count(gpu->xids, number, 1);
	}
	pthread_mutex_unlock(&e->lock);
}

static nvmlReturn_t wait_event(struct gk_events *e, nvmlEventData_t *ret_data)
{
	if (e->nvml->nvmlEventSetWait_v2)
		return GK_NVML_CALL(e->nvml, nvmlEventSetWait_v2, e->set,
				    ret_data, e->wait_ms);
	return GK_NVML_CALL(e->nvml, nvmlEventSetWait, e->set, ret_data,
			    e->wait_ms);
}

static bool any_wanted(const struct gk_events *e)
{
	for (size_t i = 0; i < e->gpu_count; i++)
		if (e->gpu[i].wanted)
			return true;
	return false;
}

static bool any_registered(const struct gk_events *e)
{
	for (size_t i = 0; i < e->gpu_count; i++)
		if (e->gpu[i].registered)
			return true;
	return false;
}

/* Sleeps while the thread cannot wait in the driver: until the next request or,
 * after a refused call, for a pause. Returns false if the thread must end. */
static bool rest_events(struct gk_events *e)
{
	struct timespec until =
	    gk_timespec(gk_mono_ns() + e->rest_ms * GK_NS_PER_MS);
	bool go_on;
	int late = 0;

	pthread_mutex_lock(&e->lock);
	while (!late && !e->stop && e->seen == e->asks)
		if (any_wanted(e) || e->failed)
			late =
			    pthread_cond_timedwait(&e->wake, &e->lock, &until);
		else
			pthread_cond_wait(&e->wake, &e->lock);
	go_on = !e->stop;
	pthread_mutex_unlock(&e->lock);
	return go_on;
}

/* After an error, such as a lost GPU: registers all GPUs in a new set, then
 * pauses. The set collects events during the pause. */
static void start_anew(struct gk_events *e)
{
	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; i < e->gpu_count; i++)
		e->gpu[i].wanted |= e->gpu[i].registered;
	pthread_mutex_unlock(&e->lock);
	register_wanted(e);
	rest_events(e);
}

/* Whether GPUs are still being opened, one after another. */
static bool is_opening(struct gk_events *e)
{
	bool missing = false;

	if (gk_mono_ns() - e->began_ns > OPENING_NS)
		return false;
	pthread_mutex_lock(&e->lock);
	for (size_t i = 0; i < e->gpu_count; i++)
		missing |= !e->gpu[i].wanted_handle;
	pthread_mutex_unlock(&e->lock);
	return missing;
}

static unsigned lengthen_wait(unsigned ms)
{
	return ms * 2 < WAIT_MAX_MS ? ms * 2 : WAIT_MAX_MS;
}

static void receive_event(struct gk_events *e)
{
	nvmlEventData_t data = {0};
	nvmlReturn_t r = wait_event(e, &data);

	if (!r)
		count_event(e, &data);
	if (r && r != NVML_ERROR_TIMEOUT) {
		/* The Xid of a GPU that was just lost may come a little later:
		 * pause once before replacing the set. */
		bool again = e->failed;

		e->failed = true;
		if (again)
			start_anew(e);
		else
			rest_events(e);
		e->rest_ms = lengthen_wait(e->rest_ms);
		return;
	}
	e->failed = false;
	note_heard(e);
	if (!is_opening(e))
		e->wait_ms = lengthen_wait(e->wait_ms);
	e->rest_ms = REST_FIRST_MS;
}

/* Records whether the thread waits in the driver. Returns false if it must
 * end. */
static bool set_waiting(struct gk_events *e, bool waiting)
{
	bool go_on;

	pthread_mutex_lock(&e->lock);
	go_on = !e->stop;
	e->waiting = waiting && go_on;
	pthread_cond_broadcast(&e->told);
	pthread_mutex_unlock(&e->lock);
	return go_on;
}

static void end_events(struct gk_events *e)
{
	free_event_set(e, take_set(e));
	gk_nvml_close(e->nvml);
	pthread_mutex_lock(&e->lock);
	e->ended = true;
	pthread_cond_broadcast(&e->told);
	pthread_mutex_unlock(&e->lock);
	gk_events_unref(e);
}

static void *run_events(void *arg)
{
	struct gk_events *e = arg;
	bool go_on = rest_events(e);

	while (go_on) {
		register_wanted(e);
		if (!any_registered(e)) {
			go_on = rest_events(e);
			e->rest_ms = lengthen_wait(e->rest_ms);
			continue;
		}
		go_on = set_waiting(e, true);
		if (go_on)
			receive_event(e);
		go_on &= set_waiting(e, false);
	}
	end_events(e);
	return NULL;
}

/* ---- for other threads ---- */

int gk_events_open(struct gk_nvml *nvml, size_t gpus,
		   struct gk_events **ret_events)
{
	struct gk_events *e = calloc(1, sizeof *e + gpus * sizeof *e->gpu);
	pthread_t thread;
	int r;

	if (!e)
		return GK_ERR_NOMEM;
	e->references = 2;
	e->nvml = gk_nvml_ref(nvml);
	e->wait_ms = WAIT_FIRST_MS;
	e->rest_ms = REST_FIRST_MS;
	e->began_ns = gk_mono_ns();
	e->gpu_count = gpus;
	for (size_t i = 0; i < gpus; i++)
		e->gpu[i].why = GK_ABSENT_NOT_READ;
	pthread_mutex_init(&e->lock, NULL);
	gk_cond_init(&e->wake);
	gk_cond_init(&e->told);
	r = gk_thread_start(&thread, run_events, e);
	if (r) {
		gk_nvml_close(e->nvml);
		e->references = 1;
		gk_events_unref(e);
		return r;
	}
	pthread_detach(thread);
	*ret_events = e;
	return 0;
}

void gk_events_want(struct gk_events *e, unsigned index, nvmlDevice_t handle)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	e->gpu[index].wanted = e->gpu[index].renewed = true;
	e->gpu[index].wanted_handle = handle;
	e->asks++;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->lock);
}

static void put_gpu_events(const struct gpu *gpu, struct gk_value *m)
{
	enum gk_absence why = gpu->why;

	m[GK_M_XID_COUNT] = (struct gk_value){(int64_t)gpu->count, why};
	m[GK_M_XID_LAST] = (struct gk_value){(int64_t)gpu->last, why};
	m[GK_M_XID_TIME] = (struct gk_value){(int64_t)gpu->last_ns, why};
	if (!why && !gpu->count)
		m[GK_M_XID_TIME].why = GK_ABSENT_NONE;
	m[GK_M_XID_LAST] =
	    gk_gate(m[GK_M_XID_LAST], &gk_metric_ranges[GK_M_XID_LAST]);
}

static int put_xids(const struct gpu *gpu, struct gk_arena *arena,
		    struct gk_device *dev)
{
	struct gk_xids *xids;

	if (!gpu->xids)
		return 0;
	xids = gk_arena_room(arena, sizeof *xids);
	if (!xids)
		return GK_ERR_NOMEM;
	*xids = *gpu->xids;
	dev->xids = xids;
	return 0;
}

int gk_events_get(struct gk_events *e, struct gk_arena *arena,
		  struct gk_device *dev)
{
	static const struct gpu mig = {.why = GK_ABSENT_NOT_SUPPORTED};
	const struct gpu *gpu = &e->gpu[dev->index];
	int r;

	if (dev->mig_index >= 0) {
		put_gpu_events(&mig, dev->m);
		return 0;
	}
	pthread_mutex_lock(&e->lock);
	if (gpu->why != GK_ABSENT_NOT_READ)
		put_gpu_events(gpu, dev->m);
	if (!gpu->why)
		dev->read_ns[GK_TIER_EVENT] = gpu->heard_ns;
	r = put_xids(gpu, arena, dev);
	pthread_mutex_unlock(&e->lock);
	return r;
}

void gk_events_close(struct gk_events *e)
{
	struct timespec until = gk_timespec(gk_mono_ns() + CLOSE_NS);

	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	e->stop = true;
	pthread_cond_signal(&e->wake);
	while (!e->ended && !e->waiting &&
	       pthread_cond_timedwait(&e->told, &e->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&e->lock);
	gk_events_unref(e);
}
