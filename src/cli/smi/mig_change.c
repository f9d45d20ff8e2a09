/* SPDX-License-Identifier: Apache-2.0 */
/* mig_change.c - creates and destroys GPU instances and compute instances. */
#include "cli/smi/direct.h"
#include "cli/smi/mig.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- profiles that people name ---- */

/* A word of a list: a profile's id or name, and an optional placement. */
struct wish {
	char word[SMI_PROFILE_WORD];
	int start; /* first slice; -1: anywhere */
};

/* Takes the next word from a list. Returns false if the list is empty. */
static bool next_wish(const char **list, struct wish *ret_wish)
{
	size_t len = strcspn(*list, ",");
	char *colon;
	uint64_t start;

	if (!**list)
		return false;
	snprintf(ret_wish->word, sizeof ret_wish->word, "%.*s", (int)len,
		 *list);
	*list += len + ((*list)[len] == ',');
	colon = strchr(ret_wish->word, ':');
	ret_wish->start = -1;
	/* A colon is never part of a profile's name. */
	if (colon && smi_parse_number(colon + 1, SMI_PLACES_MAX - 1, &start)) {
		*colon = '\0';
		ret_wish->start = (int)start;
	}
	return true;
}

static const struct smi_profile *
find_profile(const struct smi_profiles *profiles, const char *word)
{
	uint64_t id;

	if (!smi_parse_number(word, UINT32_MAX, &id))
		id = UINT64_MAX;
	for (size_t i = 0; i < profiles->count; i++)
		if (profiles->at[i].id == id ||
		    !strcasecmp(profiles->at[i].name, word))
			return &profiles->at[i];
	return NULL;
}

/* Prints whether one instance was destroyed. Returns r. */
static nvmlReturn_t tell_destroyed(struct smi_mig *m, const char *what,
				   const char *within, nvmlReturn_t r)
{
	printf("%s %s from GPU %2u%s%s%s\n",
	       r ? "Unable to destroy" : "Successfully destroyed", what,
	       m->gpu->index, within, r ? ": " : "",
	       r ? smi_error_text(m->gpus, r) : "");
	m->done++;
	return r;
}

/* ---- compute instances ---- */

static nvmlReturn_t refuse_ci(const struct smi_mig *m, const char *word,
			      nvmlReturn_t r)
{
	printf("Unable to create a compute instance on GPU %2u GPU instance ID "
	       "%2u using profile %s: %s\n",
	       m->gpu->index, m->gi->id, word, smi_error_text(m->gpus, r));
	return r;
}

static nvmlReturn_t create_ci(const struct smi_mig *m,
			      const struct smi_profile *profile,
			      const struct wish *wish)
{
	nvmlComputeInstancePlacement_t place = {(unsigned)wish->start,
						profile->slices};
	nvmlComputeInstanceInfo_t info;
	nvmlComputeInstance_t made;
	nvmlReturn_t r;

	if (wish->start < 0)
		r = SMI_NVML(m->gpus, nvmlGpuInstanceCreateComputeInstance,
			     m->gi->gi, profile->id, &made);
	else
		r = SMI_NVML(m->gpus,
			     nvmlGpuInstanceCreateComputeInstanceWithPlacement,
			     m->gi->gi, profile->id, &place, &made);
	if (!r)
		r = SMI_NVML(m->gpus, nvmlComputeInstanceGetInfo_v2, made,
			     &info);
	if (r)
		return refuse_ci(m, wish->word, r);
	printf("Successfully created compute instance ID %2u on GPU %2u GPU "
	       "instance ID %2u using profile MIG %s (ID %2u)\n",
	       info.id, m->gpu->index, m->gi->id, profile->name, profile->id);
	return NVML_SUCCESS;
}

/* Creates a compute instance that fills its GPU instance. */
static nvmlReturn_t create_whole_ci(const struct smi_mig *m)
{
	struct wish whole = {.start = -1};
	struct smi_profiles profiles;
	nvmlReturn_t r = smi_mig_profiles(m, &profiles);

	for (size_t i = 0; !r && i < profiles.count; i++) {
		const struct smi_profile *p = &profiles.at[i];

		if (p->slices != m->gi->profile->slices)
			continue;
		snprintf(whole.word, sizeof whole.word, "%u", p->id);
		return create_ci(m, p, &whole);
	}
	return r ? r : NVML_ERROR_NOT_SUPPORTED;
}

static nvmlReturn_t create_wished_cis(const struct smi_mig *m)
{
	const char *list = m->smi->profiles;
	struct smi_profiles profiles;
	struct wish wish;
	nvmlReturn_t r = smi_mig_profiles(m, &profiles);

	while (!r && next_wish(&list, &wish)) {
		const struct smi_profile *p =
		    find_profile(&profiles, wish.word);

		r = p ? create_ci(m, p, &wish)
		      : refuse_ci(m, wish.word, NVML_ERROR_INVALID_ARGUMENT);
	}
	return r;
}

static nvmlReturn_t create_cis_of(struct smi_mig *m)
{
	m->done++;
	return m->smi->profiles ? create_wished_cis(m) : create_whole_ci(m);
}

static nvmlReturn_t destroy_cis_of(struct smi_mig *m)
{
	struct smi_profiles profiles;
	struct smi_instances cis;
	nvmlReturn_t r = smi_mig_instances(m, &profiles, &cis);

	for (size_t i = 0; !r && i < cis.count; i++) {
		char what[64], within[64];

		snprintf(what, sizeof what, "compute instance ID %2u",
			 cis.at[i].id);
		snprintf(within, sizeof within, " GPU instance ID %2u",
			 m->gi->id);
		r = SMI_NVML(m->gpus, nvmlComputeInstanceDestroy, cis.at[i].ci);
		tell_destroyed(m, what, within, r);
	}
	return r;
}

/* ---- GPU instances ---- */

static nvmlReturn_t refuse_gi(const struct smi_mig *m, const char *word,
			      nvmlReturn_t r)
{
	printf("Unable to create a GPU instance on GPU %2u using profile %s: "
	       "%s\n",
	       m->gpu->index, word, smi_error_text(m->gpus, r));
	return r;
}

/*
 * A placement also has a size: the number of memory slices, which is the same
 * for all placements of a profile.
 */
static nvmlReturn_t create_gi_at(const struct smi_mig *m,
				 const struct smi_profile *profile,
				 unsigned start, nvmlGpuInstance_t *ret_gi)
{
	nvmlGpuInstancePlacement_t place, places[SMI_PLACES_MAX];
	unsigned count = SMI_PLACES_MAX;
	nvmlReturn_t r =
	    SMI_NVML(m->gpus, nvmlDeviceGetGpuInstancePossiblePlacements_v2,
		     m->gpu->handle, profile->id, places, &count);

	if (r)
		return r;
	place.start = start;
	place.size = count ? places[0].size : 0;
	return SMI_NVML(m->gpus, nvmlDeviceCreateGpuInstanceWithPlacement,
			m->gpu->handle, profile->id, &place, ret_gi);
}

static nvmlReturn_t create_gi(const struct smi_mig *m,
			      const struct smi_profile *profile,
			      const struct wish *wish)
{
	struct smi_instance made = {.profile = profile};
	struct smi_mig within = *m;
	nvmlGpuInstanceInfo_t info;
	nvmlReturn_t r;

	if (wish->start < 0)
		r = SMI_NVML(m->gpus, nvmlDeviceCreateGpuInstance,
			     m->gpu->handle, profile->id, &made.gi);
	else
		r = create_gi_at(m, profile, (unsigned)wish->start, &made.gi);
	if (!r)
		r = SMI_NVML(m->gpus, nvmlGpuInstanceGetInfo, made.gi, &info);
	if (r)
		return refuse_gi(m, wish->word, r);
	made.id = info.id;
	within.gi = &made;
	printf("Successfully created GPU instance ID %2u on GPU %2u using "
	       "profile MIG %s (ID %2u)\n",
	       made.id, m->gpu->index, profile->name, profile->id);
	return m->smi->with_cis ? create_whole_ci(&within) : NVML_SUCCESS;
}

static nvmlReturn_t create_gis(struct smi_mig *m)
{
	const char *list = m->smi->profiles;
	struct smi_profiles profiles;
	struct wish wish;
	nvmlReturn_t r = smi_mig_profiles(m, &profiles);

	for (; !r && next_wish(&list, &wish); m->done++) {
		const struct smi_profile *p =
		    find_profile(&profiles, wish.word);

		r = p ? create_gi(m, p, &wish)
		      : refuse_gi(m, wish.word, NVML_ERROR_INVALID_ARGUMENT);
	}
	return r;
}

static nvmlReturn_t destroy_gi(struct smi_mig *m)
{
	char what[64];

	snprintf(what, sizeof what, "GPU instance ID %2u", m->gi->id);
	return tell_destroyed(
	    m, what, "", SMI_NVML(m->gpus, nvmlGpuInstanceDestroy, m->gi->gi));
}

/* ---- the subcommands ---- */

static nvmlReturn_t create_cis(struct smi_mig *m)
{
	return smi_mig_each_gi(m, create_cis_of);
}

static nvmlReturn_t destroy_cis(struct smi_mig *m)
{
	return smi_mig_each_gi(m, destroy_cis_of);
}

static nvmlReturn_t destroy_gis(struct smi_mig *m)
{
	return smi_mig_each_gi(m, destroy_gi);
}

#define CHANGE(function, verb, what, step)                                     \
	int function(const struct smi *smi)                                    \
	{                                                                      \
		static const struct smi_mig_job job = {verb, what, false,      \
						       true, step};            \
                                                                               \
		return smi_mig_run(&job, smi);                                 \
	}
CHANGE(smi_mig_create_gis, "create", "GPU instances", create_gis)
CHANGE(smi_mig_create_cis, "create", "compute instances", create_cis)
CHANGE(smi_mig_destroy_gis, "destroy", "GPU instances", destroy_gis)
CHANGE(smi_mig_destroy_cis, "destroy", "compute instances", destroy_cis)
