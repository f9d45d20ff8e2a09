/*
 * machine.h - the made-up machine: one mapped file that every process shares;
 * making it and opening it. What is in it: machine/file/file.h.
 */
#ifndef GKF_MACHINE_H
#define GKF_MACHINE_H

#include "base/export.h"
#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gkf_board_name;
struct gkf_file;
struct gkf_machine; /* an open machine: the mapping and this process's view */
struct gkf_profile;
struct gkf_scenario_table; /* trouble/scenario.h */

/* A new machine is made of this. */
struct gkf_machine_spec {
	unsigned device_count;
	const struct gkf_profile *profiles; /* device_count of them */
	enum gkf_latency latency;
	enum gkf_layout layout;
	uint64_t seed;                      /* of UUIDs and serial numbers */
	const struct gkf_board_name *names; /* a board each; NULL: by seed */
	bool owned; /* the calling process is its creator */
	/* NULL and 0: the default, of generation 580. */
	const char *driver_version; /* "580.95.05" */
	const char *nvml_version;   /* "13.580.95.05" */
	unsigned cuda_version;      /* 13000 */
	uint64_t speed;             /* permille of real time; 0: 1000 */
	bool frozen;                /* the clock stands until it is stepped */
	const struct gkf_scenario_table *scenario; /* NULL: none */
};

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
int gkf_machine_create(const char *path, const struct gkf_machine_spec *spec);

/*
 * Opens a machine. path NULL: the one that GPUKIT_MACHINE names; when that is
 * "default" and missing, it is made: 8 x gkf_profile_default. GK_ERR_VERSION:
 * made by another gpukit; GK_ERR_CORRUPT: no machine file at all;
 * GK_ERR_PERMISSION: not this user's to read and write, or not believed: see
 * trust.h.
 */
GKF_API int gkf_machine_open(const char *path, struct gkf_machine **ret);

/*
 * A machine in the memory of this process alone, to try things on: its clock
 * and its model stand still.
 */
int gkf_machine_scratch(const struct gkf_machine_spec *spec,
			struct gkf_machine **ret);
GKF_API void gkf_machine_close(struct gkf_machine *m);

/*
 * Was it opened from a file of another user? Then it shows what was there at
 * that moment, and gkf_lock() is GK_ERR_PERMISSION: nothing can be changed but
 * by the steps of its scenario that are due.
 */
GKF_API bool gkf_machine_is_copy(const struct gkf_machine *m);

/* No machine's file is smaller. */
size_t gkf_machine_least_size(void);

/* The mapped file; valid until gkf_machine_close(). */
struct gkf_file *gkf_machine_file(struct gkf_machine *m);

#endif
