/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - collects the options of a page from argp's tables, in the order
 * of the tables within each group; the groups are in argp's order.
 */
#include "cli/manual/options.h"
#include "base/assert.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The options that argp adds to every verb. */
static const struct argp_option standard[] = {
    {"help", '?', 0, 0, "Give this help list", -1},
    {"usage", 0x100, 0, 0, "Give a short usage message", -1},
    {"version", 'V', 0, 0, "Print program version", -1},
    {0},
};

static bool is_end(const struct argp_option *row)
{
	return !row->name && !row->key && !row->doc && !row->group;
}

static void add_name(struct manual_option *option, const char *dashes,
		     const char *name, size_t len)
{
	GK_ASSERT(option->name_count < MANUAL_NAMES);
	if (option->name_count < MANUAL_NAMES)
		snprintf(option->names[option->name_count++],
			 sizeof *option->names, "%s%.*s", dashes, (int)len,
			 name);
}

/*
 * Adds the names of a row: the letter, unless the row is an alias, and the long
 * name.
 */
static void add_names(struct manual_option *option,
		      const struct argp_option *row)
{
	char letter = (char)row->key;

	if (row->key > ' ' && row->key < 0x7f && !(row->flags & OPTION_ALIAS))
		add_name(option, "-", &letter, 1);
	if (row->name)
		add_name(option, "--", row->name, strlen(row->name));
}

static struct manual_option *new_option(struct manual_options *o, int group,
					const char *doc)
{
	struct manual_option *option = &o->all[o->count];

	GK_ASSERT(o->count < MANUAL_OPTIONS);
	if (o->count == MANUAL_OPTIONS)
		return NULL;
	*option = (struct manual_option){.group = group, .doc = doc};
	o->count++;
	return option;
}

static bool has_name(const struct manual_options *o, const char *name)
{
	for (size_t i = 0; i < o->count; i++)
		for (size_t k = 0; k < o->all[i].name_count; k++)
			if (!strcmp(o->all[i].names[k] + 2, name))
				return true;
	return false;
}

static void add_row(struct manual_options *o, const struct argp_option *row,
		    int group)
{
	struct manual_option *option = new_option(o, group, row->doc);

	if (!option)
		return;
	add_names(option, row);
	if (row->arg)
		snprintf(option->arg, sizeof option->arg, "%s", row->arg);
	option->optional = row->flags & OPTION_ARG_OPTIONAL;
}

/* Adds rows. If `fixed` is not 0, puts all of them into that group. */
static void add_rows(struct manual_options *o, const struct argp_option *row,
		     int fixed)
{
	int group = 0;

	for (; row && !is_end(row); row++) {
		group = row->group ? row->group : group;
		if (row->flags & OPTION_HIDDEN ||
		    (row->name && has_name(o, row->name)))
			continue;
		if (row->flags & OPTION_ALIAS)
			add_names(&o->all[o->count - 1], row);
		else
			add_row(o, row, fixed ? fixed : group);
	}
}

static void add_argp(struct manual_options *o, const struct argp *argp,
		     int fixed)
{
	const struct argp_child *child = argp->children;

	add_rows(o, argp->options, fixed);
	for (; child && child->argp; child++) {
		int group = child->group ? child->group : fixed;

		if (child->header)
			new_option(o, group, child->header);
		add_argp(o, child->argp, group);
	}
}

/* Returns a number that sorts groups in argp's order: 0, 1, 2, ..., -2, -1. */
static int rank_of(const struct manual_option *option)
{
	return option->group < 0 ? 1000000 + option->group : option->group;
}

static void sort_by_group(struct manual_options *o)
{
	for (size_t i = 1; i < o->count; i++)
		for (size_t k = i;
		     k && rank_of(&o->all[k - 1]) > rank_of(&o->all[k]); k--) {
			struct manual_option one = o->all[k];

			o->all[k] = o->all[k - 1];
			o->all[k - 1] = one;
		}
}

/* Adds an option from a line such as "-l, --loop=SEC". */
static void add_line(struct manual_options *o,
		     const struct gk_option_line *line)
{
	struct manual_option *option = new_option(o, 0, line->doc);
	const char *at = line->names;

	while (option && *at) {
		size_t len = strcspn(at, ",=");

		add_name(option, "", at, len);
		if (at[len] == '=') {
			snprintf(option->arg, sizeof option->arg, "%s",
				 at + len + 1);
			return;
		}
		at += len + (at[len] == ',');
		at += strspn(at, " ");
	}
}

void manual_options(const struct gk_manual_page *page,
		    struct manual_options *ret_options)
{
	ret_options->count = 0;
	if (page->argp) {
		add_argp(ret_options, page->argp, 0);
		add_rows(ret_options, standard, 0);
		sort_by_group(ret_options);
	}
	for (const struct gk_option_line *line = page->lines;
	     line && line->names; line++)
		if (*line->names)
			add_line(ret_options, line);
}
