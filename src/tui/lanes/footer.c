/* SPDX-License-Identifier: Apache-2.0 */
/* footer.c - draws the most useful keys in the last row. */
#include "tui/lanes/part.h"

#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

/*
 * The keys from left to right. If space is short, those with the highest rank
 * are dropped first.
 */
static const struct footer_key {
	enum tui_action action;
	const char *word;
	int rank;
} now_keys[] = {
    {ACTION_HELP, "help", 0},         {ACTION_DEVICE, "GPU", 2},
    {ACTION_METRICS, "process", 5},   {ACTION_TREE, "tree", 7},
    {ACTION_USERS, "users", 8},       {ACTION_FILTER, "filter", 3},
    {ACTION_SORT_NATURAL, "sort", 4}, {ACTION_TAG, "tag", 10},
    {ACTION_KILL, "kill", 6},         {ACTION_TIME_BACK, "back in time", 9},
    {ACTION_GRAPH, "graphs", 11},     {ACTION_SETTINGS, "settings", 12},
    {ACTION_QUIT, "quit", 1},
};

static const struct footer_key past_keys[] = {
    {ACTION_TIME_BACK, "earlier", 0}, {ACTION_TIME_FORWARD, "later", 1},
    {ACTION_TIME_NOW, "now", 2},      {ACTION_ZOOM_IN, "closer", 3},
    {ACTION_ZOOM_OUT, "further", 4},  {ACTION_HELP, "help", 5},
    {ACTION_QUIT, "quit", 6},
};

static const struct footer_key hosts_keys[] = {
    {ACTION_HELP, "help", 0},         {ACTION_HOST, "host", 2},
    {ACTION_SEARCH, "search", 3},     {ACTION_PAUSE, "pause", 4},
    {ACTION_SETTINGS, "settings", 5}, {ACTION_QUIT, "quit", 1},
};

/*
 * Writes the shortest name of the action's keys, the first if there are
 * several.
 */
void lanes_key_name(const struct tui *t, enum tui_action action,
		    char dst[LANES_KEY_NAME])
{
	char names[LANES_KEY_NAME];
	size_t best = LANES_KEY_NAME;

	*dst = '\0';
	tui_keymap_names(t->keymap, action, names, sizeof names);
	for (const char *name = names; *name;) {
		size_t len = strcspn(name, " ");

		if (len < best) {
			best = len;
			snprintf(dst, LANES_KEY_NAME, "%.*s", (int)len, name);
		}
		name += len;
		name += strspn(name, " ");
	}
	/* All sort keys begin with "o", so "on" becomes "o". */
	if (action == ACTION_SORT_NATURAL && strlen(dst) == 2)
		dst[1] = '\0';
}

static int key_width(const struct tui *t, const struct footer_key *key)
{
	char name[LANES_KEY_NAME];

	lanes_key_name(t, key->action, name);
	return *name ? lanes_width(name) + 1 + (int)strlen(key->word) + 2 : 0;
}

static const struct footer_key device_keys[] = {
    {ACTION_HELP, "help", 1},
    {ACTION_SCROLL_LEFT, "GPU before", 4},
    {ACTION_SCROLL_RIGHT, "next", 3},
    {ACTION_GRAPH, "graphs", 2},
    {ACTION_TIME_BACK, "back in time", 5},
    {ACTION_BACK, "back", 0},
};

static const struct footer_key alerts_past_keys[] = {
    {ACTION_TIME_BACK, "earlier", 0}, {ACTION_TIME_FORWARD, "later", 1},
    {ACTION_TIME_NOW, "now", 2},      {ACTION_ALERT_GPU, "GPU", 3},
    {ACTION_HELP, "help", 4},         {ACTION_BACK, "back", 5},
};

static const struct footer_key alerts_keys[] = {
    {ACTION_HELP, "help", 1},
    {ACTION_ALERT_GPU, "GPU", 2},
    {ACTION_SEARCH, "search", 3},
    {ACTION_BACK, "back", 0},
};

/*
 * Returns the highest rank up to which all keys fit; -1 if not even the first
 * fits.
 */
static int rank_that_fits(const struct tui *t, const struct footer_key *keys,
			  int count, int columns)
{
	int rank = -1, used = 0;

	for (int wanted = 0; wanted < count; wanted++)
		for (int i = 0; i < count; i++) {
			if (keys[i].rank != wanted)
				continue;
			used += key_width(t, &keys[i]);
			if (used - 1 > columns - 1)
				return rank;
			rank = wanted;
		}
	return rank;
}

/* Whether a key does nothing in the present state. */
static bool is_left_out(const struct tui *t, enum tui_action action)
{
	if (action == ACTION_KILL)
		return t->options.readonly;
	return t->options.hosts &&
	       (action == ACTION_TREE || action == ACTION_TAG);
}

static const char *key_word(const struct tui *t, const struct footer_key *key)
{
	return key->action == ACTION_QUIT && t->below_count ? "back"
							    : key->word;
}

static void draw_keys(struct tui *t, struct grid *g, int row, int columns,
		      const struct footer_key *keys, int count)
{
	int most = rank_that_fits(t, keys, count, columns), at = 1;

	for (int i = 0; i < count; i++) {
		char name[LANES_KEY_NAME];
		int from = at;

		lanes_key_name(t, keys[i].action, name);
		if (keys[i].rank > most || !*name ||
		    is_left_out(t, keys[i].action))
			continue;
		at =
		    lanes_put(g, row, at, lanes_ink(t, INK_ACCENT), "%s", name);
		at = lanes_put(g, row, at, lanes_ink(t, INK_TEXT), " %s",
			       key_word(t, &keys[i]));
		lanes_hit(t, (struct lanes_hit){.kind = HIT_KEY,
						.row = row,
						.column = from,
						.rows = 1,
						.columns = at - from,
						.id = (int)keys[i].action});
		at += 2;
	}
}

void lanes_footer(struct tui *t, struct grid *g, const struct lanes_plan *plan)
{
	if (t->time.end_ns)
		draw_keys(t, g, plan->footer_row, g->columns, past_keys,
			  (int)(sizeof past_keys / sizeof *past_keys));
	else
		draw_keys(t, g, plan->footer_row, g->columns, now_keys,
			  (int)(sizeof now_keys / sizeof *now_keys));
}

void lanes_hosts_footer(struct tui *t, struct grid *g, int row)
{
	draw_keys(t, g, row, g->columns, hosts_keys,
		  (int)(sizeof hosts_keys / sizeof *hosts_keys));
}

void lanes_alerts_footer(struct tui *t, struct grid *g, int row)
{
	if (t->time.end_ns)
		draw_keys(
		    t, g, row, g->columns, alerts_past_keys,
		    (int)(sizeof alerts_past_keys / sizeof *alerts_past_keys));
	else
		draw_keys(t, g, row, g->columns, alerts_keys,
			  (int)(sizeof alerts_keys / sizeof *alerts_keys));
}

void lanes_device_footer(struct tui *t, struct grid *g, int row, int columns)
{
	if (t->time.end_ns)
		draw_keys(t, g, row, columns, past_keys,
			  (int)(sizeof past_keys / sizeof *past_keys));
	else
		draw_keys(t, g, row, columns, device_keys,
			  (int)(sizeof device_keys / sizeof *device_keys));
}
