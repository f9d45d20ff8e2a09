/* SPDX-License-Identifier: Apache-2.0 */
/* view_help.c - the help screen, which is made from the keymap in use. */
#include "base/memory.h"
#include "tui/model/filter.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 26 /* maximum width of the names of keys */
#define GAP      2

enum { GREEN = 2, YELLOW = 3, MAGENTA = 5, CYAN = 6, RED = 1 };

static const char *const titles[GROUP_COUNT] = {
    [GROUP_GENERAL] = "General",
    [GROUP_DISPLAY] = "Display",
    [GROUP_MOVE] = "Moving",
    [GROUP_PROCESS] = "Processes",
    [GROUP_SCREEN] = "Screens",
    [GROUP_FIND] = "Search and filter",
    [GROUP_SORT] = "Order (a capital second letter reverses it)",
    [GROUP_TIME] = "Time of the graphs",
};

/* A line in a column: a title, or keys and their help text. */
struct line {
	char keys[KEYS_MAX * 4 + 1]; /* UTF-8 */
	const char *help;            /* NULL: the line is a title */
	bool dim;
};

struct lines {
	struct line *list;
	size_t count;
};

static struct line *add_help_line(struct lines *lines, const char *keys,
				  const char *help)
{
	struct line *more =
	    gk_resize(lines->list, lines->count + 1, sizeof *more);

	if (!more)
		return NULL;
	lines->list = more;
	more += lines->count++;
	*more = (struct line){.help = help};
	gk_str_copy(more->keys, sizeof more->keys, keys);
	return more;
}

static const struct {
	const char *keys, *help;
	bool lanes; /* only in the look "lanes" */
} mouse[] = {
    {"Click", "select a process, or sort by a column", false},
    {"Click", "open a GPU, press a key of the last row", true},
    {"Drag", "show time and value of a trace", true},
    {"Wheel", "previous or next line", false},
    {"Ctrl-Wheel", "five lines", false},
    {"Shift-Wheel", "scroll left or right", false},
};

static const struct {
	const char *keys, *help;
} words[] = {
    {"text", "part of the command or the pid"},
    {"name:REGEX", "the command matches"},
    {"user:ANA,BOB", "these users; also container:, pod:, cwd:"},
    {"gpu:0-3,5", "on these GPUs; rank:0-7 in a job"},
    {"type:C", "C computes, G draws, X does both"},
    {"mem>4GiB", "also <; sm cpu host time threads io-read"},
    {"!WORD", "processes that do not match"},
};

/* Whether an action would send signals, but is forbidden by `readonly`. */
static bool is_refused(const struct tui *t, enum tui_action action)
{
	static const enum tui_action refused[] = {
	    ACTION_INTERRUPT,   ACTION_TERMINATE, ACTION_KILL,
	    ACTION_SIGNAL_TREE, ACTION_RENICE,
	};

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (refused[i] == action)
			return t->options.readonly;
	return false;
}

static void add_group(const struct tui *t, enum tui_key_group group,
		      struct lines *lines)
{
	char keys[KEYS_MAX * 4 + 1];

	add_help_line(lines, titles[group], NULL);
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		struct line *line;

		if (tui_keys[a].group != group)
			continue;
		tui_keymap_names(t->keymap, (enum tui_action)a, keys,
				 sizeof keys);
		line = add_help_line(lines, *keys ? keys : "(no key)",
				     tui_keys[a].help);
		if (line)
			line->dim = is_refused(t, (enum tui_action)a);
	}
	add_help_line(lines, "", "");
}

static void add_all(const struct tui *t, struct lines *lines)
{
	for (int g = 0; g < GROUP_COUNT; g++)
		if (titles[g])
			add_group(t, (enum tui_key_group)g, lines);
	add_help_line(lines, "Words of a filter", NULL);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		add_help_line(lines, words[i].keys, words[i].help);
	add_help_line(lines, "", "");
	add_help_line(lines, "Mouse", NULL);
	for (size_t i = 0; i < sizeof mouse / sizeof *mouse; i++)
		if (!mouse[i].lanes || t->options.look == LOOK_LANES)
			add_help_line(lines, mouse[i].keys, mouse[i].help);
}

/* ---- drawing ---- */

static int put_help_text(struct grid *g, int row, int column, const char *text,
			 uint16_t color, unsigned attribute)
{
	return grid_line(g, row, column, text, strlen(text),
			 (struct grid_style){color, (uint16_t)attribute});
}

/* Draws "GPU light < 10% moderate < 75% heavy", each in its colour. */
static void draw_limits(struct grid *g, int row, const char *what,
			struct gk_limits limits)
{
	char light[32], moderate[32];
	int column = put_help_text(g, row, 0, what, GRID_COLOR_NONE, 0);

	snprintf(light, sizeof light, "light < %g%%  ", limits.moderate / 10.0);
	snprintf(moderate, sizeof moderate, "moderate < %g%%  ",
		 limits.heavy / 10.0);
	column = put_help_text(g, row, column, light, GREEN, 0);
	column = put_help_text(g, row, column, moderate, YELLOW, 0);
	put_help_text(g, row, column, "heavy", RED, 0);
}

static struct gk_limits or_usual(struct gk_limits limits,
				 struct gk_limits usual)
{
	return limits.moderate || limits.heavy ? limits : usual;
}

static int draw_help_head(const struct tui *t, struct grid *g, int row)
{
	const struct gk_boxed_options *o = &t->options.boxed;

	put_help_text(g, row, 0,
		      "gpukit " GPUKIT_VERSION " - any other key goes back",
		      CYAN, GRID_BOLD);
	put_help_text(g, row + 2, 0,
		      "Types of processes: C computes, G draws, X does both",
		      GRID_COLOR_NONE, 0);
	draw_limits(g, row + 3, "GPU utilisation and power: ",
		    or_usual(o->gpu, GK_LIMITS_GPU));
	draw_limits(g, row + 4, "Memory and its bandwidth:  ",
		    or_usual(o->memory, GK_LIMITS_MEMORY));
	return 6;
}

/* Returns the width of the longest names of keys. */
static int keys_width(const struct lines *lines)
{
	int most = 0;

	for (size_t i = 0; i < lines->count; i++) {
		int len = (int)strlen(lines->list[i].keys);

		if (lines->list[i].help && len > most)
			most = len;
	}
	return most > KEYS_MAX ? KEYS_MAX : most;
}

/* Returns the width of a column of lines. */
static int column_width(const struct lines *lines, int keys)
{
	int most = 0;

	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->list[i];
		int len = (int)strlen(line->keys);

		len = line->help && len < keys ? keys : len;
		if (line->help)
			len += GAP + (int)strlen(line->help);
		most = len > most ? len : most;
	}
	return most;
}

static void draw_help_line(struct grid *g, int row, int column, int keys,
			   const struct line *line)
{
	unsigned dim = line->dim ? GRID_DIM : 0;
	int end;

	if (!line->help) {
		put_help_text(g, row, column, line->keys, CYAN, GRID_BOLD);
		return;
	}
	end =
	    put_help_text(g, row, column, line->keys, MAGENTA, GRID_BOLD | dim);
	if (end < column + keys)
		end = column + keys;
	put_help_text(g, row, end + GAP, line->help, GRID_COLOR_NONE, dim);
}

/*
 * Returns the line at which the second column begins: a title near the middle.
 */
static size_t middle_line(const struct lines *lines)
{
	size_t best = lines->count;

	for (size_t i = 1; i < lines->count; i++) {
		bool above = i < lines->count / 2;

		if (lines->list[i].help)
			continue;
		if (above || best == lines->count)
			best = i;
	}
	return best;
}

int view_help(struct tui *t, struct grid *g)
{
	struct lines lines = {0};
	int top, keys, width, row = -t->scroll;
	size_t half;

	add_all(t, &lines);
	keys = keys_width(&lines);
	width = column_width(&lines, keys) + GAP;
	half =
	    g->columns >= 2 * width - GAP ? middle_line(&lines) : lines.count;
	top = draw_help_head(t, g, row);
	for (size_t i = 0; i < lines.count; i++)
		draw_help_line(g, row + top + (int)(i < half ? i : i - half),
			       i < half ? 0 : width, keys, &lines.list[i]);
	if (half < lines.count - half)
		half = lines.count - half;
	free(lines.list);
	return top + (int)half;
}

/*
 * Keys that move the selection on other screens scroll this one. Any other key
 * leaves it.
 */
bool view_help_act(struct tui *t, enum tui_action action)
{
	if (tui_keys[action].group == GROUP_MOVE && action != ACTION_NONE)
		return false;
	tui_back(t);
	return true;
}
