/* live.c - asks one device at once, in the thread of whoever wants to know. */
#include "core/live.h"

#include "core/collect_row.h"
#include "core/context.h"
#include "core/detail.h"

#include <stdlib.h>
#include <string.h>

struct gk_live *gk_live_new(unsigned count)
{
	struct gk_live *live = calloc(count + 1, sizeof *live);

	for (unsigned i = 0; live && i < count; i++)
		pthread_mutex_init(&live[i].lock, NULL);
	return live;
}

void gk_live_free(struct gk_live *live, unsigned count)
{
	for (unsigned i = 0; live && i < count; i++) {
		pthread_mutex_destroy(&live[i].lock);
		if (live[i].made)
			gk_gpu_fini(&live[i].gpu);
	}
	free(live);
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

/* The handle of a GPU stays what it is until the GPU is lost. */
static nvmlReturn_t find_gpu(struct gk *gk, unsigned index,
			     nvmlDevice_t *ret_handle)
{
	nvmlDevice_t handle =
	    atomic_load_explicit(&gk->live[index].handle, memory_order_relaxed);
	nvmlReturn_t r = NVML_SUCCESS;

	if (!handle) {
		r = GK_NVML_CALL(gk->nvml, nvmlDeviceGetHandleByIndex_v2, index,
				 &handle);
		if (!r)
			atomic_store_explicit(&gk->live[index].handle, handle,
					      memory_order_relaxed);
	}
	*ret_handle = handle;
	return r;
}

static void note_answer(struct gk *gk, unsigned index, nvmlReturn_t r)
{
	if (gk_nvml_is_lost(r))
		atomic_store_explicit(&gk->live[index].handle, NULL,
				      memory_order_relaxed);
}

/* Under an index there may be another MIG device at any time. */
static nvmlReturn_t find_device(struct gk *gk, unsigned index, int mig_index,
				nvmlDevice_t *ret_handle)
{
	nvmlDevice_t gpu;
	nvmlReturn_t r = find_gpu(gk, index, &gpu);

	*ret_handle = gpu;
	if (r || mig_index < 0)
		return r;
	r = GK_NVML_CALL(gk->nvml, nvmlDeviceGetMigDeviceHandleByIndex, gpu,
			 (unsigned)mig_index, ret_handle);
	note_answer(gk, index, r);
	return r;
}

/* No device has that address: not what the driver says of one that it has. */
static bool is_nowhere(const struct gk *gk, unsigned index, int mig_index,
		       nvmlReturn_t r)
{
	return index >= gk->gpu_count ||
	       (mig_index >= 0 && (r == NVML_ERROR_NOT_FOUND ||
				   r == NVML_ERROR_INVALID_ARGUMENT ||
				   r == NVML_ERROR_NOT_SUPPORTED));
}

/* 0 or a gk_err with NVML's answer. */
static int open_device(struct gk *gk, unsigned index, int mig_index,
		       nvmlDevice_t *ret_handle, int *ret_nvml)
{
	nvmlReturn_t r = NVML_ERROR_INVALID_ARGUMENT;

	if (index < gk->gpu_count)
		r = find_device(gk, index, mig_index, ret_handle);
	if (!r)
		return 0;
	tell_error(r, ret_nvml);
	return is_nowhere(gk, index, mig_index, r) ? GK_ERR_NOT_FOUND
						   : tell_error(r, NULL);
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

int gk_nvml_handle(struct gk *gk, unsigned index, int mig_index,
		   void **ret_handle, int *ret_nvml)
{
	nvmlDevice_t handle;
	int r = open_device(gk, index, mig_index, &handle, ret_nvml);

	if (!r)
		*ret_handle = handle;
	return r;
}

int gk_mig_slots(struct gk *gk, unsigned index, unsigned *ret_slots,
		 int *ret_nvml)
{
	nvmlDevice_t handle;
	unsigned slots = 0;
	int r = open_device(gk, index, -1, &handle, ret_nvml);

	if (!r)
		r = tell_error(GK_NVML_CALL(gk->nvml,
					    nvmlDeviceGetMaxMigDeviceCount,
					    handle, &slots),
			       ret_nvml);
	if (!r)
		*ret_slots = slots;
	return r;
}

/* Every device has a UUID: without one it is worth asking why. */
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

int gk_identify(struct gk *gk, unsigned index, int mig_index,
		struct gk_device *ret_device, int *ret_nvml)
{
	nvmlDevice_t handle, gpu;
	struct gk_device device;
	int r = open_device(gk, index, mig_index, &handle, ret_nvml);

	if (!r)
		r = open_device(gk, index, -1, &gpu, ret_nvml);
	if (r)
		return r;
	gk_device_identify(gk->nvml, index, mig_index, gpu, handle, &device);
	r = tell_error(why_nameless(gk, index, handle, &device), ret_nvml);
	if (!r)
		*ret_device = device;
	return r;
}

/* ---- metrics ---- */

enum { ROW_NONE, ROW_FIELD, ROW_FIRST };

/* The question that gives each metric: ROW_FIRST and its place among the plain
 * rows and those of details, one behind the other. */
static uint16_t question_of[GK_M_COUNT];
static pthread_once_t questions = PTHREAD_ONCE_INIT;

static void note_rows(const struct gk_row *rows, size_t count, size_t first)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < rows[i].count; k++)
			question_of[rows[i].gives[k]] =
			    (uint16_t)(ROW_FIRST + first + i);
}

/* Details without a row are field values. */
static void find_questions(void)
{
	size_t plain, detail;
	const struct gk_row *rows = gk_plain_rows(&plain);
	const struct gk_row *details = gk_detail_rows(&detail);

	for (int i = 0; i < GK_M_COUNT; i++)
		if (gk_metrics[i].tier == GK_TIER_DETAIL)
			question_of[i] = ROW_FIELD;
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

/* What one gk_read() has got so far; only what is in given is filled in. */
struct answers {
	struct gk_value values[GK_M_COUNT];
	int nvml[GK_M_COUNT];
	struct gk_metric_set given, fields;
	bool with_fields;
};

static void give_all(struct answers *a, const struct gk_row *row,
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

static void read_metric(struct gk *gk, nvmlDevice_t handle, unsigned index,
			bool is_mig, enum gk_metric metric, struct answers *a)
{
	unsigned question = question_of[metric];
	const struct gk_row *row;
	nvmlReturn_t r;

	if (question == ROW_FIELD || question == ROW_NONE) {
		gk_metric_set_add(&a->given, metric);
		gk_metric_set_add(&a->fields, metric);
		a->with_fields |= question == ROW_FIELD;
		a->values[metric] =
		    (struct gk_value){.why = GK_ABSENT_NOT_READ};
		a->nvml[metric] = 0;
		return;
	}
	row = row_at(question);
	r = gk_row_read(gk->nvml, handle, row, is_mig, a->values);
	note_answer(gk, index, r);
	give_all(a, row, r);
}

/* One question for all of them. */
static void read_fields(struct gk *gk, nvmlDevice_t handle, unsigned index,
			const enum gk_metric *metrics, size_t count,
			struct answers *a)
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

static void read_all(struct gk *gk, nvmlDevice_t handle, unsigned index,
		     bool is_mig, const enum gk_metric *metrics, size_t count,
		     struct answers *a)
{
	a->given = a->fields = (struct gk_metric_set){0};
	a->with_fields = false;
	for (size_t i = 0; i < count; i++) {
		if (gk_metrics[metrics[i]].tier == GK_TIER_DETAIL)
			gk_nvml_more(gk->nvml);
		if (!gk_metric_set_has(&a->given, metrics[i]))
			read_metric(gk, handle, index, is_mig, metrics[i], a);
	}
	if (a->with_fields)
		read_fields(gk, handle, index, metrics, count, a);
}

int gk_read(struct gk *gk, unsigned index, int mig_index,
	    const enum gk_metric *metrics, size_t count,
	    struct gk_value *ret_values, int *ret_nvml)
{
	struct answers answers;
	nvmlDevice_t handle;
	int nvml = 0, r;

	for (size_t i = 0; i < count; i++)
		if ((unsigned)metrics[i] >= GK_M_COUNT)
			return GK_ERR_INVALID;
	pthread_once(&questions, find_questions);
	r = open_device(gk, index, mig_index, &handle, &nvml);
	if (r == GK_ERR_NOT_FOUND)
		return r;
	if (!r)
		read_all(gk, handle, index, mig_index >= 0, metrics, count,
			 &answers);
	for (size_t i = 0; i < count; i++) {
		ret_values[i] = r ? (struct gk_value){.why = gk_nvml_absence(
							  (nvmlReturn_t)nvml)}
				  : answers.values[metrics[i]];
		if (ret_nvml)
			ret_nvml[i] = r ? nvml : answers.nvml[metrics[i]];
	}
	return 0;
}

/* ---- links ---- */

/* How many links the GPU has; 0 where the driver does not say. */
static nvmlReturn_t count_links(struct gk *gk, nvmlDevice_t handle,
				size_t *ret_count)
{
	nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT};
	nvmlReturn_t r =
	    GK_NVML_CALL(gk->nvml, nvmlDeviceGetFieldValues, handle, 1, &field);
	struct gk_value count = gk_field_value(&field, r, 1);

	*ret_count = count.why || count.v < 0 ? 0 : (size_t)count.v;
	if (*ret_count > GK_LINKS_MAX)
		*ret_count = GK_LINKS_MAX;
	return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
}

static void start_link(struct gk_link *link, size_t index)
{
	*link = (struct gk_link){.index = (unsigned)index};
	for (int m = 0; m < GK_L_COUNT; m++)
		link->m[m].why = GK_ABSENT_NOT_READ;
}

int gk_read_links(struct gk *gk, unsigned index,
		  struct gk_link ret_links[GK_LINKS_MAX], size_t *ret_count,
		  int *ret_nvml)
{
	struct gk_link links[GK_LINKS_MAX];
	nvmlDevice_t handle;
	size_t count;
	nvmlReturn_t answer;
	int r = open_device(gk, index, -1, &handle, ret_nvml);

	if (r)
		return r;
	answer = count_links(gk, handle, &count);
	for (size_t i = 0; i < count; i++)
		start_link(&links[i], i);
	if (!answer && count)
		answer = gk_link_fields(gk->nvml, handle, links, count);
	note_answer(gk, index, answer);
	if (answer)
		return tell_error(answer, ret_nvml);
	memcpy(ret_links, links, count * sizeof *links);
	*ret_count = count;
	return 0;
}

/* ---- processes ---- */

/* Reads the lists anew; the MIG devices may be other ones than before. */
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

static int answer_list(const struct gk_live *live, int mig_index,
		       struct gk_use **ret_uses, size_t *ret_count,
		       int *ret_nvml)
{
	if (!live->made)
		return GK_ERR_NOMEM;
	if (!live->gpu.open)
		return tell_error(
		    (nvmlReturn_t)live->gpu.units[0].dev.nvml_error, ret_nvml);
	return copy_uses(&live->gpu, mig_index, ret_uses, ret_count);
}

int gk_read_processes(struct gk *gk, unsigned index, int mig_index,
		      struct gk_use **ret_uses, size_t *ret_count,
		      int *ret_nvml)
{
	struct gk_live *live;
	int r;

	if (index >= gk->gpu_count)
		return open_device(gk, index, mig_index, NULL, ret_nvml);
	live = &gk->live[index];
	pthread_mutex_lock(&live->lock);
	list_processes(gk, live, index);
	r = answer_list(live, mig_index, ret_uses, ret_count, ret_nvml);
	if (r == GK_ERR_NOT_FOUND)
		tell_error(NVML_ERROR_NOT_FOUND, ret_nvml);
	pthread_mutex_unlock(&live->lock);
	return r;
}
