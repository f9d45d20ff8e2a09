/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_rules.c - reads steps that make functions fail from then on. */
#include "base/err.h"
#include "machine/file/scenario_state.h"
#include "machine/words/rule_text.h"
#include "machine/words/scenario_build.h"
#include "machine/words/scenario_keys.h"
#include "machine/words/scenario_yaml.h"

#include <stdio.h>
#include <string.h>

#define MILLION 1000000

static const char functions[][64] = {
#define NVML(symbol, ...) #symbol,
#include "abi/nvml/nvml.def"
#undef NVML
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

const char *gkf_rule_function(unsigned row)
{
	return row < FUNCTIONS ? functions[row] : NULL;
}

/*
 * Adds a step for a rule. If the step names no GPU, the rule applies to all
 * calls, even those without a GPU.
 */
static int add_rule_step(struct gkf_build *b, enum gkf_step_kind kind,
			 unsigned row, int answer, const int64_t bounds[2],
			 unsigned per_million)
{
	char text[96];

	snprintf(text, sizeof text, "%llx %lld %lld %u",
		 b->has_gpus ? (unsigned long long)b->gpus : ~0ULL,
		 (long long)bounds[0], (long long)bounds[1], per_million);
	return gkf_build_step(b, kind, GKF_STEP_NO_DEVICE, row, answer, text);
}

int gkf_key_rule_clear(struct gkf_build *b, const char *name)
{
	static const int64_t none[2];

	if (!name)
		return add_rule_step(b, GKF_STEP_RULE_DROP, UINT32_MAX, 0, none,
				     0);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		if (!strcmp(functions[i], name))
			return add_rule_step(b, GKF_STEP_RULE_DROP, i, 0, none,
					     0);
	return GK_ERR_NOT_FOUND;
}

static int read_function(struct gkf_build *b, const yaml_node_t *node,
			 unsigned *ret_row)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		if (strcmp(functions[i], text))
			continue;
		*ret_row = i;
		return 0;
	}
	return GKF_BUILD_FAIL(b, node,
			      "function: '%.80s' must be a name of NVML, as in "
			      "nvmlDeviceGetPowerUsage",
			      text);
}

/* Reads "0.1" or "10%". */
static int read_probability(struct gkf_build *b, const yaml_node_t *node,
			    unsigned *ret_per_million)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	char unit = 0, more;
	double p = -1;
	int n = sscanf(text, "%lf%c%c", &p, &unit, &more);

	if (n == 2 && unit == '%')
		p /= 100;
	else if (n != 1)
		p = -1;
	if (!(p >= 0 && p <= 1))
		return GKF_BUILD_FAIL(b, node,
				      "probability: must be 0 to 1, or a "
				      "percentage");
	*ret_per_million = (unsigned)(p * MILLION + 0.5);
	return 0;
}

int gkf_key_rule(struct gkf_build *b, const yaml_node_t *node)
{
	static const struct gkf_key keys[] = {
	    {.name = "function", .required = true},
	    {.name = "answer", .required = true},
	    {.name = "after"},
	    {.name = "times"},
	    {.name = "probability"},
	};
	const yaml_node_t *at[5];
	int64_t bounds[2] = {0, 0};
	unsigned row = 0, per_million = MILLION;
	int answer = 0, err = gkf_keys_find(b, "rule", node, keys, 5, at);

	if (!err)
		err = read_function(b, at[0], &row);
	if (err)
		return err;
	if (at[1]->type != YAML_SCALAR_NODE ||
	    !gkf_rule_answer(gk_yaml_scalar(at[1]), &answer))
		return GKF_BUILD_FAIL(b, at[1],
				      "answer: must be a code such as "
				      "NVML_ERROR_UNKNOWN, or hang");
	for (int i = 0; !err && i < 2; i++)
		if (at[2 + i])
			err = gkf_key_integer(b, keys[2 + i].name, at[2 + i], 0,
					      INT64_MAX, &bounds[i]);
	if (!err && at[4])
		err = read_probability(b, at[4], &per_million);
	return err ? err
		   : add_rule_step(b, GKF_STEP_RULE, row, answer, bounds,
				   per_million);
}
