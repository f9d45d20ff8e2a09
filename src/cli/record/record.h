/*
 * record.h - `gpukit record`: what its options chose, and its parts.
 */
#ifndef GK_CLI_RECORD_H
#define GK_CLI_RECORD_H

#include "base/str.h"
#include "cli/timings_opt.h"
#include "record/chosen.h"
#include "record/file.h"
#include "record/rows.h"
#include "record/summary.h"
#include "record/tape.h"

#include <gpukit/gpukit.h>

#include <signal.h>

enum record_command { RECORD_COMMAND_FULL, RECORD_COMMAND_NAME, RECORD_NONE };

/* Kinds of recordings that were asked for. */
enum record_asked {
	RECORD_PIDS = 1,
	RECORD_SYSTEM = 2,
	RECORD_DEVICES = 4,
	RECORD_SNAPSHOTS = 8,
};

struct record {
	unsigned asked; /* bits of record_asked */
	bool snapshots; /* a tape; else rows */
	struct gk_row_style style;
	struct gk_chosen_options chosen;
	pid_t *pids; /* what chosen.pids points to */
	enum record_command command;
	uint64_t interval_ns;
	bool until_exit;
	int64_t count; /* samples; 0: no end */
	struct gk_record_file_options file;
	struct gk_timings_opt timings;
	struct gk_options machine;
	char **job; /* a command to run, ends with NULL; or NULL */
};

/* Reads the command line; ends the command when something is wrong. */
void record_parse(struct record *record, int argc, char **argv);
void record_free(struct record *record);

/* Records; a gk_exit, or the exit status of the job. */
int record_run(struct record *record);

/* ---- sample.c: from snapshots to bytes ---- */

struct record_sample {
	const struct record *record;
	struct gk_chosen *chosen;
	struct gk_tape_writer *tape;
	struct gk_summary summary; /* of a job */
	uint64_t *starts;          /* of the pids of GK_RECORD_SYSTEM */
	int proc;
	struct gk_buf header, out; /* what a file begins with; a sample */
};

/* Warns on stderr about an expression that is none. 0 or a gk_err. */
int record_sample_open(struct record_sample *sample,
		       const struct record *record);
void record_sample_close(struct record_sample *sample);

/*
 * Puts what is to be written of a snapshot into sample->out. write false: only
 * the summary is interested. anew: the file begins with it. 0 or a gk_err.
 */
int record_sample_take(struct record_sample *sample,
		       const struct gk_snapshot *snap, bool write, bool anew);

/* Takes the same snapshot once more, for the beginning of another file. */
int record_sample_again(struct record_sample *sample,
			const struct gk_snapshot *snap);

/* ---- job.c: the command that is run ---- */

struct record_job {
	pid_t pid; /* 0: none */
	int gate;  /* closed without a word: it never starts */
	uint64_t began_ns;
	bool ended;
	int status; /* as waitpid() tells it */
};

/*
 * Forks a process that waits until it is started; signals: the mask that it
 * starts with. Returns in both, job->pid is 0 in the new one. 0 or a gk_err.
 */
int record_job_prepare(struct record_job *job, const sigset_t *signals);

/* Waits in the new process, and becomes the command; never returns. */
void record_job_become(struct record_job *job, char **argv);

/* Lets the waiting process become the command. */
void record_job_start(struct record_job *job);

/* Whether it has ended; never waits. */
bool record_job_ended(struct record_job *job);

/* Waits until it has ended. */
void record_job_await(struct record_job *job);

/* As a shell tells it: 128 + signal for one that was killed. */
int record_job_exit_status(const struct record_job *job);

/* Prints lines about the job, and the time and memory that it took. */
void record_job_report(const struct record_job *job, char **argv,
		       const struct gk_summary *summary, const char *file);

#endif
