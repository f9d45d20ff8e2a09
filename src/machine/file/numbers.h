/*
 * numbers.h - limits and small numbers that all of the machine file shares.
 */
#ifndef GKF_NUMBERS_H
#define GKF_NUMBERS_H

#include <stdint.h>

#define GKF_DEVICES_MAX   64
#define GKF_BOARD_ROOM    1024 /* for a struct gkf_board, bytes */
#define GKF_SLOTS_MAX     8192
#define GKF_FUNCTIONS_MAX 512 /* rows of nvml.def, with room */
#define GKF_LINKS_MAX     36  /* NVML_NVLINK_MAX_LINKS */
#define GKF_TEXT_MAX      64  /* of a text that changes, with its NUL */
#define GKF_NAME_MAX      64  /* of models and functions, with its NUL */

#define GKF_REFUSED_MAX 192 /* of what was refused by name, likewise */

#define GKF_SCENARIO_NAME_MAX 64

/* Rows of cuda.def, with room. */
#define GKF_CUDA_FUNCTIONS_MAX 768

/* Bits of the MIG mode. */
#define GKF_MIG_CURRENT 1u
#define GKF_MIG_PENDING 2u

#define GKF_MIG_GIS    15 /* ids of GPU instances */
#define GKF_MIG_CIS    7  /* ids of compute instances in one */
#define GKF_MIG_SLICES 8  /* of memory */
#define GKF_MIG_MAX    7  /* MIG devices of a GPU */

/* How a process's or an event's instance is told in one number. */
#define GKF_INSTANCE(gi, ci) ((uint32_t)(gi) << 16 | (uint32_t)(ci))
#define GKF_INSTANCE_GI(i)   ((i) >> 16)
#define GKF_INSTANCE_CI(i)   ((i)&0xffff)

/* Machine time is cut into bins: the driver's shortest sample period. */
#define GKF_BINS_PER_S 6
#define GKF_BIN_NS     (1000000000ULL / GKF_BINS_PER_S)

/* A value that is not set by anybody and follows the model. */
#define GKF_UNSET INT64_MIN

/* Rows of values.def and of a device's faults in fault.def, with room. */
#define GKF_VALUES_MAX 128
#define GKF_FAULTS_MAX 32

/* Nobody can add more to the time of a call. */
#define GKF_EXTRA_MAX_NS 3600000000000ULL

/* A process that is not in a MIG instance. */
#define GKF_NO_INSTANCE UINT32_MAX

/* How the GPUs of a machine hang together; see model/topology.h. */
enum gkf_layout {
	GKF_LAYOUT_AUTO,
	GKF_LAYOUT_HGX,
	GKF_LAYOUT_PCIE,
	GKF_LAYOUT_NVL,
	GKF_LAYOUT_MESH,
	GKF_LAYOUT_COUNT,
};

enum gkf_latency { GKF_LATENCY_NONE, GKF_LATENCY_REAL };

/* Who may change the machine through NVML what root alone may change. */
enum gkf_permission {
	GKF_PERMIT_ROOT, /* effective user id 0 */
	GKF_PERMIT_ALL,
	GKF_PERMIT_NONE,
};

/* Kinds of work that keep a device busy. */
enum gkf_wave_kind {
	GKF_WAVE_NONE,   /* holds memory, never busy */
	GKF_WAVE_IDLE,   /* as NONE: an attached but waiting process */
	GKF_WAVE_TRAIN,  /* steps near util, a dip to a fifth each period */
	GKF_WAVE_INFER,  /* bursts around util that swell with the period */
	GKF_WAVE_STEADY, /* util in every bin: what a recording says */
	GKF_WAVE_REAL,   /* what its process really does: see busy.h */
	GKF_WAVE_KINDS,
};

enum gkf_process_type {
	GKF_COMPUTE = 1,
	GKF_GRAPHICS = 2,
	GKF_MPS = 4,
};

/* Values of "compute-mode" that keep processes out, as NVML numbers them. */
enum gkf_compute_mode { GKF_PROHIBITED = 2, GKF_EXCLUSIVE = 3 };

#endif
