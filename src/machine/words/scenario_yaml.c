/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_yaml.c - compiles a scenario file and reads its top-level keys;
 * scenario_steps.c reads the steps.
 */
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/topology.h"
#include "machine/words/scenario_build.h"
#include "machine/words/scenario_keys.h"
#include "machine/words/scenario_yaml.h"
#include "machine/words/spec.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX (256 * 1024)

/* ---- top-level keys ---- */

static int read_name(struct gkf_build *b, const yaml_node_t *node)
{
	return gkf_key_text(b, "name", node, b->s.name, sizeof b->s.name);
}

static int read_description(struct gkf_build *b, const yaml_node_t *node)
{
	return gkf_key_text(b, "description", node, b->s.description,
			    sizeof b->s.description);
}

static int read_seed(struct gkf_build *b, const yaml_node_t *node)
{
	int64_t seed;
	int err = gkf_key_integer(b, "seed", node, INT64_MIN, INT64_MAX, &seed);

	/* A seed given on the command line takes precedence. */
	if (!err && !b->seed_given)
		b->s.seed = (uint64_t)seed;
	return err;
}

static int read_speed(struct gkf_build *b, const yaml_node_t *node)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";

	return gkf_speed_parse(text, &b->s.speed)
		   ? GKF_BUILD_FAIL(b, node,
				    "speed: '%.40s' must be a number from "
				    "0.001 to 1000",
				    text)
		   : 0;
}

static int read_driver(struct gkf_build *b, const yaml_node_t *node)
{
	char *to = b->s.driver;

	if (node->type != YAML_SCALAR_NODE ||
	    strlen(gk_yaml_scalar(node)) >= sizeof b->s.driver ||
	    !*gk_yaml_scalar(node))
		return GKF_BUILD_FAIL(b, node,
				      "driver: must be a generation or a "
				      "version, such as 535 or 535.54.03");
	gk_str_copy(to, sizeof b->s.driver, gk_yaml_scalar(node));
	return 0;
}

static int read_topology(struct gkf_build *b, const yaml_node_t *node)
{
	int layout = node->type == YAML_SCALAR_NODE
			 ? gkf_layout_find(gk_yaml_scalar(node))
			 : -1;

	if (layout >= 0) {
		b->s.layout = (enum gkf_layout)layout;
		return 0;
	}
	return GKF_BUILD_FAIL(b, node,
			      "topology: must be one of auto, hgx, pcie, nvl, "
			      "mesh");
}

static int read_gpus(struct gkf_build *b, const yaml_node_t *node)
{
	char text[GKF_SCENARIO_TEXT_MAX], message[GKF_SPEC_MESSAGE_MAX];
	int err = gkf_key_text(b, "gpus", node, text, sizeof text);

	if (err)
		return err;
	if (b->options->gpus)
		gk_str_copy(text, sizeof text, b->options->gpus);
	if (gkf_spec_gpus(b->options->gpus ? "--gpus" : "gpus",
			  b->options->profiles, text, b->s.profiles,
			  &b->s.device_count, message))
		return GKF_BUILD_FAIL(b, node, "gpus: %s", message);
	return gkf_build_machine(b, gk_yaml_line(node));
}

static int read_duration(struct gkf_build *b, const yaml_node_t *node)
{
	return gkf_key_time(b, "duration", node, 1, &b->s.duration);
}

/* Keys are read in this order, because some need earlier ones. */
static const struct gkf_key top_keys[] = {
    {.name = "name", .read = read_name},
    {.name = "description", .read = read_description, .required = true},
    {.name = "driver", .read = read_driver},
    {.name = "topology", .read = read_topology},
    {.name = "seed", .read = read_seed},
    {.name = "speed", .read = read_speed},
    {.name = "duration", .read = read_duration, .required = true},
    {.name = "gpus", .read = read_gpus, .required = true},
    {.name = "loads", .read = gkf_loads_read},
    {.name = "steps", .read = gkf_steps_read, .required = true},
};
#define TOP_KEYS (sizeof top_keys / sizeof *top_keys)

static int read_scenario(void *data, const yaml_node_t *top)
{
	const yaml_node_t *at[TOP_KEYS];
	struct gkf_build *b = data;
	int err = gkf_keys_find(b, "scenario", top, top_keys, TOP_KEYS, at);

	for (size_t i = 0; !err && i < TOP_KEYS; i++)
		if (at[i])
			err = top_keys[i].read(b, at[i]);
	return err ? err : gkf_build_finish(b);
}

/* Without the key `name`, the name is that of the file. */
static void set_name(struct gkf_scenario *s, const char *path)
{
	const char *name = strrchr(path, '/');
	size_t len;

	if (*s->name)
		return;
	gk_str_copy(s->name, sizeof s->name, name ? name + 1 : path);
	len = strlen(s->name);
	if (len > 5 && !strcmp(s->name + len - 5, ".yaml"))
		s->name[len - 5] = '\0';
}

int gkf_scenario_compile(const char *path,
			 const struct gkf_scenario_options *options,
			 struct gkf_scenario *ret, char *ret_message,
			 size_t cap)
{
	struct gkf_build b = {
	    .yaml = {.path = path,
		     .what = "scenario",
		     .limit = FILE_MAX,
		     .message = ret_message,
		     .cap = cap},
	    .options = options,
	    .seed_given = options->seed != NULL,
	    .s = {.seed = options->seed ? *options->seed : 0,
		  .speed = 1000,
		  .begin = options->warm_up_ns / GKF_BIN_NS,
		  .profiles =
		      calloc(GKF_DEVICES_MAX, sizeof(struct gkf_profile))},
	};
	int err;

	if (!b.s.profiles)
		return gk_yaml_fail(&b.yaml, 0, "out of memory"), GK_ERR_NOMEM;
	err = gk_yaml_read(&b.yaml, read_scenario, &b);
	if (!err) {
		set_name(&b.s, path);
		*ret = b.s;
		b.s = (struct gkf_scenario){0};
	}
	gkf_build_free(&b);
	return err;
}
