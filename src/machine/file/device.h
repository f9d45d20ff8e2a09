/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the machine file's data of one device. */
#ifndef GKF_FILE_DEVICE_H
#define GKF_FILE_DEVICE_H

#include "machine/file/account_state.h"
#include "machine/file/ecc_state.h"
#include "machine/file/fault_state.h"
#include "machine/file/link_state.h"
#include "machine/file/mig_state.h"
#include "machine/file/numbers.h"
#include "machine/file/smoothing_state.h"
#include "machine/file/state.h"
#include "machine/file/system_state.h"
#include "machine/file/work_state.h"

struct gkf_device {
	struct gkf_fault_state fault; /* active faults */
	struct gkf_mig mig;           /* its MIG instances */
	/* the value that was set, or GKF_UNSET */
	_Atomic int64_t set[GKF_VALUES_MAX];
	_Atomic uint64_t state_seq; /* state[state_seq % 2] is valid */
	struct gkf_state state[2];
	/* The highest energy shown so far, so that it never falls. */
	_Atomic uint64_t energy_shown_mj;
	struct gkf_links links; /* its NVLinks */
	/* The host name that was set through NVML. */
	struct gkf_text hostname;
	/* Bin b has the index b % GKF_PAST_BINS. */
	struct gkf_past past[GKF_PAST_BINS];
	struct gkf_ecc ecc;             /* memory errors */
	struct gkf_smoothing smoothing; /* presets of power smoothing */
	struct gkf_accounting accounting;
	struct gkf_books books;          /* memory in use */
	struct gkf_turn turn[GKF_TURNS]; /* which process may run kernels */
};

#endif
