/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - formats snapshots as rows or as a tape, and keeps the summary. */
#include "base/err.h"
#include "cli/record/record.h"
#include "record/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_tape(struct record_sample *s, const struct record *record)
{
	char why[256];
	bool literal;
	int r = gk_chosen_new(&record->chosen, &literal, why, &s->chosen);

	if (r)
		return r;
	if (literal)
		fprintf(stderr,
			"gpukit record: --match '%s' is not a regular "
			"expression (%s); searching for the plain text\n",
			record->chosen.regex, why);
	if (record->snapshots) {
		gk_buf_add(&s->header, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
		s->tape = gk_tape_writer_new();
		return s->tape ? 0 : GK_ERR_NOMEM;
	}
	gk_row_header(&s->header, &record->style);
	s->starts = calloc(record->chosen.pid_count + 1, sizeof *s->starts);
	s->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->proc < 0)
		return gk_err_from_errno(errno);
	return s->starts ? 0 : GK_ERR_NOMEM;
}

int record_sample_open(struct record_sample *s, const struct record *record)
{
	int r;

	*s = (struct record_sample){.record = record, .proc = -1};
	r = open_tape(s, record);
	if (!r && s->header.failed)
		r = GK_ERR_NOMEM;
	return r;
}

void record_sample_close(struct record_sample *s)
{
	gk_chosen_free(s->chosen);
	gk_tape_writer_free(s->tape);
	gk_summary_free(&s->summary);
	gk_buf_free(&s->header);
	gk_buf_free(&s->out);
	free(s->starts);
	if (s->proc >= 0)
		close(s->proc);
}

/* ---- rows ---- */

static const char *command_column(const struct record *record,
				  const struct gk_chosen_process *p)
{
	if (record->command == RECORD_NONE)
		return "";
	/*
	 * Kernel threads have no command line, nor do processes that have ended
	 * or are hidden.
	 */
	if (record->command == RECORD_COMMAND_NAME || !*p->command)
		return p->name;
	return p->command;
}

static int write_processes(struct record_sample *s,
			   const struct gk_snapshot *snap, const char *time,
			   bool write)
{
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];
		struct gk_chosen_process chosen;

		if (!gk_chosen_take(s->chosen, p->pid, &chosen))
			continue;
		if (s->record->job)
			gk_summary_process(&s->summary, p);
		if (write)
			gk_row_process(&s->out, &s->record->style, time,
				       &snap->devices[p->device], p,
				       command_column(s->record, &chosen));
	}
	return gk_chosen_end(s->chosen);
}

static void device_rows(struct record_sample *s, const struct gk_snapshot *snap,
			const char *time)
{
	for (size_t i = 0; i < snap->device_count; i++)
		gk_row_device(&s->out, &s->record->style, time,
			      &snap->devices[i]);
}

static struct gk_value sys_used(const struct gk_host *host)
{
	struct gk_value value = host->mem_total;

	if (host->mem_available.why)
		value.why = host->mem_available.why;
	value.v -= host->mem_available.v;
	return value;
}

static void system_rows(struct record_sample *s, const struct gk_snapshot *snap,
			const char *time)
{
	const struct gk_chosen_options *chosen = &s->record->chosen;

	for (size_t i = 0; i < chosen->pid_count; i++) {
		struct gk_system_row row = {
		    .pid = chosen->pids[i],
		    .sys_used = sys_used(&snap->host),
		};
		struct gk_usage usage;

		gk_usage_read(s->proc, row.pid, &s->starts[i], chosen->children,
			      snap, &usage);
		row.cpu = usage.cpu;
		row.used = usage.used;
		row.cpus = usage.cpus.data ? usage.cpus.data : "";
		if (usage.there)
			gk_row_system(&s->out, &s->record->style, time, &row);
		gk_buf_free(&usage.cpus);
	}
}

static int write_sample(struct record_sample *s, const struct gk_snapshot *snap,
			bool write, bool anew)
{
	const struct record *record = s->record;
	char time[GK_ROW_TIME_MAX];

	if (record->snapshots && write)
		return gk_tape_add(s->tape, snap, anew, &s->out);
	gk_row_time(time, snap->wall_ns, record->style.milliseconds);
	if (record->style.kind == GK_RECORD_DEVICES && write)
		device_rows(s, snap, time);
	if (record->style.kind == GK_RECORD_SYSTEM && write)
		system_rows(s, snap, time);
	return 0;
}

int record_sample_take(struct record_sample *s, const struct gk_snapshot *snap,
		       bool write, bool anew)
{
	const struct record *record = s->record;
	char time[GK_ROW_TIME_MAX];
	bool rows =
	    !record->snapshots && record->style.kind == GK_RECORD_PROCESSES;
	int r = record->job ? gk_summary_begin(&s->summary, snap) : 0;

	s->out.len = 0;
	if (r)
		return r;
	r = write_sample(s, snap, write, anew);
	if (!r && (rows || record->job))
		r = write_processes(s, snap,
				    gk_row_time(time, snap->wall_ns,
						record->style.milliseconds),
				    rows && write);
	if (record->job)
		gk_summary_end(&s->summary, snap);
	return s->out.failed ? GK_ERR_NOMEM : r;
}

/*
 * Formats the snapshot again only for a tape: rows are the same anywhere in a
 * file.
 */
int record_sample_again(struct record_sample *s, const struct gk_snapshot *snap)
{
	if (!s->record->snapshots)
		return 0;
	s->out.len = 0;
	return gk_tape_add(s->tape, snap, true, &s->out);
}
