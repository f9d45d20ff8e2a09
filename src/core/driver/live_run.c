/* SPDX-License-Identifier: Apache-2.0 */
/* live_run.c - runs questions to one device, in a thread of the library. */
#include "core/driver/live_run.h"

#include "core/read/collect_row.h"
#include "core/context.h"
#include "core/read/detail.h"
#include "core/read/gpm.h"

#include <stdlib.h>
#include <string.h>

/* Resets a question. Writes only members that differ; see struct
 * gk_question. */
static struct gk_question *start_question(struct gk_question *q)
{
	if (q->nvml)
		q->nvml = 0;
	return q;
}

/* ---- devices ---- */

static int tell_error(nvmlReturn_t r, int *ret_nvml)
{
	if (r && ret_nvml)
		*ret_nvml = (int)r;
	if (!r)
		return 0;
	return gk_nvml_is_lost(r) ? GK_ERR_LOST : GK_ERR_DRIVER;
}

/* Finds the handle of a GPU, which is valid until the GPU is lost. */
static nvmlReturn_t find_gpu(struct gk *gk, unsigned index,
			     nvmlDevice_t *ret_handle)
{
	nvmlDevice_t handle = gk->live[index]->handle;
	nvmlReturn_t r = NVML_SUCCESS;

	if (!handle)
		r = GK_NVML_CALL(gk->nvml, nvmlDeviceGetHandleByIndex_v2, index,
				 &handle);
	if (!r)
		gk->live[index]->handle = *ret_handle = handle;
	return r;
}

static void note_answer(struct gk *gk, unsigned index, nvmlReturn_t r)
{
	if (gk_nvml_is_lost(r))
		gk->live[index]->handle = NULL;
}

/* Looks up a MIG device each time: its index may now be another device's. */
static nvmlReturn_t find_device(struct gk *gk, unsigned index, int mig_index,
				nvmlDevice_t *ret_handle)
{
	nvmlDevice_t gpu = NULL;
	nvmlReturn_t r = find_gpu(gk, index, &gpu);

	*ret_handle = gpu;
	if (r || mig_index < 0)
		return r;
	r = GK_NVML_CALL(gk->nvml, nvmlDeviceGetMigDeviceHandleByIndex, gpu,
			 (unsigned)mig_index, ret_handle);
	note_answer(gk, index, r);
	return r;
}

/* Whether an answer means that no MIG device has that index. */
static bool is_nowhere(int mig_index, nvmlReturn_t r)
{
	return mig_index >= 0 &&
	       (r == NVML_ERROR_NOT_FOUND || r == NVML_ERROR_INVALID_ARGUMENT ||
		r == NVML_ERROR_NOT_SUPPORTED);
}

/* Finds a device of the question's GPU. 0, or a gk_err with NVML's answer. */
static int open_device(struct gk_question *q, int mig_index,
		       nvmlDevice_t *ret_handle)
{
	nvmlReturn_t r = find_device(q->gk, q->index, mig_index, ret_handle);
	int error = tell_error(r, &q->nvml);

	return is_nowhere(mig_index, r) ? GK_ERR_NOT_FOUND : error;
}

static void run_handle(void *arg)
{
	struct gk_question *q = start_question(arg);

	q->result = open_device(q, q->mig_index, &q->handle);
}

const struct gk_ask_calls gk_run_handle = {run_handle, NULL};

static void run_slots(void *arg)
{
	struct gk_question *q = start_question(arg);
	nvmlDevice_t handle;

	q->slots = 0;
	q->result = open_device(q, -1, &handle);
	if (!q->result)
		q->result = tell_error(
		    GK_NVML_CALL(q->gk->nvml, nvmlDeviceGetMaxMigDeviceCount,
				 handle, &q->slots),
		    &q->nvml);
}

const struct gk_ask_calls gk_run_slots = {run_slots, NULL};

/* A device without a UUID may be lost. Reads the UUID again, to get the
 * error. */
static nvmlReturn_t why_nameless(struct gk *gk, unsigned index,
				 nvmlDevice_t handle,
				 const struct gk_device *device)
{
	char uuid[GK_NAME_MAX];
	nvmlReturn_t r = NVML_SUCCESS;

	if (!device->uuid[0])
		r = GK_NVML_CALL(gk->nvml, nvmlDeviceGetUUID, handle, uuid,
				 sizeof uuid);
	note_answer(gk, index, r);
	return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
}

static int identify_device(struct gk_question *q)
{
	nvmlDevice_t handle = NULL, gpu = NULL;
	int r = open_device(q, q->mig_index, &handle);

	if (!r)
		r = open_device(q, -1, &gpu);
	if (r)
		return r;
	gk_device_identify(q->gk->nvml, q->index, q->mig_index, gpu, handle,
			   &q->device);
	return tell_error(why_nameless(q->gk, q->index, handle, &q->device),
			  &q->nvml);
}

static void run_identify(void *arg)
{
	struct gk_question *q = start_question(arg);
	struct gk_live *live = q->gk->live[q->index];

	q->result = identify_device(q);
	if (q->mig_index >= 0)
		return;
	pthread_mutex_lock(&live->lock);
	live->known = !q->result;
	if (live->known)
		live->device = q->device;
	pthread_mutex_unlock(&live->lock);
}

const struct gk_ask_calls gk_run_identify = {run_identify, NULL};

/* ---- metrics ---- */

enum { ROW_NONE, ROW_FIELD, ROW_GPM, ROW_FIRST };

/* How to read each metric. ROW_FIRST + i is row i of one list, which has the
 * plain rows first and then the detail rows. */
static uint16_t question_of[GK_M_COUNT];
static pthread_once_t questions = PTHREAD_ONCE_INIT;

static void note_rows(const struct gk_row *rows, size_t count, size_t first)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < rows[i].count; k++)
			question_of[rows[i].gives[k]] =
			    (uint16_t)(ROW_FIRST + first + i);
}

/* Fills question_of. Metrics of the DETAIL tier that have no row are field
 * values, except those that need two samples. */
static void find_questions(void)
{
	size_t plain, detail;
	const struct gk_row *rows = gk_plain_rows(&plain);
	const struct gk_row *details = gk_detail_rows(&detail);

	for (int i = 0; i < GK_M_COUNT; i++)
		if (gk_metrics[i].tier == GK_TIER_DETAIL)
			question_of[i] =
			    gk_is_gpm((enum gk_metric)i) ? ROW_GPM : ROW_FIELD;
	note_rows(rows, plain, 0);
	note_rows(details, detail, plain);
}

static const struct gk_row *row_at(unsigned question)
{
	size_t plain, detail, place = question - ROW_FIRST;
	const struct gk_row *rows = gk_plain_rows(&plain);

	return place < plain ? &rows[place]
			     : &gk_detail_rows(&detail)[place - plain];
}

static void give_all(struct gk_answers *a, const struct gk_row *row,
		     nvmlReturn_t r)
{
	for (unsigned i = 0; i < row->count; i++) {
		gk_metric_set_add(&a->given, row->gives[i]);
		a->nvml[row->gives[i]] = (int)r;
		if (gk_nvml_is_lost(r))
			a->values[row->gives[i]] =
			    (struct gk_value){.why = gk_nvml_absence(r)};
	}
}

bool gk_is_field(enum gk_metric metric)
{
	return question_of[metric] == ROW_FIELD ||
	       question_of[metric] == ROW_NONE;
}

/* A single reading has no GPM metrics; gives the reason. */
static nvmlReturn_t give_no_gpm(struct gk *gk, nvmlDevice_t handle, bool is_mig,
				enum gk_metric metric, struct gk_answers *a)
{
	nvmlReturn_t r;

	gk_metric_set_add(&a->given, metric);
	a->values[metric].v = 0;
	r = gk_gpm_why(gk->nvml, handle, is_mig, &a->values[metric].why);
	a->nvml[metric] = (int)r;
	return r;
}

static void read_metric(struct gk *gk, nvmlDevice_t handle, unsigned index,
			bool is_mig, enum gk_metric metric,
			struct gk_answers *a)
{
	unsigned question = question_of[metric];
	const struct gk_row *row;
	nvmlReturn_t r;

	if (gk_is_field(metric)) {
		gk_metric_set_add(&a->given, metric);
		gk_metric_set_add(&a->fields, metric);
		a->with_fields |= question == ROW_FIELD;
		a->values[metric] =
		    (struct gk_value){.why = GK_ABSENT_NOT_READ};
		a->nvml[metric] = 0;
		return;
	}
	if (question == ROW_GPM) {
		note_answer(gk, index,
			    give_no_gpm(gk, handle, is_mig, metric, a));
		return;
	}
	row = row_at(question);
	r = gk_row_read(gk->nvml, handle, row, is_mig, a->values);
	note_answer(gk, index, r);
	give_all(a, row, r);
}

/* Reads all field values in one call. */
static void read_fields(struct gk *gk, nvmlDevice_t handle, unsigned index,
			const enum gk_metric *metrics, size_t count,
			struct gk_answers *a)
{
	nvmlReturn_t r =
	    gk_collect_fields(gk->nvml, handle, &a->fields, a->values, a->nvml);

	if (!r)
		return;
	note_answer(gk, index, r);
	for (size_t i = 0; i < count; i++) {
		if (question_of[metrics[i]] != ROW_FIELD)
			continue;
		a->values[metrics[i]].why = gk_nvml_absence(r);
		a->nvml[metrics[i]] = (int)r;
	}
}

static void tell_metric(struct gk_question *q, size_t place)
{
	enum gk_metric metric = q->metrics[place];
	struct gk_value value = q->read.values[metric];
	int nvml = q->read.nvml[metric];
	struct gk_answer *told = &q->read.told[place];

	if (told->value.v != value.v || told->value.why != value.why ||
	    told->nvml != nvml)
		*told = (struct gk_answer){.value = value, .nvml = nvml};
}

static void read_all(struct gk_question *q, nvmlDevice_t handle)
{
	struct gk *gk = q->gk;
	struct gk_answers *a = &q->read;

	a->given = a->fields = (struct gk_metric_set){0};
	a->with_fields = false;
	for (size_t i = 0; i < q->count; i++) {
		if (gk_metrics[q->metrics[i]].tier == GK_TIER_DETAIL)
			gk_nvml_more(gk->nvml);
		if (!gk_metric_set_has(&a->given, q->metrics[i]))
			read_metric(gk, handle, q->index, q->mig_index >= 0,
				    q->metrics[i], a);
		tell_metric(q, i);
		atomic_store_explicit(&q->done, i + 1, memory_order_release);
	}
	if (!a->with_fields)
		return;
	read_fields(gk, handle, q->index, q->metrics, q->count, a);
	for (size_t i = 0; i < q->count; i++)
		if (gk_is_field(q->metrics[i]))
			tell_metric(q, i);
}

static void run_read(void *arg)
{
	struct gk_question *q = start_question(arg);
	nvmlDevice_t handle;
	int result;

	pthread_once(&questions, find_questions);
	result = open_device(q, q->mig_index, &handle);
	if (q->result != result)
		q->result = result;
	if (!result)
		read_all(q, handle);
	atomic_store_explicit(&q->done, 0, memory_order_relaxed);
}

const struct gk_ask_calls gk_run_read = {run_read, NULL};

/* ---- links ---- */

/* The number of links of the GPU; 0 if the driver does not say. */
static nvmlReturn_t count_links(struct gk *gk, nvmlDevice_t handle,
				size_t *ret_count)
{
	nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT};
	nvmlReturn_t r =
	    GK_NVML_CALL(gk->nvml, nvmlDeviceGetFieldValues, handle, 1, &field);
	struct gk_value count = gk_field_value(&field, r, 1);

	*ret_count = count.why || count.v < 0 ? 0 : (size_t)count.v;
	if (*ret_count > NVML_NVLINK_MAX_LINKS)
		*ret_count = NVML_NVLINK_MAX_LINKS;
	return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
}

static void start_link(struct gk_link *link, size_t index)
{
	*link = (struct gk_link){.index = (unsigned)index};
	for (int m = 0; m < GK_L_COUNT; m++)
		link->m[m].why = GK_ABSENT_NOT_READ;
}

static void run_links(void *arg)
{
	struct gk_question *q = start_question(arg);
	nvmlDevice_t handle;
	nvmlReturn_t answer;

	q->links.count = 0;
	q->result = open_device(q, -1, &handle);
	if (q->result)
		return;
	answer = count_links(q->gk, handle, &q->links.count);
	for (size_t i = 0; i < q->links.count; i++)
		start_link(&q->links.all[i], i);
	if (!answer && q->links.count)
		answer = gk_link_fields(q->gk->nvml, handle, q->links.all,
					q->links.count);
	note_answer(q->gk, q->index, answer);
	q->result = tell_error(answer, &q->nvml);
}

const struct gk_ask_calls gk_run_links = {run_links, NULL};

/* ---- processes ---- */

/* Reads the process lists anew, because the MIG devices may have changed. */
static void list_processes(struct gk *gk, struct gk_live *live, unsigned index)
{
	struct gk_metric_set only = {0};
	struct gk_gpu_options options = {
	    .with = GK_WITHOUT_BOARD | (gk->with & GK_WITHOUT_PROCESS_UTIL),
	    .only = &only,
	};

	gk_metric_set_add(&only, GK_M_MEM_TOTAL);
	if (!live->made)
		live->made =
		    !gk_gpu_init(&live->gpu, gk->nvml, index, &options);
	if (!live->made)
		return;
	if (!live->gpu.open)
		gk_gpu_read(&live->gpu, GK_TIER_FAST);
	gk_gpu_read(&live->gpu, GK_TIER_SLOW);
	gk_gpu_read(&live->gpu, GK_TIER_MEDIUM);
}

static bool find_mig_unit(const struct gk_gpu *gpu, int mig_index,
			  unsigned *ret_unit)
{
	for (unsigned i = 0; i < gpu->unit_count; i++)
		if (gpu->units[i].dev.mig_index == mig_index) {
			*ret_unit = i;
			return true;
		}
	return false;
}

static int copy_uses(const struct gk_gpu *gpu, int mig_index,
		     struct gk_use **ret_uses, size_t *ret_count)
{
	struct gk_use *uses = calloc(gpu->listed_count + 1, sizeof *uses);
	size_t count = 0;
	unsigned unit = 0;

	if (!uses)
		return GK_ERR_NOMEM;
	if (!find_mig_unit(gpu, mig_index, &unit)) {
		free(uses);
		return GK_ERR_NOT_FOUND;
	}
	for (size_t i = 0; i < gpu->listed_count; i++) {
		const struct gk_listed *listed = &gpu->listed[i];
		const struct gk_device *on = &gpu->units[listed->unit].dev;

		if (mig_index >= 0 && listed->unit != unit)
			continue;
		uses[count] = (struct gk_use){.pid = listed->pid,
					      .types = listed->types,
					      .mig_index = on->mig_index};
		memcpy(uses[count++].m, listed->m, sizeof listed->m);
	}
	*ret_uses = uses;
	*ret_count = count;
	return 0;
}

static int answer_list(struct gk_question *q, const struct gk_live *live)
{
	int r;

	if (!live->made)
		return GK_ERR_NOMEM;
	if (!live->gpu.open)
		return tell_error(
		    (nvmlReturn_t)live->gpu.units[0].dev.nvml_error, &q->nvml);
	r = copy_uses(&live->gpu, q->mig_index, &q->uses.all, &q->uses.count);
	if (r == GK_ERR_NOT_FOUND)
		q->nvml = NVML_ERROR_NOT_FOUND;
	return r;
}

static void run_processes(void *arg)
{
	struct gk_question *q = start_question(arg);
	struct gk_live *live = q->gk->live[q->index];

	q->uses.all = NULL;
	list_processes(q->gk, live, q->index);
	q->result = answer_list(q, live);
}

static void drop_processes(void *arg)
{
	struct gk_question *q = arg;

	free(q->uses.all);
}

const struct gk_ask_calls gk_run_processes = {run_processes, drop_processes};
