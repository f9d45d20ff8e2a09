/*
 * generations.h - the driver generations that the made-up NVML comes in: one
 * library each, of the same objects. Data and look-ups only; the command and
 * the front share it.
 */
#ifndef GKF_NVML_GENERATIONS_H
#define GKF_NVML_GENERATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* A driver version as a number that compares: 535.86.10 is 535086. */
#define GKF_LEVEL(major, minor) ((major)*1000u + (minor))

enum gkf_generation_id {
#define GENERATION(id, ...) GKF_GENERATION_##id,
#include "abi/nvml_generations.def"
#undef GENERATION
	GKF_GENERATION_COUNT
};

struct gkf_generation {
	const char *name;          /* of its directory: "535" */
	const char *driver;        /* "535.261.03" */
	unsigned level;            /* GKF_LEVEL() of the driver */
	unsigned cuda;             /* 12020 */
	unsigned field_max;        /* its NVML_FI_MAX */
	unsigned long long events; /* its nvmlEventTypeAll */
	unsigned record;           /* bytes of a process in the _v3 lists */
};

extern const struct gkf_generation gkf_generations[GKF_GENERATION_COUNT];

/*
 * The generation whose library belongs to a driver: "535", or a version such
 * as "535.54.03", which takes the first of its major that is no older, or the
 * last one. NULL for a driver that we do not stand in for, or no version.
 */
const struct gkf_generation *gkf_generation_find(const char *driver);

#endif
