/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - `gpukit fake ctl clock`: shows and changes machine time and its
 * speed, and shows the progress of the scenario.
 */
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/clock_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/store/clock.h"
#include "machine/trouble/scenario.h"
#include "machine/words/spec.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define STEP_MAX_NS (366 * 86400 * 1000000000ULL)

/* The state of the clock and of the scenario, to be printed. */
struct look {
	uint64_t now_ns, speed, run_speed;
	const struct gkf_scenario_head *head; /* NULL: no scenario */
	char name[4 * GKF_SCENARIO_NAME_MAX];
	char note[4 * GKF_STEP_TEXT_MAX];
	int64_t at_ns; /* machine time since the scenario began */
	uint64_t duration_ns, next_ns, done;
};

static void look_at_scenario(struct ctl *ctl, struct look *look)
{
	const struct gkf_scenario_head *head = &ctl->file->scenario;
	char name[GKF_SCENARIO_NAME_MAX + 1] = "", text[GKF_STEP_TEXT_MAX];
	uint64_t note = atomic_load(&head->note), next;
	struct gkf_step step;

	memcpy(name, head->name, sizeof head->name);
	if (!*name)
		return;
	look->head = head;
	gk_str_clean(look->name, sizeof look->name, name, strlen(name));
	look->at_ns = (int64_t)(look->now_ns - head->begin_bin * GKF_BIN_NS);
	look->duration_ns = (head->end_bin - head->begin_bin) * GKF_BIN_NS;
	look->done = atomic_load(&head->done);
	next = gkf_scenario_next_ns(ctl->machine);
	look->next_ns =
	    next == UINT64_MAX ? next : next - head->begin_bin * GKF_BIN_NS;
	if (note &&
	    gkf_scenario_step(ctl->machine, (unsigned)note - 1, &step)) {
		gkf_scenario_text(ctl->machine, &step, text);
		gk_str_clean(look->note, sizeof look->note, text, strlen(text));
	}
}

static void show_text(struct ctl *ctl, const struct look *look)
{
	printf("machine time %.3f s, ", (double)look->now_ns / 1e9);
	if (look->speed)
		printf("running at %g times real time\n",
		       (double)look->speed / 1e3);
	else
		printf("stopped (runs at %g)\n", (double)look->run_speed / 1e3);
	if (!look->head)
		return;
	printf("scenario %s: %.3f of %.3f s, %" PRIu64 " of %u steps done",
	       look->name, (double)look->at_ns / 1e9,
	       (double)look->duration_ns / 1e9, look->done,
	       gkf_scenario_count(ctl->machine));
	if (atomic_load(&look->head->failed))
		printf(" (%llu refused)",
		       (unsigned long long)atomic_load(&look->head->failed));
	if (look->next_ns != UINT64_MAX)
		printf(", next at %.3f s", (double)look->next_ns / 1e9);
	putchar('\n');
	if (*look->note)
		printf("now: %s\n", look->note);
}

static int show_json(struct ctl *ctl, const struct look *look)
{
	json_t *top =
	    json_pack("{s:I, s:f, s:f}", "machine_ns", (json_int_t)look->now_ns,
		      "speed", (double)look->speed / 1e3, "run_speed",
		      (double)look->run_speed / 1e3);
	int r;

	if (look->head)
		json_object_set_new(
		    top, "scenario",
		    json_pack(
			"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "name",
			look->name, "at_ns", (json_int_t)look->at_ns,
			"duration_ns", (json_int_t)look->duration_ns, "steps",
			(json_int_t)gkf_scenario_count(ctl->machine), "done",
			(json_int_t)look->done, "refused",
			(json_int_t)atomic_load(&look->head->failed), "next_ns",
			look->next_ns == UINT64_MAX ? (json_int_t)-1
						    : (json_int_t)look->next_ns,
			"note", look->note));
	r = top ? json_dumpf(top, stdout, JSON_INDENT(2)) : -1;
	json_decref(top);
	putchar('\n');
	return r ? fake_failure("ctl clock: cannot write JSON") : GK_EXIT_OK;
}

static int show_clock(struct ctl *ctl)
{
	struct look look = {
	    .now_ns = gkf_machine_ns(ctl->machine),
	    .speed = gkf_clock_get(ctl->machine).speed,
	    .run_speed = atomic_load(&ctl->file->run_speed),
	};

	look_at_scenario(ctl, &look);
	if (ctl->json)
		return show_json(ctl, &look);
	show_text(ctl, &look);
	return GK_EXIT_OK;
}

static int tell_clock_result(int err)
{
	return err ? fake_failure("ctl clock: %s", gk_strerror(err)) : 0;
}

static int set_speed(struct ctl *ctl, const char *text)
{
	uint64_t speed;

	if (gkf_speed_parse(text, &speed))
		return fake_usage("ctl clock speed: '%s'; allowed is a number "
				  "from 0.001 to 1000",
				  text);
	atomic_store(&ctl->file->run_speed, speed);
	/* A new speed does not start a stopped clock. */
	return gkf_clock_get(ctl->machine).speed
		   ? tell_clock_result(gkf_clock_speed(ctl->machine, speed))
		   : 0;
}

/*
 * Steps the clock. Then settles the machine: when this returns, all events
 * within the step have taken effect.
 */
static int step_clock(struct ctl *ctl, const char *text)
{
	uint64_t ns;
	int code;

	if (gk_parse_duration(text, &ns) || ns > STEP_MAX_NS)
		return fake_usage("ctl clock step: '%s'; allowed is a time up "
				  "to 366d, such as 10s",
				  text);
	code = tell_clock_result(gkf_machine_age(ctl->machine, ns));
	return code ? code
		    : tell_clock_result(gkf_machine_settle(ctl->machine));
}

static int pause_clock(struct ctl *ctl)
{
	int err = gkf_clock_speed(ctl->machine, 0);

	return tell_clock_result(err ? err : gkf_machine_settle(ctl->machine));
}

static int run_clock(struct ctl *ctl)
{
	uint64_t speed = atomic_load(&ctl->file->run_speed);

	if (gkf_clock_get(ctl->machine).speed)
		return 0;
	return tell_clock_result(gkf_clock_speed(
	    ctl->machine, speed && speed <= GKF_SPEED_MAX ? speed : 1000));
}

int ctl_clock(struct ctl *ctl, int argc, char **argv)
{
	const char *verb = argc ? argv[0] : "show";
	int code;

	if (!strcmp(verb, "show") && argc <= 1)
		code = 0;
	else if (!strcmp(verb, "pause") && argc == 1)
		code = pause_clock(ctl);
	else if (!strcmp(verb, "run") && argc == 1)
		code = run_clock(ctl);
	else if (!strcmp(verb, "step") && argc == 2)
		code = step_clock(ctl, argv[1]);
	else if (!strcmp(verb, "speed") && argc == 2)
		code = set_speed(ctl, argv[1]);
	else
		return fake_usage("usage: gpukit fake ctl clock [show | pause "
				  "| run | step TIME | speed N]");
	return code ? code : show_clock(ctl);
}
