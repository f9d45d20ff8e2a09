/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - limits and small enums shared by all parts of the machine file.
 */
#ifndef GKF_NUMBERS_H
#define GKF_NUMBERS_H

#include <stdint.h>

#define GKF_DEVICES_MAX   64
#define GKF_BOARD_ROOM    1024 /* bytes for a struct gkf_board */
#define GKF_SLOTS_MAX     8192
#define GKF_FUNCTIONS_MAX 512 /* space for the rows of nvml.def */
#define GKF_LINKS_MAX     36  /* NVML_NVLINK_MAX_LINKS */
#define GKF_TEXT_MAX      64  /* bytes of a settable text, with its NUL */
#define GKF_NAME_MAX      64  /* bytes of a name, with its NUL */

/* Bytes of a name in struct gkf_name, with its NUL. */
#define GKF_REFUSED_MAX 192

#define GKF_SCENARIO_NAME_MAX 64

/* Space for the rows of cuda_symbols.def. */
#define GKF_CUDA_FUNCTIONS_MAX 768

/* Bits of the MIG mode. */
#define GKF_MIG_CURRENT 1u
#define GKF_MIG_PENDING 2u

#define GKF_MIG_GIS 15 /* number of ids of GPU instances */
/* Number of ids of compute instances in a GPU instance. */
#define GKF_MIG_CIS    7
#define GKF_MIG_SLICES 8 /* memory slices of a GPU */
#define GKF_MIG_MAX    7 /* the most MIG devices of a GPU */

/* The MIG instance of a process or an event, as one number. */
#define GKF_INSTANCE(gi, ci) ((uint32_t)(gi) << 16 | (uint32_t)(ci))
#define GKF_INSTANCE_GI(i)   ((i) >> 16)
#define GKF_INSTANCE_CI(i)   ((i)&0xffff)

/*
 * Machine time is divided into bins as long as the driver's shortest sample
 * period.
 */
#define GKF_BINS_PER_S 6
#define GKF_BIN_NS     (1000000000ULL / GKF_BINS_PER_S)

/* Means that a value was not set, so it follows the model. */
#define GKF_UNSET INT64_MIN

/*
 * Space for the rows of values.def, and for the faults of a device in
 * fault.def.
 */
#define GKF_VALUES_MAX 128
#define GKF_FAULTS_MAX 32

/* The longest latency that ctl can add to a call. */
#define GKF_EXTRA_MAX_NS 3600000000000ULL

/* Stands for the instance of a process that is in no MIG instance. */
#define GKF_NO_INSTANCE UINT32_MAX

/* How the GPUs of a machine are connected; see model/topology.h. */
enum gkf_layout {
	GKF_LAYOUT_AUTO,
	GKF_LAYOUT_HGX,
	GKF_LAYOUT_PCIE,
	GKF_LAYOUT_NVL,
	GKF_LAYOUT_MESH,
	GKF_LAYOUT_COUNT,
};

enum gkf_latency { GKF_LATENCY_NONE, GKF_LATENCY_REAL };

/* The access that other users have to a machine's file. */
enum gkf_others_may { GKF_OTHERS_NOTHING, GKF_OTHERS_READ, GKF_OTHERS_WRITE };

/* The users who may make the changes that NVML reserves for root. */
enum gkf_permission {
	GKF_PERMIT_ROOT, /* effective user id 0 */
	GKF_PERMIT_ALL,
	GKF_PERMIT_NONE,
};

/* Kinds of work that keep a device busy. */
enum gkf_wave_kind {
	GKF_WAVE_NONE,   /* holds memory, never busy */
	GKF_WAVE_IDLE,   /* attached, but only waits: never busy */
	GKF_WAVE_TRAIN,  /* near `util`; in each period it dips to a fifth */
	GKF_WAVE_INFER,  /* around `util`; it rises and falls in each period */
	GKF_WAVE_STEADY, /* `util` in every bin, taken from a recording */
	GKF_WAVE_REAL,   /* the work its process really does: see busy.h */
	GKF_WAVE_KINDS,
};

enum gkf_process_type {
	GKF_COMPUTE = 1,
	GKF_GRAPHICS = 2,
	GKF_MPS = 4,
};

/* The "compute-mode" values that keep processes out, as NVML numbers them. */
enum gkf_compute_mode { GKF_PROHIBITED = 2, GKF_EXCLUSIVE = 3 };

#endif
