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

#include "fake/profile.h"
#include "fake/wave.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GKF_API __attribute__((visibility("default")))

#define GKF_MAGIC         0x314d54494b555047ULL /* "GPUKITM1" */
#define GKF_VERSION       1
#define GKF_DEVICES_MAX   64
#define GKF_SLOTS_MAX     8192
#define GKF_FUNCTIONS_MAX 512 /* rows of nvml.def, with room */

enum gkf_value {
#define VALUE(id, name, min, max, unit, help) GKF_V_##id,
#include "fake/values.def"
#undef VALUE
	GKF_V_COUNT
};

/* A value that is not set by anybody and follows the model. */
#define GKF_UNSET INT64_MIN

enum gkf_fault {
	GKF_FAULT_NONE,
	GKF_FAULT_LOST, /* every call on it says GPU is lost */
};

/* Nobody can add more to the time of a call. */
#define GKF_EXTRA_MAX_NS 3600000000000ULL

enum gkf_latency { GKF_LATENCY_NONE, GKF_LATENCY_REAL };

enum gkf_process_type {
	GKF_COMPUTE = 1,
	GKF_GRAPHICS = 2,
	GKF_MPS = 4,
};

/*
 * What the model knows of a device after a bin. Words only: it is copied word
 * by word while others may write the other copy.
 */
struct gkf_state {
	uint64_t bin; /* last bin that is computed */
	uint64_t energy_uj;
	int64_t temp_mc; /* core, thousandths of a degree */
	int64_t power_mw;
	int64_t gpu_util; /* percent of the bin */
	int64_t mem_util;
	int64_t enc_util;
	int64_t dec_util;
	int64_t sm_clock_mhz;
	int64_t mem_clock_mhz;
	int64_t video_clock_mhz;
	int64_t pstate;
	int64_t throttle;
	int64_t demand_permille; /* sum of what processes want; may pass 1000 */
};

/* What never changes of a device. */
struct gkf_board {
	struct gkf_profile profile;
	char uuid[48];   /* GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx */
	char serial[32]; /* empty on consumer boards */
	uint32_t pci_domain, pci_bus, pci_device;
	uint32_t minor;
	uint32_t numa_node;
	uint32_t reserved;
};

struct gkf_device {
	struct gkf_board board;           /* read it by gkf_board() */
	_Atomic uint64_t fault;           /* enum gkf_fault */
	_Atomic int64_t set[GKF_V_COUNT]; /* GKF_UNSET or the value */
	_Atomic uint64_t state_seq;       /* state[seq % 2] holds */
	struct gkf_state state[2];
};

/*
 * A process on a device. `life` is odd while the slot is in use and grows by
 * one at each change of hands, so that a reader notices a slot that was freed
 * or reused under its eyes.
 */
struct gkf_slot {
	_Atomic uint64_t life;
	_Atomic uint64_t bytes; /* device memory held, contexts included */
	uint32_t device;
	uint32_t types; /* bits of gkf_process_type */
	int32_t pid;    /* in its own pid namespace */
	uint32_t unused;
	uint64_t pid_ns; /* inode of /proc/self/ns/pid */
	uint64_t start;  /* start time of the process, clock ticks */
	struct gkf_wave wave;
};

/* The file, byte for byte. */
struct gkf_file {
	uint64_t magic; /* written last: a file without it is not ready */
	uint32_t version;
	uint32_t size_check;            /* sizeof(struct gkf_file) */
	_Atomic uint64_t epoch_boot_ns; /* CLOCK_BOOTTIME at machine time 0 */
	uint64_t seed;
	char driver_version[32];
	char nvml_version[32];
	uint32_t cuda_version; /* 13000 */
	uint32_t device_count; /* read it by gkf_device_count() */
	int32_t creator_pid;   /* launcher; 0 for a machine nobody owns */
	uint32_t unused;
	uint64_t creator_ns, creator_start;
	_Atomic uint64_t latency;    /* enum gkf_latency */
	_Atomic uint64_t slots_high; /* slots ever used: scans stop here */
	_Atomic uint64_t reaped_ns;  /* CLOCK_MONOTONIC of the last reaping */
	_Atomic uint64_t reap_pause_ns; /* how long to leave it alone */
	pthread_mutex_t lock; /* robust, process-shared: all writers */
	/* Latency model only: CLOCK_MONOTONIC until which calls are booked. */
	_Atomic uint64_t driver_busy_ns;
	_Atomic uint64_t calls[GKF_FUNCTIONS_MAX];   /* by row of nvml.def */
	_Atomic uint64_t refused[GKF_FUNCTIONS_MAX]; /* NOT_SUPPORTED default */
	_Atomic uint64_t extra_ns[GKF_FUNCTIONS_MAX]; /* latency added by ctl */
	struct gkf_device device[GKF_DEVICES_MAX];
	struct gkf_slot slot[GKF_SLOTS_MAX];
};

/* What a new machine is made of. */
struct gkf_machine_spec {
	unsigned device_count;
	const struct gkf_profile *profiles; /* device_count of them */
	enum gkf_latency latency;
	uint64_t seed; /* of UUIDs and serial numbers */
	bool owned;    /* the calling process is its creator */
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

/* Machine time: nanoseconds since the machine was made, and its bin. */
GKF_API uint64_t gkf_machine_ns(const struct gkf_machine *m);
GKF_API uint64_t gkf_machine_bin(const struct gkf_machine *m);

/*
 * Makes the machine older at once, as if it had run for ns longer: what its
 * processes would have done to clocks and temperatures is done.
 */
GKF_API void gkf_machine_age(struct gkf_machine *m, uint64_t ns);

/*
 * The writers' lock. A dead holder is recovered from; a stopped one makes
 * gkf_lock() give up after a second with GK_ERR_TIMEOUT; an overwritten one
 * is GK_ERR_CORRUPT.
 */
int gkf_lock(struct gkf_machine *m);
bool gkf_trylock(struct gkf_machine *m, uint64_t patience_ns);
void gkf_unlock(struct gkf_machine *m);

#endif
