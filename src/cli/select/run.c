/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - `gpukit select`: reads GPUs, chooses, waits, reserves, and prints the
 * result or becomes the command.
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/open.h"
#include "cli/output.h"
#include "cli/select/select.h"
#include "core/choose/pick.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The time between two readings of the GPUs while waiting. */
#define READ_EVERY_NS (1 * GK_NS_PER_S)
/* The time between two checks of the reservations while waiting. */
#define LOOK_EVERY_NS (50 * GK_NS_PER_MS)
/* How long to wait for other processes that are choosing. */
#define PATIENCE_NS (5 * GK_NS_PER_S)
#define HIGH_FD     100 /* higher than the descriptors that shells redirect */

/*
 * The environment variable with the devices that are reserved for a command. A
 * `gpukit select` that the command runs does not treat these devices as taken.
 */
#define OWN_VARIABLE "GPUKIT_RESERVED"

struct state {
	struct gk_select_run *run;
	struct gk *gk;
	struct gk_snapshot *snap;
	struct gk_selection selection;
	const char *scope; /* see reserve.h */
	int locks; /* descriptor of the lock file; -1: no reservations exist */
	const char *path; /* path of the lock file */
	struct gk_reserve_bar
	    bar; /* what blocked reservations when these were last read */
	bool warned;
	uint64_t end; /* when to stop waiting; UINT64_MAX: never */
	unsigned *pool;
	bool *taken; /* indexed by position in the snapshot's devices */
};

static int __attribute__((format(printf, 2, 3)))
tell_select_failure(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("gpukit select: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return status;
}

static int cannot_read(int err)
{
	return tell_select_failure(GK_SELECT_NVML, "cannot read the GPUs: %s",
				   gk_strerror(err));
}

/* ---- reading ---- */

static int open_chosen_machine(struct state *s)
{
	static const enum gk_metric used[] = {
	    GK_M_MEM_FREE, GK_M_MEM_USED, GK_M_MEM_TOTAL,    GK_M_GPU_UTIL,
	    GK_M_MEM_UTIL, GK_M_MIG_MODE, GK_M_SM_CLOCK_MAX,
	};
	struct gk_options options = s->run->machine;
	struct gk_metric_set only = {0};
	int nvml = 0, err;

	for (size_t i = 0; i < sizeof used / sizeof *used; i++)
		gk_metric_set_add(&only, used[i]);
	options.only = &only;
	options.with |= s->run->wanted.free_user_count ? GK_WITHOUT_COMMANDS
						       : GK_WITHOUT_PROCESSES;
	if (s->run->wanted.topology)
		options.with |= GK_WITH_TOPOLOGY;
	err = gk_open(&options, &nvml, &s->gk);
	if (!err)
		return 0;
	gk_cli_explain("select", &options, err, nvml);
	return err == GK_ERR_NO_DRIVER ? GK_SELECT_NO_DRIVER : GK_SELECT_NVML;
}

/*
 * Whether an entry of CUDA_VISIBLE_DEVICES is one of those that people write to
 * end the list.
 */
static bool ends_list(const char *entry)
{
	return !strncmp(entry, "-1", 2) || !strncmp(entry, "NoDevFiles", 10);
}

static int bad_entry(const struct state *s, const char *value, long bad)
{
	const char *source =
	    s->run->inherit == GK_INHERIT_ENV ? "CUDA_VISIBLE_DEVICES" : "-i";

	return tell_select_failure(
	    GK_SELECT_VISIBLE,
	    "'%.*s' in %s='%s' is not a GPU here, or occurs twice; "
	    "`gpukit stat` lists the GPUs",
	    (int)strcspn(value + bad, ","), value + bad, source, value);
}

/* Chooses among the snapshot's devices those that CUDA would show. */
static int inherit_visible(struct state *s)
{
	const char *value = s->run->inherit == GK_INHERIT_GIVEN
				? s->run->inherited
				: getenv("CUDA_VISIBLE_DEVICES");
	enum gk_cuda_order order = gk_cuda_order(getenv("CUDA_DEVICE_ORDER"));
	size_t room = s->snap->device_count + 1, count = 0;
	struct gk_candidate *candidates = calloc(room, sizeof *candidates);
	unsigned *positions = calloc(room, sizeof *positions);
	long bad = -1;
	int err = GK_ERR_NOMEM;

	if (candidates && positions) {
		count =
		    gk_pick_candidates(s->snap, false, candidates, positions);
		err = gk_cuda_visible(value, order, candidates, count, s->pool,
				      &count, &bad);
	}
	for (size_t i = 0; !err && i < count; i++)
		s->pool[i] = positions[s->pool[i]];
	free(candidates);
	free(positions);
	if (err)
		return cannot_read(err);
	if (bad >= 0 && !ends_list(value + bad))
		return bad_entry(s, value, bad);
	s->run->wanted.pool = s->pool;
	s->run->wanted.pool_count = count;
	return 0;
}

static int take_snapshot(struct state *s)
{
	struct gk_span span;
	int err;

	gk_snapshot_free(s->snap);
	s->snap = NULL;
	gk_span_begin(&span, "snapshot");
	err = gk_snapshot_take(s->gk, &s->snap);
	gk_span_end(&span);
	if (err)
		return cannot_read(err);
	free(s->pool);
	free(s->taken);
	s->pool = calloc(s->snap->device_count + 1, sizeof *s->pool);
	s->taken = calloc(s->snap->device_count + 1, sizeof *s->taken);
	if (!s->pool || !s->taken)
		return cannot_read(GK_ERR_NOMEM);
	s->run->wanted.taken = s->taken;
	return s->run->inherit ? inherit_visible(s) : 0;
}

/* ---- reservations ---- */

/* Warns once that reservations are blocked, and continues. */
static void warn_of_bar(struct state *s)
{
	struct gk_buf text = {0};

	if (s->warned)
		return;
	s->warned = true;
	gk_select_bar_text(&text, s->path, &s->bar);
	tell_select_failure(0, "%s; going on%s",
			    text.data ? text.data : s->path,
			    s->run->reserve ? " to wait" : " without");
	gk_buf_free(&text);
}

static int refuse_barred(struct state *s)
{
	struct gk_buf text = {0};

	gk_select_bar_text(&text, s->path, &s->bar);
	tell_select_failure(GK_EXIT_FAILURE, "nothing is reserved: %s",
			    text.data ? text.data : s->path);
	gk_buf_free(&text);
	return GK_EXIT_FAILURE;
}

/* Whether the device is reserved for the command that runs us. */
static bool is_held_by_caller(const struct state *s, const char *uuid)
{
	const char *own = getenv(OWN_VARIABLE);

	return own && !s->run->reserve && strstr(own, uuid);
}

static bool is_taken(struct state *s, const char *uuid)
{
	switch (gk_reserve_held(s->locks, s->scope, uuid, &s->bar)) {
	case GK_HOLD_RESERVED:
		return !is_held_by_caller(s, uuid);
	/* The lock is not a reservation, but keeps us from making one. */
	case GK_HOLD_FOREIGN:
		if (!s->run->reserve)
			warn_of_bar(s);
		return s->run->reserve;
	case GK_HOLD_NONE:
		break;
	}
	return false;
}

/* Reads which devices are reserved. Returns whether this has changed. */
static bool look_at_locks(struct state *s)
{
	bool changed = false;

	if (s->locks < 0)
		return false;
	s->bar = (struct gk_reserve_bar){0};
	for (size_t i = 0; i < s->snap->device_count; i++) {
		bool taken = is_taken(s, s->snap->devices[i].uuid);

		changed |= taken != s->taken[i];
		s->taken[i] = taken;
	}
	return changed;
}

/*
 * Only --reserve creates the lock file. Without --reserve, the file may be
 * missing.
 */
static int open_locks(struct state *s)
{
	const char *path = getenv("GPUKIT_RESERVATIONS");
	int err;

	s->path = path && *path ? path : gk_reserve_path();
	if (s->run->also_reserved)
		return 0;
	err = gk_reserve_open(s->path, s->run->reserve, &s->locks, &s->bar);
	if (err && s->run->reserve)
		return refuse_barred(s);
	if (s->bar.kind)
		warn_of_bar(s);
	return 0;
}

/*
 * Waits until no other process is choosing. With --wait, prints a message after
 * PATIENCE_NS, and goes on waiting until the time of --wait is over.
 */
static int enter_queue(struct state *s)
{
	uint64_t soon = gk_mono_ns() + PATIENCE_NS;
	int err =
	    gk_reserve_enter(s->locks, soon < s->end ? soon : s->end, &s->bar);

	if (err == GK_ERR_TIMEOUT && s->run->wait && soon < s->end) {
		warn_of_bar(s);
		err = gk_reserve_enter(s->locks, s->end, &s->bar);
	}
	if (err == GK_ERR_TIMEOUT)
		return refuse_barred(s);
	return err ? tell_select_failure(GK_EXIT_FAILURE, "reservations: %s",
					 gk_strerror(err))
		   : 0;
}

static int reserve_chosen(struct state *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->selection.chosen; i++) {
		unsigned at = s->selection.all[i].device;

		err = gk_reserve_take(s->locks, s->scope,
				      s->snap->devices[at].uuid);
	}
	return err;
}

/* ---- choosing devices ---- */

static bool has_gpus_enough(const struct state *s)
{
	return s->selection.chosen >= s->run->wanted.least;
}

static int choose_gpus(struct state *s)
{
	gk_selection_free(&s->selection);
	return gk_select(s->snap, &s->run->wanted, &s->selection);
}

/* Chooses devices and reserves them before another process can. */
static int choose_and_take(struct state *s)
{
	int err = s->run->reserve ? enter_queue(s) : 0;

	if (err)
		return err;
	look_at_locks(s);
	err = choose_gpus(s);
	if (!err && s->run->reserve && has_gpus_enough(s))
		err = reserve_chosen(s);
	if (s->run->reserve)
		gk_reserve_leave(s->locks);
	return err ? tell_select_failure(GK_EXIT_FAILURE, "cannot choose: %s",
					 gk_strerror(err))
		   : 0;
}

/*
 * Whether more devices are wanted than exist, free or not. Waiting is useless
 * then.
 */
static bool is_hopeless(const struct state *s)
{
	return s->run->wanted.least > s->selection.count;
}

static int not_enough(struct state *s)
{
	struct gk_buf why = {0};
	int status;

	if (s->run->reserve && s->bar.kind == GK_BAR_LOCK)
		return refuse_barred(s);
	gk_format_refusals(&why, s->snap, &s->selection);
	if (!why.len)
		gk_buf_puts(&why, !s->selection.count ? "there is none"
				  : is_hopeless(s)
				      ? "there are no more"
				      : "a process can use one MIG "
					"device only");
	if (s->run->least_given)
		status = tell_select_failure(
		    GK_SELECT_NOT_ENOUGH, "%zu of the %zu devices wanted: %s",
		    s->selection.chosen, s->run->wanted.least,
		    why.data ? why.data : "");
	else
		status = tell_select_failure(GK_SELECT_NONE,
					     "no device to choose: %s",
					     why.data ? why.data : "");
	gk_buf_free(&why);
	return status;
}

/* Waits until there is a reason to read the GPUs again, or time is up. */
static void wait_a_while(struct state *s)
{
	uint64_t until = gk_mono_ns() + READ_EVERY_NS;

	if (until > s->end)
		until = s->end;
	while (gk_mono_ns() < until && !look_at_locks(s)) {
		uint64_t next = gk_mono_ns() + LOOK_EVERY_NS;

		gk_sleep_until(next < until ? next : until);
	}
}

static int choose_until_enough(struct state *s)
{
	const struct gk_select_run *run = s->run;

	for (;;) {
		int status = take_snapshot(s);

		if (!status)
			status = choose_and_take(s);
		if (status || has_gpus_enough(s))
			return status;
		if (!run->wait || is_hopeless(s) || gk_mono_ns() >= s->end)
			return not_enough(s);
		wait_a_while(s);
	}
}

/* ---- printing the result ---- */

static void put_choice(const struct state *s, enum gk_select_ids ids,
		       struct gk_buf *out)
{
	gk_format_selection(out, s->snap, &s->selection, ids, ",", 1);
	gk_buf_putc(out, '\0');
}

/*
 * Whether the GPUs are of different models. Ignores lost GPUs, whose model is
 * unknown.
 */
static bool differ_in_model(const struct gk_snapshot *snap)
{
	const char *first = NULL;

	for (size_t i = 0; i < snap->device_count; i++) {
		const char *name = snap->devices[i].name;

		if (snap->devices[i].mig_index >= 0 || !*name)
			continue;
		if (first && strcmp(name, first) != 0)
			return true;
		first = name;
	}
	return false;
}

/* Warns that CUDA, by default, numbers GPUs of different models by speed. */
static void warn_of_order(const struct state *s)
{
	enum gk_cuda_order order = gk_cuda_order(getenv("CUDA_DEVICE_ORDER"));

	if (order != GK_ORDER_PCI_BUS_ID && s->selection.chosen &&
	    differ_in_model(s->snap))
		tell_select_failure(
		    0,
		    "the GPUs' models differ: set CUDA_DEVICE_ORDER=PCI_BUS_ID "
		    "for CUDA to use these numbers, or use --format uuid");
}

static int print_choice(const struct state *s)
{
	const struct gk_select_run *run = s->run;
	enum gk_select_ids ids =
	    gk_selection_ids(s->snap, &s->selection, run->ids);
	struct gk_buf out = {0}, list = {0};
	enum gk_output written;

	if (run->json) {
		gk_format_selection_json(&out, s->snap, &s->selection, ids);
	} else {
		gk_format_selection(&out, s->snap, &s->selection, ids,
				    run->separator, run->separator_len);
		if (!run->null_ended)
			gk_buf_putc(&out, '\n');
		else if (s->selection.chosen)
			gk_buf_putc(&out, '\0');
	}
	put_choice(s, ids, &list);
	if (!run->json && !list.failed && !isatty(STDOUT_FILENO))
		fprintf(stderr, "CUDA_VISIBLE_DEVICES=\"%s\"\n", list.data);
	if (ids == GK_SELECT_INDEX)
		warn_of_order(s);
	signal(SIGPIPE, SIG_IGN);
	written = gk_write_out(&out, "select");
	gk_buf_free(&out);
	gk_buf_free(&list);
	return written == GK_OUTPUT_FAILED ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

static int set_environment(const struct state *s)
{
	enum gk_select_ids ids =
	    gk_selection_ids(s->snap, &s->selection, s->run->ids);
	struct gk_buf list = {0}, uuids = {0};
	int err = 0;

	put_choice(s, ids, &list);
	put_choice(s, GK_SELECT_UUID, &uuids);
	if (list.failed || uuids.failed ||
	    setenv("CUDA_VISIBLE_DEVICES", list.data, 1) ||
	    setenv(OWN_VARIABLE, uuids.data, 1) ||
	    (ids == GK_SELECT_INDEX &&
	     setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1)))
		err = tell_select_failure(GK_EXIT_FAILURE, "out of memory");
	gk_buf_free(&list);
	gk_buf_free(&uuids);
	return err;
}

/*
 * Replaces this process by the command, so that the reservation ends when the
 * command is killed. Children that keep its descriptors keep the reservation
 * too.
 */
static int exec_selected(struct state *s)
{
	char **argv = s->run->command;
	int status = set_environment(s);

	if (status)
		return status;
	if (fcntl(s->locks, F_DUPFD, HIGH_FD) < 0 &&
	    fcntl(s->locks, F_SETFD, 0) < 0)
		return tell_select_failure(GK_EXIT_FAILURE,
					   "cannot pass on the "
					   "reservation: %s",
					   strerror(errno));
	gk_close(s->gk);
	s->gk = NULL;
	return gk_command_become("select", argv);
}

int gk_select_run(struct gk_select_run *run)
{
	const char *machine = getenv("GPUKIT_MACHINE");
	struct state s = {
	    .run = run,
	    .locks = -1,
	    .scope = machine ? machine : "",
	    .end = run->wait && run->wait_ns ? gk_mono_ns() + run->wait_ns
					     : UINT64_MAX,
	};
	int status = open_chosen_machine(&s), timings;

	if (status)
		return status;
	status = open_locks(&s);
	if (!status)
		status = choose_until_enough(&s);
	timings = gk_timings_report(&run->timings);
	if (!status)
		status = run->reserve ? exec_selected(&s) : print_choice(&s);
	gk_selection_free(&s.selection);
	gk_snapshot_free(s.snap);
	free(s.pool);
	free(s.taken);
	if (s.locks >= 0)
		close(s.locks);
	return gk_cli_close(s.gk, status ? status : timings);
}
