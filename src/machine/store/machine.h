/*
 * machine.h - the made-up machine: one mapped file that every process shares.
 *
 * Nobody serves it: whoever maps it computes the values of now from what is
 * in it. It stays usable when a process is killed at any instruction:
 * - a single value is one atomic word;
 * - a slot (a process on a device) becomes visible and vanishes by one word;
 * - the state of a device has two copies and a word that says which holds.
 * Writers hold the machine's robust lock; readers take no lock at all.
 */
#ifndef GKF_MACHINE_H
#define GKF_MACHINE_H

#include "machine/file/account_state.h"
#include "machine/file/ecc_state.h"
#include "machine/store/event.h"
#include "machine/file/fault_state.h"
#include "machine/file/mig_state.h"
#include "machine/file/link_state.h"
#include "machine/model/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/smoothing_state.h"
#include "machine/file/state.h"
#include "machine/file/system_state.h"
#include "machine/model/topology.h"
#include "machine/model/wave.h"
#include "machine/file/work_state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GKF_API __attribute__((visibility("default")))

#define GKF_MAGIC         0x314d54494b555047ULL /* "GPUKITM1" */
#define GKF_VERSION       4
#define GKF_DEVICES_MAX   64
#define GKF_SLOTS_MAX     8192
#define GKF_FUNCTIONS_MAX 512 /* rows of nvml.def, with room */

enum gkf_value {
#define VALUE(id, name, min, max, unit, help, ...) GKF_V_##id,
#include "machine/model/values.def"
#undef VALUE
	GKF_V_COUNT
};

/* A value that is not set by anybody and follows the model. */
#define GKF_UNSET INT64_MIN

/* Nobody can add more to the time of a call. */
#define GKF_EXTRA_MAX_NS 3600000000000ULL

enum gkf_latency { GKF_LATENCY_NONE, GKF_LATENCY_REAL };

/* Who may change the machine through NVML what root alone may change. */
enum gkf_permission {
	GKF_PERMIT_ROOT, /* effective user id 0 */
	GKF_PERMIT_ALL,
	GKF_PERMIT_NONE,
};

enum gkf_process_type {
	GKF_COMPUTE = 1,
	GKF_GRAPHICS = 2,
	GKF_MPS = 4,
};

/* Values of "compute-mode" that keep processes out, as NVML numbers them. */
enum gkf_compute_mode { GKF_PROHIBITED = 2, GKF_EXCLUSIVE = 3 };

/* A process that is not in a MIG instance. */
#define GKF_NO_INSTANCE UINT32_MAX

/* What never changes of a device. */
struct gkf_board {
	struct gkf_profile profile;
	char uuid[48];   /* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
	char serial[32]; /* empty on consumer boards */
	uint32_t pci_domain, pci_bus, pci_device;
	uint32_t minor;
	uint64_t reserved;
};

struct gkf_device {
	struct gkf_board board;           /* read it by gkf_board() */
	struct gkf_fault_state fault;     /* what is broken */
	struct gkf_mig mig;               /* how it is split */
	_Atomic int64_t set[GKF_V_COUNT]; /* GKF_UNSET or the value */
	_Atomic uint64_t state_seq;       /* state[seq % 2] holds */
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

/*
 * Machine time passes at speed / 1000 of real time since real_ns of
 * CLOCK_BOOTTIME, when it was machine_ns. Words only, as gkf_state.
 */
struct gkf_clock {
	uint64_t real_ns, machine_ns;
	uint64_t wall_ns; /* since 1970, at real_ns */
	uint64_t speed;   /* permille; 0: it stands still */
};
#define GKF_SPEED_MAX 1000000

/*
 * A process on a device. `life` is odd while the slot is in use and grows by
 * one at each change of hands, so that a reader notices a slot that was freed
 * or reused under its eyes.
 */
struct gkf_slot {
	_Atomic uint64_t life;
	_Atomic uint64_t bytes;   /* its own device memory, with contexts */
	_Atomic uint64_t managed; /* beside it, managed memory that came */
	uint32_t device;
	uint32_t types;    /* bits of gkf_process_type */
	int32_t pid;       /* in its own pid namespace */
	uint32_t instance; /* GKF_INSTANCE(gi, ci), or GKF_NO_INSTANCE */
	uint64_t pid_ns;   /* inode of /proc/self/ns/pid */
	uint64_t start;    /* start time of the process, clock ticks */
	uint64_t stack;    /* where its stack begins: another one after exec */
	struct gkf_wave wave;
};

/* The file, byte for byte. */
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
	pthread_mutex_t lock; /* robust, process-shared: all writers */
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
	struct gkf_slot slot[GKF_SLOTS_MAX];
	struct gkf_tally tally[GKF_SLOTS_MAX]; /* of each slot */
	struct gkf_busy busy[GKF_SLOTS_MAX];   /* of each slot */
	struct gkf_accounts accounts;
	/* Behind it: the steps of the scenario, then their texts. */
};

struct gkf_scenario_table; /* scenario.h */

/* What a new machine is made of. */
struct gkf_machine_spec {
	unsigned device_count;
	const struct gkf_profile *profiles; /* device_count of them */
	enum gkf_latency latency;
	enum gkf_layout layout;
	uint64_t seed; /* of UUIDs and serial numbers */
	bool owned;    /* the calling process is its creator */
	/* NULL and 0: the default, of generation 580. */
	const char *driver_version; /* "580.95.05" */
	const char *nvml_version;   /* "13.580.95.05" */
	unsigned cuda_version;      /* 13000 */
	uint64_t speed;             /* permille of real time; 0: 1000 */
	bool frozen;                /* the clock stands until it is stepped */
	const struct gkf_scenario_table *scenario; /* NULL: none */
};

struct gkf_machine; /* an open machine: the mapping and this process's view */

/*
 * The path of a machine: name with a '/' is a path itself, NULL is the value
 * of GPUKIT_MACHINE or "default", anything else lies in
 * /dev/shm/gpukit-<uid>/. GK_ERR_INVALID when it does not fit or the name is
 * empty, "." or "..".
 */
GKF_API int gkf_machine_path(const char *name, char *ret_path, size_t cap);

/*
 * Makes a machine file, mode 0600, its space reserved (GK_ERR_NO_SPACE when
 * /dev/shm is full); it appears whole or not at all. GK_ERR_EXISTS when
 * there is one, GK_ERR_INVALID when path has no '/'. The parent directory is
 * made when it is the private one.
 */
GKF_API int gkf_machine_create(const char *path,
			       const struct gkf_machine_spec *spec);

/*
 * Opens a machine. path NULL: the one that GPUKIT_MACHINE names; when that is
 * "default" and missing, it is made: 8 x gkf_profile_default. GK_ERR_VERSION:
 * made by another gpukit; GK_ERR_CORRUPT: no machine file at all.
 */
GKF_API int gkf_machine_open(const char *path, struct gkf_machine **ret);

/*
 * A machine in the memory of this process alone, to try things on: its clock
 * and its model stand still.
 */
GKF_API int gkf_machine_scratch(const struct gkf_machine_spec *spec,
				struct gkf_machine **ret);
GKF_API void gkf_machine_close(struct gkf_machine *m);

/* The mapped file; valid until gkf_machine_close(). */
GKF_API struct gkf_file *gkf_machine_file(struct gkf_machine *m);

/*
 * What never changes was checked and copied when the machine was opened: a
 * process that writes over the file later cannot lead anybody astray.
 * device must be below the count; the board is valid until
 * gkf_machine_close().
 */
GKF_API unsigned gkf_device_count(const struct gkf_machine *m);
GKF_API const struct gkf_board *gkf_board(const struct gkf_machine *m,
					  unsigned device);

/* How they hang together; valid as long. */
GKF_API const struct gkf_topology *gkf_topology(const struct gkf_machine *m);

/* Machine time: nanoseconds since the machine was made, and its bin. */
GKF_API uint64_t gkf_machine_ns(const struct gkf_machine *m);
GKF_API uint64_t gkf_machine_bin(const struct gkf_machine *m);

/* The clock as it is set. */
GKF_API struct gkf_clock gkf_clock_get(const struct gkf_machine *m);

/*
 * Wall time, microseconds since 1970, of a moment of machine time: now minus
 * what lies between in real time. A clock that stands shows the moment at
 * which it was stopped, and each step makes that later; its past, and that of
 * a clock whose speed was changed, is told as if it had always run so.
 */
GKF_API uint64_t gkf_wall_us(const struct gkf_machine *m, uint64_t machine_ns);

/* Real nanoseconds until a moment of machine time; UINT64_MAX: never. */
GKF_API uint64_t gkf_real_until(const struct gkf_machine *m,
				uint64_t machine_ns);

/*
 * Changes the speed; GK_ERR_RANGE above GKF_SPEED_MAX permille. A clock that
 * is stopped remembers in run_speed how fast it went.
 */
GKF_API int gkf_clock_speed(struct gkf_machine *m, uint64_t speed);

/*
 * Makes the machine older at once, as if it had run for ns longer: what its
 * processes would have done to clocks and temperatures is done.
 */
GKF_API int gkf_machine_age(struct gkf_machine *m, uint64_t ns);

/*
 * Computes what all devices have come to by now, waiting for whoever changes
 * them: who reads then, of a clock that stands, gets nothing older.
 */
GKF_API int gkf_machine_settle(struct gkf_machine *m);

/*
 * The writers' lock. A dead holder is recovered from; a stopped one makes
 * gkf_lock() give up after a second with GK_ERR_TIMEOUT; an overwritten one
 * is GK_ERR_CORRUPT.
 */
int gkf_lock(struct gkf_machine *m);
bool gkf_trylock(struct gkf_machine *m, uint64_t patience_ns);
void gkf_unlock(struct gkf_machine *m);

#endif
