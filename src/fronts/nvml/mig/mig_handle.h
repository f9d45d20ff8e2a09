/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_handle.h - the handles of MIG devices, GPU instances and compute
 * instances, and the checks that calls with such a handle make first.
 *
 * A handle is valid until its instance is destroyed. After that, calls with it
 * return INVALID_ARGUMENT, even if a new instance has the same ids. Handles are
 * never freed; a process can have 262144 of them.
 */
#ifndef GKF_NVML_MIG_HANDLE_H
#define GKF_NVML_MIG_HANDLE_H

#include "fronts/nvml/front.h"
#include "machine/model/mig/mig.h"

/*
 * Return the handle of an instance of the call's device; the handle is the same
 * at each call. INSUFFICIENT_RESOURCES if there are no handles left.
 */
nvmlReturn_t mig_give_device(const struct call *c, const struct gkf_mig_ci *ci,
			     nvmlDevice_t *ret_handle);
nvmlReturn_t mig_give_gi(const struct call *c, const struct gkf_mig_gi *gi,
			 nvmlGpuInstance_t *ret_handle);
nvmlReturn_t mig_give_ci(const struct call *c, const struct gkf_mig_ci *ci,
			 nvmlComputeInstance_t *ret_handle);

/* Like enter_device(), for the handle of an instance; the call's device is its
 * GPU. */
nvmlReturn_t mig_enter_gi(struct call *c, enum nvml_row row,
			  nvmlGpuInstance_t handle, bool arguments_ok,
			  struct gkf_mig_gi *ret_gi);
nvmlReturn_t mig_enter_ci(struct call *c, enum nvml_row row,
			  nvmlComputeInstance_t handle, bool arguments_ok,
			  struct gkf_mig_ci *ret_ci);

/* Converts an error of model/mig.h to NVML's return code. */
nvmlReturn_t mig_error(int gk_err);

/* The compute instance of the call's MIG device. INVALID_ARGUMENT if the
 * instance no longer exists. */
nvmlReturn_t mig_of_call(const struct call *c, struct gkf_mig_ci *ret_ci);

/*
 * Checks that the call's instance still exists, so that all data read since the
 * call began belongs to it. INVALID_ARGUMENT if not. Always succeeds for a GPU.
 */
nvmlReturn_t mig_confirm(const struct call *c);

/* Writes a name such as "NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb". */
#define MIG_NAME_MAX 128
void mig_name(const struct call *c, const struct gkf_mig_ci *ci,
	      char ret_name[MIG_NAME_MAX]);

/* Finds a MIG device by UUID, ignoring case. NOT_FOUND if there is none. */
nvmlReturn_t mig_by_uuid(const struct call *c, const char *uuid,
			 nvmlDevice_t *ret_handle);

#define ENTER_GI(symbol, handle, arguments_ok)                                 \
	struct call c;                                                         \
	struct gkf_mig_gi gi;                                                  \
	nvmlReturn_t entered =                                                 \
	    mig_enter_gi(&c, ROW_##symbol, (handle), (arguments_ok), &gi);     \
	if (entered)                                                           \
	return entered
#define ENTER_CI(symbol, handle, arguments_ok)                                 \
	struct call c;                                                         \
	struct gkf_mig_ci ci;                                                  \
	nvmlReturn_t entered =                                                 \
	    mig_enter_ci(&c, ROW_##symbol, (handle), (arguments_ok), &ci);     \
	if (entered)                                                           \
	return entered

#endif
