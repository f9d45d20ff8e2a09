/* SPDX-License-Identifier: Apache-2.0 */
/* mig_list.c - lists the profiles, placements and instances of split GPUs. */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/mig.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what all lists do ---- */

/* A list: what it is about, and how a GPU is added to it. */
struct list {
	const char *what; /* in messages */
	bool needs_mode;  /* only GPUs in MIG mode have it */
	/* Prints rows and adds their number. */
	nvmlReturn_t (*rows)(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu, unsigned *rows);
};

static int none_capable(bool needs_mode)
{
	printf("No MIG-%s devices found.\n",
	       needs_mode ? "enabled" : "supported");
	return SMI_NOT_FOUND;
}

static int fail_list(const struct list *list, const struct smi_gpus *gpus,
		     nvmlReturn_t r)
{
	printf("Failed to display %s: %s\n", list->what,
	       smi_error_text(gpus, r));
	printf("No %s found: %s\n", list->what, smi_error_text(gpus, r));
	return smi_status_of(r);
}

static int print_list(const struct list *list, const struct smi *smi,
		      const struct smi_gpus *gpus)
{
	unsigned able = 0, rows = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		nvmlReturn_t r;
		bool on;

		if (!smi_mig_mode(gpus, &gpus->at[i], &on) ||
		    (list->needs_mode && !on))
			continue;
		able++;
		r = list->rows(smi, gpus, &gpus->at[i], &rows);
		if (r)
			return fail_list(list, gpus, r);
	}
	if (!able)
		return none_capable(list->needs_mode);
	if (rows)
		return SMI_OK;
	printf("No %s found: Not Found\n", list->what);
	return SMI_NOT_FOUND;
}

static int run_list(const struct list *list, const struct smi *smi)
{
	struct smi_gpus gpus;
	int status = smi_gpus_open(smi->ids, &gpus);

	if (status)
		return status;
	status = print_list(list, smi, &gpus);
	smi_gpus_close(&gpus);
	return status;
}

static void rule(size_t width, char with)
{
	putchar(with == '=' ? '|' : '+');
	for (size_t i = 2; i < width; i++)
		putchar(with);
	puts(with == '=' ? "|" : "+");
}

/* Prints a line of a title, filled up to the width of the table. */
static void title_line(size_t width, const char *text)
{
	printf("| %-*s|\n", (int)width - 3, text);
}

/* The width of the column of names, by driver. */
static unsigned name_width(unsigned major, const unsigned (*by)[2],
			   size_t count)
{
	while (count > 1 && by[count - 1][0] > major)
		count--;
	return by[count - 1][1];
}

/* ---- -lgip ---- */

enum { LGIP_REST = 65, LGI_REST = 43, LCI_WIDTH = 70, LCIP_WIDTH = 88 };

static const unsigned lgip_names[][2] = {{0, 14}, {580, 16}};

static void title_gi_profiles(unsigned major)
{
	unsigned name = name_width(major, lgip_names, COUNT(lgip_names));
	unsigned width = name + LGIP_REST;
	char line[128];

	rule(width, '-');
	title_line(width, "GPU instance profiles:");
	snprintf(line, sizeof line,
		 "GPU   %-*sID    Instances   Memory     P2P    SM    DEC   "
		 "ENC ",
		 (int)name + 3, "Name");
	title_line(width, line);
	snprintf(line, sizeof line,
		 "%-*sFree/Total   GiB              CE    JPEG  OFA ",
		 (int)name + 15, "");
	title_line(width, line);
	rule(width, '=');
}

/* The list has the smallest profiles first. */
static int compare_slices(const void *a, const void *b)
{
	const struct smi_profile *x = a, *y = b;

	return x->slices != y->slices ? (x->slices < y->slices ? -1 : 1)
				      : (int)x->number - (int)y->number;
}

static void sorted_profiles(const struct smi_gpus *gpus,
			    const struct smi_gpu *gpu,
			    struct smi_profiles *ret_profiles)
{
	smi_gi_profiles(gpus, gpu, ret_profiles);
	qsort(ret_profiles->at, ret_profiles->count, sizeof *ret_profiles->at,
	      compare_slices);
}

static void gi_profile_row(const struct smi_gpu *gpu,
			   const struct smi_profile *p, unsigned name,
			   unsigned left)
{
	char memory[32];

	snprintf(memory, sizeof memory, "%llu.%02llu", p->memory_mib / 1024,
		 p->memory_mib % 1024 * 100 / 1024);
	printf("|%4u  MIG %-*s%2u     %u/%u        %-11s%-7s"
	       "%-7u%-6u%-4u|\n",
	       gpu->index, (int)name, p->name, p->id, left, p->instances,
	       memory, p->p2p ? "Yes" : "No", p->sms, p->decoders, p->encoders);
	printf("|%*s%2u     %-6u%-4u|\n", (int)name + 46, "", p->copy, p->jpegs,
	       p->ofas);
	rule(name + LGIP_REST, '-');
}

/* While the mode is off, there is room for nothing. */
static nvmlReturn_t list_gi_profiles(const struct smi *smi,
				     const struct smi_gpus *gpus,
				     const struct smi_gpu *gpu, unsigned *rows)
{
	unsigned name = name_width(gpus->major, lgip_names, COUNT(lgip_names));
	struct smi_profiles profiles;
	bool on;

	(void)smi;
	smi_mig_mode(gpus, gpu, &on);
	sorted_profiles(gpus, gpu, &profiles);
	for (size_t i = 0; i < profiles.count; i++) {
		const struct smi_profile *p = &profiles.at[i];
		unsigned left = 0;
		nvmlReturn_t r = NVML_SUCCESS;

		if (on)
			r = SMI_NVML(gpus,
				     nvmlDeviceGetGpuInstanceRemainingCapacity,
				     gpu->handle, p->id, &left);
		if (r)
			return r;
		if (!(*rows)++)
			title_gi_profiles(gpus->major);
		gi_profile_row(gpu, p, name, left);
	}
	return NVML_SUCCESS;
}

int smi_mig_gi_profiles(const struct smi *smi)
{
	static const struct list list = {.what = "GPU instance profiles",
					 .rows = list_gi_profiles};

	return run_list(&list, smi);
}

/* ---- -lgipp ---- */

/* Prints the starts and the size of places, and whether they are several. */
static void print_places(const unsigned (*places)[2], unsigned count)
{
	printf("Placement%s: {", count == 1 ? " " : "s");
	for (unsigned i = 0; i < count; i++)
		printf("%s%u", i ? "," : "", places[i][0]);
	printf("}:%u\n", count ? places[0][1] : 0);
}

_Static_assert(sizeof(nvmlGpuInstancePlacement_t) == sizeof(unsigned[2]) &&
		   sizeof(nvmlComputeInstancePlacement_t) ==
		       sizeof(unsigned[2]),
	       "a placement is a start and a size");

static nvmlReturn_t list_gi_places(const struct smi *smi,
				   const struct smi_gpus *gpus,
				   const struct smi_gpu *gpu, unsigned *rows)
{
	struct smi_profiles profiles;

	(void)smi;
	sorted_profiles(gpus, gpu, &profiles);
	for (size_t i = 0; i < profiles.count; i++) {
		unsigned places[SMI_PLACES_MAX][2], count = SMI_PLACES_MAX;
		nvmlReturn_t r = SMI_NVML(
		    gpus, nvmlDeviceGetGpuInstancePossiblePlacements_v2,
		    gpu->handle, profiles.at[i].id, (void *)places, &count);

		if (r)
			return r;
		printf("GPU %2u Profile ID %2u ", gpu->index,
		       profiles.at[i].id);
		print_places(places, count);
		++*rows;
	}
	return NVML_SUCCESS;
}

int smi_mig_gi_places(const struct smi *smi)
{
	static const struct list list = {
	    .what = "GPU instance profile placements", .rows = list_gi_places};

	return run_list(&list, smi);
}

/* ---- -lgi ---- */

static const unsigned lgi_names[][2] = {{0, 11}, {510, 14}, {580, 16}};

static void title_gis(unsigned major)
{
	unsigned name = name_width(major, lgi_names, COUNT(lgi_names));
	unsigned width = name + LGI_REST;
	char line[128];

	rule(width, '-');
	title_line(width, "GPU instances:");
	snprintf(line, sizeof line, "GPU   %-*sProfile  Instance   Placement ",
		 (int)name + 3, "Name");
	title_line(width, line);
	snprintf(line, sizeof line, "%-*sID       ID       Start:Size",
		 (int)name + 11, "");
	title_line(width, line);
	rule(width, '=');
}

static nvmlReturn_t list_gis(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu, unsigned *rows)
{
	unsigned name = name_width(gpus->major, lgi_names, COUNT(lgi_names));
	struct smi_profiles profiles;
	struct smi_instances gis;
	nvmlReturn_t r;

	smi_gi_profiles(gpus, gpu, &profiles);
	r = smi_gis(gpus, gpu, &profiles, smi->gis, &gis);
	for (size_t i = 0; !r && i < gis.count; i++) {
		char place[32];

		if (!(*rows)++)
			title_gis(gpus->major);
		snprintf(place, sizeof place, "%u:%u", gis.at[i].start,
			 gis.at[i].size);
		printf("|%4u  MIG %-*s%4u%9u%13s     |\n", gpu->index,
		       (int)name, gis.at[i].profile->name,
		       gis.at[i].profile->id, gis.at[i].id, place);
		rule(name + LGI_REST, '-');
	}
	return r;
}

int smi_mig_gis(const struct smi *smi)
{
	static const struct list list = {
	    .what = "GPU instances", .needs_mode = true, .rows = list_gis};

	return run_list(&list, smi);
}

/* ---- of each GPU instance ---- */

typedef nvmlReturn_t gi_rows(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu,
			     const struct smi_instance *gi, unsigned *rows);

static nvmlReturn_t each_gi(const struct smi *smi, const struct smi_gpus *gpus,
			    const struct smi_gpu *gpu, gi_rows *list,
			    unsigned *rows)
{
	struct smi_profiles profiles;
	struct smi_instances gis;
	nvmlReturn_t r;

	smi_gi_profiles(gpus, gpu, &profiles);
	r = smi_gis(gpus, gpu, &profiles, smi->gis, &gis);
	for (size_t i = 0; !r && i < gis.count; i++)
		r = list(smi, gpus, gpu, &gis.at[i], rows);
	return r;
}

static void print_lines(size_t width, const char *const *lines, size_t count)
{
	rule(width, '-');
	for (size_t i = 0; i < count; i++)
		title_line(width, lines[i]);
	rule(width, '=');
}

/* ---- -lci ---- */

static const char *const ci_title[] = {
    "Compute instances:",
    "GPU     GPU       Name             Profile   Instance   Placement ",
    "      Instance                       ID        ID       Start:Size",
    "        ID",
};

static nvmlReturn_t list_gi_cis(const struct smi *smi,
				const struct smi_gpus *gpus,
				const struct smi_gpu *gpu,
				const struct smi_instance *gi, unsigned *rows)
{
	struct smi_profiles profiles;
	struct smi_instances cis;
	nvmlReturn_t r;

	smi_ci_profiles(gpus, gi, &profiles);
	r = smi_cis(gpus, gi, &profiles, smi->cis, &cis);
	for (size_t i = 0; !r && i < cis.count; i++) {
		char place[32];

		if (!(*rows)++)
			print_lines(LCI_WIDTH, ci_title, COUNT(ci_title));
		snprintf(place, sizeof place, "%u:%u", cis.at[i].start,
			 cis.at[i].size);
		printf("|%4u%7u       MIG %-14s%4u%10u%13s     |\n", gpu->index,
		       gi->id, cis.at[i].profile->name, cis.at[i].profile->id,
		       cis.at[i].id, place);
		rule(LCI_WIDTH, '-');
	}
	return r;
}

static nvmlReturn_t list_cis(const struct smi *smi, const struct smi_gpus *gpus,
			     const struct smi_gpu *gpu, unsigned *rows)
{
	return each_gi(smi, gpus, gpu, list_gi_cis, rows);
}

int smi_mig_cis(const struct smi *smi)
{
	static const struct list list = {
	    .what = "compute instances", .needs_mode = true, .rows = list_cis};

	return run_list(&list, smi);
}

/* ---- -lcip ---- */

static const char *const ci_profile_title[] = {
    "Compute instance profiles:",
    "GPU     GPU       Name             Profile  Instances   Exclusive       "
    "Shared       ",
    "      Instance                       ID     Free/Total     SM       DEC  "
    " ENC   OFA ",
    "        ID                                                          CE   "
    " JPEG      ",
};

static nvmlReturn_t list_gi_ci_profiles(const struct smi *smi,
					const struct smi_gpus *gpus,
					const struct smi_gpu *gpu,
					const struct smi_instance *gi,
					unsigned *rows)
{
	struct smi_profiles profiles;

	(void)smi;
	smi_ci_profiles(gpus, gi, &profiles);
	for (size_t i = 0; i < profiles.count; i++) {
		const struct smi_profile *p = &profiles.at[i];
		unsigned left;
		nvmlReturn_t r = SMI_NVML(
		    gpus, nvmlGpuInstanceGetComputeInstanceRemainingCapacity,
		    gi->gi, p->id, &left);

		if (r)
			return r;
		if (!(*rows)++)
			print_lines(LCIP_WIDTH, ci_profile_title,
				    COUNT(ci_profile_title));
		printf("|%4u%7u       MIG %-15s%3u%c     %u/%u           "
		       "%-10u%-6u%-6u%-4u|\n",
		       gpu->index, gi->id, p->name, p->id,
		       p->slices == gi->profile->slices ? '*' : ' ', left,
		       p->instances, p->sms, p->decoders, p->encoders, p->ofas);
		printf("|%*s%-6u%-10u|\n", 70, "", p->copy, p->jpegs);
		rule(LCIP_WIDTH, '-');
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t list_ci_profiles(const struct smi *smi,
				     const struct smi_gpus *gpus,
				     const struct smi_gpu *gpu, unsigned *rows)
{
	return each_gi(smi, gpus, gpu, list_gi_ci_profiles, rows);
}

int smi_mig_ci_profiles(const struct smi *smi)
{
	static const struct list list = {.what = "compute instance profiles",
					 .needs_mode = true,
					 .rows = list_ci_profiles};

	return run_list(&list, smi);
}

/* ---- -lcipp ---- */

static nvmlReturn_t list_gi_ci_places(const struct smi *smi,
				      const struct smi_gpus *gpus,
				      const struct smi_gpu *gpu,
				      const struct smi_instance *gi,
				      unsigned *rows)
{
	struct smi_profiles profiles;

	(void)smi;
	smi_ci_profiles(gpus, gi, &profiles);
	for (size_t i = 0; i < profiles.count; i++) {
		unsigned places[SMI_PLACES_MAX][2], count = SMI_PLACES_MAX;
		nvmlReturn_t r = SMI_NVML(
		    gpus, nvmlGpuInstanceGetComputeInstancePossiblePlacements,
		    gi->gi, profiles.at[i].id, (void *)places, &count);

		if (r)
			return r;
		printf("GPU %2u GI %2u Profile ID %2u ", gpu->index, gi->id,
		       profiles.at[i].id);
		print_places(places, count);
		++*rows;
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t list_ci_places(const struct smi *smi,
				   const struct smi_gpus *gpus,
				   const struct smi_gpu *gpu, unsigned *rows)
{
	return each_gi(smi, gpus, gpu, list_gi_ci_places, rows);
}

int smi_mig_ci_places(const struct smi *smi)
{
	static const struct list list = {
	    .what = "compute instance profile placements",
	    .needs_mode = true,
	    .rows = list_ci_places};

	return run_list(&list, smi);
}
