/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - `gpukit smi`: reads the values that a mode shows, and prints them
 * once or repeatedly.
 */
#include "base/array.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/smi/gpm.h"
#include "cli/smi/gpus.h"
#include "cli/smi/shown.h"
#include "core/choose/pick.h"
#include "core/context.h"
#include "format/names.h"
#include "format/smi/columns.h"
#include "format/smi/dtd.h"
#include "format/smi/log.h"
#include "format/smi/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The state of one run. */
struct run {
	struct smi *smi;
	struct gk *gk;
	int fd;
	uint64_t lines; /* frames printed so far */
	struct gk_snapshot
	    *before; /* the previous snapshot, for differences; or NULL */
	struct gk_metric_set wanted; /* the metrics to read */
	struct gk_buf out;
	struct smi_shown shown;
	struct smi_gpm gpm;
};

/* ---- modes: what to read, what to show ---- */

static void want_table(const struct smi *smi, struct gk_metric_set *set)
{
	(void)smi;
	gk_smi_table_wanted(set);
}

static void want_columns(const struct smi *smi, struct gk_metric_set *set)
{
	(void)smi;
	gk_smi_columns_wanted(set);
}

static void want_log(const struct smi *smi, struct gk_metric_set *set)
{
	gk_smi_log_wanted(smi->sections, set);
}

static void want_query(const struct smi *smi, struct gk_metric_set *set)
{
	gk_smi_wanted(&smi->chosen, set);
}

static void want_pmon(const struct smi *smi, struct gk_metric_set *set)
{
	gk_smi_pmon_wanted(&smi->mon, set);
}

static void want_dmon(const struct smi *smi, struct gk_metric_set *set)
{
	gk_smi_dmon_wanted(&smi->mon, set);
}

/*
 * Any metric will do, because it is only needed to find out whether a GPU
 * answers.
 */
static void want_topology(const struct smi *smi, struct gk_metric_set *set)
{
	(void)smi;
	gk_metric_set_add(set, GK_M_PSTATE);
}

#define SHOW(name)                                                             \
	static void show_##name(struct run *run,                               \
				const struct gk_snapshot *snap,                \
				__attribute__((unused)) unsigned gpus)

SHOW(table)
{
	gk_smi_table(&run->out, snap);
}

SHOW(columns)
{
	int width, height;

	gk_terminal_size(&width, &height);
	gk_smi_columns(&run->out, snap, (unsigned)width);
}

SHOW(list)
{
	gk_smi_list(&run->out, snap, run->shown.absent);
}

/* A driver without this function has no units. */
static void show_units(struct run *run, const struct gk_snapshot *snap)
{
	struct smi_gpus driver = {.nvml = run->gk->nvml};
	unsigned units = 0;
	nvmlReturn_t r = SMI_NVML(&driver, nvmlUnitGetCount, &units);
	char count[16];

	snprintf(count, sizeof count, "%u", r ? 0 : units);
	gk_smi_log_units(&run->out, snap,
			 r && !smi_is_absent(r) ? smi_error_text(&driver, r)
						: count);
}

SHOW(log)
{
	if (run->smi->units_log)
		show_units(run, snap);
	else if (run->smi->xml)
		gk_smi_log_xml(&run->out, snap, gpus,
			       run->smi->dtd ? gk_smi_dtd : NULL);
	else
		gk_smi_log_text(&run->out, snap, run->smi->sections, gpus,
				run->shown.absent);
}

SHOW(query)
{
	const struct smi *smi = run->smi;

	if (smi->titles && !run->lines)
		gk_smi_csv_titles(&run->out, snap, &smi->chosen);
	gk_smi_csv_rows(&run->out, snap, &smi->chosen, smi->units, gpus);
}

SHOW(pmon)
{
	if (!run->lines)
		gk_smi_pmon_titles(&run->out, snap, &run->smi->mon);
	gk_smi_pmon(&run->out, snap, &run->smi->mon);
}

SHOW(dmon)
{
	const struct gk_smi_mon *mon = &run->smi->mon;
	const double *gpm = smi_gpm_read(&run->gpm, run->gk->nvml, snap, mon);

	if (!run->lines)
		gk_smi_dmon_titles(&run->out, snap, mon);
	if (gpm)
		gk_smi_dmon(&run->out, snap, run->before, gpm, mon);
	run->out.failed |= !gpm;
}

SHOW(topology)
{
	gk_smi_topology(&run->out, snap, !run->smi->pci_only);
}

SHOW(dtd)
{
	gk_smi_dtd(&run->out, snap);
}

SHOW(version)
{
	gk_smi_version(&run->out, snap);
}

static const struct {
	void (*want)(const struct smi *smi, struct gk_metric_set *set);
	void (*show)(struct run *run, const struct gk_snapshot *snap,
		     unsigned gpus);
	bool processes;
	unsigned with;
} modes[SMI_HELP] = {
    [SMI_TABLE] = {want_table, show_table, true, 0},
    [SMI_COLUMNS] = {want_columns, show_columns, false, 0},
    [SMI_LIST] = {NULL, show_list, false, 0},
    [SMI_LOG] = {want_log, show_log, true, GK_WITH_DETAIL},
    [SMI_QUERY] = {want_query, show_query, false, 0},
    [SMI_PMON] = {want_pmon, show_pmon, true, 0},
    [SMI_DMON] = {want_dmon, show_dmon, false, 0},
    [SMI_TOPOLOGY] = {want_topology, show_topology, false, GK_WITH_TOPOLOGY},
    [SMI_DTD] = {NULL, show_dtd, false, 0},
    [SMI_VERSION] = {NULL, show_version, false, 0},
};

static bool shows_gpus(const struct smi *smi)
{
	return smi->mode != SMI_VERSION && smi->mode != SMI_DTD;
}

static bool reads_processes(const struct smi *smi)
{
	if (smi->mode == SMI_QUERY)
		return smi->chosen.query->rows == GK_SMI_PER_PROCESS;
	return modes[smi->mode].processes &&
	       !(smi->sections && !(smi->sections & GK_SMI_PIDS));
}

static bool reads_lists(const struct smi *smi)
{
	if (smi->mode == SMI_LOG)
		return smi->xml || smi->sections & GK_SMI_LISTED;
	return smi->mode == SMI_QUERY &&
	       (smi->chosen.query->rows == GK_SMI_PER_ACCOUNT ||
		smi->chosen.query->rows == GK_SMI_PER_PAGE ||
		smi->chosen.query->rows == GK_SMI_PER_CLOCK);
}

/* Returns the tiers that contain a requested metric. */
static unsigned with_tiers(const struct gk_metric_set *wanted)
{
	unsigned with = 0;

	for (int i = 0; i < GK_M_COUNT; i++) {
		if (!gk_metric_set_has(wanted, (enum gk_metric)i))
			continue;
		if (gk_metrics[i].tier == GK_TIER_DETAIL)
			with |= GK_WITH_DETAIL;
		if (gk_metrics[i].tier == GK_TIER_ASKED)
			with |= GK_WITH_PCIE;
	}
	return with;
}

/*
 * Whether the facts about boards are read. They are also needed to find GPUs
 * that -i names by bus id.
 */
static bool reads_boards(const struct smi *smi)
{
	bool shows = smi->mode == SMI_QUERY
			 ? gk_smi_wants(&smi->chosen, gk_smi_is_board)
			 : smi->mode != SMI_LIST;

	return shows || (smi->ids && strchr(smi->ids, ':'));
}

static unsigned choose_tiers(const struct smi *smi,
			     const struct gk_metric_set *wanted)
{
	unsigned with = modes[smi->mode].with | with_tiers(wanted);

	if (smi->mode == SMI_QUERY &&
	    gk_smi_wants(&smi->chosen, gk_smi_is_fact))
		with |= GK_WITH_DETAIL;
	if (!reads_boards(smi))
		with |= GK_WITHOUT_BOARD;
	if (smi->mode != SMI_PMON)
		with |= GK_WITHOUT_PROCESS_UTIL;
	if (!reads_processes(smi))
		with |= GK_WITHOUT_PROCESSES;
	if (reads_lists(smi))
		with |= GK_WITH_DETAIL | GK_WITH_LISTS;
	return with;
}

static int show_part(struct run *run, const struct gk_snapshot *snap,
		     const char *list)
{
	struct gk_pick pick = {.gpus = list};
	struct gk_snapshot part;

	if (gk_pick(snap, &pick, NULL, &part))
		return SMI_FAILED;
	modes[run->smi->mode].show(run, &part, gk_smi_gpus(snap));
	gk_pick_free(&part);
	return SMI_OK;
}

/* Formats all GPUs, or those that -i names, and reports the lost ones. */
static int format_picked(struct run *run, const struct gk_snapshot *snap)
{
	struct gk_buf list = {0};
	int status = SMI_OK;

	if (shows_gpus(run->smi))
		status = smi_choose_shown(&run->shown, run->smi, run->gk->nvml,
					  snap, &run->out, &list);
	if (!status && list.len)
		status = show_part(run, snap, list.data);
	else if (!status)
		modes[run->smi->mode].show(run, snap, gk_smi_gpus(snap));
	gk_buf_free(&list);
	return status;
}

static int write_output(struct run *run)
{
	size_t done = 0;

	if (run->out.failed)
		return SMI_FAILED;
	while (done < run->out.len) {
		ssize_t n =
		    write(run->fd, run->out.data + done, run->out.len - done);

		if (n < 0 && errno != EINTR) {
			fprintf(stderr,
				"gpukit smi: cannot write the output: %s\n",
				strerror(errno));
			return SMI_FAILED;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	run->out.len = 0;
	return SMI_OK;
}

static bool all_answer(const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].health == GK_HEALTH_LOST ||
		    snap->devices[i].health == GK_HEALTH_ERROR)
			return false;
	return true;
}

/* Checks the options against the devices that exist. */
static int check_devices(const struct smi *smi, const struct gk_snapshot *snap)
{
	const char *field;

	if (!shows_gpus(smi))
		return SMI_OK;
	if (!snap->device_count)
		return smi_none_found();
	if (smi->mode == SMI_TOPOLOGY && !all_answer(snap)) {
		puts("Failed to run topology matrix");
		return SMI_UNKNOWN;
	}
	if (smi->mode != SMI_QUERY)
		return SMI_OK;
	field = gk_smi_not_there(&smi->chosen, snap);
	if (!field)
		return SMI_OK;
	printf("Field \"%s\" is not a valid field to query.\n\n", field);
	return SMI_INVALID;
}

/* Prints a frame. Takes ownership of the snapshot. */
static int show_smi_frame(struct run *run, struct gk_snapshot *snap)
{
	int status = check_devices(run->smi, snap);

	if (!status)
		status = format_picked(run, snap);
	if (write_output(run))
		status = SMI_FAILED;
	run->lines++;
	gk_snapshot_free(run->before);
	run->before = snap;
	return status;
}

/*
 * nvidia-smi does not show the age of values, so old values of a GPU that no
 * longer answers are dropped.
 */
static void forget_old(struct gk_snapshot *snap)
{
	const struct gk_value none = {.why = GK_ABSENT_TIMEOUT};

	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_device *d = &snap->devices[i];

		for (int m = 0; d->health == GK_HEALTH_STALE && m < GK_M_COUNT;
		     m++)
			d->m[m] = none;
	}
	for (size_t i = 0; i < snap->process_count; i++) {
		struct gk_process *p = &snap->processes[i];

		if (snap->devices[p->device].health != GK_HEALTH_STALE)
			continue;
		for (int m = 0; m < GK_PM_COUNT; m++)
			p->m[m] = none;
	}
}

/*
 * A GPU without memory of its own uses the host's. nvidia-smi does not report
 * that as memory of the GPU, so it is dropped here.
 */
static void forget_unified(struct gk_snapshot *snap)
{
	static const enum gk_metric memory[] = {
	    GK_M_MEM_USED, GK_M_MEM_FREE, GK_M_MEM_RESERVED, GK_M_MEM_TOTAL};

	for (size_t i = 0; i < snap->device_count; i++)
		for (size_t k = 0; k < COUNT(memory); k++)
			if (gk_is_unified(&snap->devices[i]))
				snap->devices[i].m[memory[k]] =
				    (struct gk_value){
					.why = GK_ABSENT_NOT_SUPPORTED};
}

static int report_frames(struct run *run)
{
	const struct smi *smi = run->smi;
	uint64_t next = gk_mono_ns();
	int status = SMI_OK;

	while (!status) {
		struct gk_snapshot *snap;
		int err = gk_snapshot_take(run->gk, &snap);

		if (err) {
			fprintf(stderr,
				"gpukit smi: cannot read the GPUs: %s\n",
				gk_strerror(err));
			return SMI_UNKNOWN;
		}
		forget_old(snap);
		forget_unified(snap);
		status = show_smi_frame(run, snap);
		if (!smi->period_ns || run->lines == smi->count)
			return status;
		next += smi->period_ns;
		if (!status)
			gk_sleep_until(next);
	}
	return status;
}

static int open_output_file(struct run *run)
{
	const char *file = run->smi->file;

	run->fd = STDOUT_FILENO;
	if (!file)
		return SMI_OK;
	run->fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (run->fd >= 0)
		return SMI_OK;
	fprintf(stderr, "gpukit smi: cannot write %s: %s\n", file,
		strerror(errno));
	return SMI_FAILED;
}

/*
 * Does not call exit() if gk_close() reports a thread stuck in the driver,
 * because exit() would wait for it.
 */
static void finish_smi(struct run *run, int status)
{
	gk_snapshot_free(run->before);
	smi_gpm_end(&run->gpm, run->gk->nvml);
	gk_buf_free(&run->out);
	if (run->fd != STDOUT_FILENO)
		close(run->fd);
	if (gk_close(run->gk) == GK_ERR_TIMEOUT) {
		fflush(NULL);
		_exit(status);
	}
}

static int run_on_machine(struct smi *smi)
{
	struct gk_options machine = GK_OPTIONS_DEFAULT;
	struct run run = {.smi = smi};
	int nvml = 0, err, status;

	if (modes[smi->mode].want)
		modes[smi->mode].want(smi, &run.wanted);
	machine.with = choose_tiers(smi, &run.wanted);
	machine.only = &run.wanted;
	status = open_output_file(&run);
	if (status)
		return status;
	err = gk_open(&machine, &nvml, &run.gk);
	if (err)
		return smi_tell_open_error(err, nvml);
	status = report_frames(&run);
	fflush(stdout);
	finish_smi(&run, status);
	return status;
}

/*
 * Returns the level of the driver whose fields --help-query-gpu lists: the
 * driver of this machine or, if there is none, the newest.
 */
static unsigned driver_level(void)
{
	const struct gk_options options = GK_OPTIONS_DEFAULT;
	struct gk_snapshot none = {0};
	struct gk *gk;
	int nvml;

	if (gk_open(&options, &nvml, &gk))
		return UINT_MAX;
	gk_str_copy(none.driver_version, sizeof none.driver_version,
		    gk->nvml->driver_version);
	gk_close(gk);
	return gk_smi_level(&none);
}

int smi_run(struct smi *smi)
{
	struct run run = {.smi = smi, .fd = STDOUT_FILENO};
	int status;

	if (smi->mode == SMI_DIRECT)
		return smi->direct(smi);
	if (smi->mode < SMI_HELP)
		return run_on_machine(smi);
	if (smi->mode == SMI_HELP_QUERY)
		gk_smi_query_help(&run.out, smi->chosen.query, driver_level());
	else
		smi_help(&run.out, smi);
	status = write_output(&run);
	gk_buf_free(&run.out);
	return status;
}
