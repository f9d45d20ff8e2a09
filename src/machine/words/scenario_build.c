/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_build.c - collects, sorts and rehearses the steps of a scenario. A
 * ramp becomes one step for each value; the rehearsal uses a separate machine.
 */
#include "machine/words/scenario_build.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/units.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/wave.h"
#include "machine/store/scenario_table.h"
#include "machine/trouble/machine.h"
#include "machine/trouble/scenario.h"
#include "machine/words/scenario_load.h"
#include "machine/words/scenario_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kind of a cancelled step. */
#define DROPPED GKF_STEP_KINDS

int gkf_build_nomem(struct gkf_build *b)
{
	return gk_yaml_fail(&b->yaml, 0, "out of memory"), GK_ERR_NOMEM;
}

int gkf_build_machine(struct gkf_build *b, unsigned line)
{
	struct gkf_machine_spec spec = {.device_count = b->s.device_count,
					.profiles = b->s.profiles,
					.layout = b->s.layout,
					.frozen = true};
	int r = gkf_machine_scratch(&spec, &b->m);

	if (r)
		return gk_yaml_fail(&b->yaml, line, "gpus: %s", gk_strerror(r)),
		       r;
	b->tracks = calloc(b->s.device_count + 1, sizeof *b->tracks);
	if (!b->tracks)
		return gkf_build_nomem(b);
	for (unsigned d = 0; !r && d < b->s.device_count; d++) {
		const char *layout = b->s.profiles[d].mig_layout, *part;

		if (*layout)
			r = gkf_mig_layout(b->m, d, layout, &part);
	}
	return r ? gk_yaml_fail(&b->yaml, line, "gpus: mig_layout: %s",
				gk_strerror(r)),
	       r : 0;
}

void gkf_build_free(struct gkf_build *b)
{
	gkf_machine_close(b->m);
	free(b->tracks);
	free(b->origins);
	gkf_scenario_free(&b->s);
}

void gkf_scenario_free(struct gkf_scenario *s)
{
	free(s->profiles);
	free(s->steps);
	free(s->lines);
	free(s->loads);
	gk_buf_free(&s->texts);
	*s = (struct gkf_scenario){0};
}

struct gkf_scenario_table gkf_scenario_table(const struct gkf_scenario *s)
{
	return (struct gkf_scenario_table){
	    .name = s->name,
	    .steps = s->steps,
	    .count = s->step_count,
	    .texts = s->texts.data ? s->texts.data : "",
	    .text_size = (unsigned)s->texts.len,
	    .begin_bin = s->begin,
	    .end_bin = s->begin + s->duration,
	};
}

/* ---- steps ---- */

static int grow_steps(struct gkf_build *b)
{
	unsigned cap = b->step_cap ? 2 * b->step_cap : 64;
	struct gkf_step *steps;
	struct gkf_origin *origins;

	if (b->s.step_count < b->step_cap)
		return 0;
	if (b->s.step_count >= GKF_STEPS_MAX)
		return gk_yaml_fail(&b->yaml, b->line,
				    "too many steps; a scenario has at most "
				    "%d, and a ramp is one for each value",
				    GKF_STEPS_MAX);
	steps = realloc(b->s.steps, cap * sizeof *steps);
	if (steps)
		b->s.steps = steps;
	origins = realloc(b->origins, cap * sizeof *origins);
	if (origins)
		b->origins = origins;
	if (!steps || !origins)
		return gkf_build_nomem(b);
	b->step_cap = cap;
	return 0;
}

/* Adds a text unless it equals the last: all GPUs of a step share it. */
static int add_step_text(struct gkf_build *b, const char *text,
			 uint32_t *ret_at)
{
	struct gk_buf *texts = &b->s.texts;
	size_t len = strlen(text) + 1;

	if (texts->len >= len &&
	    !memcmp(texts->data + texts->len - len, text, len)) {
		*ret_at = (uint32_t)(texts->len - len);
		return 0;
	}
	*ret_at = (uint32_t)texts->len;
	gk_buf_add(texts, text, len);
	if (texts->failed)
		return gkf_build_nomem(b);
	if (texts->len > GKF_STEP_TEXTS_MAX)
		return gk_yaml_fail(&b->yaml, b->line,
				    "too many notes; a scenario has room for "
				    "%d bytes",
				    GKF_STEP_TEXTS_MAX);
	return 0;
}

int gkf_build_at(struct gkf_build *b, uint64_t bin, unsigned phase,
		 struct gkf_step step, const char *text)
{
	int err = grow_steps(b);

	if (!err && text)
		err = add_step_text(b, text, &step.text);
	if (err)
		return err;
	step.bin = bin;
	b->origins[b->s.step_count] =
	    (struct gkf_origin){b->line, phase, b->s.step_count};
	b->s.steps[b->s.step_count++] = step;
	return 0;
}

int gkf_build_step(struct gkf_build *b, enum gkf_step_kind kind,
		   uint32_t device, uint32_t number, int64_t argument,
		   const char *text)
{
	return gkf_build_at(b, b->bin, GKF_PHASE_FIRST,
			    (struct gkf_step){.kind = kind,
					      .device = device,
					      .number = number,
					      .argument = argument},
			    text);
}

void gkf_build_drop(struct gkf_build *b, enum gkf_step_kind kind,
		    uint32_t device, uint32_t number)
{
	for (unsigned i = 0; i < b->s.step_count; i++) {
		struct gkf_step *step = &b->s.steps[i];

		if (step->kind == (uint32_t)kind && step->device == device &&
		    step->number == number && step->bin >= b->bin)
			step->kind = DROPPED;
	}
}

/* ---- values ---- */

int64_t gkf_track_at(const struct gkf_track *t, uint64_t bin)
{
	uint64_t passed = bin - t->start;

	if (passed >= t->bins)
		return t->to;
	return t->from + (int64_t)((__int128_t)(t->to - t->from) *
				   (int64_t)passed / (int64_t)t->bins);
}

/* Cancels the rest of a ramp. */
static void cut_ramp(struct gkf_build *b, unsigned device, enum gkf_value value)
{
	struct gkf_track *t = &b->tracks[device][value];

	if (t->known && t->start + t->bins >= b->bin)
		gkf_build_drop(b, GKF_STEP_SET, device, (uint32_t)value);
}

static int add_set(struct gkf_build *b, uint64_t bin, unsigned device,
		   enum gkf_value value, int64_t to)
{
	return gkf_build_at(b, bin, GKF_PHASE_FIRST,
			    (struct gkf_step){.kind = GKF_STEP_SET,
					      .device = device,
					      .number = (uint32_t)value,
					      .argument = to},
			    NULL);
}

int gkf_build_set(struct gkf_build *b, unsigned device, enum gkf_value value,
		  int64_t to)
{
	cut_ramp(b, device, value);
	b->tracks[device][value] = (struct gkf_track){
	    .known = to != GKF_UNSET, .start = b->bin, .from = to, .to = to};
	return add_set(b, b->bin, device, value, to);
}

int gkf_build_ramp(struct gkf_build *b, unsigned device, enum gkf_value value,
		   const int64_t *from, int64_t to, uint64_t bins)
{
	struct gkf_track *old = &b->tracks[device][value], t;
	int64_t last = GKF_UNSET;
	int err = 0;

	if (!from && !old->known)
		return gk_yaml_fail(
		    &b->yaml, b->line,
		    "ramp: from: key is missing; %s of GPU %u is not set at "
		    "that time, so it must say where the ramp begins",
		    gkf_values[value].name, device);
	t = (struct gkf_track){.known = true,
			       .start = b->bin,
			       .bins = bins,
			       .from = from ? *from : gkf_track_at(old, b->bin),
			       .to = to};
	cut_ramp(b, device, value);
	*old = t;
	for (uint64_t i = 0; !err && i <= bins; i++) {
		int64_t now = gkf_track_at(&t, t.start + i);

		if (now != last)
			err = add_set(b, t.start + i, device, value, now);
		last = now;
	}
	return err;
}

/* ---- the whole scenario ---- */

/* A step with its origin: both are sorted together. */
struct pair {
	struct gkf_step step;
	struct gkf_origin origin;
};

static int in_time(const void *left, const void *right)
{
	const struct pair *l = left, *r = right;

	if (l->step.bin != r->step.bin)
		return l->step.bin < r->step.bin ? -1 : 1;
	if (l->origin.phase != r->origin.phase)
		return l->origin.phase < r->origin.phase ? -1 : 1;
	return l->origin.number < r->origin.number ? -1 : 1;
}

static int sort_steps(struct gkf_build *b)
{
	struct pair *pairs = calloc(b->s.step_count + 1, sizeof *pairs);
	unsigned n = 0;

	if (!pairs)
		return gkf_build_nomem(b);
	for (unsigned i = 0; i < b->s.step_count; i++)
		if (b->s.steps[i].kind != DROPPED)
			pairs[n++] =
			    (struct pair){b->s.steps[i], b->origins[i]};
	qsort(pairs, n, sizeof *pairs, in_time);
	for (unsigned i = 0; i < n; i++) {
		b->s.steps[i] = pairs[i].step;
		b->origins[i] = pairs[i].origin;
	}
	b->s.step_count = n;
	free(pairs);
	b->s.lines = calloc(n + 1, sizeof *b->s.lines);
	if (!b->s.lines)
		return gkf_build_nomem(b);
	for (unsigned i = 0; i < n; i++)
		b->s.lines[i] = b->origins[i].line;
	return 0;
}

static const char *const kind_names[GKF_STEP_KINDS] = {
    [GKF_STEP_NOTE] = "note",
    [GKF_STEP_SET] = "set",
    [GKF_STEP_FAULT] = "fail",
    [GKF_STEP_MEND] = "clear",
    [GKF_STEP_XID] = "xid",
    [GKF_STEP_ECC] = "ecc",
    [GKF_STEP_RESET] = "reset",
    [GKF_STEP_MACHINE_FAULT] = "fail",
    [GKF_STEP_RULE] = "rule",
    [GKF_STEP_RULE_DROP] = "clear",
    [GKF_STEP_MIG_MODE] = "mig: enable",
    [GKF_STEP_MIG_CREATE] = "mig: create",
    [GKF_STEP_MIG_DESTROY] = "mig: destroy",
    [GKF_STEP_PLACE] = "load: start",
    [GKF_STEP_MEMORY] = "load: mem",
};

static const char *refusal_reason(const struct gkf_step *step, int err)
{
	bool mig = step->kind == GKF_STEP_MIG_CREATE ||
		   step->kind == GKF_STEP_MIG_DESTROY;

	if (step->kind == GKF_STEP_PLACE || (mig && err == GK_ERR_NOT_FOUND))
		return "there is no such MIG device at that time";
	if (mig && err == GK_ERR_NO_SPACE)
		return "there is not enough room";
	if (mig && err == GK_ERR_INVALID)
		return "this GPU does not support the layout";
	if (step->kind == GKF_STEP_MIG_MODE && err == GK_ERR_IN_USE)
		return "the GPU has instances; destroy them first";
	if (err == GK_ERR_NOT_SUPPORTED)
		return "not supported: the GPU lacks it, or it is off";
	return gk_strerror(err);
}

static int refuse_step(struct gkf_build *b, unsigned index, int err)
{
	const struct gkf_step *step = &b->s.steps[index];
	char gpu[128] = "";

	GK_ASSERT(step->kind < GKF_STEP_KINDS);
	if (step->device != GKF_STEP_NO_DEVICE)
		snprintf(gpu, sizeof gpu, "GPU %u (%s): ", step->device,
			 b->s.profiles[step->device].name);
	return gk_yaml_fail(&b->yaml, b->origins[index].line, "%s: %s%s",
			    kind_names[step->kind], gpu,
			    refusal_reason(step, err));
}

/* Applies all steps to the machine of the rehearsal, in order. */
static int rehearse_steps(struct gkf_build *b)
{
	for (unsigned i = 0; i < b->s.step_count; i++) {
		const struct gkf_step *step = &b->s.steps[i];
		int err = gkf_scenario_do(
		    b->m, step,
		    b->s.texts.data ? b->s.texts.data + step->text : "");

		if (err)
			return refuse_step(b, i, err);
	}
	return 0;
}

int gkf_build_finish(struct gkf_build *b)
{
	int err = 0;

	for (unsigned i = 0; !err && i < b->s.load_count; i++)
		err = gkf_build_fits(b, &b->s.loads[i]);
	if (!err)
		err = sort_steps(b);
	return err ? err : rehearse_steps(b);
}

int gkf_build_fits(struct gkf_build *b, const struct gkf_scenario_load *new)
{
	const struct gkf_profile *p = &b->s.profiles[new->device];
	uint64_t room = (uint64_t)(p->memory_mib - p->reserved_mib) * MIB;
	double held = 0;

	for (unsigned i = 0; i < b->s.load_count; i++) {
		const struct gkf_scenario_load *l = &b->s.loads[i];

		if (l->device == new->device &&
		    gkf_wave_present(&l->wave, new->wave.start_bin))
			held += (double)l->most;
	}
	if (held <= (double)room)
		return 0;
	return gk_yaml_fail(&b->yaml, new->line,
			    "load: %s: GPU %u (%s) has %.1f GiB, %.1f GiB are "
			    "requested at that time; lower mem= or n=",
			    new->name, new->device, p->name,
			    (double)room / (double)GIB, held / (double)GIB);
}
