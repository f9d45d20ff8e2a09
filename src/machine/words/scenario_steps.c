/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_steps.c - reads the loads and steps of a scenario file. */
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/words/scenario_build.h"
#include "machine/words/scenario_keys.h"
#include "machine/words/scenario_load.h"
#include "machine/words/scenario_yaml.h"
#include "machine/words/spec.h"

#include <string.h>

#define TIMES_MAX 100000

/* ---- loads ---- */

static int start_load(struct gkf_build *b, const char *name,
		      const yaml_node_t *node)
{
	char message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec spec;
	const char *text;
	size_t head;

	if (!gk_yaml_is_text(node))
		return GKF_BUILD_FAIL(b, node,
				      "load: %s: must be an argument of "
				      "--load, such as train:0-3,mem=60GiB",
				      name);
	text = gk_yaml_scalar(node);
	if (gkf_spec_load("load:", text, b->s.device_count, &spec, message))
		return GKF_BUILD_FAIL(b, node, "%s", message);
	head = strcspn(text, ",");
	if (b->has_gpus && memchr(text, ':', head))
		return GKF_BUILD_FAIL(
		    b, node, "load: %s: gpu: already names the GPUs", name);
	if (b->has_gpus)
		spec.gpus = b->gpus;
	return gkf_build_load_start(b, name, &spec);
}

static int read_load_at_start(void *data, const yaml_node_t *key,
			      const yaml_node_t *value)
{
	struct gkf_build *b = data;
	char name[GKF_LOAD_NAME_MAX];
	int err = gkf_key_text(b, "loads", key, name, sizeof name);

	b->line = gk_yaml_line(key);
	b->bin = 0; /* these loads run from the start of the warm-up */
	return err ? err : start_load(b, name, value);
}

int gkf_loads_read(struct gkf_build *b, const yaml_node_t *node)
{
	if (node->type != YAML_MAPPING_NODE)
		return GKF_BUILD_FAIL(
		    b, node,
		    "loads: must be a mapping, with one 'NAME: SPEC' per line");
	return gk_yaml_each(&b->yaml, node, read_load_at_start, b);
}

/* load: { start: NAME, spec: SPEC }, { stop: NAME }, { change: NAME, ... } */
static int read_load(struct gkf_build *b, const yaml_node_t *node)
{
	static const struct gkf_key keys[] = {
	    {.name = "start"},  {.name = "spec"}, {.name = "stop"},
	    {.name = "change"}, {.name = "mem"},  {.name = "over"},
	};
	const yaml_node_t *at[6];
	char name[GKF_LOAD_NAME_MAX];
	uint64_t bytes, bins = 0;
	int err = gkf_keys_find(b, "load", node, keys, 6, at);
	const yaml_node_t *who = at[0] ? at[0] : at[2] ? at[2] : at[3];

	if (err)
		return err;
	if (!!at[0] + !!at[2] + !!at[3] != 1 || !at[0] != !at[1] ||
	    !at[3] != !at[4] || (at[5] && !at[3]))
		return GKF_BUILD_FAIL(b, node,
				      "load: must be {start: NAME, spec: "
				      "SPEC}, {stop: NAME} or {change: NAME, "
				      "mem: SIZE, over: TIME}");
	err = gkf_key_text(b, "load", who, name, sizeof name);
	if (err)
		return err;
	if (at[0])
		return start_load(b, name, at[1]);
	if (at[2])
		return gkf_build_load_stop(b, name);
	if (at[4]->type != YAML_SCALAR_NODE ||
	    gk_parse_size(gk_yaml_scalar(at[4]), &bytes) || bytes > INT64_MAX)
		return GKF_BUILD_FAIL(b, at[4],
				      "mem: must be a size such as 60GiB");
	if (at[5])
		err = gkf_key_time(b, "over", at[5], 0, &bins);
	return err ? err : gkf_build_load_memory(b, name, bytes, bins);
}

/* ---- actions of a step ---- */

static int read_note(struct gkf_build *b, const yaml_node_t *node)
{
	char text[GKF_STEP_TEXT_MAX];
	int err = gkf_key_text(b, "note", node, text, sizeof text);

	return err ? err
		   : gkf_build_step(b, GKF_STEP_NOTE, GKF_STEP_NO_DEVICE, 0, 0,
				    text);
}

/* Reads the name of a value. */
static int read_value(struct gkf_build *b, const yaml_node_t *key, int *ret)
{
	*ret = key->type == YAML_SCALAR_NODE
		   ? gkf_value_by_name(gk_yaml_scalar(key))
		   : -1;
	return *ret >= 0 ? 0 : gkf_key_no_value(b, key);
}

static int read_number(struct gkf_build *b, enum gkf_value value,
		       const yaml_node_t *node, int64_t *ret)
{
	const struct gkf_value_info *info = &gkf_values[value];
	int64_t min = info->min, max = info->max, number = 0;
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	int err = 0;

	GKF_FOR_GPUS(b, d)
	if (!gkf_value_range(b->m, d, value, &min, &max))
		err = GKF_BUILD_FAIL(b, node, "%s: GPU %u (%s) has none",
				     info->name, d, b->s.profiles[d].name);
	if (err)
		return err;
	if (gkf_spec_value(text, info->unit, &number) || number < min ||
	    number > max)
		return GKF_BUILD_FAIL(b, node,
				      "%s: '%.40s' must be %lld to %lld%s%s "
				      "(%s)",
				      info->name, text, (long long)min,
				      (long long)max, *info->unit ? " " : "",
				      info->unit, info->help);
	*ret = number;
	return 0;
}

static int set_one(void *data, const yaml_node_t *key, const yaml_node_t *node)
{
	struct gkf_build *b = data;
	int value, err = read_value(b, key, &value);
	int64_t to;

	if (!err)
		err = read_number(b, (enum gkf_value)value, node, &to);
	GKF_FOR_GPUS(b, d)
	err = gkf_build_set(b, d, (enum gkf_value)value, to);
	return err;
}

static int read_set(struct gkf_build *b, const yaml_node_t *node)
{
	int err = gkf_key_gpus(b, node, "set");

	if (!err && node->type != YAML_MAPPING_NODE)
		err = GKF_BUILD_FAIL(b, node,
				     "set: must be a mapping such as "
				     "{temperature: 90}");
	return err ? err : gk_yaml_each(&b->yaml, node, set_one, b);
}

static int read_ramp(struct gkf_build *b, const yaml_node_t *node)
{
	static const struct gkf_key keys[] = {
	    {.name = "key", .required = true},
	    {.name = "from"},
	    {.name = "to", .required = true},
	    {.name = "over", .required = true},
	};
	const yaml_node_t *at[4];
	int64_t from = 0, to = 0;
	uint64_t bins = 0;
	int value = 0, err = gkf_key_gpus(b, node, "ramp");

	if (!err)
		err = gkf_keys_find(b, "ramp", node, keys, 4, at);
	if (!err)
		err = read_value(b, at[0], &value);
	if (!err && at[1])
		err = read_number(b, (enum gkf_value)value, at[1], &from);
	if (!err)
		err = read_number(b, (enum gkf_value)value, at[2], &to);
	if (!err)
		err = gkf_key_time(b, "over", at[3], 1, &bins);
	GKF_FOR_GPUS(b, d)
	err = gkf_build_ramp(b, d, (enum gkf_value)value, at[1] ? &from : NULL,
			     to, bins);
	return err;
}

/* mig: { destroy: all, enable: true, create: 3g.40gb+1g.10gb } */
static int read_mig(struct gkf_build *b, const yaml_node_t *node)
{
	static const struct gkf_key keys[] = {
	    {.name = "destroy"},
	    {.name = "enable"},
	    {.name = "create"},
	};
	const yaml_node_t *at[3];
	char layout[GKF_STEP_TEXT_MAX];
	int64_t index = UINT32_MAX;
	bool on = false;
	int err = gkf_keys_find(b, "mig", node, keys, 3, at);

	if (!err && at[0] &&
	    (at[0]->type != YAML_SCALAR_NODE ||
	     strcmp(gk_yaml_scalar(at[0]), "all")))
		err = gkf_key_integer(b, "mig: destroy: 'all' or", at[0], 0,
				      GKF_MIG_MAX - 1, &index);
	if (!err && at[0])
		err = gkf_key_step_all(b, node, "mig", GKF_STEP_MIG_DESTROY,
				       (uint32_t)index, 0, NULL);
	if (!err && at[1])
		err = gkf_key_bool(b, "enable", at[1], &on);
	if (!err && at[1])
		err = gkf_key_step_all(b, node, "mig", GKF_STEP_MIG_MODE, 0, on,
				       NULL);
	if (!err && at[2])
		err = gkf_key_text(b, "create", at[2], layout, sizeof layout);
	if (!err && at[2])
		err = gkf_key_step_all(b, node, "mig", GKF_STEP_MIG_CREATE, 0,
				       0, layout);
	return err;
}

/* ---- a step ---- */

/* Keys are read in this order. */
enum { AT, GPU, EVERY, TIMES, DO };
static const struct gkf_key step_keys[] = {
    [AT] = {.name = "at", .required = true},
    [GPU] = {.name = "gpu"},
    [EVERY] = {.name = "every"},
    [TIMES] = {.name = "times"},
    [DO] = {.name = "note", .read = read_note},
    {.name = "clear", .item = gkf_key_clear},
    {.name = "reset", .read = gkf_key_reset},
    {.name = "mig", .read = read_mig},
    {.name = "set", .read = read_set},
    {.name = "ramp", .item = read_ramp},
    {.name = "ecc", .item = gkf_key_ecc},
    {.name = "xid", .item = gkf_key_xid},
    {.name = "fail", .item = gkf_key_fail},
    {.name = "rule", .item = gkf_key_rule},
    {.name = "load", .item = read_load},
};
#define STEP_KEYS (sizeof step_keys / sizeof *step_keys)

/*
 * Whether a key is allowed in a step that repeats. Such a step must not set
 * values or change loads.
 */
static bool may_repeat(const struct gkf_key *key)
{
	static const char *const names[] = {"note", "ecc", "xid", "fail"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], key->name))
			return true;
	return false;
}

static int read_repeat(struct gkf_build *b, const yaml_node_t *const *at,
		       uint64_t *ret_every, int64_t *ret_times)
{
	int err;

	if (!at[EVERY] != !at[TIMES])
		return GKF_BUILD_FAIL(b, at[EVERY] ? at[EVERY] : at[TIMES],
				      "every: and times: go together");
	if (!at[EVERY])
		return 0;
	err = gkf_key_time(b, "every", at[EVERY], 1, ret_every);
	if (!err)
		err = gkf_key_integer(b, "times", at[TIMES], 1, TIMES_MAX,
				      ret_times);
	for (size_t i = DO; !err && i < STEP_KEYS; i++)
		if (at[i] && !may_repeat(&step_keys[i]))
			err = GKF_BUILD_FAIL(b, at[i],
					     "every: %s cannot be repeated; "
					     "allowed are note, ecc, xid, fail",
					     step_keys[i].name);
	return err;
}

static int read_step_time(struct gkf_build *b, const yaml_node_t *node)
{
	uint64_t bins;
	int err = gkf_key_time(b, "at", node, 0, &bins);

	if (err)
		return err;
	if (bins > b->s.duration)
		return GKF_BUILD_FAIL(b, node,
				      "at: '%s' is after the end; duration "
				      "says when that is",
				      gk_yaml_scalar(node));
	if (bins < b->at)
		return GKF_BUILD_FAIL(b, node,
				      "at: '%s' is before the step above; "
				      "steps must be in order of time",
				      gk_yaml_scalar(node));
	b->at = bins;
	return 0;
}

static int read_gpu(struct gkf_build *b, const yaml_node_t *node)
{
	char message[GKF_SPEC_MESSAGE_MAX];

	if (node->type != YAML_SCALAR_NODE ||
	    gkf_spec_list(gk_yaml_scalar(node), b->s.device_count, &b->gpus,
			  message))
		return GKF_BUILD_FAIL(b, node, "gpu: %s",
				      node->type == YAML_SCALAR_NODE
					  ? message
					  : "must be an index, a range 0-3, a "
					    "list 0+2+5, or all");
	b->has_gpus = true;
	return 0;
}

static int do_step(struct gkf_build *b, const yaml_node_t *const *at)
{
	int err = 0;

	for (size_t i = DO; !err && i < STEP_KEYS; i++)
		if (at[i])
			err = step_keys[i].item
				  ? gkf_key_each(b, at[i], step_keys[i].item)
				  : step_keys[i].read(b, at[i]);
	return err;
}

static int read_step(struct gkf_build *b, const yaml_node_t *node)
{
	const yaml_node_t *at[STEP_KEYS];
	uint64_t every = 0;
	int64_t times = 1;
	int err = gkf_keys_find(b, "step", node, step_keys, STEP_KEYS, at);

	b->line = gk_yaml_line(node);
	b->has_gpus = false;
	b->gpus = 0;
	if (!err)
		err = read_step_time(b, at[AT]);
	if (!err && at[GPU])
		err = read_gpu(b, at[GPU]);
	if (!err)
		err = read_repeat(b, at, &every, &times);
	for (int64_t i = 0; !err && i < times; i++) {
		b->bin = b->s.begin + b->at + (uint64_t)i * every;
		if (i && b->at + (uint64_t)i * every > b->s.duration)
			return GKF_BUILD_FAIL(b, at[TIMES],
					      "times: the %lld. time is after "
					      "the end",
					      (long long)i + 1);
		err = do_step(b, at);
	}
	return err;
}

int gkf_steps_read(struct gkf_build *b, const yaml_node_t *node)
{
	if (node->type != YAML_SEQUENCE_NODE)
		return GKF_BUILD_FAIL(b, node,
				      "steps: must be a list, with one '- at: "
				      "TIME' for each step");
	return gkf_key_each(b, node, read_step);
}
