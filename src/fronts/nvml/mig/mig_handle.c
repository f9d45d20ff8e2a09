/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_handle.c - owns the handles of MIG devices and instances, and enters
 * calls that get such a handle.
 */
#include "fronts/nvml/mig/mig_handle.h"
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum kind { NO_KIND, MIG_DEVICE, GPU_INSTANCE, COMPUTE_INSTANCE, KINDS };

#define HANDLES_MAX (1u << 18)

/*
 * The object that a handle stands for, packed into a word; 0: the handle is
 * unused.
 */
#define WORD(kind, device, gi, ci, life)                                       \
	((uint64_t)(life) << 32 | (uint64_t)(kind) << 24 |                     \
	 (uint64_t)(device) << 16 | (uint64_t)(gi) << 8 | (uint64_t)(ci))
#define KIND(w)   ((enum kind)((w) >> 24 & 0xff))
#define DEVICE(w) ((unsigned)((w) >> 16) & 0xff)
#define GI(w)     ((unsigned)((w) >> 8) & 0xff)
#define CI(w)     ((unsigned)(w)&0xff)
#define LIFE(w)   ((uint32_t)((w) >> 32))

/* Untouched pages of this table take no memory. */
static struct handle {
	_Atomic uint64_t word;
	unsigned char room[sizeof(struct nvmlDevice_st) - sizeof(uint64_t)];
} handles[HANDLES_MAX];
static _Atomic unsigned handles_given = 1; /* index 0 means "no handle" */

/* For each instance, the index of its newest handle. */
static _Atomic unsigned latest[KINDS][GKF_DEVICES_MAX][GKF_MIG_GIS]
			      [GKF_MIG_CIS];

/* How a function treats MIG; see nvml.def. */
enum treatment { ORDINARY, ACCEPTS, REFUSES, NOT_SPLIT, NOT_HELD };
static const unsigned char treatments[ROW_COUNT] = {
#define NVML(symbol, major, minor, core, mig, ...) mig,
#include "abi/nvml/nvml.def"
#undef NVML
};

nvmlReturn_t mig_error(int gk_err)
{
	switch (gk_err) {
	case GK_ERR_IN_USE:
		return NVML_ERROR_IN_USE;
	case GK_ERR_RANGE:
		return NVML_ERROR_INVALID_ARGUMENT;
	case GK_ERR_NOT_FOUND:
		return NVML_ERROR_NOT_FOUND;
	default:
		return front_error(gk_err);
	}
}

/* Finds or creates the handle for a word; NULL if the table is full. */
static struct handle *give_mig_handle(uint64_t word)
{
	_Atomic unsigned *place =
	    &latest[KIND(word)][DEVICE(word)][GI(word)][CI(word)];
	unsigned now = atomic_load_explicit(place, memory_order_acquire), n;

	GK_ASSERT(KIND(word) < KINDS && DEVICE(word) < GKF_DEVICES_MAX &&
		  GI(word) < GKF_MIG_GIS && CI(word) < GKF_MIG_CIS);
	while (atomic_load_explicit(&handles[now].word, memory_order_relaxed) !=
	       word) {
		n = atomic_fetch_add(&handles_given, 1);
		if (n >= HANDLES_MAX) {
			atomic_store(&handles_given, HANDLES_MAX);
			return NULL;
		}
		atomic_store(&handles[n].word, word);
		if (atomic_compare_exchange_strong(place, &now, n))
			now = n;
	}
	return &handles[now];
}

nvmlReturn_t mig_give_device(const struct call *c, const struct gkf_mig_ci *ci,
			     nvmlDevice_t *ret_handle)
{
	struct handle *h = give_mig_handle(
	    WORD(MIG_DEVICE, c->index, ci->gi, ci->id, ci->life));

	if (!h)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	*ret_handle = (nvmlDevice_t)(void *)h;
	return NVML_SUCCESS;
}

nvmlReturn_t mig_give_gi(const struct call *c, const struct gkf_mig_gi *gi,
			 nvmlGpuInstance_t *ret_handle)
{
	struct handle *h =
	    give_mig_handle(WORD(GPU_INSTANCE, c->index, gi->id, 0, gi->life));

	if (!h)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	*ret_handle = (nvmlGpuInstance_t)(void *)h;
	return NVML_SUCCESS;
}

nvmlReturn_t mig_give_ci(const struct call *c, const struct gkf_mig_ci *ci,
			 nvmlComputeInstance_t *ret_handle)
{
	struct handle *h = give_mig_handle(
	    WORD(COMPUTE_INSTANCE, c->index, ci->gi, ci->id, ci->life));

	if (!h)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	*ret_handle = (nvmlComputeInstance_t)(void *)h;
	return NVML_SUCCESS;
}

/* The word of a handle; 0 if it is not a handle of this kind. */
static uint64_t word_of_mig_handle(const void *handle, enum kind kind)
{
	size_t offset = (uintptr_t)handle - (uintptr_t)handles;
	uint64_t word;

	if (offset % sizeof(*handles) || offset >= sizeof(handles))
		return 0;
	word = atomic_load_explicit(&handles[offset / sizeof(*handles)].word,
				    memory_order_relaxed);
	return KIND(word) == kind ? word : 0;
}

/*
 * Enters a call on the device for which a word stands. The caller must then
 * check that the instance still exists.
 */
static nvmlReturn_t enter_word(struct call *c, enum nvml_row row, uint64_t word,
			       bool arguments_ok)
{
	nvmlReturn_t r = begin_call(c, row);

	if (r)
		return r;
	if (!word || DEVICE(word) >= c->device_count || !arguments_ok ||
	    !gkf_gate_lists(c->gate, DEVICE(word)))
		return NVML_ERROR_INVALID_ARGUMENT;
	c->index = DEVICE(word);
	c->board = gkf_board(c->machine, c->index);
	c->instance = GKF_INSTANCE(GI(word), CI(word));
	c->life = LIFE(word);
	return admit_call(c, row);
}

nvmlReturn_t mig_enter_gi(struct call *c, enum nvml_row row,
			  nvmlGpuInstance_t handle, bool arguments_ok,
			  struct gkf_mig_gi *ret_gi)
{
	uint64_t word = word_of_mig_handle(handle, GPU_INSTANCE);
	nvmlReturn_t r = enter_word(c, row, word, arguments_ok);

	if (!r && (gkf_mig_gi_read(c->machine, c->index, GI(word), ret_gi) ||
		   ret_gi->life != LIFE(word)))
		r = NVML_ERROR_INVALID_ARGUMENT;
	return r;
}

static nvmlReturn_t enter_ci(struct call *c, enum nvml_row row, uint64_t word,
			     bool arguments_ok, struct gkf_mig_ci *ret_ci)
{
	nvmlReturn_t r = enter_word(c, row, word, arguments_ok);

	if (!r && (gkf_mig_ci_read(c->machine, c->index, GI(word), CI(word),
				   ret_ci) ||
		   ret_ci->life != LIFE(word)))
		r = NVML_ERROR_INVALID_ARGUMENT;
	return r;
}

nvmlReturn_t mig_enter_ci(struct call *c, enum nvml_row row,
			  nvmlComputeInstance_t handle, bool arguments_ok,
			  struct gkf_mig_ci *ret_ci)
{
	return enter_ci(c, row, word_of_mig_handle(handle, COMPUTE_INSTANCE),
			arguments_ok, ret_ci);
}

nvmlReturn_t front_enter_mig(struct call *c, enum nvml_row row,
			     nvmlDevice_t handle, bool arguments_ok)
{
	struct gkf_mig_ci ci;
	nvmlReturn_t r = enter_ci(
	    c, row, word_of_mig_handle(handle, MIG_DEVICE), arguments_ok, &ci);

	if (r || treatments[row] == ACCEPTS)
		return r;
	return treatments[row] == ORDINARY ? NVML_ERROR_INVALID_ARGUMENT
					   : NVML_ERROR_NOT_SUPPORTED;
}

bool front_mig_refuses(const struct call *c, enum nvml_row row)
{
	struct gkf_mig_use use;

	if (treatments[row] == NOT_SPLIT)
		return true;
	if (treatments[row] != NOT_HELD)
		return false;
	gkf_mig_use(c->machine, c->index, &use);
	return use.taken != 0;
}

nvmlReturn_t mig_of_call(const struct call *c, struct gkf_mig_ci *ret_ci)
{
	if (c->instance == GKF_NO_INSTANCE ||
	    gkf_mig_ci_read(c->machine, c->index, GKF_INSTANCE_GI(c->instance),
			    GKF_INSTANCE_CI(c->instance), ret_ci) ||
	    ret_ci->life != c->life)
		return NVML_ERROR_INVALID_ARGUMENT;
	return NVML_SUCCESS;
}

nvmlReturn_t mig_confirm(const struct call *c)
{
	struct gkf_mig_ci ci;

	return c->instance == GKF_NO_INSTANCE ? NVML_SUCCESS
					      : mig_of_call(c, &ci);
}

void mig_name(const struct call *c, const struct gkf_mig_ci *ci,
	      char ret_name[MIG_NAME_MAX])
{
	snprintf(ret_name, MIG_NAME_MAX, "%s%s MIG %s", c->board->profile.mark,
		 c->board->profile.name, ci->profile.name);
}

nvmlReturn_t mig_by_uuid(const struct call *c, const char *uuid,
			 nvmlDevice_t *ret_handle)
{
	char its[GKF_MIG_UUID_MAX];
	struct call on = *c;
	struct gkf_mig_ci ci;
	nvmlReturn_t r;

	for (on.index = 0; on.index < c->device_count; on.index++)
		for (unsigned i = 0; i < GKF_MIG_MAX; i++) {
			if (!gkf_gate_lists(c->gate, on.index) ||
			    gkf_mig_by_index(c->machine, on.index, i, &ci))
				continue;
			gkf_mig_uuid(c->machine, on.index, &ci, its);
			if (strcasecmp(its, uuid) != 0)
				continue;
			r = front_lookup(c, on.index, false);
			return r ? r : mig_give_device(&on, &ci, ret_handle);
		}
	return NVML_ERROR_NOT_FOUND;
}
