/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_python.c - runs a Python interpreter to examine its PyTorch, with our
 * package python/gpukit/fake/torch/doctor.py.
 */
#include "base/err.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/fake/doctor/doctor.h"
#include "cli/fake/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void __attribute__((noreturn))
become_python(const char *python, bool json, int out)
{
	static char option[] = "-m", module[] = "_gpukit_torch";
	static char doctor[] = "--doctor", as_json[] = "--json";
	char *words[] = {strdup(python),        option, module, doctor,
			 json ? as_json : NULL, NULL};

	dup2(out, STDOUT_FILENO);
	_exit(gk_command_become("fake", words));
}

/*
 * Runs our package in a Python. Returns its exit status, with its output in
 * *answer; -1 if it cannot be run.
 */
static int ask_python(const char *python, bool json, struct gk_buf *answer)
{
	char bytes[4096];
	int ends[2], status = -1;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		become_python(python, json, ends[1]);
	close(ends[1]);
	while (pid > 0 && (n = read(ends[0], bytes, sizeof bytes)) != 0)
		if (n > 0)
			gk_buf_add(answer, bytes, (size_t)n);
		else if (errno != EINTR)
			break;
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int doctor_python(const char *python, json_t *list, struct gk_buf *text,
		  int *ret_code)
{
	struct gk_buf answer = {0};
	json_t *found;
	int status = fake_torch(true);

	if (status)
		return status;
	status = ask_python(python, list, &answer);
	if (status == GK_EXIT_NOT_THERE || status == GK_EXIT_NOT_RUN)
		return GK_EXIT_FAILURE; /* gk_command_become() said why */
	found = list && answer.data ? json_loads(answer.data, 0, NULL) : NULL;
	if ((status != GK_EXIT_OK && status != GK_EXIT_FAILURE) ||
	    !answer.len || (list && !found)) {
		gk_buf_free(&answer);
		return fake_failure("doctor: %s: not a working Python", python);
	}
	if (list)
		json_array_append_new(list, found);
	else
		gk_buf_add(text, answer.data, answer.len);
	if (status)
		*ret_code = status;
	gk_buf_free(&answer);
	return 0;
}
