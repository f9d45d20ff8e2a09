/*
 * file.h - the machine file, byte for byte: what every process of a machine
 * maps.
 *
 * Nobody serves it: whoever maps it computes the values of now from what is
 * in it. It stays usable when a process is killed at any instruction:
 * - a single value is one atomic word;
 * - a slot (a process on a device) becomes visible and vanishes by one word;
 * - the state of a device has two copies and a word that says which holds.
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
#define GKF_VERSION 10

struct gkf_file {
	uint64_t magic; /* written last: a file without it is not ready */
	uint32_t version;
	uint32_t size_check;        /* sizeof(struct gkf_file) */
	uint32_t driver_generation; /* 580; front and machine must agree */
	_Atomic uint64_t clock_seq; /* clock[seq % 2] holds */
	struct gkf_clock clock[2];
	uint64_t seed;
	char driver_version[32];
	char nvml_version[32];
	uint32_t cuda_version; /* 13000 */
	uint32_t device_count; /* read it by gkf_device_count() */
	int32_t creator_pid;   /* launcher; 0 for a machine nobody owns */
	uint32_t layout;       /* enum gkf_layout */
	uint64_t creator_ns, creator_start;
	_Atomic uint64_t latency;    /* enum gkf_latency */
	_Atomic uint64_t permission; /* enum gkf_permission */
	struct gkf_system system;
	_Atomic uint64_t slots_high; /* slots ever used: scans stop here */
	_Atomic uint64_t reaped_ns;  /* CLOCK_MONOTONIC of the last reaping */
	_Atomic uint64_t reap_pause_ns; /* how long to leave it alone */
	/* Latency model only: CLOCK_MONOTONIC until which calls are booked. */
	_Atomic uint64_t driver_busy_ns;
	_Atomic uint64_t calls[GKF_FUNCTIONS_MAX];   /* by row of nvml.def */
	_Atomic uint64_t refused[GKF_FUNCTIONS_MAX]; /* NOT_SUPPORTED default */
	_Atomic uint64_t extra_ns[GKF_FUNCTIONS_MAX]; /* latency added by ctl */
	_Atomic uint64_t cuda_calls[GKF_CUDA_FUNCTIONS_MAX];   /* by row of */
	_Atomic uint64_t cuda_refused[GKF_CUDA_FUNCTIONS_MAX]; /* cuda.def */
	_Atomic uint64_t faults; /* of the machine: a bit a gkf_machine_fault */
	_Atomic uint64_t run_speed; /* what a clock that stood goes on at */
	struct gkf_scenario_head scenario;
	struct gkf_rules rules;
	struct gkf_refusals refusals;
	struct gkf_name named[GKF_NAMES_MAX]; /* what else was refused */
	struct gkf_events events;
	struct gkf_device device[GKF_DEVICES_MAX];
	/* A struct gkf_board each, see boards.h; read it by gkf_board(). */
	uint64_t board[GKF_DEVICES_MAX][GKF_BOARD_ROOM / 8];
	struct gkf_slot slot[GKF_SLOTS_MAX];
	struct gkf_tally tally[GKF_SLOTS_MAX]; /* of each slot */
	struct gkf_busy busy[GKF_SLOTS_MAX];   /* of each slot */
	struct gkf_accounts accounts;
	_Atomic uint64_t totals; /* so many of them are used */
	struct gkf_total total[GKF_TOTALS_MAX];
	_Atomic uint64_t total_of[GKF_SLOTS_MAX]; /* place + 1; 0: none */
	/* Behind it: steps of the scenario, their texts, locks (locks.h). */
};

/* Its steps of a scenario; their texts lie behind them. */
static inline struct gkf_step *gkf_file_steps(struct gkf_file *file)
{
	return (struct gkf_step *)(void *)(file + 1);
}

#endif
