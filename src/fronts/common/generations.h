/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generations.h - the driver generations that the made-up NVML imitates. Each
 * has its own library, made from the same objects. Contains only data and
 * look-ups, which the command and the NVML libraries share.
 */
#ifndef GKF_NVML_GENERATIONS_H
#define GKF_NVML_GENERATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* A driver version as a comparable number: 535.86.10 is 535086. */
#define GKF_LEVEL(major, minor) ((major)*1000u + (minor))

enum gkf_generation_id {
#define GENERATION(id, ...) GKF_GENERATION_##id,
#include "abi/nvml/nvml_generations.def"
#undef GENERATION
	GKF_GENERATION_COUNT
};

struct gkf_generation {
	const char *name;          /* name of its directory, such as "535" */
	const char *driver;        /* "535.261.03" */
	unsigned level;            /* GKF_LEVEL() of the driver */
	unsigned cuda;             /* supported CUDA version, such as 12020 */
	unsigned field_max;        /* NVML_FI_MAX in its nvml.h */
	unsigned long long events; /* nvmlEventTypeAll in its nvml.h */
	unsigned record;           /* bytes per process in the _v3 lists */
};

extern const struct gkf_generation gkf_generations[GKF_GENERATION_COUNT];

/*
 * A driver branch that is not a generation of its own: it uses the library of
 * the next older generation.
 */
struct gkf_branch {
	const char *name;   /* such as "545" */
	const char *driver; /* "545.23.08" */
	unsigned cuda;
};

/*
 * The branch of a driver (a major or a version), or NULL. A driver newer than
 * all branches and generations counts as part of the newest branch.
 */
const struct gkf_branch *gkf_branch_find(const char *driver);

/* Calls add() with the name of each generation and branch, oldest first. */
void gkf_driver_names(void (*add)(const char *name, void *data), void *data);

/*
 * The generation of a driver, which is a major such as "535" or a version such
 * as "535.54.03". If there are several generations of that major, returns the
 * first one that is not older than the version, or else the last one. A driver
 * between two generations belongs to the older one, and one that is newer than
 * all to the newest. NULL if it is older than all, or `driver` is not a
 * version.
 */
const struct gkf_generation *gkf_generation_find(const char *driver);

#endif
