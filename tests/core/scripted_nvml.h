/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_nvml.h - a driver library that follows the test's script: the build
 * makes it as libnvml-scripted.so, and as libnvml-old.so with only the
 * functions of an old driver. The test gets the script of the library from
 * script().
 */
#ifndef TESTS_CORE_SCRIPTED_NVML_H
#define TESTS_CORE_SCRIPTED_NVML_H

#include "abi/nvml/nvml_abi.h"
#include "base/units.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_GPUS       64
#define SCRIPT_MIG        8
#define SCRIPT_PROCESSES  400
#define SCRIPT_FUNCTIONS  192
#define SCRIPT_LINKS      18
#define SCRIPT_XIDS       16
#define SCRIPT_ALL        (-1) /* every GPU */
#define SCRIPT_TOTAL      (80 * GIB)
#define SCRIPT_RESERVED   GIB
#define SCRIPT_NO_BYTES   (~0ULL) /* the driver does not know */
#define SCRIPT_WITHOUT_GI (~0U)

enum script_list { SCRIPT_COMPUTE, SCRIPT_GRAPHICS, SCRIPT_MPS, SCRIPT_LISTS };

struct script_process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

/* MIG device m has GPU instance m + 1 and compute instance 0. */
struct script_gpu {
	nvmlReturn_t handle; /* result of nvmlDeviceGetHandleByIndex_v2 */
	nvmlReturn_t all; /* result of every other call on it, 0: as scripted */
	bool hang;        /* calls wait until it is reset */
	unsigned
	    hang_at; /* the next call, counted from 1, that hangs; 0: none */
	unsigned inside;   /* calls that are waiting */
	unsigned delay_ms; /* of every call, in milliseconds */
	pthread_t caller;  /* thread of the last call */
	unsigned util;
	unsigned long long used;
	unsigned lie; /* counts and ids have this value; 0: the real one */
	bool mig_enabled;
	unsigned mig; /* bit m: MIG device m exists */
	struct script_process process[SCRIPT_LISTS][SCRIPT_PROCESSES];
	unsigned process_count[SCRIPT_LISTS];
	unsigned growing; /* the number of lists that will outgrow the room */
	nvmlProcessUtilizationSample_t sample[8];
	unsigned sample_count;
	unsigned long long
	    asked_since; /* the argument of the last call for samples */
	unsigned links;  /* number of NVLinks */
	unsigned active; /* bit l: link l is up */
	/* The other end of a link: a GPU, or SCRIPT_GPUS plus a switch. */
	unsigned leads_to[SCRIPT_LINKS];
};

/* Event sets: waiters, and the events that came. */
struct script_events {
	int sets;                     /* created minus freed */
	unsigned last;                /* the one created last */
	bool registered[SCRIPT_GPUS]; /* in the last set */
	unsigned registrations;
	nvmlReturn_t wait; /* result of a wait, 0: as scripted */
	bool hang;         /* waits do not return until it is reset */
	unsigned waiting;  /* waiting now */
	unsigned waits;    /* waits so far */
	struct {
		unsigned gpu, xid;
	} xid[SCRIPT_XIDS];
	unsigned xids;
};

/* Everything is guarded by lock. */
struct script {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	nvmlReturn_t init;
	bool init_hangs; /* until it is reset */
	char driver[80];
	size_t stride; /* of a record in a _v3 list */
	unsigned gpu_count;
	struct script_gpu gpu[SCRIPT_GPUS];
	struct {
		const char *name;
		nvmlReturn_t answer;
		unsigned calls;
	} function[SCRIPT_FUNCTIONS];
	int inits; /* minus shutdowns */
	struct script_events events;
};

typedef struct script *script_of(void);
script_of script;

#endif
