/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - `gpukit doctor`: parses the options, looks, and reports. */
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/doctor/doctor.h"
#include "cli/machine_opt.h"
#include "cli/page.h"
#include "cli/open.h"
#include "cli/output.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The time limit for opening the driver and reading its GPUs, so that the whole
 * command takes at most a second.
 */
#define PATIENCE_NS (700 * GK_NS_PER_MS)

enum key { KEY_JSON = 0x101, KEY_ROOT, KEY_COLOR, KEY_NO_COLOR };

struct options {
	bool json;
	const char *root;
	enum gk_color_choice color;
	struct gk_options machine;
};

static const struct argp_option options[] = {
    {.doc = "Output:", .group = 1},
    {"json", 'j', NULL, 0, "JSON instead of lines", 1},
    {"color", KEY_COLOR, NULL, 0, "Use colours, even in a pipe", 1},
    {"no-color", KEY_NO_COLOR, NULL, 0, "Use no colours", 1},
    {.doc = "Reading the machine:", .group = 5},
    {"root", KEY_ROOT, "DIR", 0,
     "Examine dev, proc, sys, etc and lib below DIR, such as a host's root "
     "that is mounted in a container (/)",
     5},
    {0},
};

static error_t parse_doctor_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->machine;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case KEY_COLOR:
		o->color = GK_COLOR_ALWAYS;
		return 0;
	case KEY_NO_COLOR:
		o->color = GK_COLOR_NEVER;
		return 0;
	case KEY_ROOT:
		o->root = gk_arg_path(state, "--root", arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
    {&gk_machine_argp, 0, NULL, 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse_doctor_option,
    .children = children,
    .doc =
	"Says what is on this machine: driver, device files, GPUs, "
	"container, terminal; which verbs work; and what to do about what "
	"does not. Changes nothing.\vFor a program on a made-up machine, "
	"see `gpukit fake doctor FILE`; for a running process within limits, "
	"`gpukit limit doctor PID`.\n\nExit status: 0 if nothing is "
	"bad; 1 if something is bad; 2 for wrong usage.",
};

/* Opens the root and reads what all checks need. Returns 0 or an errno. */
static int begin_doctor(struct gk_doctor *d)
{
	d->elsewhere = strcmp(d->root_path, "/") != 0;
	d->root = open(d->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->root < 0)
		return errno;
	gk_doctor_read_system(d);
	gk_doctor_read_place(d);
	gk_doctor_read_kernel(d);
	return 0;
}

static void look_at_all(struct gk_doctor *d, struct gk_doctor_report *r)
{
	for (size_t i = 0; i < CHECK_COUNT; i++) {
		r->found[i].state = FINDING_ABSENT;
		gk_doctor_checks[i].look(d, &r->found[i]);
	}
	gk_doctor_find_libraries(r->libraries);
}

static int write_report(const struct gk_doctor_report *r,
			const struct options *o)
{
	struct gk_buf out = {0};
	int code = gk_doctor_is_well(r) ? GK_EXIT_OK : GK_EXIT_FAILURE;

	if (o->json)
		gk_doctor_json(r, &out);
	else
		gk_doctor_text(r, gk_use_color(o->color), &out);
	if (out.failed) {
		fputs("gpukit doctor: out of memory\n", stderr);
		code = GK_EXIT_FAILURE;
	} else if (gk_write_out(&out, "doctor") == GK_OUTPUT_FAILED) {
		code = GK_EXIT_FAILURE;
	}
	gk_buf_free(&out);
	return code;
}

/* Whether a thread of ours may be stuck in the driver. */
static bool is_hanging(const struct gk_doctor_driver *v)
{
	bool hangs = v->err == GK_ERR_TIMEOUT || (v->gk && !v->snap);

	for (size_t i = 0; v->snap && i < v->snap->device_count; i++)
		hangs |= v->snap->devices[i].health == GK_HEALTH_STALE;
	return hangs;
}

/*
 * Exits. Does not call exit() or gk_close() if a thread is stuck, because these
 * would wait for it.
 */
static int end_doctor(struct gk_doctor *d, int code)
{
	if (is_hanging(&d->driver)) {
		fflush(NULL);
		_exit(code);
	}
	gk_snapshot_free(d->driver.snap);
	close(d->root);
	return d->driver.gk ? gk_cli_close(d->driver.gk, code) : code;
}

static int run_doctor(int argc, char **argv)
{
	struct options o = {.root = "/", .machine = GK_OPTIONS_DEFAULT};
	static struct gk_doctor d;
	static struct gk_doctor_report report;
	int error;

	gk_arg_parse(&argp, 0, argc, argv, &o);
	signal(SIGPIPE, SIG_IGN);
	d.root_path = o.root;
	d.machine = o.machine;
	error = begin_doctor(&d);
	if (error) {
		fprintf(stderr, "gpukit doctor: --root %s: %s\n", o.root,
			strerror(error));
		return GK_EXIT_FAILURE;
	}
	gk_doctor_read_driver(&d, o.machine.timeout_ns ? o.machine.timeout_ns
						       : PATIENCE_NS);
	report.doctor = &d;
	look_at_all(&d, &report);
	return end_doctor(&d, write_report(&report, &o));
}

const struct gk_cmd gk_cmd_doctor = {
    .name = "doctor",
    .summary = "says what is on this machine, what works and why not",
    .run = run_doctor,
};

const struct gk_manual_page doctor_pages[] = {
    {
	.name = "doctor",
	.argp = &argp,
	.text =
	    "The worst comes first, with what to do. bad means that a verb or "
	    "a "
	    "GPU does not work; warn, that something works less well or CUDA "
	    "programs do not start. At the end it lists the verbs that work, "
	    "and why the others do not. It needs no rights, and ends within a "
	    "second even if a GPU hangs.",
	.environment =
	    "NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR\tThe first one that is set "
	    "and not empty chooses colours, unless an option does.\n",
	.examples =
	    "gpukit doctor\tSay what is wrong with this machine.\n"
	    "gpukit doctor --root /host\tLook at the files of a host, from a "
	    "container.\n"
	    "gpukit fake -- gpukit doctor\tLook at a made-up machine.\n",
    },
    {.name = NULL},
};
