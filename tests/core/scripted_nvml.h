/*
 * scripted_nvml.h - a driver library that does as the test says: made by the
 * build as libnvml-scripted.so, and as libnvml-old.so with the functions of an
 * old driver only. The test reaches the script of the library by script().
 */
#ifndef TESTS_CORE_SCRIPTED_NVML_H
#define TESTS_CORE_SCRIPTED_NVML_H

#include "abi/nvml_abi.h"
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
#define SCRIPT_NO_BYTES   (~0ULL) /* the driver cannot tell */
#define SCRIPT_WITHOUT_GI (~0U)

enum script_list { SCRIPT_COMPUTE, SCRIPT_GRAPHICS, SCRIPT_MPS, SCRIPT_LISTS };

struct script_process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

/* MIG device m has GPU instance m + 1 and compute instance 0. */
struct script_gpu {
	nvmlReturn_t handle; /* answer of nvmlDeviceGetHandleByIndex_v2 */
	nvmlReturn_t all;    /* answer of every other call on it, 0: none */
	bool hang;           /* calls wait until it is taken back */
	unsigned inside;     /* calls that wait now */
	unsigned delay_ms;   /* of every call */
	pthread_t caller;    /* of the last call */
	unsigned util;
	unsigned long long used;
	bool mig_enabled;
	unsigned mig; /* bit m: MIG device m exists */
	struct script_process process[SCRIPT_LISTS][SCRIPT_PROCESSES];
	unsigned process_count[SCRIPT_LISTS];
	unsigned growing; /* so many lists come out too long for the room */
	nvmlProcessUtilizationSample_t sample[8];
	unsigned sample_count;
	unsigned long long asked_since; /* of the last question for samples */
	unsigned links;                 /* NVLinks that it has */
	unsigned active;                /* bit l: link l is up */
	/* Where a link leads: a GPU, or SCRIPT_GPUS and a switch. */
	unsigned leads_to[SCRIPT_LINKS];
};

/* Event sets: who waits, and the events that came. */
struct script_events {
	int sets;                     /* created minus freed */
	unsigned last;                /* the one created last */
	bool registered[SCRIPT_GPUS]; /* in the last set */
	unsigned registrations;
	nvmlReturn_t wait; /* answer of a wait, 0: as it is */
	bool hang;         /* waits wait until it is taken back */
	unsigned waiting;  /* waits now */
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
	char driver[80];
	size_t stride; /* of a record in a list _v3 */
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
