/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - the made-up machine: one mapped file that all processes share.
 * machine/file/file.h has its layout.
 */
#ifndef GKF_MACHINE_H
#define GKF_MACHINE_H

#include "base/export.h"
#include "machine/file/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gkf_above;
struct gkf_board_name;
struct gkf_file;
struct gkf_machine; /* an open machine: the mapping and this process's view */
struct gkf_profile;
struct gkf_scenario_table; /* trouble/scenario.h */

/* The description of a new machine. */
struct gkf_machine_spec {
	unsigned device_count;
	const struct gkf_profile *profiles; /* an array of device_count */
	enum gkf_latency latency;
	enum gkf_layout layout;
	/* Seed of UUIDs, serial numbers, and the differences between boards. */
	uint64_t seed;
	/* boards differ and their figures wander; false: not (life.h) */
	bool lively;
	/* Identities, one per board; NULL: they are made from the seed. */
	const struct gkf_board_name *names;
	bool owned; /* the calling process is its creator */
	enum gkf_others_may shared;
	/* NULL, with generation 0: the default driver, of generation 580. */
	const char *driver_version; /* "580.95.05" */
	const char *nvml_version;   /* "13.580.95.05" */
	unsigned cuda_version;      /* 13000 */
	uint64_t speed;             /* permille of real time; 0: 1000 */
	bool frozen;                /* the clock starts stopped */
	const struct gkf_scenario_table *scenario; /* NULL: none */
};

/*
 * The path of a machine. A name with a '/' is a path itself, NULL means the
 * value of GPUKIT_MACHINE or "default", any other name is in
 * /dev/shm/gpukit-<uid>/. GK_ERR_INVALID when it does not fit or the name is
 * empty, "." or "..".
 */
GKF_API int gkf_machine_path(const char *name, char *ret_path, size_t cap);

/*
 * Creates or opens a machine. `above` has the functions of model/ and trouble/
 * (above.h). Outside store/, call the functions of trouble/machine.h, which
 * describes them.
 */
int gkf_store_create(const char *path, const struct gkf_machine_spec *spec,
		     const struct gkf_above *above);
int gkf_store_open(const char *path, const struct gkf_above *above,
		   struct gkf_machine **ret);
int gkf_store_scratch(const struct gkf_machine_spec *spec,
		      const struct gkf_above *above, struct gkf_machine **ret);

GKF_API void gkf_machine_close(struct gkf_machine *m);

/*
 * Whether the machine was opened from another user's file. If so, it is a copy
 * as of that moment, and gkf_lock() returns GK_ERR_PERMISSION: only the due
 * steps of its scenario can change it.
 */
GKF_API bool gkf_machine_is_copy(const struct gkf_machine *m);

/* The least size of a machine's file. */
size_t gkf_machine_least_size(void);

/* The mapped file; valid until gkf_machine_close(). */
struct gkf_file *gkf_machine_file(struct gkf_machine *m);

#endif
