/* SPDX-License-Identifier: Apache-2.0 */
/* mig_list.c - lists the profiles, placements and instances of split GPUs. */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/mig.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- tables ---- */

static void rule(size_t width, char with)
{
	putchar(with == '=' ? '|' : '+');
	for (size_t i = 2; i < width; i++)
		putchar(with);
	puts(with == '=' ? "|" : "+");
}

/* Prints a line of a title, padded to the width of the table. */
static void title_line(size_t width, const char *text)
{
	printf("| %-*s|\n", (int)width - 3, text);
}

/* Returns the width of the column of names, which depends on the driver. */
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

static void print_lines(size_t width, const char *const *lines, size_t count)
{
	rule(width, '-');
	for (size_t i = 0; i < count; i++)
		title_line(width, lines[i]);
	rule(width, '=');
}

static void gi_profile_row(const struct smi_mig *m, const struct smi_profile *p,
			   unsigned left)
{
	unsigned name =
	    name_width(m->gpus->major, lgip_names, COUNT(lgip_names));
	char memory[32];

	snprintf(memory, sizeof memory, "%llu.%02llu", p->memory_mib / 1024,
		 p->memory_mib % 1024 * 100 / 1024);
	printf("|%4u  MIG %-*s%2u     %u/%u        %-11s%-7s"
	       "%-7u%-6u%-4u|\n",
	       m->gpu->index, (int)name, p->name, p->id, left, p->instances,
	       memory, p->p2p ? "Yes" : "No", p->sms, p->decoders, p->encoders);
	printf("|%*s%2u     %-6u%-4u|\n", (int)name + 46, "", p->copy, p->jpegs,
	       p->ofas);
	rule(name + LGIP_REST, '-');
}

/* Sorts the smallest profiles first. */
static int compare_slices(const void *a, const void *b)
{
	const struct smi_profile *x = a, *y = b;

	return x->slices != y->slices ? (x->slices < y->slices ? -1 : 1)
				      : (int)x->number - (int)y->number;
}

static nvmlReturn_t sorted_profiles(const struct smi_mig *m,
				    struct smi_profiles *ret_profiles)
{
	nvmlReturn_t r = smi_mig_profiles(m, ret_profiles);

	qsort(ret_profiles->at, ret_profiles->count, sizeof *ret_profiles->at,
	      compare_slices);
	return r;
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

static void ci_profile_row(const struct smi_mig *m, const struct smi_profile *p,
			   unsigned left)
{
	printf("|%4u%7u       MIG %-15s%3u%c     %u/%u           "
	       "%-10u%-6u%-6u%-4u|\n",
	       m->gpu->index, m->gi->id, p->name, p->id,
	       p->slices == m->gi->profile->slices ? '*' : ' ', left,
	       p->instances, p->sms, p->decoders, p->encoders, p->ofas);
	printf("|%*s%-6u%-10u|\n", 70, "", p->copy, p->jpegs);
	rule(LCIP_WIDTH, '-');
}

/* ---- both ---- */

/* Reads how many more instances of a profile can be created. */
static nvmlReturn_t read_room(const struct smi_mig *m,
			      const struct smi_profile *p, unsigned *ret_left)
{
	*ret_left = 0;
	if (m->gi)
		return SMI_NVML(
		    m->gpus, nvmlGpuInstanceGetComputeInstanceRemainingCapacity,
		    m->gi->gi, p->id, ret_left);
	/* Nothing can be created unless the GPU is in MIG mode. */
	return m->split ? SMI_NVML(m->gpus,
				   nvmlDeviceGetGpuInstanceRemainingCapacity,
				   m->gpu->handle, p->id, ret_left)
			: NVML_SUCCESS;
}

static void profiles_title(const struct smi_mig *m)
{
	if (m->gi)
		print_lines(LCIP_WIDTH, ci_profile_title,
			    COUNT(ci_profile_title));
	else
		title_gi_profiles(m->gpus->major);
}

/*
 * If -lgip fails, the title is printed all the same, unless permission is
 * missing.
 */
static nvmlReturn_t list_profiles(struct smi_mig *m)
{
	struct smi_profiles profiles;
	nvmlReturn_t r = m->gi ? smi_mig_profiles(m, &profiles)
			       : sorted_profiles(m, &profiles);

	for (size_t i = 0; !r && i < profiles.count; i++) {
		unsigned left;

		r = read_room(m, &profiles.at[i], &left);
		if (r)
			break;
		if (!m->done++)
			profiles_title(m);
		(m->gi ? ci_profile_row : gi_profile_row)(m, &profiles.at[i],
							  left);
	}
	if (r && r != NVML_ERROR_NO_PERMISSION && !m->gi && !m->done)
		profiles_title(m);
	return r;
}

static nvmlReturn_t list_ci_profiles(struct smi_mig *m)
{
	return smi_mig_each_gi(m, list_profiles);
}

/* ---- -lgipp, -lcipp ---- */

/* Prints the starts of placements and their size. */
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

static nvmlReturn_t read_places(const struct smi_mig *m,
				const struct smi_profile *p, void *ret_places,
				unsigned *ret_count)
{
	*ret_count = SMI_PLACES_MAX;
	if (m->gi)
		return SMI_NVML(
		    m->gpus,
		    nvmlGpuInstanceGetComputeInstancePossiblePlacements,
		    m->gi->gi, p->id, ret_places, ret_count);
	return SMI_NVML(m->gpus, nvmlDeviceGetGpuInstancePossiblePlacements_v2,
			m->gpu->handle, p->id, ret_places, ret_count);
}

/*
 * GPU instance profiles are sorted by size. Compute instance profiles already
 * are in that order.
 */
static nvmlReturn_t list_places(struct smi_mig *m)
{
	struct smi_profiles profiles;
	nvmlReturn_t r = m->gi ? smi_mig_profiles(m, &profiles)
			       : sorted_profiles(m, &profiles);

	for (size_t i = 0; !r && i < profiles.count; i++, m->done++) {
		const struct smi_profile *p = &profiles.at[i];
		unsigned places[SMI_PLACES_MAX][2], count;

		r = read_places(m, p, places, &count);
		if (r)
			break;
		printf("GPU %2u ", m->gpu->index);
		if (m->gi)
			printf("GI %2u ", m->gi->id);
		printf("Profile ID %2u ", p->id);
		print_places(places, count);
	}
	return r;
}

static nvmlReturn_t list_ci_places(struct smi_mig *m)
{
	return smi_mig_each_gi(m, list_places);
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

static nvmlReturn_t list_gi(struct smi_mig *m)
{
	unsigned name = name_width(m->gpus->major, lgi_names, COUNT(lgi_names));
	char place[32];

	if (!m->done++)
		title_gis(m->gpus->major);
	snprintf(place, sizeof place, "%u:%u", m->gi->start, m->gi->size);
	printf("|%4u  MIG %-*s%4u%9u%13s     |\n", m->gpu->index, (int)name,
	       m->gi->profile->name, m->gi->profile->id, m->gi->id, place);
	rule(name + LGI_REST, '-');
	return NVML_SUCCESS;
}

static nvmlReturn_t list_gis(struct smi_mig *m)
{
	return smi_mig_each_gi(m, list_gi);
}

/* ---- -lci ---- */

static const char *const ci_title[] = {
    "Compute instances:",
    "GPU     GPU       Name             Profile   Instance   Placement ",
    "      Instance                       ID        ID       Start:Size",
    "        ID",
};

static nvmlReturn_t list_gi_cis(struct smi_mig *m)
{
	struct smi_profiles profiles;
	struct smi_instances cis;
	nvmlReturn_t r = smi_mig_instances(m, &profiles, &cis);

	for (size_t i = 0; !r && i < cis.count; i++) {
		const struct smi_instance *ci = &cis.at[i];
		char place[32];

		if (!m->done++)
			print_lines(LCI_WIDTH, ci_title, COUNT(ci_title));
		snprintf(place, sizeof place, "%u:%u", ci->start, ci->size);
		printf("|%4u%7u       MIG %-14s%4u%10u%13s     |\n",
		       m->gpu->index, m->gi->id, ci->profile->name,
		       ci->profile->id, ci->id, place);
		rule(LCI_WIDTH, '-');
	}
	return r;
}

static nvmlReturn_t list_cis(struct smi_mig *m)
{
	return smi_mig_each_gi(m, list_gi_cis);
}

/* ---- the subcommands ---- */

#define LIST(function, what, needs_mode, step)                                 \
	int function(const struct smi *smi)                                    \
	{                                                                      \
		static const struct smi_mig_job job = {"display", what, true,  \
						       needs_mode, step};      \
                                                                               \
		return smi_mig_run(&job, smi);                                 \
	}
LIST(smi_mig_gi_profiles, "GPU instance profiles", false, list_profiles)
LIST(smi_mig_gi_places, "GPU instance profile placements", false, list_places)
LIST(smi_mig_gis, "GPU instances", true, list_gis)
LIST(smi_mig_ci_profiles, "compute instance profiles", true, list_ci_profiles)
LIST(smi_mig_ci_places, "compute instance profile placements", true,
     list_ci_places)
LIST(smi_mig_cis, "compute instances", true, list_cis)
