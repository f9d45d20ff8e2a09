/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - `gpukit record`: takes samples at absolute deadlines. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "cli/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A job's memory is sampled at least this often, to find its peak. */
#define JOB_TICK_NS (250 * GK_NS_PER_MS)

struct run {
	struct record *record;
	struct gk *gk;
	struct record_sample sample;
	struct gk_record_file file;
	struct record_job job;
	int timer, signals, epoll;
	uint64_t tick_ns, ticks; /* period of the timer; ticks so far */
	uint64_t per_row;        /* ticks between two rows */
	uint64_t next_row;       /* tick of the next row */
	int64_t samples;
	bool fresh;  /* nothing has been written to the current file yet */
	bool broken; /* the file cannot be written */
	bool done;
	int status;
};

/*
 * Reports an error after which no more samples are taken. A running job
 * continues; without a job, the recording ends.
 */
static int tell_record_error(struct run *run, const char *what, int err)
{
	fprintf(stderr, "gpukit record: %s: %s\n", what, gk_strerror(err));
	run->broken = true;
	run->done = !run->job.pid;
	if (run->timer >= 0)
		epoll_ctl(run->epoll, EPOLL_CTL_DEL, run->timer, NULL);
	return run->status = GK_EXIT_FAILURE;
}

/* ---- one sample ---- */

/*
 * Reports that the file cannot be written. A running job continues without
 * being recorded; without a job, the recording ends.
 */
static void file_failed(struct run *run)
{
	run->broken = true;
	run->done = !run->job.pid;
	if (run->file.ended)
		return;
	run->status = GK_EXIT_FAILURE;
	fprintf(stderr, "gpukit record: %s\n", run->file.trouble);
}

static void write_rows(struct run *run, bool anew)
{
	const struct gk_buf *out = &run->sample.out;
	struct gk_span span;
	int r = 0;

	gk_span_begin(&span, "write");
	if (anew)
		r = gk_record_file_rotate(&run->file);
	if (!r)
		r = gk_record_file_write(&run->file, out->data, out->len);
	gk_span_end(&span);
	run->fresh = false;
	if (r)
		file_failed(run);
}

/*
 * Formats a sample. Only the size of the formatted sample shows whether it
 * still fits into the file. If it does not fit, formats it again as the first
 * sample of a new file.
 */
static int format_sample(struct run *run, const struct gk_snapshot *snap,
			 bool write, bool *ret_anew)
{
	bool anew = write && !run->fresh && gk_record_file_full(&run->file, 0);
	struct gk_span span;
	int r;

	gk_span_begin(&span, "format");
	r = record_sample_take(&run->sample, snap, write, anew || run->fresh);
	if (!r && write && !run->fresh && !anew &&
	    gk_record_file_full(&run->file, run->sample.out.len)) {
		r = record_sample_again(&run->sample, snap);
		anew = true;
	}
	gk_span_end(&span);
	*ret_anew = anew;
	return r;
}

static bool has_samples_enough(const struct run *run)
{
	int64_t count = run->record->count;

	return count && run->samples >= count;
}

static void take_sample(struct run *run, bool write)
{
	struct gk_snapshot *snap;
	struct gk_span span;
	bool anew;
	int r;

	write &= !run->broken && !has_samples_enough(run);
	gk_span_begin(&span, "snapshot");
	r = gk_snapshot_take(run->gk, &snap);
	gk_span_end(&span);
	if (r) {
		tell_record_error(run, "cannot read the GPUs", r);
		return;
	}
	r = format_sample(run, snap, write, &anew);
	gk_snapshot_free(snap);
	if (r)
		tell_record_error(run, "cannot make rows", r);
	else if (write)
		write_rows(run, anew);
	if (write)
		run->samples++;
	run->done |= has_samples_enough(run) && !run->job.pid;
}

static void on_tick(struct run *run)
{
	uint64_t expired;
	bool write;

	if (read(run->timer, &expired, sizeof expired) != sizeof expired)
		return;
	run->ticks += expired;
	write = run->ticks >= run->next_row;
	while (run->ticks >= run->next_row)
		run->next_row += run->per_row;
	take_sample(run, write);
}

/* ---- the end ---- */

/* A signal from the terminal has already reached the command. */
static void read_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signals, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGCHLD)
		run->done |= run->job.pid && record_job_ended(&run->job);
	else if (!run->job.pid)
		run->done = true;
	else if (info.ssi_code <= 0)
		kill(run->job.pid, (int)info.ssi_signo);
}

static bool all_gone(struct run *run)
{
	return run->record->until_exit && !run->job.pid &&
	       gk_chosen_all_gone(run->sample.chosen);
}

static void on_event(struct run *run, int fd)
{
	if (fd == run->timer)
		on_tick(run);
	else if (fd == run->signals)
		read_signal(run);
	else /* A process has ended. Its pidfd would stay readable. */
		epoll_ctl(run->epoll, EPOLL_CTL_DEL, fd, NULL);
	run->done |= all_gone(run);
}

static void record_samples(struct run *run)
{
	struct epoll_event event;
	struct gk_span span;

	while (!run->done) {
		int n;

		gk_span_begin(&span, "wait for the next sample");
		n = epoll_wait(run->epoll, &event, 1, -1);
		gk_span_end(&span);
		if (n == 1)
			on_event(run, event.data.fd);
		else if (n < 0 && errno != EINTR)
			tell_record_error(run, "cannot wait",
					  gk_err_from_errno(errno));
	}
}

/* ---- the start ---- */

static int watch_fd(struct run *run, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd < 0 || epoll_ctl(run->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return gk_err_from_errno(errno);
	return 0;
}

/*
 * Watches with pidfds for the end of processes. If there are no pidfds, the
 * next sample shows which processes have ended.
 */
static void watch_processes(struct run *run)
{
	const struct gk_chosen_options *chosen = &run->record->chosen;

	for (size_t i = 0; run->record->until_exit && i < chosen->pid_count;
	     i++) {
		int fd = (int)syscall(SYS_pidfd_open, chosen->pids[i], 0);

		if (fd >= 0)
			watch_fd(run, fd);
	}
}

static int start_timer(struct run *run)
{
	struct itimerspec spec = {0};
	uint64_t interval = run->record->interval_ns;

	run->per_row =
	    run->record->job ? (interval + JOB_TICK_NS - 1) / JOB_TICK_NS : 1;
	run->tick_ns = interval / run->per_row;
	run->next_row = run->per_row;
	spec.it_interval = gk_timespec(run->tick_ns);
	spec.it_value = gk_timespec(gk_mono_ns() + run->tick_ns);
	if (timerfd_settime(run->timer, TFD_TIMER_ABSTIME, &spec, NULL) < 0)
		return gk_err_from_errno(errno);
	return 0;
}

static int prepare_waiting(struct run *run, const sigset_t *signals)
{
	int r;

	run->epoll = epoll_create1(EPOLL_CLOEXEC);
	run->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	run->signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	r = run->epoll < 0 ? gk_err_from_errno(errno)
			   : watch_fd(run, run->timer);
	return r ? r : watch_fd(run, run->signals);
}

/* Reads only the metrics that rows show. */
static void choose_metrics(const struct record *record,
			   struct gk_options *options,
			   struct gk_metric_set *only)
{
	if (record->snapshots) {
		options->with |= GK_WITH_DETAIL | GK_WITH_TOPOLOGY |
				 GK_WITH_EVENTS | GK_WITH_PROCESS_ALL;
		if (record->command != RECORD_COMMAND_FULL)
			options->with |= GK_WITHOUT_COMMANDS;
		return;
	}
	/* chosen.c reads command lines itself, only once per process. */
	options->with |= record->style.kind == GK_RECORD_SYSTEM
			     ? GK_WITHOUT_COMMANDS
			     : GK_WITHOUT_PROC;
	if (record->style.kind == GK_RECORD_DEVICES) {
		options->with |= GK_WITH_DETAIL | GK_WITH_EVENTS;
		if (!record->job)
			options->with |= GK_WITHOUT_PROCESSES;
		return;
	}
	options->with |= GK_WITHOUT_SLOW;
	/*
	 * Needed to check the memory of processes, which cannot exceed the
	 * total.
	 */
	gk_metric_set_add(only, GK_M_MEM_TOTAL);
	if (record->job) {
		gk_metric_set_add(only, GK_M_GPU_UTIL);
		gk_metric_set_add(only, GK_M_POWER);
		gk_metric_set_add(only, GK_M_ENERGY);
	}
	options->only = only;
}

static int open_recorded_machine(struct run *run)
{
	struct gk_options options = run->record->machine;
	struct gk_metric_set only = {0};
	struct gk_span span;
	int status;

	choose_metrics(run->record, &options, &only);
	gk_span_begin(&span, "open");
	status = gk_cli_open("record", &options, &run->gk);
	gk_span_end(&span);
	return status;
}

static bool is_listed(const struct gk_snapshot *snap, pid_t pid)
{
	for (size_t i = 0; i < snap->process_count; i++)
		if (snap->processes[i].pid == pid)
			return true;
	return false;
}

/*
 * Reports pids that do not exist, because recording them would record nothing.
 * A process that is not in /proc may still exist: a GPU may list a process of
 * another pid namespace.
 */
static int find_pids(struct run *run)
{
	const struct gk_chosen_options *chosen = &run->record->chosen;
	struct gk_snapshot *snap = NULL;
	int r = 0, status = GK_EXIT_OK;

	for (size_t i = 0; i < chosen->pid_count && !status; i++) {
		pid_t pid = chosen->pids[i];

		if (!kill(pid, 0) || errno != ESRCH)
			continue;
		if (!snap && (r = gk_snapshot_take(run->gk, &snap)))
			return tell_record_error(run, "cannot read the GPUs",
						 r);
		if (is_listed(snap, pid))
			continue;
		fprintf(
		    stderr,
		    "gpukit record: no process %d exists here or on a GPU\n",
		    (int)pid);
		status = GK_EXIT_FAILURE;
	}
	gk_snapshot_free(snap);
	return status;
}

static int open_record_file(struct run *run)
{
	struct gk_record_file_options options = run->record->file;

	options.header = run->sample.header.data ? run->sample.header.data : "";
	options.header_len = run->sample.header.len;
	options.binary = run->record->snapshots;
	options.whole = run->record->snapshots ? gk_tape_whole : NULL;
	options.stop = run->signals;
	run->fresh = true;
	if (!gk_record_file_open(&run->file, &options))
		return GK_EXIT_OK;
	run->done = run->file.ended && !run->job.pid;
	if (run->done)
		return GK_EXIT_OK;
	fprintf(stderr, "gpukit record: %s\n", run->file.trouble);
	return GK_EXIT_FAILURE;
}

/* Records the command and its children. */
static void choose_job(struct run *run)
{
	struct gk_chosen_options *chosen = &run->record->chosen;

	if (!run->job.pid)
		return;
	chosen->pids = &run->job.pid;
	chosen->pid_count = 1;
	chosen->children = true;
}

/* Does everything that can fail before the command starts. */
static int start_recording(struct run *run, const sigset_t *signals)
{
	int r, status;

	choose_job(run);
	r = record_sample_open(&run->sample, run->record);
	if (!r)
		r = prepare_waiting(run, signals);
	if (r)
		return tell_record_error(run, "cannot begin", r);
	status = open_recorded_machine(run);
	if (!status)
		status = find_pids(run);
	if (!status)
		status = open_record_file(run);
	return status;
}

static void record_all(struct run *run)
{
	int r;

	if (run->job.pid)
		record_job_start(&run->job);
	watch_processes(run);
	take_sample(run, true);
	r = start_timer(run);
	if (r)
		tell_record_error(run, "cannot keep time", r);
	run->done |= all_gone(run);
	record_samples(run);
}

static void end_job(struct run *run)
{
	if (!run->job.pid)
		return;
	record_job_await(&run->job);
	record_job_report(&run->job, run->record->job, &run->sample.summary,
			  run->file.path);
	if (!run->status)
		run->status = record_job_exit_status(&run->job);
}

static int run_all(struct run *run, const sigset_t *signals)
{
	int status = start_recording(run, signals);

	if (status || run->done)
		return gk_cli_close(run->gk, status);
	record_all(run);
	end_job(run);
	if (gk_record_file_close(&run->file) && !run->broken)
		file_failed(run);
	status = gk_timings_report(&run->record->timings);
	return gk_cli_close(run->gk, run->status ? run->status : status);
}

/*
 * Chooses the signals that this process handles. With a job, these include
 * signals that are forwarded to it, unless they are ignored.
 */
static void choose_signals(const struct record *record, sigset_t *ret_signals)
{
	static const int passed_on[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	struct sigaction how;

	sigemptyset(ret_signals);
	sigaddset(ret_signals, SIGINT);
	sigaddset(ret_signals, SIGTERM);
	if (!record->job)
		return;
	sigaddset(ret_signals, SIGCHLD);
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		if (!sigaction(passed_on[i], NULL, &how) &&
		    how.sa_handler != SIG_IGN)
			sigaddset(ret_signals, passed_on[i]);
}

int record_run(struct record *record_)
{
	struct run run = {.record = record_, .timer = -1, .job.gate = -1};
	sigset_t signals, before;
	int status;

	choose_signals(record_, &signals);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &signals, &before);
	if (record_->job && record_job_prepare(&run.job, &before))
		return tell_record_error(&run, "cannot start a process",
					 GK_ERR_NOMEM);
	if (record_->job && !run.job.pid)
		record_job_become(&run.job, record_->job);
	status = run_all(&run, &signals);
	record_sample_close(&run.sample);
	return status;
}
