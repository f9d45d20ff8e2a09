/*
 * reset.h - what resetting a GPU does, as `nvidia-smi --gpu-reset` does it:
 * modes that wait take effect, memory repairs too, volatile counts begin anew,
 * and what root has set through NVML until the driver unloads is forgotten.
 */
#ifndef GKF_RESET_H
#define GKF_RESET_H

struct gkf_machine;

/*
 * Resets a device. GK_ERR_RANGE for one that is not there. Whether processes
 * are on it is the caller's business, and so are its faults.
 */
int gkf_device_reset(struct gkf_machine *m, unsigned device);

#endif
