/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - owns the table of settings, and converts their values to text
 * and back.
 */
#include "tui/settings/settings.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(member)    offsetof(struct tui_options, member)
#define NS_PER_MS     (GK_NS_PER_S / 1000)
#define PERCENT_LEAST 1
#define PERCENT_MOST  99
#define PERCENT_STEP  5
#define TENTHS        10

static const char *const modes[] = {"auto", "full", "compact", NULL};
const char *const tui_theme_names[TUI_THEMES + 1] = {[TUI_AUTO] = "auto",
						     [TUI_DARK] = "dark",
						     [TUI_LIGHT] = "light",
						     [TUI_MONO] = "mono",
						     [TUI_COLOR_BLIND] =
							 "color-blind"};
static const char *const looks[] = {"lanes", "nvitop", NULL};
static const char *const graphs[] = {"braille", "block", "ascii", NULL};
static const char *const key_sets[] = {"standard", "vi", NULL};

const struct tui_setting tui_settings[] = {
    {.name = "mode",
     .help = "height of the panels",
     .kind = SETTING_CHOICE,
     .at = AT(mode),
     .words = modes},
    {.name = "theme",
     .help = "colours; auto: by the background",
     .kind = SETTING_CHOICE,
     .at = AT(term.theme),
     .words = tui_theme_names},
    {.name = "colorful",
     .help = "bars in a gradient of colours",
     .kind = SETTING_YES,
     .at = AT(boxed.colorful)},
    {.name = "ascii",
     .help = "draw with ASCII only",
     .kind = SETTING_YES,
     .at = AT(term.ascii)},
    {.name = "look",
     .help = "our own screens, or nvitop's",
     .kind = SETTING_CHOICE,
     .at = AT(look),
     .words = looks},
    {.name = "graph",
     .help = "characters of the graphs in lanes",
     .kind = SETTING_CHOICE,
     .at = AT(graph),
     .words = graphs},
    {.name = "mouse",
     .help = "the mouse selects (off: it marks text)",
     .kind = SETTING_YES,
     .at = AT(term.mouse)},
    {.name = "readonly",
     .help = "no signals, no changes to processes",
     .kind = SETTING_YES,
     .at = AT(readonly)},
    {.name = "key-set",
     .help = "keys of nvitop, or those of vi",
     .kind = SETTING_CHOICE,
     .at = AT(key_set),
     .words = key_sets},
    {.name = "interval",
     .help = "seconds between readings",
     .kind = SETTING_SECONDS,
     .at = AT(interval_ns),
     .least = 10,
     .most = 3600000,
     .step = 250},
    {.name = "sort",
     .help = "order of the processes",
     .kind = SETTING_SORT,
     .at = AT(order)},
    {.name = "reversed",
     .help = "reverse that order",
     .kind = SETTING_YES,
     .at = AT(order.first.reversed)},
    {.name = "gpu-util-thresh",
     .help = "percent from which a GPU is yellow, red",
     .kind = SETTING_PERCENTS,
     .at = AT(boxed.gpu)},
    {.name = "mem-util-thresh",
     .help = "the same for its memory",
     .kind = SETTING_PERCENTS,
     .at = AT(boxed.memory)},
    {.name = "panels.devices",
     .help = "show the GPUs",
     .kind = SETTING_NO,
     .at = AT(devices_hidden)},
    {.name = "panels.host",
     .help = "show the host",
     .kind = SETTING_NO,
     .at = AT(host_hidden)},
    {.name = "panels.processes",
     .help = "show the processes",
     .kind = SETTING_NO,
     .at = AT(processes_hidden)},
    {.name = "alerts.temperature",
     .help = "alert from so many degrees Celsius",
     .kind = SETTING_NUMBER,
     .at = AT(alerts.temperature),
     .least = 30,
     .most = 150,
     .step = 5},
    {.name = "alerts.power",
     .help = "alert from this percentage of the limit",
     .kind = SETTING_NUMBER,
     .at = AT(alerts.power),
     .least = 5,
     .most = 200,
     .step = 5},
    {.name = "alerts.idle",
     .help = "alert after so many idle minutes",
     .kind = SETTING_NUMBER,
     .at = AT(alerts.idle),
     .least = 1,
     .most = 100000,
     .step = 5},
    {.name = "alerts.ecc",
     .help = "alert for uncorrected memory errors",
     .kind = SETTING_YES,
     .at = AT(alerts.ecc)},
    {.name = "alerts.xid",
     .help = "alert for each Xid",
     .kind = SETTING_YES,
     .at = AT(alerts.xid)},
    {.name = "alerts.lost",
     .help = "alert for a GPU that is lost or in error",
     .kind = SETTING_YES,
     .at = AT(alerts.lost)},
    {.name = "alerts.fault",
     .help = "alert for a GPU that must be reset",
     .kind = SETTING_YES,
     .at = AT(alerts.fault)},
    {.name = "alerts.hung",
     .help = "alert for a GPU that does not answer",
     .kind = SETTING_YES,
     .at = AT(alerts.hung)},
    {.name = "alerts.held",
     .help = "alert after so many seconds slowed down",
     .kind = SETTING_NUMBER,
     .at = AT(alerts.held),
     .least = 1,
     .most = 100000,
     .step = 30},
    {.name = "alerts.every",
     .help = "seconds before its command runs again",
     .kind = SETTING_SECONDS,
     .at = AT(alerts.command_ns),
     .least = 1000,
     .most = 86400000,
     .step = 30000},
};
const size_t tui_setting_count = sizeof tui_settings / sizeof *tui_settings;

const struct tui_setting *tui_setting_find(const char *name)
{
	for (size_t i = 0; i < tui_setting_count; i++)
		if (!strcmp(tui_settings[i].name, name))
			return &tui_settings[i];
	return NULL;
}

/* ---- the value of a row ---- */

static void *value_of(const struct tui_setting *s, struct tui_options *o)
{
	return (char *)o + s->at;
}

static const void *const_value_of(const struct tui_setting *s,
				  const struct tui_options *o)
{
	return (const char *)o + s->at;
}

/* Writes the word for a value of an enum. Returns false if there is none. */
static bool setting_word(const struct tui_setting *s, int i, char *dst)
{
	const char *from;

	if (s->kind != SETTING_SORT)
		from = s->words[i];
	else
		from = i < GK_COLUMN_COUNT ? tui_sort_name((enum gk_column)i)
					   : NULL;
	gk_str_copy(dst, TUI_SETTING_TEXT, from ? from : "");
	return from != NULL;
}

/*
 * Writes an order without its direction, which is a setting of its own,
 * "reversed".
 */
static const char *order_text(const struct tui_order *order, char *dst)
{
	struct tui_order usual = *order;

	usual.first.reversed = false;
	return tui_order_text(&usual, dst);
}

static int count_words(const struct tui_setting *s)
{
	char word[TUI_SETTING_TEXT];
	int count = 0;

	while (setting_word(s, count, word))
		count++;
	return count;
}

/* If the limits are zero, returns the default limits. */
static struct gk_limits limits_of(const struct tui_setting *s,
				  const struct tui_options *o)
{
	struct gk_limits limits =
	    *(const struct gk_limits *)const_value_of(s, o);

	if (limits.heavy)
		return limits;
	return s->at == AT(boxed.gpu) ? GK_LIMITS_GPU : GK_LIMITS_MEMORY;
}

const char *tui_setting_text(const struct tui_setting *s,
			     const struct tui_options *o, char *dst)
{
	const void *value = const_value_of(s, o);
	struct gk_limits limits;

	switch (s->kind) {
	case SETTING_YES:
	case SETTING_NO:
		snprintf(dst, TUI_SETTING_TEXT, "%s",
			 *(const bool *)value == (s->kind == SETTING_YES)
			     ? "true"
			     : "false");
		break;
	case SETTING_CHOICE:
		setting_word(s, *(const int *)value, dst);
		break;
	case SETTING_SORT:
		order_text(value, dst);
		break;
	case SETTING_NUMBER:
		snprintf(dst, TUI_SETTING_TEXT,
			 *(const int *)value ? "%d" : "off",
			 *(const int *)value);
		break;
	case SETTING_SECONDS:
		snprintf(dst, TUI_SETTING_TEXT, "%g",
			 (double)*(const uint64_t *)value /
			     (double)GK_NS_PER_S);
		break;
	case SETTING_PERCENTS:
		limits = limits_of(s, o);
		snprintf(dst, TUI_SETTING_TEXT, "[%d, %d]",
			 limits.moderate / TENTHS, limits.heavy / TENTHS);
		break;
	}
	return dst;
}

/* ---- from words to values ---- */

static bool set_bool(const struct tui_setting *s, bool *value, const char *word)
{
	bool yes = !strcmp(word, "true");

	if (!yes && strcmp(word, "false") != 0)
		return false;
	*value = yes == (s->kind == SETTING_YES);
	return true;
}

static bool set_word(const struct tui_setting *s, int *value, const char *word)
{
	char known[TUI_SETTING_TEXT];

	for (int i = 0; setting_word(s, i, known); i++)
		if (!strcmp(known, word)) {
			*value = i;
			return true;
		}
	return false;
}

static bool in_range(const struct tui_setting *s, int64_t number)
{
	return number >= s->least && number <= s->most;
}

static bool set_number(const struct tui_setting *s, int *value,
		       const char *word)
{
	int64_t number = 0;

	if (strcmp(word, "off") != 0 &&
	    (gk_parse_int(word, &number) || !in_range(s, number)))
		return false;
	*value = (int)number;
	return true;
}

static bool set_seconds(const struct tui_setting *s, uint64_t *value,
			const char *word)
{
	uint64_t ns;

	if (gk_parse_duration(word, &ns) ||
	    ns < (uint64_t)s->least * NS_PER_MS ||
	    ns > (uint64_t)s->most * NS_PER_MS)
		return false;
	*value = ns;
	return true;
}

static bool set_percents(struct gk_limits *value, const char *low,
			 const char *high)
{
	int64_t a, b;

	if (gk_parse_int(low, &a) || gk_parse_int(high, &b) ||
	    a < PERCENT_LEAST || b > PERCENT_MOST || a >= b)
		return false;
	*value = (struct gk_limits){(int)a * TENTHS, (int)b * TENTHS};
	return true;
}

bool tui_setting_set(const struct tui_setting *s, struct tui_options *o,
		     const char *const *words, size_t count)
{
	void *value = value_of(s, o);

	if (s->kind == SETTING_SORT)
		return tui_order_parse(words, count, value);
	if (count != (s->kind == SETTING_PERCENTS ? 2 : 1))
		return false;
	switch (s->kind) {
	case SETTING_YES:
	case SETTING_NO:
		return set_bool(s, value, words[0]);
	case SETTING_CHOICE:
		return set_word(s, value, words[0]);
	case SETTING_NUMBER:
		return set_number(s, value, words[0]);
	case SETTING_SECONDS:
		return set_seconds(s, value, words[0]);
	case SETTING_PERCENTS:
		return set_percents(value, words[0], words[1]);
	case SETTING_SORT: /* handled above */
		break;
	}
	return false;
}

void tui_setting_wants(const struct tui_setting *s, char *dst, size_t cap)
{
	char word[TUI_SETTING_TEXT];
	size_t at = 0;

	switch (s->kind) {
	case SETTING_YES:
	case SETTING_NO:
		snprintf(dst, cap, "true or false");
		return;
	case SETTING_SORT:
		snprintf(dst, cap,
			 "one or two columns such as [user, gpu-memory], '-' "
			 "before one for the other direction, or natural");
		return;
	case SETTING_CHOICE:
		*dst = '\0';
		for (int i = 0; setting_word(s, i, word) && at < cap; i++)
			at += (size_t)snprintf(dst + at, cap - at, "%s%s",
					       i ? ", " : "one of ", word);
		return;
	case SETTING_NUMBER:
		snprintf(dst, cap, "off, or a number from %d to %d", s->least,
			 s->most);
		return;
	case SETTING_SECONDS:
		snprintf(dst, cap, "a number of seconds from %g to %g",
			 s->least / 1e3, s->most / 1e3);
		return;
	case SETTING_PERCENTS:
		snprintf(
		    dst, cap,
		    "two percentages from %d to %d, the smaller one first, "
		    "such as [10, 75]",
		    PERCENT_LEAST, PERCENT_MOST);
		return;
	}
}

/* ---- steps ---- */

/*
 * Steps through 0 (off) and the multiples of s->step from s->least to s->most.
 */
static int next_setting(const struct tui_setting *s, int value, int by)
{
	int first = (s->least + s->step - 1) / s->step * s->step;

	if (!value)
		return by > 0 ? first : 0;
	value += by * s->step;
	return value > s->most ? s->most : value < first ? 0 : value;
}

static uint64_t next_seconds(const struct tui_setting *s, uint64_t value,
			     int by)
{
	uint64_t step = (uint64_t)s->step * NS_PER_MS;
	uint64_t most = (uint64_t)s->most * NS_PER_MS;

	value = value / step * step + (by > 0         ? step
				       : value % step ? 0
						      : -step);
	return value < step || value > most ? step : value;
}

/* Steps only the upper limit. Typing sets both limits. */
static struct gk_limits next_limits(struct gk_limits limits, int by)
{
	limits.heavy += by * PERCENT_STEP * TENTHS;
	if (limits.heavy > PERCENT_MOST * TENTHS ||
	    limits.heavy <= limits.moderate)
		limits.heavy -= by * PERCENT_STEP * TENTHS;
	return limits;
}

/* Steps to the next column. The new order has no second column. */
static void next_order(struct tui_order *order, int by)
{
	int column = (int)order->first.column + by + GK_COLUMN_COUNT;

	order->first.column = (enum gk_column)(column % GK_COLUMN_COUNT);
	order->second = (struct tui_sort){0};
}

void tui_setting_step(const struct tui_setting *s, struct tui_options *o,
		      int by)
{
	void *value = value_of(s, o);
	int count;

	GK_ASSERT(by == 1 || by == -1);
	switch (s->kind) {
	case SETTING_YES:
	case SETTING_NO:
		*(bool *)value = !*(bool *)value;
		return;
	case SETTING_CHOICE:
		count = count_words(s);
		GK_ASSERT(count);
		*(int *)value = (*(int *)value + by + count) % count;
		return;
	case SETTING_SORT:
		next_order(value, by);
		return;
	case SETTING_NUMBER:
		*(int *)value = next_setting(s, *(int *)value, by);
		return;
	case SETTING_SECONDS:
		*(uint64_t *)value = next_seconds(s, *(uint64_t *)value, by);
		return;
	case SETTING_PERCENTS:
		*(struct gk_limits *)value = next_limits(limits_of(s, o), by);
		return;
	}
}
