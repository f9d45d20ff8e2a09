/* SPDX-License-Identifier: Apache-2.0 */
/* mig_change.c - creates and destroys GPU instances and compute instances. */
#include "cli/smi/direct.h"
#include "cli/smi/mig.h"

#include <stdio.h>
#include <stdlib.h>

/* The chosen GPU instances of all GPUs, and what was changed. */
struct counts {
	unsigned gis, done;
};

/* A change of the GPUs in MIG mode, and its words in messages. */
struct change {
	const char *verb, *what; /* "create", "GPU instances" */
	/* Changes a GPU; counts what it found and changed. */
	nvmlReturn_t (*make)(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu, struct counts *counts);
};

static int make_change(const struct change *change, const struct smi *smi,
		       const struct smi_gpus *gpus)
{
	struct counts counts = {0};
	unsigned able = 0;
	nvmlReturn_t r = NVML_SUCCESS;

	for (size_t i = 0; !r && i < gpus->count; i++) {
		bool on;

		smi_mig_mode(gpus, &gpus->at[i], &on);
		if (!on)
			continue;
		able++;
		r = change->make(smi, gpus, &gpus->at[i], &counts);
	}
	if (!able)
		puts("No MIG-enabled devices found.");
	else if (!r && !counts.done)
		printf("No %s found: Not Found\n",
		       counts.gis ? "compute instances" : "GPU instances");
	else if (r)
		printf("Failed to %s %s: %s\n", change->verb, change->what,
		       smi_error_text(gpus, r));
	return r || counts.done ? smi_status_of(r) : SMI_NOT_FOUND;
}

static int run_change(const struct change *change, const struct smi *smi)
{
	struct smi_gpus gpus;
	int status = smi_gpus_open(smi->ids, &gpus);

	if (status)
		return status;
	status = make_change(change, smi, &gpus);
	smi_gpus_close(&gpus);
	return status;
}

/* Reads the chosen GPU instances. */
static nvmlReturn_t find_gis(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu,
			     struct smi_profiles *ret_profiles,
			     struct smi_instances *ret_gis,
			     struct counts *counts)
{
	nvmlReturn_t r;

	smi_gi_profiles(gpus, gpu, ret_profiles);
	r = smi_gis(gpus, gpu, ret_profiles, smi->gis, ret_gis);
	counts->gis += r ? 0 : (unsigned)ret_gis->count;
	return r;
}

/* ---- profiles that people name ---- */

/* A word of a list: a profile's id or name, and where it shall start. */
struct wish {
	char word[SMI_PROFILE_WORD];
	int start; /* -1: anywhere */
};

/* Takes a word off a list; false: the list is empty. */
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
	/* No profile has a name with a colon. */
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

/* ---- compute instances ---- */

static nvmlReturn_t refuse_ci(const struct smi_gpus *gpus,
			      const struct smi_gpu *gpu,
			      const struct smi_instance *gi, const char *word,
			      nvmlReturn_t r)
{
	printf("Unable to create a compute instance on GPU %2u GPU instance ID "
	       "%2u using profile %s: %s\n",
	       gpu->index, gi->id, word, smi_error_text(gpus, r));
	return r;
}

static nvmlReturn_t create_ci(const struct smi_gpus *gpus,
			      const struct smi_gpu *gpu,
			      const struct smi_instance *gi,
			      const struct smi_profile *profile,
			      const struct wish *wish)
{
	nvmlComputeInstancePlacement_t place = {(unsigned)wish->start,
						profile->slices};
	nvmlComputeInstanceInfo_t info;
	nvmlComputeInstance_t made;
	nvmlReturn_t r;

	if (wish->start < 0)
		r = SMI_NVML(gpus, nvmlGpuInstanceCreateComputeInstance, gi->gi,
			     profile->id, &made);
	else
		r = SMI_NVML(gpus,
			     nvmlGpuInstanceCreateComputeInstanceWithPlacement,
			     gi->gi, profile->id, &place, &made);
	if (!r)
		r = SMI_NVML(gpus, nvmlComputeInstanceGetInfo_v2, made, &info);
	if (r)
		return refuse_ci(gpus, gpu, gi, wish->word, r);
	printf("Successfully created compute instance ID %2u on GPU %2u GPU "
	       "instance ID %2u using profile MIG %s (ID %2u)\n",
	       info.id, gpu->index, gi->id, profile->name, profile->id);
	return NVML_SUCCESS;
}

/* The compute instance that fills its GPU instance. */
static nvmlReturn_t create_whole_ci(const struct smi_gpus *gpus,
				    const struct smi_gpu *gpu,
				    const struct smi_instance *gi)
{
	struct wish whole = {.start = -1};
	struct smi_profiles profiles;

	smi_ci_profiles(gpus, gi, &profiles);
	for (size_t i = 0; i < profiles.count; i++) {
		const struct smi_profile *p = &profiles.at[i];

		if (p->slices != gi->profile->slices)
			continue;
		snprintf(whole.word, sizeof whole.word, "%u", p->id);
		return create_ci(gpus, gpu, gi, p, &whole);
	}
	return NVML_ERROR_NOT_SUPPORTED;
}

static nvmlReturn_t create_wished_cis(const struct smi_gpus *gpus,
				      const struct smi_gpu *gpu,
				      const struct smi_instance *gi,
				      const char *list)
{
	struct smi_profiles profiles;
	struct wish wish;
	nvmlReturn_t r = NVML_SUCCESS;

	smi_ci_profiles(gpus, gi, &profiles);
	while (!r && next_wish(&list, &wish)) {
		const struct smi_profile *p =
		    find_profile(&profiles, wish.word);

		r = p ? create_ci(gpus, gpu, gi, p, &wish)
		      : refuse_ci(gpus, gpu, gi, wish.word,
				  NVML_ERROR_INVALID_ARGUMENT);
	}
	return r;
}

static nvmlReturn_t create_cis(const struct smi *smi,
			       const struct smi_gpus *gpus,
			       const struct smi_gpu *gpu, struct counts *counts)
{
	struct smi_profiles profiles;
	struct smi_instances gis;
	nvmlReturn_t r = find_gis(smi, gpus, gpu, &profiles, &gis, counts);

	for (size_t i = 0; !r && i < gis.count; i++, counts->done++)
		r = smi->profiles ? create_wished_cis(gpus, gpu, &gis.at[i],
						      smi->profiles)
				  : create_whole_ci(gpus, gpu, &gis.at[i]);
	return r;
}

int smi_mig_create_cis(const struct smi *smi)
{
	static const struct change change = {"create", "compute instances",
					     create_cis};

	return run_change(&change, smi);
}

static nvmlReturn_t destroy_cis_of(const struct smi *smi,
				   const struct smi_gpus *gpus,
				   const struct smi_gpu *gpu,
				   const struct smi_instance *gi,
				   struct counts *counts)
{
	struct smi_profiles profiles;
	struct smi_instances cis;
	nvmlReturn_t r;

	smi_ci_profiles(gpus, gi, &profiles);
	r = smi_cis(gpus, gi, &profiles, smi->cis, &cis);
	for (size_t i = 0; !r && i < cis.count; i++) {
		const char *how = "Successfully destroyed";

		r = SMI_NVML(gpus, nvmlComputeInstanceDestroy, cis.at[i].ci);
		if (r)
			how = "Unable to destroy";
		printf("%s compute instance ID %2u from GPU %2u GPU instance "
		       "ID %2u%s%s\n",
		       how, cis.at[i].id, gpu->index, gi->id, r ? ": " : "",
		       r ? smi_error_text(gpus, r) : "");
		counts->done++;
	}
	return r;
}

static nvmlReturn_t destroy_cis(const struct smi *smi,
				const struct smi_gpus *gpus,
				const struct smi_gpu *gpu,
				struct counts *counts)
{
	struct smi_profiles profiles;
	struct smi_instances gis;
	nvmlReturn_t r = find_gis(smi, gpus, gpu, &profiles, &gis, counts);

	for (size_t i = 0; !r && i < gis.count; i++)
		r = destroy_cis_of(smi, gpus, gpu, &gis.at[i], counts);
	return r;
}

int smi_mig_destroy_cis(const struct smi *smi)
{
	static const struct change change = {"destroy", "compute instances",
					     destroy_cis};

	return run_change(&change, smi);
}

/* ---- GPU instances ---- */

static nvmlReturn_t refuse_gi(const struct smi_gpus *gpus,
			      const struct smi_gpu *gpu, const char *word,
			      nvmlReturn_t r)
{
	printf("Unable to create a GPU instance on GPU %2u using profile %s: "
	       "%s\n",
	       gpu->index, word, smi_error_text(gpus, r));
	return r;
}

/* The size of a profile's places: its slices of memory. */
static unsigned place_size(const struct smi_gpus *gpus,
			   const struct smi_gpu *gpu,
			   const struct smi_profile *profile)
{
	nvmlGpuInstancePlacement_t places[SMI_PLACES_MAX];
	unsigned count = SMI_PLACES_MAX;

	return SMI_NVML(gpus, nvmlDeviceGetGpuInstancePossiblePlacements_v2,
			gpu->handle, profile->id, places, &count) ||
		       !count
		   ? 0
		   : places[0].size;
}

static nvmlReturn_t create_gi(const struct smi *smi,
			      const struct smi_gpus *gpus,
			      const struct smi_gpu *gpu,
			      const struct smi_profile *profile,
			      const struct wish *wish)
{
	struct smi_instance made = {.profile = profile};
	nvmlGpuInstanceInfo_t info;
	nvmlReturn_t r;

	if (wish->start < 0) {
		r = SMI_NVML(gpus, nvmlDeviceCreateGpuInstance, gpu->handle,
			     profile->id, &made.gi);
	} else {
		nvmlGpuInstancePlacement_t place = {
		    (unsigned)wish->start, place_size(gpus, gpu, profile)};

		r = SMI_NVML(gpus, nvmlDeviceCreateGpuInstanceWithPlacement,
			     gpu->handle, profile->id, &place, &made.gi);
	}
	if (!r)
		r = SMI_NVML(gpus, nvmlGpuInstanceGetInfo, made.gi, &info);
	if (r)
		return refuse_gi(gpus, gpu, wish->word, r);
	made.id = info.id;
	printf("Successfully created GPU instance ID %2u on GPU %2u using "
	       "profile MIG %s (ID %2u)\n",
	       made.id, gpu->index, profile->name, profile->id);
	return smi->with_cis ? create_whole_ci(gpus, gpu, &made) : NVML_SUCCESS;
}

static nvmlReturn_t create_gis(const struct smi *smi,
			       const struct smi_gpus *gpus,
			       const struct smi_gpu *gpu, struct counts *counts)
{
	const char *list = smi->profiles;
	struct smi_profiles profiles;
	struct wish wish;
	nvmlReturn_t r = NVML_SUCCESS;

	smi_gi_profiles(gpus, gpu, &profiles);
	while (!r && next_wish(&list, &wish)) {
		const struct smi_profile *p =
		    find_profile(&profiles, wish.word);

		r = p ? create_gi(smi, gpus, gpu, p, &wish)
		      : refuse_gi(gpus, gpu, wish.word,
				  NVML_ERROR_INVALID_ARGUMENT);
		counts->done++;
	}
	return r;
}

int smi_mig_create_gis(const struct smi *smi)
{
	static const struct change change = {"create", "GPU instances",
					     create_gis};

	return run_change(&change, smi);
}

static nvmlReturn_t destroy_gis(const struct smi *smi,
				const struct smi_gpus *gpus,
				const struct smi_gpu *gpu,
				struct counts *counts)
{
	struct smi_profiles profiles;
	struct smi_instances gis;
	nvmlReturn_t r = find_gis(smi, gpus, gpu, &profiles, &gis, counts);

	for (size_t i = 0; !r && i < gis.count; i++, counts->done++) {
		const char *how = "Successfully destroyed";

		r = SMI_NVML(gpus, nvmlGpuInstanceDestroy, gis.at[i].gi);
		if (r)
			how = "Unable to destroy";
		printf("%s GPU instance ID %2u from GPU %2u%s%s\n", how,
		       gis.at[i].id, gpu->index, r ? ": " : "",
		       r ? smi_error_text(gpus, r) : "");
	}
	return r;
}

int smi_mig_destroy_gis(const struct smi *smi)
{
	static const struct change change = {"destroy", "GPU instances",
					     destroy_gis};

	return run_change(&change, smi);
}
