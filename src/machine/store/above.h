/* SPDX-License-Identifier: Apache-2.0 */
/*
 * above.h - functions of model/ and trouble/ that store/ calls through
 * pointers, because these directories depend on store/; model/ calls some
 * functions of trouble/ in the same way. Some bring the machine up to date
 * before it is read or changed, others describe a device and its faults.
 * trouble/machine.c passes them in when it opens a machine.
 */
#ifndef GKF_ABOVE_H
#define GKF_ABOVE_H

#include "machine/file/numbers.h"
#include "machine/file/value.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_board;
struct gkf_device;
struct gkf_machine;
struct gkf_topology;

struct gkf_above {
	/* Member `x` points to the function gkf_x(). */
	void (*scenario_apply)(struct gkf_machine *m, uint64_t bin);
	void (*state_advance)(struct gkf_machine *m, unsigned device);
	void (*state_catch_up)(struct gkf_machine *m, unsigned device);
	void (*device_begin)(struct gkf_device *dev, struct gkf_board *board);
	void (*topology_make)(const struct gkf_board *boards, unsigned count,
			      enum gkf_layout layout, struct gkf_topology *ret);
	int64_t (*compute_mode)(struct gkf_machine *m, unsigned device);
	int (*instance_enter)(struct gkf_machine *m, unsigned device,
			      uint32_t *instance);
	int (*instance_bytes)(struct gkf_machine *m, unsigned device,
			      unsigned gi, uint64_t *ret_total,
			      uint64_t *ret_taken);
	uint64_t (*instances_hold)(struct gkf_machine *m, unsigned device);

	/* Called by the model. */
	void (*fault_bins)(struct gkf_machine *m, unsigned device,
			   uint64_t first, uint64_t end);
	void (*fault_catch_up)(struct gkf_machine *m, unsigned device,
			       enum gkf_value value);
	bool (*fault_value)(struct gkf_machine *m, unsigned device,
			    enum gkf_value value, int64_t *ret_value);
	int (*fault_recovery)(struct gkf_machine *m, unsigned device);
	void (*fault_tell_recovery)(struct gkf_machine *m, unsigned device,
				    int before);
};

#endif
