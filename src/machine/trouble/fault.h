/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - faults of a made-up GPU: beginning, ending and reading them. All
 * processes see a change at once, and sleepers are woken.
 */
#ifndef GKF_FAULT_H
#define GKF_FAULT_H

#include "base/export.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/value.h"

#include <stdbool.h>

struct gkf_machine;

enum gkf_fault_argument {
	GKF_ARGUMENT_NOTHING,
	GKF_ARGUMENT_NUMBER,
	GKF_ARGUMENT_TIME,  /* ns */
	GKF_ARGUMENT_LINK,  /* kept as a bit for each link */
	GKF_ARGUMENT_PCIE,  /* generation << 8 | width */
	GKF_ARGUMENT_ERROR, /* see cuda_fault.h */
};

struct gkf_fault_info {
	const char *name, *help;
	enum gkf_fault_argument argument;
	uint64_t least, most, usual;
	bool mended_by_reset;
	unsigned xid;    /* 0: none */
	uint64_t events; /* nvmlEventTypes sent with it */
	int recovery;    /* nvmlDeviceGpuRecoveryAction_t */
};

struct gkf_machine_fault_info {
	const char *name, *help;
};

struct gkf_xid_info {
	unsigned number;
	const char *name;
	int becomes;     /* the fault that the Xid begins, or -1 */
	uint64_t events; /* nvmlEventTypes sent with it */
};

extern const struct gkf_fault_info gkf_faults[GKF_FAULT_COUNT];
extern const struct gkf_machine_fault_info
    gkf_machine_faults[GKF_MACHINE_FAULT_COUNT];
extern const struct gkf_xid_info gkf_xids[];
extern const unsigned gkf_xid_count;

/* Look up by name or number; -1, -1 or NULL when there is none. */
int gkf_fault_by_name(const char *name);
int gkf_machine_fault_by_name(const char *name);
const struct gkf_xid_info *gkf_xid_find(unsigned number);

/* Whether an argument is valid for a fault; checks both parts for PCIE. */
bool gkf_fault_takes(const struct gkf_fault_info *info, uint64_t argument);

/*
 * Begins a fault of a device, with its counts, Xids and events. GK_ERR_RANGE
 * unless argument is within the bounds of gkf_faults; GK_ERR_NOT_SUPPORTED when
 * the board cannot have this fault (no fan, no ECC, no such link).
 */
int gkf_fault_begin(struct gkf_machine *m, unsigned device,
		    enum gkf_fault fault, uint64_t argument);

/*
 * Ends the faults whose bits are set. Damage to memory is repaired as by a
 * reset: rows are remapped, volatile counts restart at 0.
 */
int gkf_fault_end(struct gkf_machine *m, unsigned device, uint64_t faults);

/* Ends the faults that a reset of the GPU mends. */
GKF_API int gkf_fault_reset(struct gkf_machine *m, unsigned device);

/*
 * Sends an Xid of the table gkf_xids on a device, and if it is the sign of a
 * fault, begins that fault. GK_ERR_RANGE: not in the table.
 */
int gkf_xid(struct gkf_machine *m, unsigned device, unsigned number);

/*
 * Like gkf_xid(), but in a MIG instance, GKF_INSTANCE(). GK_ERR_INVALID: the
 * Xid is not about a program; GK_ERR_NOT_FOUND: no such instance.
 */
int gkf_xid_in(struct gkf_machine *m, unsigned device, unsigned number,
	       uint32_t instance);

/*
 * Sends an Xid about a program, and begins no fault. If the instance no longer
 * exists, the Xid names the whole GPU.
 */
void gkf_xid_tell(struct gkf_machine *m, unsigned device, unsigned number,
		  uint32_t instance);

/* Whether a fault of a device is active. Cheap. device must exist. */
GKF_API bool gkf_fault_active(struct gkf_machine *m, unsigned device,
			      enum gkf_fault fault);

/*
 * The argument of a fault, within its range; for GKF_ARGUMENT_LINK a bit for
 * each link.
 */
GKF_API uint64_t gkf_fault_argument(struct gkf_machine *m, unsigned device,
				    enum gkf_fault fault);

int gkf_machine_fault_set(struct gkf_machine *m, enum gkf_machine_fault fault,
			  bool on);
GKF_API bool gkf_machine_fault_active(struct gkf_machine *m,
				      enum gkf_machine_fault fault);

/* ---- for the model ---- */

/* For the bins [first, end), raises the values that active faults make grow. */
void gkf_fault_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		    uint64_t end);

/* If an active fault raises this value, brings it up to date. Needs no lock. */
void gkf_fault_catch_up(struct gkf_machine *m, unsigned device,
			enum gkf_value value);

/*
 * The value that an active fault forces; false: no fault does. Needs no lock.
 */
bool gkf_fault_value(struct gkf_machine *m, unsigned device,
		     enum gkf_value value, int64_t *ret_value);

/* The most severe recovery action of all active faults. */
GKF_API int gkf_fault_recovery(struct gkf_machine *m, unsigned device);

/*
 * Sends an event if the recovery action differs from `before`. The caller holds
 * the writers' lock.
 */
void gkf_fault_tell_recovery(struct gkf_machine *m, unsigned device,
			     int before);

#endif
