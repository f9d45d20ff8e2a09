/*
 * fault.h - breaking and mending a made-up GPU, and rules by which single
 * functions fail. Everybody sees a change at once; whoever sleeps is woken.
 */
#ifndef GKF_FAULT_H
#define GKF_FAULT_H

#include "base/export.h"
#include "machine/file/fault_kinds.h"

#include <stdbool.h>

struct gkf_machine;

enum gkf_fault_argument {
	GKF_ARGUMENT_NOTHING,
	GKF_ARGUMENT_NUMBER,
	GKF_ARGUMENT_TIME,  /* ns */
	GKF_ARGUMENT_LINK,  /* kept as a bit a link */
	GKF_ARGUMENT_PCIE,  /* generation << 8 | width */
	GKF_ARGUMENT_ERROR, /* see cuda_fault.h */
};

struct gkf_fault_info {
	const char *name, *help;
	enum gkf_fault_argument argument;
	uint64_t least, most, usual;
	bool mended_by_reset;
	unsigned xid;    /* 0: none */
	uint64_t events; /* nvmlEventTypes that are told beside it */
	int recovery;    /* nvmlDeviceGpuRecoveryAction_t */
};

struct gkf_machine_fault_info {
	const char *name, *help;
};

struct gkf_xid_info {
	unsigned number;
	const char *name;
	int becomes;     /* enum gkf_fault, or -1 */
	uint64_t events; /* as of a fault */
};

extern const struct gkf_fault_info gkf_faults[GKF_FAULT_COUNT];
extern const struct gkf_machine_fault_info
    gkf_machine_faults[GKF_MACHINE_FAULT_COUNT];
extern const struct gkf_xid_info gkf_xids[];
extern const unsigned gkf_xid_count;

/* By name or number; -1, -1 or NULL when there is none. */
int gkf_fault_by_name(const char *name);
int gkf_machine_fault_by_name(const char *name);
const struct gkf_xid_info *gkf_xid_find(unsigned number);

/* Whether an argument is one of a fault: of PCIe, both parts of it. */
bool gkf_fault_takes(const struct gkf_fault_info *info, uint64_t argument);

/*
 * Breaks a device: counts, Xids and events follow. argument within what
 * gkf_faults says, or GK_ERR_RANGE; GK_ERR_NOT_SUPPORTED when the board cannot
 * have this fault (no fan, no ECC, no such link).
 */
int gkf_fault_begin(struct gkf_machine *m, unsigned device,
		    enum gkf_fault fault, uint64_t argument);

/*
 * Ends the faults whose bits are set. What they left in memory is repaired as
 * by a reset: rows are replaced, volatile counts begin anew.
 */
int gkf_fault_end(struct gkf_machine *m, unsigned device, uint64_t faults);

/* The faults that a reset of the GPU mends are mended. */
int gkf_fault_reset(struct gkf_machine *m, unsigned device);

/*
 * An Xid of its table befalls a device: the fault that it is the sign of
 * begins, or it is told only. GK_ERR_RANGE: not in the table.
 */
int gkf_xid(struct gkf_machine *m, unsigned device, unsigned number);

/*
 * The same of what runs in a MIG instance, GKF_INSTANCE(): only an Xid that
 * tells of a program is of an instance, else GK_ERR_INVALID. GK_ERR_NOT_FOUND:
 * no such instance.
 */
int gkf_xid_in(struct gkf_machine *m, unsigned device, unsigned number,
	       uint32_t instance);

/*
 * An Xid that tells of a program, whatever else it could be the sign of; of an
 * instance that is gone it is told of the GPU.
 */
void gkf_xid_tell(struct gkf_machine *m, unsigned device, unsigned number,
		  uint32_t instance);

/* Is a device broken in that way? Cheap. device must exist. */
GKF_API bool gkf_fault_active(struct gkf_machine *m, unsigned device,
			      enum gkf_fault fault);

/* The argument of a fault, within its range; bits of GKF_ARGUMENT_LINK. */
GKF_API uint64_t gkf_fault_argument(struct gkf_machine *m, unsigned device,
				    enum gkf_fault fault);

int gkf_machine_fault_set(struct gkf_machine *m, enum gkf_machine_fault fault,
			  bool on);
GKF_API bool gkf_machine_fault_active(struct gkf_machine *m,
				      enum gkf_machine_fault fault);

#endif
