/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - `gpukit fake join`: runs a command, by default a shell, on an
 * existing made-up machine.
 */
#include "base/str.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "fronts/common/generations.h"
#include "machine/file/file.h"
#include "machine/store/machine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	const char *name;
	bool no_torch;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'n':
		a->name = arg;
		return 0;
	case 't':
		a->no_torch = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->name)
			argp_error(state,
				   "'%s': join only one machine; put a command "
				   "after --",
				   arg);
		a->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * Returns the index of the command's first word, or argc if there is no "--".
 */
static int find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i + 1;
	return argc;
}

/* Runs a command with the libraries of the machine's driver version. */
static int run_there(const char *path, bool no_torch, char **command)
{
	struct fake_children none = {0};
	const struct gkf_generation *driver;
	struct gkf_machine *m;
	int code = fake_open(path, &m);

	if (code)
		return code;
	driver = gkf_generation_find(gkf_machine_file(m)->driver_version);
	code = fake_torch(!no_torch);
	if (!code)
		code = fake_run(m, path, driver ? driver->name : NULL, command,
				UINT64_MAX, false, &none);
	gkf_machine_close(m);
	return code;
}

static const struct argp_option options[] = {
    {"name", 'n', "MACHINE", 0, "The machine (GPUKIT_MACHINE, or the only one)",
     0},
    {"no-torch", 't', NULL, 0, "Leave PyTorch alone", 0},
    {0}};

const struct argp fake_join_argp = {
    options,
    parse_option,
    "[MACHINE] [-- CMD [ARG...]]",
    "Runs CMD, by default a shell, on an existing made-up machine, as "
    "a second terminal. The exit status is CMD's.\v`gpukit fake ctl "
    "ls` lists the machines. When the command that created the machine "
    "ends, programs that have joined keep it open, but no other "
    "program finds it.\n\nA program uses a machine through these "
    "variables, which this sets: GPUKIT_MACHINE, the path of the "
    "machine's file; LD_LIBRARY_PATH and LD_AUDIT, for the libraries "
    "of its driver; PATH, for its nvidia-smi; PYTHONPATH, for PyTorch.",
    NULL,
    NULL,
    NULL};

int fake_join(int argc, char **argv)
{
	struct arguments a = {0};
	static char sh[] = "/bin/sh";
	char *shell[2] = {getenv("SHELL"), NULL};
	int first = find_command(argc, argv);
	char chosen[PATH_MAX], path[PATH_MAX];
	int code;

	if (!shell[0] || !*shell[0])
		shell[0] = sh;
	gk_arg_parse(&fake_join_argp, 0, first < argc ? first - 1 : argc, argv,
		     &a);
	code = fake_choose(a.name, chosen, sizeof chosen);
	if (code)
		return code;
	/* Absolute, because the command may change its directory. */
	if (!realpath(chosen, path))
		return fake_failure("%s: %s", chosen, strerror(errno));
	fake_signals_hold();
	return run_there(path, a.no_torch, first < argc ? argv + first : shell);
}
