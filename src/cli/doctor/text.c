/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - formats the doctor's report as text: one line per finding, the worst
 * first.
 */
#include "cli/doctor/doctor.h"
#include "format/color.h"

#include <stdio.h>
#include <string.h>

struct text {
	const struct gk_doctor_report *report;
	bool color;
	struct gk_buf *out;
};

static void add_word(struct text *t, enum gk_color color, const char *word,
		     int width)
{
	gk_finding_word(t->out, t->color, color, word, width);
}

static void add_findings(struct text *t, enum gk_finding_state state)
{
	for (size_t i = 0; i < CHECK_COUNT; i++)
		if (t->report->found[i].state == state)
			gk_finding_text(t->out, t->color,
					gk_doctor_checks[i].title,
					&t->report->found[i]);
}

/* Lists in one line all checks that do not apply to this machine. */
static void add_absent(struct text *t)
{
	const char *comma = "";

	for (size_t i = 0; i < CHECK_COUNT; i++) {
		if (t->report->found[i].state != FINDING_ABSENT)
			continue;
		if (!*comma)
			add_word(t, GK_DIM, "-", GK_FINDING_STATE);
		if (!*comma)
			add_word(t, GK_PLAIN, "not here", GK_FINDING_TITLE);
		gk_buf_printf(t->out, "%s%s", comma, gk_doctor_checks[i].title);
		comma = ", ";
	}
	if (*comma)
		gk_buf_putc(t->out, '\n');
}

/* Writes the command that installs the packages of all missing libraries. */
static void add_install(struct text *t)
{
	const struct gk_doctor *d = t->report->doctor;
	struct gk_buf list = {0};

	for (size_t i = 0; i < LIBRARY_COUNT; i++) {
		const char *package = gk_doctor_package(d, i);

		if (t->report->libraries[i] || !package)
			continue;
		if (!list.len || !strstr(list.data, package))
			gk_buf_printf(&list, " %s", package);
	}
	gk_buf_pad(t->out, ' ', GK_FINDING_STATE);
	if (list.len)
		gk_buf_printf(t->out, "do: %s%s\n", d->system->install,
			      list.data);
	else
		gk_buf_puts(t->out, "do: install the packages of this system "
				    "that have these files\n");
	gk_buf_free(&list);
}

/*
 * Lists the libraries with the given presence. Returns whether there are any.
 */
static bool add_those(struct text *t, enum gk_doctor_presence presence,
		      const char *title)
{
	const char *comma = "";

	for (size_t i = 0; i < LIBRARY_COUNT; i++) {
		const struct gk_doctor_library *l = &gk_doctor_libraries[i];

		if (t->report->libraries[i] != presence)
			continue;
		if (!*comma) {
			add_word(t, GK_DIM, "-", GK_FINDING_STATE);
			add_word(t, GK_PLAIN, title, GK_FINDING_TITLE);
		}
		gk_buf_printf(t->out, "%s%s (%.*s)", comma, l->file,
			      (int)strlen(l->users) - 1, l->users);
		comma = ", ";
	}
	if (*comma)
		gk_buf_putc(t->out, '\n');
	return *comma;
}

static void add_libraries(struct text *t)
{
	add_those(t, LIBRARY_INSIDE, "optional, inside");
	if (add_those(t, LIBRARY_MISSING, "optional, missing"))
		add_install(t);
}

/* ---- verbs ---- */

static bool has_broken_part(const struct gk_doctor_report *r, const char *verb)
{
	for (size_t i = 0; i < gk_doctor_part_count; i++)
		if (!strcmp(gk_doctor_parts[i].verb, verb) &&
		    !gk_doctor_part_works(r, &gk_doctor_parts[i]))
			return true;
	return false;
}

/* Lists the verbs of which all parts work. */
static void add_whole_verbs(struct text *t)
{
	const char *comma = "";

	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (has_broken_part(t->report, gk_doctor_verbs[i]))
			continue;
		if (!*comma)
			add_word(t, GK_GREEN, "ok", GK_FINDING_STATE);
		gk_buf_printf(t->out, "%s%s", comma, gk_doctor_verbs[i]);
		comma = ", ";
	}
	if (*comma)
		gk_buf_putc(t->out, '\n');
}

/* Returns what a verb lacks to work, or NULL if it works. */
static const char *find_lack(const struct text *t, const char *verb)
{
	const struct gk_doctor_part *why;

	return gk_doctor_verb_works(t->report, verb, &why)
		   ? NULL
		   : gk_doctor_part_lacks(why);
}

/*
 * Writes one line for all verbs that lack the same thing as this verb. Does
 * nothing if an earlier verb lacks it, because that verb's line names this one.
 */
static void add_broken_verbs(struct text *t, size_t first)
{
	const char *lack = find_lack(t, gk_doctor_verbs[first]);

	for (size_t i = 0; i < first; i++)
		if (find_lack(t, gk_doctor_verbs[i]) == lack)
			return;
	add_word(t, GK_BOLD_RED, "no", GK_FINDING_STATE);
	gk_buf_puts(t->out, gk_doctor_verbs[first]);
	for (size_t i = first + 1; i < VERB_COUNT; i++)
		if (find_lack(t, gk_doctor_verbs[i]) == lack)
			gk_buf_printf(t->out, ", %s", gk_doctor_verbs[i]);
	gk_buf_printf(t->out, ": for lack of %s\n", lack);
}

static void add_broken_parts(struct text *t, const char *verb)
{
	const char *comma = "";

	for (size_t i = 0; i < gk_doctor_part_count; i++) {
		const struct gk_doctor_part *part = &gk_doctor_parts[i];

		if (!part->part || strcmp(part->verb, verb) ||
		    gk_doctor_part_works(t->report, part))
			continue;
		if (!*comma) {
			add_word(t, GK_YELLOW, "partly", GK_FINDING_STATE);
			gk_buf_printf(t->out, "%s, without ", verb);
		}
		gk_buf_printf(t->out, "%s%s (for lack of %s)", comma,
			      part->part, gk_doctor_part_lacks(part));
		comma = ", ";
	}
	if (*comma)
		gk_buf_putc(t->out, '\n');
}

static void add_verbs(struct text *t)
{
	gk_buf_puts(t->out, "\nVerbs\n");
	add_whole_verbs(t);
	for (size_t i = 0; i < VERB_COUNT; i++) {
		if (find_lack(t, gk_doctor_verbs[i]))
			add_broken_verbs(t, i);
		else
			add_broken_parts(t, gk_doctor_verbs[i]);
	}
}

void gk_doctor_text(const struct gk_doctor_report *r, bool color,
		    struct gk_buf *out)
{
	const struct gk_doctor *d = r->doctor;
	struct text t = {r, color, out};

	gk_buf_printf(out, "gpukit %s, %s, Linux %s\n\n", GPUKIT_VERSION,
		      d->system_name, d->kernel.release);
	add_findings(&t, FINDING_BAD);
	add_findings(&t, FINDING_WARN);
	add_findings(&t, FINDING_OK);
	add_absent(&t);
	add_libraries(&t);
	add_verbs(&t);
}
