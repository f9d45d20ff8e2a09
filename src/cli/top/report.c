/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - prints the report of `gpukit top --once`. */
#include "cli/cmd.h"
#include "cli/top/top.h"
#include "format/boxed/boxed.h"
#include "format/width.h"

#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#define COLORS_LEAST   8
#define COLORS_OF_BARS 256

/*
 * Returns the viewer's options, with the user whose processes are bright and
 * the terminal's width.
 */
static struct gk_boxed_options options_of(const struct top *top)
{
	struct gk_boxed_options o = top->viewer.boxed;
	struct passwd *entry;
	int rows;

	o.uid = geteuid();
	entry = getpwuid(o.uid);
	o.user = entry ? entry->pw_name : NULL;
	o.color = gk_use_color(top->color);
	if (top->color != GK_COLOR_ALWAYS && term_usable()) {
		o.color &= term_colors() >= COLORS_LEAST;
		o.colorful &= term_colors() >= COLORS_OF_BARS;
	}
	o.compact = o.dense = false;
	o.processes = true;
	gk_terminal_size(&o.width, &rows);
	return o;
}

static int print_report(const struct top *top, const struct gk_snapshot *snap)
{
	struct gk_boxed_options o = options_of(top);
	struct gk_buf text = {0}, plain = {0};
	enum gk_output output;

	gk_format_boxed(&text, snap, &o);
	if (top->viewer.term.ascii && text.data)
		gk_add_ascii(&plain, text.data, text.len);
	output = gk_write_out(top->viewer.term.ascii ? &plain : &text, "top");
	gk_buf_free(&text);
	gk_buf_free(&plain);
	return output == GK_OUTPUT_FAILED ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

/*
 * Picks the requested part of a snapshot. Returns false, after a message, if it
 * is missing.
 */
static bool pick_wanted(const struct top *top, const struct gk_snapshot *snap,
			struct gk_snapshot *ret_part)
{
	long missing = -1;
	int err = gk_pick(snap, &top->viewer.pick, &missing, ret_part);

	if (!err && missing < 0)
		return true;
	if (err) {
		fprintf(stderr, "gpukit top: %s\n", gk_strerror(err));
		return false;
	}
	gk_pick_free(ret_part);
	fprintf(stderr,
		"gpukit top: no GPU %ld; `gpukit stat` lists the GPUs\n",
		missing);
	return false;
}

bool top_has_wanted(const struct top *top, const struct gk_snapshot *snap)
{
	struct gk_snapshot part;
	bool has = pick_wanted(top, snap, &part);

	if (has)
		gk_pick_free(&part);
	return has;
}

int top_report(const struct top *top, const struct gk_snapshot *snap)
{
	struct gk_snapshot part;
	int status;

	if (!pick_wanted(top, snap, &part))
		return GK_EXIT_FAILURE;
	status = print_report(top, &part);
	gk_pick_free(&part);
	return status;
}
