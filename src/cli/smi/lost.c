/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.c - finds the addresses of lost GPUs, and writes the lines about them.
 */
#include "cli/smi/lost.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"
#include "cli/smi/gpus.h"
#include "core/driver/thread.h"

#include <stdio.h>
#include <stdlib.h>

/* The form of the line by driver version. docs/SMI.md names the captures. */
static const struct form {
	unsigned since;
	const char *before; /* the text before the address */
	bool index;         /* the index comes before the address */
	bool stops;         /* after this line nothing else is shown */
} forms[] = {
    {0, "GPU ", false, true},
    {525, "GPU", false, true},
    {570, "GPU", true, false},
};

static const struct form *form_of(unsigned major)
{
	size_t i = COUNT(forms) - 1;

	while (forms[i].since > major)
		i--;
	return &forms[i];
}

/* All other reasons are shown as "Unknown Error". */
static const struct {
	nvmlReturn_t why;
	const char *text;
} reasons[] = {
    {NVML_ERROR_GPU_IS_LOST,
     "GPU is lost.  Reboot the system to recover this GPU"},
    {NVML_ERROR_NOT_FOUND, "Not Found"},
    {NVML_ERROR_NO_PERMISSION, "Insufficient Permissions"},
};

static const char *reason_of(nvmlReturn_t why)
{
	for (size_t i = 0; i < COUNT(reasons); i++)
		if (reasons[i].why == why)
			return reasons[i].text;
	return "Unknown Error";
}

void smi_lost_line(unsigned major, const struct smi_lost *lost, bool list,
		   char ret_line[SMI_LOST_LINE])
{
	const struct form *form = form_of(major);
	char index[16] = "";

	if (form->index && !list)
		snprintf(index, sizeof index, "%u: ", lost->index);
	snprintf(ret_line, SMI_LOST_LINE,
		 "Unable to determine the device handle for %s%s%s: %s",
		 list ? "gpu " : form->before, index, lost->bus_id,
		 reason_of(lost->why));
}

int smi_lost_status(unsigned major, const struct smi_lost_gpus *lost)
{
	return lost->count && form_of(major)->stops
		   ? smi_status_of(lost->at[0].why)
		   : SMI_OK;
}

/* ---- which GPUs are lost ---- */

void smi_lost_add(struct smi_lost_gpus *lost, unsigned index, nvmlReturn_t why,
		  const char *bus_id)
{
	struct smi_lost *to = &lost->at[lost->count];

	if (lost->count == SMI_LOST_MAX)
		return;
	*to = (struct smi_lost){.index = index, .why = why};
	/* Like nvidia-smi, keeps only four digits of the domain. */
	gk_str_copy(to->bus_id, sizeof to->bus_id,
		    strlen(bus_id) > 12 ? bus_id + strlen(bus_id) - 12
					: bus_id);
	lost->count++;
}

bool smi_is_lost(const struct smi_lost_gpus *lost, unsigned index)
{
	for (size_t i = 0; i < lost->count; i++)
		if (lost->at[i].index == index)
			return true;
	return false;
}

bool smi_lost_is_named(const struct smi_lost_gpus *lost, const char *id)
{
	for (size_t i = 0; i < lost->count; i++)
		if (smi_is_named_by(lost->at[i].index, "", lost->at[i].bus_id,
				    id))
			return true;
	return false;
}

void smi_lost_choose(struct smi_lost_gpus *lost, const char *ids)
{
	size_t kept = 0;

	for (size_t i = 0; i < lost->count; i++)
		if (!ids ||
		    smi_names(ids, lost->at[i].index, "", lost->at[i].bus_id))
			lost->at[kept++] = lost->at[i];
	lost->count = kept;
}

/*
 * Whether a GPU may have no handle. A GPU that must be reset has one. A GPU
 * that answers late is not asked.
 */
static bool may_be_lost(const struct gk_device *d)
{
	return d->mig_index < 0 &&
	       (d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR) &&
	       d->nvml_error != NVML_ERROR_TIMEOUT &&
	       d->nvml_error != NVML_ERROR_RESET_REQUIRED;
}

void smi_lost_look(struct gk_nvml *nvml, const struct gk_snapshot *snap,
		   struct smi_lost_gpus *ret_lost)
{
	ret_lost->count = 0;
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		nvmlDevice_t handle;
		nvmlReturn_t r;

		if (!may_be_lost(d))
			continue;
		r = GK_NVML_CALL(nvml, nvmlDeviceGetHandleByIndex_v2, d->index,
				 &handle);
		if (r)
			smi_lost_add(ret_lost, d->index, r, d->bus_id);
	}
	smi_lost_find(nvml, ret_lost);
}

/* ---- finding addresses ---- */

/* The time limit of a search, the same as for the values of a GPU. */
#define SEARCH_NS GK_NS_PER_S

/*
 * The addresses to search. On coherent boards GPUs have domains of their own,
 * up to 0x19 in captures.
 */
enum { DOMAINS = 32, BUSES = 256, SLOTS = 32 };

/*
 * Returns a lost GPU whose address is unknown and that is lost for the reason
 * `why` (0: for any reason), or NULL.
 */
static struct smi_lost *without_address(struct smi_lost_gpus *lost,
					nvmlReturn_t why)
{
	for (size_t i = 0; i < lost->count; i++)
		if ((!why || lost->at[i].why == why) && !*lost->at[i].bus_id)
			return &lost->at[i];
	return NULL;
}

/*
 * A search for addresses in a thread of its own, because the driver may hang.
 * The caller then leaves the search and no longer waits.
 */
struct search {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct gk_nvml *nvml;
	/* `lock` protects this and the next two members. */
	struct smi_lost_gpus lost;
	bool done, left;
};

/*
 * Tries an address. The driver returns NOT_FOUND for addresses without a GPU.
 * Returns whether to continue.
 */
static bool try_address(struct search *s, const char *bus_id)
{
	struct smi_gpus gpus = {.nvml = s->nvml};
	struct smi_lost *found;
	nvmlDevice_t handle;
	nvmlReturn_t r =
	    SMI_NVML(&gpus, nvmlDeviceGetHandleByPciBusId_v2, bus_id, &handle);
	bool more;

	if (!r || r == NVML_ERROR_NOT_FOUND)
		return true;
	pthread_mutex_lock(&s->lock);
	found = without_address(&s->lost, r);
	if (found)
		gk_str_copy(found->bus_id, sizeof found->bus_id, bus_id);
	more = !s->left && without_address(&s->lost, 0);
	pthread_mutex_unlock(&s->lock);
	return more;
}

/*
 * Leaves a search. The caller holds s->lock, which this releases. A search has
 * two users; the last one to leave frees it.
 */
static void leave_search(struct search *s, bool *mine, const bool *other)
{
	bool last = *other;

	GK_ASSERT(gk_lock_held(&s->lock));
	*mine = true;
	pthread_cond_signal(&s->ended);
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	gk_nvml_close(s->nvml);
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void *run_search(void *arg)
{
	struct search *s = arg;
	bool more = true;

	for (unsigned at = 0; at < DOMAINS * BUSES * SLOTS && more; at++) {
		char bus_id[32];

		snprintf(bus_id, sizeof bus_id, "%04X:%02X:%02X.0",
			 at / SLOTS / BUSES, at / SLOTS % BUSES, at % SLOTS);
		more = try_address(s, bus_id);
	}
	pthread_mutex_lock(&s->lock);
	leave_search(s, &s->done, &s->left);
	return NULL;
}

/* Starts a search. Returns NULL if out of memory or threads. */
static struct search *start_search(struct gk_nvml *nvml,
				   const struct smi_lost_gpus *lost)
{
	struct search *s = calloc(1, sizeof *s);
	pthread_t thread;

	if (!s)
		return NULL;
	s->lost = *lost;
	s->nvml = gk_nvml_ref(nvml);
	pthread_mutex_init(&s->lock, NULL);
	gk_cond_init(&s->ended);
	if (!gk_thread_start(&thread, run_search, s)) {
		pthread_detach(thread);
		return s;
	}
	gk_nvml_close(s->nvml);
	free(s);
	return NULL;
}

static void await_search(struct search *s, struct smi_lost_gpus *ret_lost)
{
	struct timespec until = gk_timespec(gk_mono_ns() + SEARCH_NS);

	pthread_mutex_lock(&s->lock);
	while (!s->done && !pthread_cond_timedwait(&s->ended, &s->lock, &until))
		;
	*ret_lost = s->lost;
	leave_search(s, &s->left, &s->done);
}

void smi_lost_find(struct gk_nvml *nvml, struct smi_lost_gpus *lost)
{
	struct search *s = NULL;
	struct smi_lost *rest;

	if (without_address(lost, 0))
		s = start_search(nvml, lost);
	if (s)
		await_search(s, lost);
	while ((rest = without_address(lost, 0)))
		gk_str_copy(rest->bus_id, sizeof rest->bus_id, "N/A");
}
