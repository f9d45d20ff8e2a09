/* SPDX-License-Identifier: Apache-2.0 */
/* wish.c - parses the options that set a group's limits. */
#include "cli/limit/limit.h"
#include "cli/arg.h"

#include <stdlib.h>
#include <string.h>

enum key {
	KEY_MEMORY = 0x201,
	KEY_COMPUTE,
	KEY_PRIORITY,
	KEY_POLICY,
	KEY_CONTEXTS,
	KEY_OVERSUBSCRIBE,
};

static const struct argp_option options[] = {
    {"memory", KEY_MEMORY, "SIZE[,i=SIZE...]", 0,
     "Memory on each GPU, or on GPU i; 50%: half of its memory; none: no limit",
     1},
    {"compute", KEY_COMPUTE, "PCT[,i=PCT...]", 0,
     "Share of the time of each GPU, or of GPU i, in percent; none: no limit",
     1},
    {"policy", KEY_POLICY, "fixed|elastic|monitor|off", 0,
     "When to enforce shares of time: always (fixed), while another group "
     "wants the GPU (elastic), as HAMi's monitor says, or never",
     1},
    {"priority", KEY_PRIORITY, "0|1", 0,
     "For HAMi's monitor: 0 takes precedence over 1 (1)", 1},
    {"contexts", KEY_CONTEXTS, "count|free", 0,
     "Whether CUDA contexts count as memory (count)", 1},
    {"oversubscribe", KEY_OVERSUBSCRIBE, "yes|no", OPTION_ARG_OPTIONAL,
     "Use managed memory, lent by the host, for what is within the limit but "
     "does not fit on the GPU (no)",
     1},
    {0},
};

const char *const limit_rules[] = {
    [GKL_FIXED] = "fixed", [GKL_ELASTIC] = "elastic", [GKL_MONITOR] = "monitor",
    [GKL_OFF] = "off",     [GKL_OFF + 1] = NULL,
};

static const char *const contexts[] = {"count", "free", NULL};
static const char *const yes[] = {"no", "yes", NULL};

static int choose_word(struct argp_state *state, const char *option,
		       const char *const *words, const char *arg)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], arg))
			return i;
	argp_error(state, "%s: unknown word '%s'; see --help", option, arg);
	return -1;
}

/* Parses a number with or without a %. */
static uint64_t parse_percent(struct argp_state *state, const char *option,
			      const char *text)
{
	size_t len = strlen(text);
	char number[16];

	if (len && text[len - 1] == '%')
		len--;
	if (len >= sizeof number)
		return (uint64_t)gk_arg_number(state, option, text, 1, 100);
	memcpy(number, text, len);
	number[len] = '\0';
	return (uint64_t)gk_arg_number(state, option, number, 1, 100);
}

static uint64_t parse_memory(struct argp_state *state, const char *text,
			     bool *ret_of_whole)
{
	int64_t bytes;

	if (!strcmp(text, "none"))
		return 0;
	*ret_of_whole = *text && text[strlen(text) - 1] == '%';
	if (*ret_of_whole)
		return parse_percent(state, "--memory", text);
	bytes = gk_arg_size(state, "--memory", text);
	if (bytes <= 0)
		argp_error(state,
			   "--memory: '%s' would allow nothing; use `none` for "
			   "no limit",
			   text);
	return (uint64_t)bytes;
}

/* Parses "30" or "30%". */
static uint64_t parse_compute(struct argp_state *state, const char *text,
			      bool *ret_of_whole)
{
	(void)ret_of_whole;
	return strcmp(text, "none") ? parse_percent(state, "--compute", text)
				    : 0;
}

typedef uint64_t parse_value(struct argp_state *state, const char *text,
			     bool *ret_of_whole);

static void set_one(struct argp_state *state, struct limit_each *each,
		    char *entry, char *equals, parse_value *parse)
{
	int64_t index;

	*equals = '\0';
	index = gk_arg_number(state, "the number of a GPU", entry, 0,
			      GKL_DEVICES - 1);
	each->of_whole[index] = false;
	each->value[index] = parse(state, equals + 1, &each->of_whole[index]);
	each->given[index] = true;
}

static void set_all(struct argp_state *state, struct limit_each *each,
		    const char *entry, parse_value *parse)
{
	bool of_whole = false;
	uint64_t value = parse(state, entry, &of_whole);

	each->for_all = true;
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		each->value[i] = value;
		each->of_whole[i] = of_whole;
		each->given[i] = true;
	}
}

/* Parses "8GiB,1=4GiB". A value for all GPUs must come first. */
static void parse_each(struct argp_state *state, struct limit_each *each,
		       const char *arg, parse_value *parse)
{
	char *text = strdup(arg), *rest = text;

	if (!text)
		gk_arg_no_memory(state);
	*each = (struct limit_each){0};
	for (char *entry; (entry = strsep(&rest, ","));) {
		char *equals = strchr(entry, '=');

		if (equals)
			set_one(state, each, entry, equals, parse);
		else if (entry == text)
			set_all(state, each, entry, parse);
		else
			argp_error(state,
				   "'%s': all entries but the first must name "
				   "a GPU: 1=%s",
				   arg, entry);
	}
	free(text);
}

static error_t parse_wish(int key, char *arg, struct argp_state *state)
{
	struct limit_wish *wish = state->input;

	switch (key) {
	case KEY_MEMORY:
		parse_each(state, &wish->memory, arg, parse_memory);
		return 0;
	case KEY_COMPUTE:
		parse_each(state, &wish->compute, arg, parse_compute);
		return 0;
	case KEY_PRIORITY:
		wish->priority =
		    (int)gk_arg_number(state, "--priority", arg, 0, 1);
		return 0;
	case KEY_POLICY:
		wish->rule = choose_word(state, "--policy", limit_rules, arg);
		return 0;
	case KEY_CONTEXTS:
		wish->contexts_free =
		    choose_word(state, "--contexts", contexts, arg);
		return 0;
	case KEY_OVERSUBSCRIBE:
		wish->oversubscribe =
		    arg ? choose_word(state, "--oversubscribe", yes, arg) : 1;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp limit_wish_argp = {.options = options, .parser = parse_wish};

struct limit_wish limit_wish_none(void)
{
	return (struct limit_wish){.rule = -1,
				   .priority = -1,
				   .contexts_free = -1,
				   .oversubscribe = -1};
}

bool limit_each_is_given(const struct limit_each *each)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (each->given[i])
			return true;
	return false;
}

bool limit_wish_is_none(const struct limit_wish *wish)
{
	return !limit_each_is_given(&wish->memory) &&
	       !limit_each_is_given(&wish->compute) && wish->rule < 0 &&
	       wish->priority < 0 && wish->contexts_free < 0 &&
	       wish->oversubscribe < 0;
}

static void apply_each(const struct limit_each *each, uint64_t *values)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		if (each->given[i])
			values[i] = each->value[i];
}

static void apply_word(int word, uint64_t *value)
{
	if (word >= 0)
		*value = (uint64_t)word;
}

void limit_wish_apply(const struct limit_wish *wish, struct gkl_policy *policy)
{
	apply_each(&wish->memory, policy->memory);
	apply_each(&wish->compute, policy->compute);
	apply_word(wish->rule, &policy->rule);
	apply_word(wish->priority, &policy->priority);
	apply_word(wish->contexts_free, &policy->contexts_free);
	apply_word(wish->oversubscribe, &policy->oversubscribe);
}
