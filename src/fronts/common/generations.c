/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generations.c - owns the table of driver generations; finds the generation of
 * a driver version.
 */
#include "fronts/common/generations.h"

#include <stdio.h>
#include <string.h>

const struct gkf_generation gkf_generations[GKF_GENERATION_COUNT] = {
#define GENERATION(id, name, major, minor, driver, cuda, field_max, events,    \
		   record)                                                     \
	[GKF_GENERATION_##id] = {name,  driver,    GKF_LEVEL(major, minor),    \
				 cuda,  field_max, events,                     \
				 record},
#include "abi/nvml/nvml_generations.def"
#undef GENERATION
};

static const struct gkf_branch branches[] = {
#define BRANCH(name, driver, cuda) {name, driver, cuda},
#include "abi/nvml/nvml_branches.def"
#undef BRANCH
};
#define BRANCHES (sizeof branches / sizeof *branches)

/* The version "535.54.03" as 535054; 0 if the text is not a version. */
static unsigned level_of(const char *driver)
{
	unsigned major = 0, minor = 0, patch;
	int end = 0;

	if (strspn(driver, "0123456789.") == strlen(driver))
		sscanf(driver, "%3u.%3u%n.%2u%n", &major, &minor, &end, &patch,
		       &end);
	return end && !driver[end] ? GKF_LEVEL(major, minor) : 0;
}

/*
 * Whether a driver, given as a major or as a version, is newer than all known
 * ones.
 */
static bool is_newest(const char *driver)
{
	unsigned major = 0;
	int end = 0;

	sscanf(driver, "%3u%n", &major, &end);
	return end && (!driver[end] || level_of(driver)) &&
	       major > level_of(branches[BRANCHES - 1].driver) / 1000 &&
	       major > gkf_generations[GKF_GENERATION_COUNT - 1].level / 1000;
}

const struct gkf_branch *gkf_branch_find(const char *driver)
{
	for (size_t i = 0; i < BRANCHES; i++) {
		size_t len = strlen(branches[i].name);

		if (!strncmp(driver, branches[i].name, len) &&
		    (driver[len] == '\0' || driver[len] == '.'))
			return &branches[i];
	}
	return is_newest(driver) ? &branches[BRANCHES - 1] : NULL;
}

void gkf_driver_names(void (*add)(const char *name, void *data), void *data)
{
	size_t b = 0;

	for (unsigned i = 0; i <= GKF_GENERATION_COUNT; i++) {
		while (b < BRANCHES && (i == GKF_GENERATION_COUNT ||
					level_of(branches[b].driver) <
					    gkf_generations[i].level))
			add(branches[b++].name, data);
		if (i < GKF_GENERATION_COUNT)
			add(gkf_generations[i].name, data);
	}
}

static const struct gkf_generation *find_by_name(const char *name)
{
	for (unsigned i = 0; i < GKF_GENERATION_COUNT; i++)
		if (!strcmp(gkf_generations[i].name, name))
			return &gkf_generations[i];
	return NULL;
}

/*
 * Returns the first generation of the driver's major that is not older than the
 * driver, or else the last one of that major; NULL if there is none of that
 * major.
 */
static const struct gkf_generation *find_by_major(unsigned level)
{
	const struct gkf_generation *found = NULL;

	for (unsigned i = 0; i < GKF_GENERATION_COUNT; i++)
		if (gkf_generations[i].level / 1000 == level / 1000 &&
		    (!found || found->level < level))
			found = &gkf_generations[i];
	return found;
}

/* Returns the last generation that is older than the driver, or NULL. */
static const struct gkf_generation *find_below(unsigned level)
{
	const struct gkf_generation *found = NULL;

	for (unsigned i = 0; i < GKF_GENERATION_COUNT; i++)
		if (gkf_generations[i].level < level)
			found = &gkf_generations[i];
	return found;
}

const struct gkf_generation *gkf_generation_find(const char *driver)
{
	const struct gkf_generation *g = find_by_name(driver);
	const struct gkf_branch *branch = gkf_branch_find(driver);
	unsigned level;

	if (g)
		return g;
	if (branch && !strchr(driver, '.'))
		driver = branch->driver;
	level = level_of(driver);
	g = find_by_major(level);
	return g || !level ? g : find_below(level);
}
