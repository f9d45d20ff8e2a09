/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - reads one device now, and waits for it until a deadline. */
#include "core/driver/live.h"

#include "base/err.h"
#include "core/context.h"
#include "core/driver/live_run.h"

#include <stdlib.h>
#include <string.h>

/* gk_identify_all() asks GPUs one by one while each answers within this
 * time. */
#define PATIENCE_NS (5 * GK_NS_PER_MS)

void gk_live_free(gk_live_slot *slots, size_t count)
{
	for (size_t i = 0; slots && i < count; i++) {
		struct gk_live *live = slots[i];

		if (!live)
			continue;
		pthread_mutex_destroy(&live->lock);
		if (live->made)
			gk_gpu_fini(&live->gpu);
		free(live);
	}
	free(slots);
}

/*
 * Returns the state of a GPU, creating it for the first question; NULL: out of
 * memory. The caller owns the GPU's question.
 */
static struct gk_live *ensure_live(gk_live_slot *slot)
{
	struct gk_live *live = *slot;

	if (live)
		return live;
	live = gk_apart_calloc(1, sizeof *live);
	if (!live)
		return NULL;
	pthread_mutex_init(&live->lock, NULL);
	*slot = live;
	return live;
}

size_t gk_gpu_count(const struct gk *gk)
{
	return gk->gpu_count;
}

void gk_versions(const struct gk *gk, const char **ret_driver,
		 const char **ret_nvml, int *ret_cuda)
{
	*ret_driver = gk->nvml->driver_version;
	*ret_nvml = gk->nvml->nvml_version;
	*ret_cuda = gk->nvml->cuda_version;
}

/* ---- deadlines ---- */

static uint64_t time_since(uint64_t began_ns)
{
	uint64_t now = began_ns ? gk_mono_ns() : 0;

	return began_ns < now ? now - began_ns : 0;
}

uint64_t gk_silence(const struct gk *gk, unsigned index)
{
	uint64_t asked, read;

	if (index >= gk->gpu_count)
		return 0;
	asked = time_since(gk_ask_since(gk->asks, index));
	read = time_since(gk_worker_since(gk->workers[index]));
	return asked > read ? asked : read;
}

bool gk_is_known_late(const struct gk *gk, size_t index, uint64_t timeout_ns)
{
	return gk->others &&
	       gk_is_long(gk->others((unsigned)index), timeout_ns);
}

void gk_set_timeout(struct gk *gk, uint64_t timeout_ns)
{
	atomic_store(&gk->timeout_ns,
		     timeout_ns ? gk_limit_timeout(timeout_ns) : GK_NS_PER_S);
}

static int tell_late(int *ret_nvml)
{
	if (ret_nvml)
		*ret_nvml = NVML_ERROR_TIMEOUT;
	return GK_ERR_TIMEOUT;
}

/*
 * Begins a question to a device; put_question() then puts it. Returns NULL if
 * there is no such GPU or it has not answered for timeout_ns; *ret_error says
 * which. A GPU that has kept its worker waiting for that long is not asked, so
 * that no second thread gets stuck.
 */
static struct gk_question *begin_question(struct gk *gk, unsigned index,
					  int mig_index, uint64_t timeout_ns,
					  int *ret_error, int *ret_nvml)
{
	struct gk_live *live;
	struct gk_question *q;

	if (index >= gk->gpu_count) {
		if (ret_nvml)
			*ret_nvml = NVML_ERROR_INVALID_ARGUMENT;
		*ret_error = GK_ERR_NOT_FOUND;
		return NULL;
	}
	if (gk_is_long(time_since(gk_worker_since(gk->workers[index])),
		       timeout_ns) ||
	    gk_is_known_late(gk, index, timeout_ns) ||
	    !gk_ask_begin(gk->asks, index, timeout_ns)) {
		*ret_error = tell_late(ret_nvml);
		return NULL;
	}
	live = ensure_live(&gk->live[index]);
	if (!live) {
		gk_ask_end(gk->asks, index);
		*ret_error = GK_ERR_NOMEM;
		return NULL;
	}
	q = &live->question;
	if (q->gk != gk) {
		q->gk = gk;
		q->index = index;
	}
	if (q->mig_index != mig_index)
		q->mig_index = mig_index;
	return q;
}

/* Waits for the answer. Returns whether it has come. Whether it has or not, the
 * caller must then call end_question() or gk_ask_leave(). */
static bool await_answer(const struct gk_question *q, uint64_t until_ns)
{
	return gk_ask_wait(q->gk->asks, q->index, until_ns);
}

static int put_question(struct gk_question *q, const struct gk_ask_calls *calls)
{
	return gk_ask_put(q->gk->asks, q->index, calls, q);
}

static void end_question(const struct gk_question *q)
{
	gk_ask_end(q->gk->asks, q->index);
}

/*
 * Asks a device and waits for the context's timeout. Returns NULL if there is
 * no answer, with the reason in *ret_error; otherwise the caller must call
 * end_question().
 */
static struct gk_question *ask_device(struct gk *gk, unsigned index,
				      int mig_index,
				      const struct gk_ask_calls *calls,
				      int *ret_error, int *ret_nvml)
{
	uint64_t timeout = atomic_load(&gk->timeout_ns);
	uint64_t until = gk_mono_ns() + timeout;
	struct gk_question *q =
	    begin_question(gk, index, mig_index, timeout, ret_error, ret_nvml);
	int r = q ? put_question(q, calls) : 0;

	if (!q || r) {
		*ret_error = r ? r : *ret_error;
		return NULL;
	}
	if (!await_answer(q, until)) {
		gk_ask_leave(gk->asks, index);
		*ret_error = tell_late(ret_nvml);
		return NULL;
	}
	if (q->result && ret_nvml && q->nvml)
		*ret_nvml = q->nvml;
	*ret_error = q->result;
	return q;
}

/* ---- handles and identities ---- */

int gk_nvml_handle(struct gk *gk, unsigned index, int mig_index,
		   void **ret_handle, int *ret_nvml)
{
	int r;
	struct gk_question *q =
	    ask_device(gk, index, mig_index, &gk_run_handle, &r, ret_nvml);

	if (!q)
		return r;
	if (!r)
		*ret_handle = q->handle;
	end_question(q);
	return r;
}

int gk_mig_slots(struct gk *gk, unsigned index, unsigned *ret_slots,
		 int *ret_nvml)
{
	int r;
	struct gk_question *q =
	    ask_device(gk, index, -1, &gk_run_slots, &r, ret_nvml);

	if (!q)
		return r;
	if (!r)
		*ret_slots = q->slots < GK_MIG_LIMIT ? q->slots : GK_MIG_LIMIT;
	end_question(q);
	return r;
}

/* The last known identity of a late GPU, if there is one. */
static int recall_identity(struct gk *gk, unsigned index, int error,
			   struct gk_device *ret_device)
{
	struct gk_live *live = gk->live[index];

	if (!live)
		return error;
	pthread_mutex_lock(&live->lock);
	if (live->known) {
		*ret_device = live->device;
		error = 0;
	}
	pthread_mutex_unlock(&live->lock);
	return error;
}

int gk_identify(struct gk *gk, unsigned index, int mig_index,
		struct gk_device *ret_device, int *ret_nvml)
{
	int r;
	struct gk_question *q =
	    ask_device(gk, index, mig_index, &gk_run_identify, &r, ret_nvml);

	if (!q && r == GK_ERR_TIMEOUT && mig_index < 0)
		return recall_identity(gk, index, r, ret_device);
	if (!q)
		return r;
	if (!r)
		*ret_device = q->device;
	end_question(q);
	return r;
}

static int take_identity(struct gk_question *q, uint64_t until_ns,
			 struct gk_device *ret_device, int *ret_nvml)
{
	int r;

	if (!await_answer(q, until_ns)) {
		gk_ask_leave(q->gk->asks, q->index);
		return tell_late(ret_nvml);
	}
	r = q->result;
	*ret_nvml = q->nvml;
	if (!r)
		*ret_device = q->device;
	end_question(q);
	return r;
}

/* GPUs that answer at once are asked one by one. */
void gk_identify_all(struct gk *gk, struct gk_device *ret_devices,
		     int *ret_errors, int *ret_nvml)
{
	uint64_t timeout = atomic_load(&gk->timeout_ns);
	uint64_t until = gk_mono_ns() + timeout;

	for (unsigned i = 0; i < gk->gpu_count; i++) {
		struct gk_question *q = begin_question(
		    gk, i, -1, timeout, &ret_errors[i], &ret_nvml[i]);

		if (!q)
			continue;
		ret_errors[i] = put_question(q, &gk_run_identify);
		if (!ret_errors[i])
			await_answer(q, gk_mono_ns() + PATIENCE_NS);
	}
	for (unsigned i = 0; i < gk->gpu_count; i++) {
		if (!ret_errors[i])
			ret_errors[i] =
			    take_identity(&gk->live[i]->question, until,
					  &ret_devices[i], &ret_nvml[i]);
		if (ret_errors[i] == GK_ERR_TIMEOUT)
			ret_errors[i] = recall_identity(gk, i, ret_errors[i],
							&ret_devices[i]);
	}
}

/* ---- metrics ---- */

/* Per requested metric: its index in the question. Other entries are not
 * set. */
struct places {
	uint16_t of[GK_M_COUNT];
};

static void want_metrics(struct gk_question *q, const enum gk_metric *metrics,
			 size_t count, struct places *ret_places)
{
	struct gk_metric_set wanted = {0};
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (gk_metric_set_has(&wanted, metrics[i]))
			continue;
		gk_metric_set_add(&wanted, metrics[i]);
		ret_places->of[metrics[i]] = (uint16_t)n;
		if (q->metrics[n] != metrics[i])
			q->metrics[n] = metrics[i];
		n++;
	}
	if (q->count != n)
		q->count = n;
}

static void fill_absent(size_t count, enum gk_absence why, int nvml,
			struct gk_value *ret_values, int *ret_nvml)
{
	for (size_t i = 0; i < count; i++) {
		ret_values[i] = (struct gk_value){.why = why};
		if (ret_nvml)
			ret_nvml[i] = nvml;
	}
}

/* Whether a metric has been read by now. The question may still be running;
 * field values are read last. */
static bool has_come(const struct gk_question *q, size_t place)
{
	return place < atomic_load_explicit(&q->done, memory_order_acquire) &&
	       !gk_is_field(q->metrics[place]);
}

static void give_values(const struct gk_question *q, bool whole,
			const struct places *places,
			const enum gk_metric *metrics, size_t count,
			struct gk_value *ret_values, int *ret_nvml)
{
	const struct gk_answer late = {.value = {.why = GK_ABSENT_TIMEOUT},
				       .nvml = NVML_ERROR_TIMEOUT};

	for (size_t i = 0; i < count; i++) {
		size_t place = places->of[metrics[i]];
		const struct gk_answer *told =
		    whole || has_come(q, place) ? &q->read.told[place] : &late;

		ret_values[i] = told->value;
		if (ret_nvml)
			ret_nvml[i] = told->nvml;
	}
}

/* Returns the values that were read before the deadline. */
static int finish_read(struct gk_question *q, uint64_t until_ns,
		       const struct places *places,
		       const enum gk_metric *metrics, size_t count,
		       struct gk_value *ret_values, int *ret_nvml)
{
	bool whole = await_answer(q, until_ns);
	int r = whole ? q->result : 0;

	if (!r)
		give_values(q, whole, places, metrics, count, ret_values,
			    ret_nvml);
	else if (r != GK_ERR_NOT_FOUND)
		fill_absent(count, gk_nvml_absence((nvmlReturn_t)q->nvml),
			    q->nvml, ret_values, ret_nvml);
	if (whole)
		end_question(q);
	else
		gk_ask_leave(q->gk->asks, q->index);
	return r == GK_ERR_NOT_FOUND ? r : 0;
}

int gk_read_within(struct gk *gk, unsigned index, int mig_index,
		   const enum gk_metric *metrics, size_t count,
		   uint64_t timeout_ns, struct gk_value *ret_values,
		   int *ret_nvml)
{
	struct gk_question *q;
	struct places places;
	uint64_t until;
	int r;

	for (size_t i = 0; i < count; i++)
		if ((unsigned)metrics[i] >= GK_M_COUNT)
			return GK_ERR_INVALID;
	timeout_ns = timeout_ns ? gk_limit_timeout(timeout_ns)
				: atomic_load(&gk->timeout_ns);
	until = gk_mono_ns() + timeout_ns;
	q = begin_question(gk, index, mig_index, timeout_ns, &r, NULL);
	if (q) {
		want_metrics(q, metrics, count, &places);
		r = put_question(q, &gk_run_read);
		if (!r)
			return finish_read(q, until, &places, metrics, count,
					   ret_values, ret_nvml);
	}
	if (r != GK_ERR_TIMEOUT)
		return r;
	fill_absent(count, GK_ABSENT_TIMEOUT, NVML_ERROR_TIMEOUT, ret_values,
		    ret_nvml);
	return 0;
}

int gk_read(struct gk *gk, unsigned index, int mig_index,
	    const enum gk_metric *metrics, size_t count,
	    struct gk_value *ret_values, int *ret_nvml)
{
	return gk_read_within(gk, index, mig_index, metrics, count, 0,
			      ret_values, ret_nvml);
}

/* ---- lists ---- */

int gk_read_all_links(struct gk *gk, unsigned index, struct gk_link *ret_links,
		      size_t cap, size_t *ret_count, int *ret_nvml)
{
	int r;
	struct gk_question *q =
	    ask_device(gk, index, -1, &gk_run_links, &r, ret_nvml);

	if (!q)
		return r;
	if (!r) {
		size_t count = q->links.count;

		*ret_count = count;
		memcpy(ret_links, q->links.all,
		       (count < cap ? count : cap) * sizeof *ret_links);
	}
	end_question(q);
	return r;
}

int gk_read_links(struct gk *gk, unsigned index,
		  struct gk_link ret_links[GK_LINKS_MAX], size_t *ret_count,
		  int *ret_nvml)
{
	size_t count = 0;
	int r = gk_read_all_links(gk, index, ret_links, GK_LINKS_MAX, &count,
				  ret_nvml);

	if (!r)
		*ret_count = count < GK_LINKS_MAX ? count : GK_LINKS_MAX;
	return r;
}

int gk_read_processes(struct gk *gk, unsigned index, int mig_index,
		      struct gk_use **ret_uses, size_t *ret_count,
		      int *ret_nvml)
{
	int r;
	struct gk_question *q =
	    ask_device(gk, index, mig_index, &gk_run_processes, &r, ret_nvml);

	if (!q)
		return r;
	if (!r) {
		*ret_uses = q->uses.all;
		*ret_count = q->uses.count;
	}
	end_question(q);
	return r;
}
