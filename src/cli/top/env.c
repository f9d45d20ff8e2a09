/* SPDX-License-Identifier: Apache-2.0 */
/* env.c - reads the environment variables of `gpukit top`. */
#include "cli/cmd.h"
#include "cli/top/top.h"
#include "tui/settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool top_limits(const char *text, struct gk_limits *ret_limits)
{
	unsigned a, b;
	int end = 0;

	if (sscanf(text, "%2u%*1[, ]%2u%n", &a, &b, &end) != 2 || text[end] ||
	    a < 1 || b < 1 || a == b)
		return false;
	*ret_limits = (struct gk_limits){
	    .moderate = 10 * (int)(a < b ? a : b),
	    .heavy = 10 * (int)(a < b ? b : a),
	};
	return true;
}

/* ---- MONITOR_MODE ---- */

enum word { AUTO, FULL, COMPACT, COLORFUL, PLAIN, LIGHT, DARK, READONLY };

static const char *const words[] = {"auto",  "full",  "compact", "colorful",
				    "plain", "light", "dark",    "readonly"};
#define WORDS (sizeof words / sizeof *words)

static bool read_monitor_words(const char *text, unsigned *set)
{
	while (*text) {
		size_t len = strcspn(text, ", "), w = 0;

		while (w < WORDS && (strlen(words[w]) != len ||
				     strncasecmp(words[w], text, len)))
			w++;
		if (w == WORDS && len)
			return false;
		if (len)
			*set |= 1U << w;
		text += len + (text[len] != '\0');
	}
	return true;
}

/*
 * Applies the words in `set`, a bit mask. Words that contradict each other
 * cancel out.
 */
static void apply_words(struct top *top, unsigned set)
{
	struct tui_options *o = &top->viewer;
	unsigned heights = set & (1U << AUTO | 1U << FULL | 1U << COMPACT);

	if (heights)
		o->mode = heights == 1U << FULL      ? MODE_FULL
			  : heights == 1U << COMPACT ? MODE_COMPACT
						     : MODE_AUTO;
	if (set & (1U << COLORFUL | 1U << PLAIN))
		o->boxed.colorful = !(set & 1U << PLAIN);
	if (set & (1U << LIGHT | 1U << DARK))
		o->term.theme = set & 1U << DARK ? TUI_DARK : TUI_LIGHT;
	if (set & 1U << READONLY)
		o->readonly = true;
}

bool top_modes(struct top *top, const char *text)
{
	unsigned set = 0;
	bool good = read_monitor_words(text, &set);

	apply_words(top, set);
	return good;
}

/* ---- the other variables ---- */

static bool apply_always(struct top *top, const char *text)
{
	static const char *const answers[] = {"0",     "1",    "no",  "yes",
					      "false", "true", "off", "on"};

	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		if (strcasecmp(text, answers[i]))
			continue;
		/*
		 * Only a default, so that a command-line option overrides it.
		 */
		top->once_by_default = i % 2 == 0;
		return true;
	}
	return false;
}

static bool apply_theme(struct top *top, const char *text)
{
	for (int i = 0; i < TUI_THEMES; i++) {
		if (strcasecmp(text, tui_theme_names[i]))
			continue;
		top->viewer.term.theme = (enum tui_theme)i;
		return true;
	}
	return false;
}

static bool gpu_limits(struct top *top, const char *text)
{
	return top_limits(text, &top->viewer.boxed.gpu);
}

static bool memory_limits(struct top *top, const char *text)
{
	return top_limits(text, &top->viewer.boxed.memory);
}

static const struct {
	const char *name; /* without the prefix GPUKIT_ or NVITOP_ */
	bool (*apply)(struct top *top, const char *text);
	const char *wants;
} variables[] = {
    {"MONITOR_MODE", top_modes,
     "words of auto, full, compact, colorful, plain, light, dark, readonly"},
    {"MONITOR_ALWAYS", apply_always, "true or false"},
    {"MONITOR_THEME", apply_theme, "auto, dark, light, mono or color-blind"},
    {"GPU_UTILIZATION_THRESHOLDS", gpu_limits,
     "two percentages from 1 to 99 such as 10,75"},
    {"MEMORY_UTILIZATION_THRESHOLDS", memory_limits,
     "two percentages from 1 to 99 such as 10,80"},
};

/* Returns the value of a variable if it is set and not empty. */
static const char *variable_value(const char *prefix, const char *name)
{
	char full[64];
	const char *value;

	snprintf(full, sizeof full, "%s%s", prefix, name);
	value = getenv(full);
	return value && *value ? value : NULL;
}

int top_environment(struct top *top)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *ours = variable_value("GPUKIT_", variables[i].name);
		const char *theirs =
		    variable_value("NVITOP_", variables[i].name);

		if (!ours && theirs)
			variables[i].apply(top, theirs);
		if (!ours || variables[i].apply(top, ours))
			continue;
		fprintf(stderr, "gpukit top: GPUKIT_%s must be %s, not '%s'\n",
			variables[i].name, variables[i].wants, ours);
		return GK_EXIT_USAGE;
	}
	return GK_EXIT_OK;
}
