/* device.h - what the machine file holds of a device. */
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
	struct gkf_fault_state fault;        /* what is broken */
	struct gkf_mig mig;                  /* how it is split */
	_Atomic int64_t set[GKF_VALUES_MAX]; /* GKF_UNSET or the value */
	_Atomic uint64_t state_seq;          /* state[seq % 2] holds */
	struct gkf_state state[2];
	struct gkf_links links;              /* its NVLinks */
	struct gkf_text hostname;            /* that it was told */
	struct gkf_past past[GKF_PAST_BINS]; /* bin b at b % GKF_PAST_BINS */
	struct gkf_ecc ecc;                  /* errors of its memories */
	struct gkf_smoothing smoothing;      /* its preset profiles */
	struct gkf_accounting accounting;
	struct gkf_books books;          /* of its memory */
	struct gkf_turn turn[GKF_TURNS]; /* whose kernels run */
};

#endif
