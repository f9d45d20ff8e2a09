/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sessions.c - `encodersessions` and `fbcsessions`: print a line for each
 * session of a GPU's encoder or frame buffer capture, repeatedly.
 */
#include "base/array.h"
#include "base/clock.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <stdio.h>

enum { SESSIONS_MAX = 64, COLUMNS_MAX = 14 };

struct column {
	const char *title, *unit;
	int width;
};

/* The values of a session, as texts. */
struct row {
	char cell[COLUMNS_MAX][24];
};

struct table {
	const struct column *columns;
	size_t count;
	const char *what; /* such as "encoder sessions" */
	/* Reads the sessions of a GPU, at most SESSIONS_MAX. */
	nvmlReturn_t (*read)(const struct smi_gpus *gpus, nvmlDevice_t device,
			     struct row *rows, unsigned *ret_count);
};

/* ---- encoders ---- */

static const struct column encoder_columns[] = {
    {"# GPU", "# Idx", 5}, {"Session", "Id", 8},
    {"Process", "Id", 11}, {"Codec", "Type", 8},
    {"H", "Res", 8},       {"V", "Res", 8},
    {"Average", "FPS", 8}, {"Average", "Latency(us)", 12},
};

static const char *codec_name(nvmlEncoderType_t codec)
{
	static const char *const names[] = {"H.264", "HEVC", "AV1"};

	return (unsigned)codec < COUNT(names) ? names[codec] : "N/A";
}

#define CELL(row, column, value)                                               \
	snprintf((row)->cell[column], sizeof(row)->cell[column], "%u", (value))

static nvmlReturn_t read_encoders(const struct smi_gpus *gpus,
				  nvmlDevice_t device, struct row *rows,
				  unsigned *ret_count)
{
	nvmlEncoderSessionInfo_t found[SESSIONS_MAX];
	unsigned count = SESSIONS_MAX;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetEncoderSessions, device, &count, found);

	for (unsigned i = 0; !r && i < count; i++) {
		CELL(&rows[i], 1, found[i].sessionId);
		CELL(&rows[i], 2, found[i].pid);
		gk_str_copy(rows[i].cell[3], sizeof rows[i].cell[3],
			    codec_name(found[i].codecType));
		CELL(&rows[i], 4, found[i].hResolution);
		CELL(&rows[i], 5, found[i].vResolution);
		CELL(&rows[i], 6, found[i].averageFps);
		CELL(&rows[i], 7, found[i].averageLatency);
	}
	*ret_count = r ? 0 : count;
	return r;
}

/* ---- frame buffer capture ---- */

static const struct column fbc_columns[] = {
    {"# GPU", "# Idx", 5},
    {"Session", "Id", 10},
    {"Process", "Id", 10},
    {"Display", "Ordinal", 10},
    {"Session", "Type", 10},
    {"Diff. Map", "State", 10},
    {"Class. Map", "State", 12},
    {"Capture", "Mode", 14},
    {"Max H", "Res", 8},
    {"Max V", "Res", 8},
    {"H", "Res", 6},
    {"V", "Res", 6},
    {"Average", "FPS", 10},
    {"Average", "Latency(us)", 14},
};

/*
 * Leaves out what the session's flags say, because their meaning is not public.
 */
static nvmlReturn_t read_fbc(const struct smi_gpus *gpus, nvmlDevice_t device,
			     struct row *rows, unsigned *ret_count)
{
	nvmlFBCSessionInfo_t found[SESSIONS_MAX];
	unsigned count = SESSIONS_MAX;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlDeviceGetFBCSessions, device, &count, found);

	for (unsigned i = 0; !r && i < count; i++) {
		CELL(&rows[i], 1, found[i].sessionId);
		CELL(&rows[i], 2, found[i].pid);
		CELL(&rows[i], 3, found[i].displayOrdinal);
		CELL(&rows[i], 8, found[i].hMaxResolution);
		CELL(&rows[i], 9, found[i].vMaxResolution);
		CELL(&rows[i], 10, found[i].hResolution);
		CELL(&rows[i], 11, found[i].vResolution);
		CELL(&rows[i], 12, found[i].averageFPS);
		CELL(&rows[i], 13, found[i].averageLatency);
	}
	*ret_count = r ? 0 : count;
	return r;
}

/* ---- printing sessions ---- */

static void print_titles(const struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		printf("%*s", t->columns[i].width, t->columns[i].title);
	putchar('\n');
	for (size_t i = 0; i < t->count; i++)
		printf("%*s", t->columns[i].width, t->columns[i].unit);
	putchar('\n');
}

static void print_row(const struct table *t, unsigned index,
		      const struct row *row)
{
	printf("%*u", t->columns[0].width, index);
	for (size_t i = 1; i < t->count; i++)
		printf("%*s", t->columns[i].width,
		       *row->cell[i] ? row->cell[i] : "-");
	putchar('\n');
}

/*
 * Prints the sessions of a GPU. If there are none, or the GPU does not support
 * them, prints a line of dashes. If they cannot be read, prints why.
 */
static nvmlReturn_t print_gpu(const struct table *t,
			      const struct smi_gpus *gpus,
			      const struct smi_gpu *gpu)
{
	struct row rows[SESSIONS_MAX] = {0};
	unsigned count;
	nvmlReturn_t r = t->read(gpus, gpu->handle, rows, &count);

	if (r && !smi_is_absent(r)) {
		printf("Unable to list the %s of GPU %s: %s\n", t->what,
		       gpu->bus_id, smi_error_text(gpus, r));
		return r;
	}
	for (unsigned i = 0; i < (count ? count : 1); i++)
		print_row(t, gpu->index, &rows[i]);
	return NVML_SUCCESS;
}

/*
 * Prints all GPUs once. Returns the first failure if no GPU can be read.
 * Otherwise returns success, since the GPUs that failed may recover.
 */
static nvmlReturn_t print_gpus(const struct table *t,
			       const struct smi_gpus *gpus)
{
	nvmlReturn_t first = NVML_SUCCESS;
	bool any = false;

	for (size_t i = 0; i < gpus->count; i++) {
		nvmlReturn_t r = print_gpu(t, gpus, &gpus->at[i]);

		any |= !r;
		first = first ? first : r;
	}
	return any ? NVML_SUCCESS : first;
}

/* The table to print, the interval, and how many times (0: for ever). */
struct watch {
	const struct table *table;
	uint64_t seconds, count;
};

static int follow_gpus(const struct smi *smi, const struct smi_gpus *gpus,
		       const void *arg)
{
	const struct watch *w = arg;
	uint64_t next = gk_mono_ns();

	(void)smi;
	print_titles(w->table);
	for (uint64_t n = 1;; n++) {
		nvmlReturn_t r = print_gpus(w->table, gpus);

		if (fflush(stdout))
			return SMI_FAILED;
		if (r || n == w->count)
			return smi_status_of(r);
		next += w->seconds * GK_NS_PER_S;
		gk_sleep_until(next);
	}
}

static int follow(const struct table *t, const struct smi *smi)
{
	struct watch w = {.table = t, .seconds = 1};

	if ((smi->delay && (!smi_parse_number(smi->delay, 86400, &w.seconds) ||
			    !w.seconds)) ||
	    (smi->repeats &&
	     (!smi_parse_number(smi->repeats, INT64_MAX, &w.count) ||
	      !w.count)))
		return smi_refuse_arguments();
	return smi_with_gpus(smi, follow_gpus, &w);
}

int smi_encoder_sessions(const struct smi *smi)
{
	static const struct table t = {encoder_columns, COUNT(encoder_columns),
				       "encoder sessions", read_encoders};

	return follow(&t, smi);
}

int smi_fbc_sessions(const struct smi *smi)
{
	static const struct table t = {fbc_columns, COUNT(fbc_columns),
				       "FBC sessions", read_fbc};

	return follow(&t, smi);
}
