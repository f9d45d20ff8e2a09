/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the layout of the machine file, which every process of a machine
 * maps.
 *
 * There is no server: each process computes the current values from the file.
 * The file stays usable when a process is killed at any instruction:
 * - a single value is one atomic word;
 * - one word makes a slot (a process on a device) visible or free;
 * - the state of a device has two copies and a word that says which is valid.
 * Writers hold the machine's robust lock; readers take no lock at all.
 */
#ifndef GKF_FILE_H
#define GKF_FILE_H

#include "machine/file/account_state.h"
#include "machine/file/clock_state.h"
#include "machine/file/device.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_state.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/file/slot.h"
#include "machine/file/system_state.h"
#include "machine/file/work_state.h"

#include <pthread.h>

#define GKF_MAGIC   0x314d54494b555047ULL /* "GPUKITM1" */
#define GKF_VERSION 17

struct gkf_file {
	uint64_t magic; /* written last: a file without it is not ready */
	uint32_t version;
	uint32_t size_check;        /* sizeof(struct gkf_file) */
	uint32_t rows_check;        /* gkf_rows_check() */
	uint32_t driver_generation; /* major version of the driver: 580 */
	uint64_t shared;            /* enum gkf_others_may */
	_Atomic uint64_t clock_seq; /* clock[clock_seq % 2] is valid */
	struct gkf_clock clock[2];
	uint64_t seed;
	char driver_version[32];
	char nvml_version[32];
	uint32_t cuda_version; /* 13000 */
	uint32_t device_count; /* read through gkf_device_count() */
	int32_t creator_pid;   /* launcher; 0: the machine has no owner */
	uint32_t layout;       /* enum gkf_layout */
	uint64_t creator_ns, creator_start;
	_Atomic uint64_t latency;    /* enum gkf_latency */
	_Atomic uint64_t permission; /* enum gkf_permission */
	struct gkf_system system;
	_Atomic uint64_t slots_high; /* highest slot ever used + 1 */
	_Atomic uint64_t reaped_ns;  /* CLOCK_MONOTONIC of the last reaping */
	_Atomic uint64_t reap_pause_ns; /* shortest time between reapings */
	/*
	 * The time (CLOCK_MONOTONIC) until which the driver is busy (latency
	 * model).
	 */
	_Atomic uint64_t driver_busy_ns;
	/*
	 * When the launcher of a shared machine last computed the state of all
	 * devices (CLOCK_BOOTTIME); see follow.h.
	 */
	_Atomic uint64_t kept_ns;
	/* Number of calls of each function, by row of nvml.def. */
	_Atomic uint64_t calls[GKF_FUNCTIONS_MAX];
	/*
	 * How many of these calls returned NOT_SUPPORTED because the function
	 * is not implemented.
	 */
	_Atomic uint64_t refused[GKF_FUNCTIONS_MAX];
	_Atomic uint64_t extra_ns[GKF_FUNCTIONS_MAX]; /* latency added by ctl */
	/* Number of calls of each function, by row of cuda_symbols.def. */
	_Atomic uint64_t cuda_calls[GKF_CUDA_FUNCTIONS_MAX];
	_Atomic uint64_t cuda_refused[GKF_CUDA_FUNCTIONS_MAX];
	_Atomic uint64_t faults;    /* a bit for each gkf_machine_fault */
	_Atomic uint64_t run_speed; /* speed at which a stopped clock resumes */
	struct gkf_scenario_head scenario;
	struct gkf_rules rules;
	struct gkf_refusals refusals;
	/* Refusals that are counted by name. */
	struct gkf_name named[GKF_NAMES_MAX];
	struct gkf_events events;
	struct gkf_device device[GKF_DEVICES_MAX];
	/*
	 * Each element holds a struct gkf_board; read it through gkf_board().
	 */
	uint64_t board[GKF_DEVICES_MAX][GKF_BOARD_ROOM / 8];
	struct gkf_slot slot[GKF_SLOTS_MAX];
	struct gkf_tally tally[GKF_SLOTS_MAX]; /* one per slot */
	struct gkf_busy busy[GKF_SLOTS_MAX];   /* one per slot */
	struct gkf_lent lent[GKF_SLOTS_MAX];   /* one per slot */
	struct gkf_accounts accounts;
	_Atomic uint64_t totals; /* used elements of total[] */
	struct gkf_total total[GKF_TOTALS_MAX];
	/* Index in total[] plus 1; 0: none. */
	_Atomic uint64_t total_of[GKF_SLOTS_MAX];
	/*
	 * The scenario's steps, their texts, and the locks (locks.h) follow
	 * this struct.
	 */
};

/* The steps of the scenario; their texts follow them. */
static inline struct gkf_step *gkf_file_steps(struct gkf_file *file)
{
	return (struct gkf_step *)(void *)(file + 1);
}

#endif
