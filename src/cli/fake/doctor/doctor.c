/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - `gpukit fake doctor`: checks whether programs will run on a
 * made-up machine, and says what to do about those that will not. It runs no
 * program but Python.
 */
#include "cli/fake/doctor/doctor.h"
#include "base/err.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "cli/output.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"

#include <argp.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_GPUS "a100-sxm4-80gb"

struct check {
	const char *gpus;
	const char *python; /* NULL: none */
	char **paths;
	bool json;
	bool needed;         /* also report the libraries that our libraries
			      * need */
	unsigned capability; /* lowest capability of all GPUs; 80 for 8.0 */
	char libraries[PATH_MAX];
	struct gk_buf text;
	json_t *list;
	unsigned with_cuda; /* number of files that use CUDA */
	int code;
};

static const struct argp_option options[] = {
    {"gpus", 'g', "LIST", 0,
     "The machine to run on, as for `gpukit fake` (" DEFAULT_GPUS ")", 0},
    {"python", 'p', "PYTHON", 0,
     "Say whether the PyTorch of this Python, for example in a virtual "
     "environment, will run, and which operators are refused",
     0},
    {"libraries", 'l', NULL, 0,
     "Say which third-party libraries ours need, and which are missing", 0},
    {"json", 'j', NULL, 0, "JSON: a list of objects instead of lines", 0},
    {0}};

static error_t parse_doctor_option(int key, char *arg, struct argp_state *state)
{
	struct check *check = state->input;

	switch (key) {
	case 'g':
		check->gpus = arg;
		return 0;
	case 'p':
		check->python = arg;
		return 0;
	case 'l':
		check->needed = true;
		return 0;
	case 'j':
		check->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		check->paths = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!check->python && !check->needed)
			argp_error(state, "no file; give one, as in `gpukit "
					  "fake doctor ./a.out`");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp fake_doctor_argp = {
    .options = options,
    .parser = parse_doctor_option,
    .args_doc = "FILE...\n--python PYTHON [FILE...]\n--libraries [FILE...]",
    .doc = "Says whether programs and libraries will run on a made-up machine: "
	   "which CUDA runtime and which kernel images they contain, and what "
	   "to do. Runs nothing except PYTHON; in a directory, such as a "
	   "Python package, checks every file.\vExit status: 0 if all will "
	   "run; 1 if some will not; 2 for wrong usage."};

/* Returns the lowest compute capability of the machine's GPUs. */
static int find_least_capability(struct check *check)
{
	static struct gkf_profile profiles[GKF_DEVICES_MAX];
	char message[FAKE_MESSAGE_MAX];
	unsigned count;

	if (fake_parse_gpus("--gpus", check->gpus, profiles, &count, message))
		return fake_usage("%s", message);
	if (!count)
		return fake_usage(
		    "--gpus: no CUDA program runs on a machine without GPUs");
	check->capability = UINT_MAX;
	for (unsigned i = 0; i < count; i++) {
		unsigned capability =
		    (unsigned)(profiles[i].compute_major * 10 +
			       profiles[i].compute_minor);

		if (capability < check->capability)
			check->capability = capability;
	}
	return 0;
}

/*
 * Checks one file. `quietly` means that the file was found in a directory and
 * is reported only if it uses CUDA.
 */
static int check_path(struct check *check, const char *path, bool quietly)
{
	struct bytes all;
	struct doctor doctor;
	int err;

	errno = 0;
	all = doctor_map(path);
	if (!all.data) {
		if (!quietly)
			check->code = fake_failure(
			    "doctor: %s: %s", path,
			    errno == EINVAL ? "not a file" : strerror(errno));
		return 0;
	}
	err = doctor_look(path, all, check->capability, &doctor);
	if (err) {
		doctor_unmap(all);
		return fake_failure("doctor: %s: %s", path, gk_strerror(err));
	}
	check->with_cuda += doctor_has_cuda(&doctor);
	if (doctor.advice_count && (!quietly || doctor.kind != KIND_OTHER))
		check->code = GK_EXIT_FAILURE;
	if (quietly && !doctor_has_cuda(&doctor))
		;
	else if (check->json)
		json_array_append_new(check->list,
				      doctor_json(&doctor, check->libraries));
	else
		doctor_text(&doctor, check->libraries, &check->text);
	doctor_free(&doctor);
	doctor_unmap(all);
	return 0;
}

/* nftw(3) passes no argument to visit_file(). */
static struct check *walking;

static int visit_file(const char *path, const struct stat *st, int type,
		      struct FTW *where)
{
	(void)st, (void)where;
	return type == FTW_F ? check_path(walking, path, true) : 0;
}

static int check_file(struct check *check, const char *path)
{
	unsigned before = check->with_cuda;
	struct stat st;
	int code;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return check_path(check, path, false);
	walking = check;
	code = nftw(path, visit_file, 64, FTW_PHYS);
	if (code < 0)
		return fake_failure("doctor: %s: %s", path, strerror(errno));
	if (!code && check->with_cuda == before && !check->json)
		gk_buf_printf(&check->text, "%s: contains nothing of CUDA\n",
			      path);
	return code;
}

static int finish_check(struct check *check)
{
	int code = check->code;

	if (check->json) {
		char *text = json_dumps(check->list, JSON_INDENT(2));

		gk_buf_printf(&check->text, "%s\n", text ? text : "");
		free(text);
	}
	if (check->text.failed)
		code = fake_failure("out of memory");
	else if (check->text.len &&
		 gk_write_out(&check->text, "fake doctor") == GK_OUTPUT_FAILED)
		code = GK_EXIT_FAILURE;
	return code;
}

int fake_doctor(int argc, char **argv)
{
	struct check check = {.gpus = DEFAULT_GPUS};
	int code = 0;

	gk_arg_parse(&fake_doctor_argp, 0, argc, argv, &check);
	signal(SIGPIPE, SIG_IGN);
	code = find_least_capability(&check);
	if (!code &&
	    fake_where("cuda13", check.libraries, sizeof check.libraries))
		code = fake_failure("doctor: cannot find gpukit's own files");
	check.list = json_array();
	if (!code && check.python)
		code =
		    doctor_python(check.python, check.json ? check.list : NULL,
				  &check.text, &check.code);
	if (!code && check.needed &&
	    doctor_needed(check.json ? check.list : NULL, &check.text))
		check.code = GK_EXIT_FAILURE;
	for (char **path = check.paths; !code && path && *path; path++)
		code = check_file(&check, *path);
	if (!code)
		code = finish_check(&check);
	gk_buf_free(&check.text);
	json_decref(check.list);
	return code;
}
