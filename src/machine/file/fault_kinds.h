/* SPDX-License-Identifier: Apache-2.0 */
/* fault_kinds.h - the kinds of faults of a device and of the machine. */
#ifndef GKF_FAULT_KINDS_H
#define GKF_FAULT_KINDS_H

#include "machine/file/numbers.h"

enum gkf_fault {
#define FAULT(id, ...) GKF_FAULT_##id,
#include "machine/file/fault.def"
#undef FAULT
	GKF_FAULT_COUNT
};

enum gkf_machine_fault {
#define MACHINE_FAULT(id, ...) GKF_MACHINE_FAULT_##id,
#include "machine/file/fault.def"
#undef MACHINE_FAULT
	GKF_MACHINE_FAULT_COUNT
};

/* The bit of a fault. */
#define GKF_FAULT_BIT(fault) (1ULL << (fault))

_Static_assert(GKF_FAULT_COUNT <= GKF_FAULTS_MAX,
	       "fault.def has no more rows of a device");

#endif
