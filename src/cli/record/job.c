/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - runs the command of `gpukit record -- COMMAND`. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/command.h"
#include "cli/record/record.h"
#include "format/width.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Forks before the driver is opened, so that the child has none of our threads,
 * and so that its pid is known when processes are chosen. The child starts the
 * command when everything else is ready.
 */
int record_job_prepare(struct record_job *job, const sigset_t *signals)
{
	int gate[2];

	if (pipe2(gate, O_CLOEXEC) < 0)
		return gk_err_from_errno(errno);
	fflush(NULL);
	job->pid = fork();
	if (job->pid < 0) {
		close(gate[0]);
		close(gate[1]);
		return gk_err_from_errno(errno);
	}
	job->gate = gate[job->pid ? 1 : 0];
	close(gate[job->pid ? 0 : 1]);
	if (!job->pid)
		sigprocmask(SIG_SETMASK, signals, NULL);
	return 0;
}

void record_job_become(struct record_job *job, char **argv)
{
	char go;

	if (read(job->gate, &go, 1) != 1)
		_exit(GK_EXIT_NOT_RUN);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	_exit(gk_command_become("record", argv));
}

void record_job_start(struct record_job *job)
{
	job->began_ns = gk_mono_ns();
	(void)!write(job->gate, "", 1);
	close(job->gate);
	job->gate = -1;
}

bool record_job_ended(struct record_job *job)
{
	if (!job->ended && waitpid(job->pid, &job->status, WNOHANG) == job->pid)
		job->ended = true;
	return job->ended;
}

void record_job_await(struct record_job *job)
{
	while (!job->ended) {
		pid_t pid = waitpid(job->pid, &job->status, 0);

		job->ended = pid == job->pid || (pid < 0 && errno != EINTR);
	}
}

int record_job_exit_status(const struct record_job *job)
{
	return WIFSIGNALED(job->status) ? GK_EXIT_SIGNAL + WTERMSIG(job->status)
					: WEXITSTATUS(job->status);
}

static void how_it_ended(const struct record_job *job, struct gk_buf *out)
{
	double seconds =
	    (double)(gk_mono_ns() - job->began_ns) / (double)GK_NS_PER_S;

	gk_buf_printf(out, ": %.1f s, ", seconds);
	if (WIFSIGNALED(job->status))
		gk_buf_printf(out, "ended by signal %d (%s)\n",
			      WTERMSIG(job->status),
			      strsignal(WTERMSIG(job->status)));
	else
		gk_buf_printf(out, "exit status %d\n",
			      WEXITSTATUS(job->status));
}

void record_job_report(const struct record_job *job, char **argv,
		       const struct gk_summary *summary, const char *file)
{
	struct gk_buf out = {0};

	gk_buf_puts(&out, "gpukit record: ");
	gk_add_clean(&out, argv[0], strlen(argv[0]));
	how_it_ended(job, &out);
	gk_summary_text(summary, &out);
	gk_buf_printf(&out, "  recorded in       %s\n", file);
	if (!out.failed)
		fputs(out.data, stderr);
	gk_buf_free(&out);
}
