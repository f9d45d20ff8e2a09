/*
 * mig_handle.h - the handles of MIG devices, GPU instances and compute
 * instances, and the room that calls on them go through.
 *
 * A handle is good for one life of an instance: when that ends, it answers
 * INVALID_ARGUMENT for ever, whatever comes to be in its place. Handles are
 * never given back; a process that has seen 262144 lives gets no more.
 */
#ifndef GKF_NVML_MIG_HANDLE_H
#define GKF_NVML_MIG_HANDLE_H

#include "fronts/nvml/front.h"
#include "machine/model/mig.h"

/*
 * The handle of an instance of the call's device, the same each time;
 * INSUFFICIENT_RESOURCES when there are no more.
 */
nvmlReturn_t mig_give_device(const struct call *c, const struct gkf_mig_ci *ci,
			     nvmlDevice_t *ret_handle);
nvmlReturn_t mig_give_gi(const struct call *c, const struct gkf_mig_gi *gi,
			 nvmlGpuInstance_t *ret_handle);
nvmlReturn_t mig_give_ci(const struct call *c, const struct gkf_mig_ci *ci,
			 nvmlComputeInstance_t *ret_handle);

/* As enter_device(), of an instance; the call's device is the one it is on. */
nvmlReturn_t mig_enter_gi(struct call *c, enum nvml_row row,
			  nvmlGpuInstance_t handle, bool arguments_ok,
			  struct gkf_mig_gi *ret_gi);
nvmlReturn_t mig_enter_ci(struct call *c, enum nvml_row row,
			  nvmlComputeInstance_t handle, bool arguments_ok,
			  struct gkf_mig_ci *ret_ci);

/* NVML's name of an error of mig.h. */
nvmlReturn_t mig_error(int gk_err);

/* The compute instance of a MIG device's call, unless it is gone by now. */
nvmlReturn_t mig_of_call(const struct call *c, struct gkf_mig_ci *ret_ci);

/*
 * Is what was read since the call began that of its own instance? Then the
 * instance is still there, or the call is about a GPU.
 */
nvmlReturn_t mig_confirm(const struct call *c);

/* "NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb" behind the name of the GPU. */
#define MIG_NAME_MAX 128
void mig_name(const struct call *c, const struct gkf_mig_ci *ci,
	      char ret_name[MIG_NAME_MAX]);

/* The MIG device of a UUID in any letters; NOT_FOUND. */
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
