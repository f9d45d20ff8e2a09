/* SPDX-License-Identifier: Apache-2.0 */
/* opening.c - owns the attempts in progress to open a driver library. */
#include "core/driver/opening.h"
#include "base/assert.h"

#include "base/clock.h"
#include "base/err.h"
#include "core/driver/thread.h"

#include <stdlib.h>
#include <string.h>

/* How long a failure is kept for a caller that asks again. */
#define FAILURE_NS (5 * GK_NS_PER_S)

/* An attempt. It stays in the list until it is done and a caller has its
 * result. */
struct opening {
	struct opening *next;
	char *path; /* NULL: the default paths */
	uint64_t since_ns, done_ns;
	unsigned waiting; /* users of this struct, including the thread */
	bool done;
	int result, nvml_error;
	unsigned count;
	struct gk_nvml *nvml;
};

/* All attempts of the process. A forked child starts without any: the parent's
 * threads do not exist in the child, and one of them may have held the lock. */
static struct {
	pthread_once_t once;
	pthread_mutex_t lock;
	pthread_cond_t told;
	struct opening *first;
} state = {.once = PTHREAD_ONCE_INIT};

static void begin_anew(void)
{
	pthread_mutex_init(&state.lock, NULL);
	gk_cond_init(&state.told);
	state.first = NULL;
}

static void prepare_state(void)
{
	begin_anew();
	pthread_atfork(NULL, NULL, begin_anew);
}

static int open_and_count(struct opening *o)
{
	nvmlReturn_t answer;
	int r = gk_nvml_open(o->path, &o->nvml_error, &o->nvml);

	if (r)
		return r;
	answer = GK_NVML_CALL(o->nvml, nvmlDeviceGetCount_v2, &o->count);
	if (!answer)
		return 0;
	gk_nvml_close(o->nvml);
	o->nvml_error = (int)answer;
	return GK_ERR_DRIVER;
}

/* Drops a reference to an attempt. Unlocks first, because closing may take
 * long. */
static void leave_opening(struct opening *o)
{
	bool last = !--o->waiting;

	pthread_mutex_unlock(&state.lock);
	if (!last)
		return;
	if (o->nvml)
		gk_nvml_close(o->nvml);
	free(o->path);
	free(o);
}

static void unlink_opening(struct opening *o)
{
	struct opening **at = &state.first;

	GK_ASSERT(gk_lock_held(&state.lock));
	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
}

/* Runs an attempt. If the callers have given up, keeps the result for the next
 * one. */
static void *run_opening(void *arg)
{
	struct opening *o = arg;
	int r = open_and_count(o);

	pthread_mutex_lock(&state.lock);
	o->result = r;
	o->nvml = r ? NULL : o->nvml;
	o->done = true;
	o->done_ns = gk_mono_ns();
	pthread_cond_broadcast(&state.told);
	if (o->waiting == 1) {
		pthread_mutex_unlock(&state.lock);
		return NULL;
	}
	unlink_opening(o);
	leave_opening(o);
	return NULL;
}

/*
 * Removes from the list a finished attempt that no caller waits for. The caller
 * holds state.lock.
 */
static void take_old(struct opening *o)
{
	GK_ASSERT(gk_lock_held(&state.lock));
	unlink_opening(o);
	o->waiting--;
}

static bool is_of(const struct opening *o, const char *path)
{
	return path && o->path ? !strcmp(path, o->path) : path == o->path;
}

static int start_opening(const char *path, struct opening **ret_opening)
{
	struct opening *o = calloc(1, sizeof *o);
	pthread_t thread;
	int r = GK_ERR_NOMEM;

	GK_ASSERT(gk_lock_held(&state.lock));
	if (o && path)
		o->path = strdup(path);
	if (o && (!path || o->path)) {
		o->waiting = 1;
		o->since_ns = gk_mono_ns();
		r = gk_thread_start(&thread, run_opening, o);
	}
	if (r) {
		if (o)
			free(o->path);
		free(o);
		return r;
	}
	pthread_detach(thread);
	o->next = state.first;
	state.first = o;
	*ret_opening = o;
	return 0;
}

/*
 * Frees an attempt that failed so long ago that the driver must be tried again.
 * Returns whether it was freed. The caller holds state.lock.
 */
static bool drop_failure(struct opening *o)
{
	GK_ASSERT(gk_lock_held(&state.lock));
	if (!o->done || !o->result || gk_mono_ns() - o->done_ns < FAILURE_NS)
		return false;
	unlink_opening(o);
	free(o->path);
	free(o);
	return true;
}

/* Finds the attempt for a path, or begins one. The caller holds state.lock. */
static int find_opening(const char *path, struct opening **ret_opening)
{
	struct opening *o = state.first;

	GK_ASSERT(gk_lock_held(&state.lock));
	while (o && !is_of(o, path))
		o = o->next;
	if (o && drop_failure(o))
		o = NULL;
	if (!o)
		return start_opening(path, ret_opening);
	*ret_opening = o;
	return 0;
}

static int await_opening(struct opening *o, uint64_t timeout_ns)
{
	struct timespec until = gk_timespec(o->since_ns + timeout_ns);

	while (!o->done && gk_mono_ns() < o->since_ns + timeout_ns)
		pthread_cond_timedwait(&state.told, &state.lock, &until);
	return o->done ? o->result : GK_ERR_TIMEOUT;
}

int gk_opening(const char *path, uint64_t timeout_ns, int *ret_nvml_error,
	       unsigned *ret_count, struct gk_nvml **ret_nvml)
{
	struct opening *o;
	int r;

	pthread_once(&state.once, prepare_state);
	pthread_mutex_lock(&state.lock);
	r = find_opening(path, &o);
	if (r) {
		pthread_mutex_unlock(&state.lock);
		return r;
	}
	o->waiting++;
	if (o->done)
		take_old(o);
	r = await_opening(o, timeout_ns);
	*ret_nvml_error =
	    r == GK_ERR_TIMEOUT ? (int)NVML_ERROR_TIMEOUT : o->nvml_error;
	if (!r) { /* otherwise the thread may still write to *o */
		*ret_count = o->count;
		*ret_nvml = gk_nvml_ref(o->nvml);
	}
	leave_opening(o);
	return r;
}
