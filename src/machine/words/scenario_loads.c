/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_loads.c - keeps the loads of a scenario being compiled: which
 * processes run when, and how much memory they hold.
 */
#include "base/mix.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/wave_state.h"
#include "machine/words/scenario_build.h"
#include "machine/words/scenario_load.h"
#include "machine/words/scenario_yaml.h"
#include "machine/words/spec.h"

#include <stdlib.h>
#include <string.h>

static struct gkf_wave wave_of(struct gkf_build *b,
			       const struct gkf_load_spec *spec)
{
	uint64_t mix = gkf_mix(b->s.seed ^ gkf_mix(b->s.load_count + 1));
	struct gkf_wave wave = gkf_spec_wave(spec, (uint32_t)mix);

	wave.load = b->last_load;
	wave.start_bin = b->bin;
	wave.stop_bin = GKF_SCENARIO_FOREVER;
	return wave;
}

static int add_process(struct gkf_build *b, const char *name, unsigned device,
		       unsigned mig, const struct gkf_load_spec *spec)
{
	const struct gkf_profile *p = &b->s.profiles[device];
	struct gkf_scenario_load *load;

	if (b->s.load_count == GKF_SCENARIO_LOADS_MAX)
		return gk_yaml_fail(&b->yaml, b->line,
				    "load: %s: too many; a scenario has at "
				    "most %d processes",
				    name, GKF_SCENARIO_LOADS_MAX);
	if (!b->s.loads)
		b->s.loads = calloc(GKF_SCENARIO_LOADS_MAX, sizeof *b->s.loads);
	if (!b->s.loads)
		return gkf_build_nomem(b);
	load = &b->s.loads[b->s.load_count];
	*load = (struct gkf_scenario_load){
	    .device = device,
	    .mig = mig,
	    .bytes = gkf_spec_bytes(
		spec, (uint64_t)(p->memory_mib - p->reserved_mib), p),
	    .wave = wave_of(b, spec),
	    .line = b->line,
	};
	load->most = load->bytes;
	gk_str_copy(load->name, sizeof load->name, name);
	b->s.load_count++;
	return 0;
}

static bool is_running(const struct gkf_scenario_load *load, const char *name)
{
	return load->wave.stop_bin == GKF_SCENARIO_FOREVER &&
	       !strcmp(load->name, name);
}

/* Adds the n processes of a load on one GPU or MIG device. */
static int add_processes(struct gkf_build *b, const char *name, unsigned device,
			 unsigned mig, const struct gkf_load_spec *spec)
{
	int err = 0;

	if (mig != GKF_LOAD_NO_MIG && !spec->mem)
		return gk_yaml_fail(&b->yaml, b->line,
				    "load: %s: mem= is missing; a load in a "
				    "MIG device must say how much it takes",
				    name);
	b->last_load++;
	for (unsigned i = 0; !err && i < spec->n; i++)
		err = add_process(b, name, device, mig, spec);
	if (!err && mig != GKF_LOAD_NO_MIG)
		err = gkf_build_at(b, b->bin, GKF_PHASE_PLACE,
				   (struct gkf_step){.kind = GKF_STEP_PLACE,
						     .device = device,
						     .number = b->last_load,
						     .argument = mig},
				   NULL);
	return err;
}

int gkf_build_load_start(struct gkf_build *b, const char *name,
			 const struct gkf_load_spec *spec)
{
	int err = 0;

	for (unsigned i = 0; i < b->s.load_count; i++)
		if (is_running(&b->s.loads[i], name))
			return gk_yaml_fail(&b->yaml, b->line,
					    "load: start: '%s' is running "
					    "already, since line %u",
					    name, b->s.loads[i].line);
	for (unsigned d = 0; !err && d < b->s.device_count; d++) {
		if (spec->gpus >> d & 1)
			err = add_processes(b, name, d, GKF_LOAD_NO_MIG, spec);
		for (unsigned k = 0; !err && k < GKF_MIG_MAX; k++)
			if (spec->mig[d] >> k & 1)
				err = add_processes(b, name, d, k, spec);
	}
	return err;
}

static int not_running(struct gkf_build *b, const char *name)
{
	return gk_yaml_fail(&b->yaml, b->line,
			    "load: no load '%s' is running at that time", name);
}

int gkf_build_load_stop(struct gkf_build *b, const char *name)
{
	bool found = false;

	for (unsigned i = 0; i < b->s.load_count; i++) {
		struct gkf_scenario_load *load = &b->s.loads[i];

		if (!is_running(load, name))
			continue;
		if (load->wave.start_bin >= b->bin)
			return gk_yaml_fail(
			    &b->yaml, b->line,
			    "load: stop: '%s' starts at the same time", name);
		load->wave.stop_bin = b->bin;
		found = true;
	}
	return found ? 0 : not_running(b, name);
}

/* Bytes that a process holds now; its steps are in order of time. */
static int64_t bytes_now(const struct gkf_build *b,
			 const struct gkf_scenario_load *load)
{
	int64_t bytes = (int64_t)load->bytes;

	for (unsigned i = 0; i < b->s.step_count; i++) {
		const struct gkf_step *step = &b->s.steps[i];

		if (step->kind == GKF_STEP_MEMORY &&
		    step->number == load->wave.load && step->bin <= b->bin)
			bytes = step->argument;
	}
	return bytes;
}

static int change_memory(struct gkf_build *b,
			 const struct gkf_scenario_load *load, uint64_t bytes,
			 uint64_t bins)
{
	struct gkf_track t = {.known = true,
			      .start = b->bin,
			      .bins = bins,
			      .from = bytes_now(b, load),
			      .to = (int64_t)bytes};
	int64_t last = GKF_UNSET;
	int err = 0;

	gkf_build_drop(b, GKF_STEP_MEMORY, load->device, load->wave.load);
	for (uint64_t i = 0; !err && i <= bins; i++) {
		int64_t now = gkf_track_at(&t, t.start + i);

		if (now != last)
			err = gkf_build_at(
			    b, t.start + i, GKF_PHASE_MEMORY,
			    (struct gkf_step){.kind = GKF_STEP_MEMORY,
					      .device = load->device,
					      .number = load->wave.load,
					      .argument = now},
			    NULL);
		last = now;
	}
	return err;
}

int gkf_build_load_memory(struct gkf_build *b, const char *name, uint64_t bytes,
			  uint64_t bins)
{
	unsigned done = 0; /* the n processes on a device share a number */
	bool found = false;
	int err = 0;

	for (unsigned i = 0; !err && i < b->s.load_count; i++) {
		struct gkf_scenario_load *load = &b->s.loads[i];

		if (!is_running(load, name))
			continue;
		found = true;
		if (load->most < bytes)
			load->most = bytes;
		if (load->wave.load != done)
			err = change_memory(b, load, bytes, bins);
		done = load->wave.load;
	}
	return err ? err : found ? 0 : not_running(b, name);
}
