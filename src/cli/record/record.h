/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - `gpukit record`: its options and its parts. */
#ifndef GK_CLI_RECORD_H
#define GK_CLI_RECORD_H

#include "base/str.h"
#include "cli/page.h"
#include "cli/timings_opt.h"
#include "record/chosen.h"
#include "record/file.h"
#include "record/rows.h"
#include "record/summary.h"
#include "record/tape.h"

#include <gpukit/gpukit.h>

#include <signal.h>

enum record_command { RECORD_COMMAND_FULL, RECORD_COMMAND_NAME, RECORD_NONE };

/* The kinds of recording; the options may request several. */
enum record_asked {
	RECORD_PIDS = 1,
	RECORD_SYSTEM = 2,
	RECORD_DEVICES = 4,
	RECORD_SNAPSHOTS = 8,
};

struct record {
	unsigned asked; /* bits of record_asked */
	bool snapshots; /* writes a tape; false: rows */
	struct gk_row_style style;
	struct gk_chosen_options chosen;
	pid_t *pids; /* storage that chosen.pids points to */
	enum record_command command;
	uint64_t interval_ns;
	bool until_exit;
	int64_t count; /* samples; 0: no limit */
	struct gk_record_file_options file;
	struct gk_timings_opt timings;
	struct gk_options machine;
	char **job; /* the command, NULL-terminated; or NULL */
};

/* Parses the command line; exits if it is wrong. */
void record_parse(struct record *record, int argc, char **argv);
void record_free(struct record *record);

/* Records. Returns a gk_exit, or the exit status of the job. */
int record_run(struct record *record);

/* ---- sample.c: from snapshots to bytes ---- */

struct record_sample {
	const struct record *record;
	struct gk_chosen *chosen;
	struct gk_tape_writer *tape;
	struct gk_summary summary; /* figures of the job, for its report */
	uint64_t *starts; /* start times of the pids of GK_RECORD_SYSTEM */
	int proc;
	struct gk_buf header, out; /* the file's header; one formatted sample */
};

/* Warns on stderr if a regular expression is invalid. Returns 0 or a gk_err. */
int record_sample_open(struct record_sample *sample,
		       const struct record *record);
void record_sample_close(struct record_sample *sample);

/*
 * Formats a snapshot into sample->out, after the file's header if `anew` is
 * true. If `write` is false, only updates the summary. Returns 0 or a gk_err.
 */
int record_sample_take(struct record_sample *sample,
		       const struct gk_snapshot *snap, bool write, bool anew);

/* Formats the same snapshot again, as the first of a new file. */
int record_sample_again(struct record_sample *sample,
			const struct gk_snapshot *snap);

/* ---- job.c: runs the command ---- */

struct record_job {
	pid_t pid; /* 0: none */
	int gate;  /* a pipe to the child; closing it without writing a byte
		    * cancels the start */
	uint64_t began_ns;
	bool ended;
	int status; /* from waitpid() */
};

/*
 * Forks a process that will become the command; `signals` is its signal mask.
 * Returns in both processes, with job->pid 0 in the child. Returns 0 or a
 * gk_err.
 */
int record_job_prepare(struct record_job *job, const sigset_t *signals);

/*
 * Runs in the child. Waits for record_job_start(), then becomes the command.
 * Never returns.
 */
void record_job_become(struct record_job *job, char **argv);

/* Lets the waiting child become the command. */
void record_job_start(struct record_job *job);

/* Whether the job has ended. Does not wait. */
bool record_job_ended(struct record_job *job);

/* Waits until the job has ended. */
void record_job_await(struct record_job *job);

/*
 * Returns the exit status as a shell would: 128 + signal if a signal ended the
 * job.
 */
int record_job_exit_status(const struct record_job *job);

/* Prints lines about the job, with its time and memory. */
void record_job_report(const struct record_job *job, char **argv,
		       const struct gk_summary *summary, const char *file);

/* The options, for the manual. */
extern const struct argp record_argp;

#endif
