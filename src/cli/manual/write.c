/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - writes a manual page from the page's table. */
#include "cli/cmd.h"
#include "cli/manual/manual.h"
#include "cli/manual/options.h"
#include "cli/manual/pages.h"
#include "cli/manual/roff.h"

#include "commit.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

static void add_heading(struct gk_buf *out, const char *title)
{
	gk_buf_printf(out, ".SH %s\n", title);
}

/*
 * Writes the name of a page's file without its section, such as
 * "gpukit-fake-ctl".
 */
static void page_title(const struct gk_manual_page *page, char *dst, size_t cap)
{
	snprintf(dst, cap, "gpukit%s%s", *page->name ? "-" : "", page->name);
	for (; *dst; dst++)
		if (*dst == ' ')
			*dst = '-';
}

static const char *section_of(const struct gk_manual_page *page)
{
	return page->section ? page->section : "1";
}

/*
 * Finds a default value in parentheses at the end of an option's text, as in
 * "... (1)". Returns its index, or 0 if there is none.
 */
static size_t find_default(const char *text, size_t len)
{
	size_t at = len;

	if (!len || text[len - 1] != ')')
		return 0;
	while (at && text[at - 1] != '(')
		at--;
	if (at < 3 || !strncmp(text + at, ",)", 2) ||
	    !strncmp(text + at, "PEM)", 4) || !strncmp(text + at, "docs/", 5) ||
	    !strncmp(text + at, "the default)", 12))
		return 0;
	return at;
}

/*
 * Adds the text of an option as sentences. A default value becomes "Default:
 * 1.".
 */
static void add_option_text(struct gk_buf *out, const char *text)
{
	size_t len = strlen(text), fixed = find_default(text, len);
	struct gk_buf all = {0};

	gk_buf_add(&all, text, fixed ? fixed - 2 : len);
	if (all.len)
		*all.data = (char)toupper((unsigned char)*all.data);
	if (all.len && all.data[all.len - 1] != '.')
		gk_buf_putc(&all, '.');
	if (fixed)
		gk_buf_printf(&all, " Default: %.*s.", (int)(len - fixed - 1),
			      text + fixed);
	if (all.data)
		roff_text(out, all.data, all.len);
	gk_buf_free(&all);
}

static void add_option_names(struct gk_buf *out,
			     const struct manual_option *option)
{
	const char *last = option->names[option->name_count - 1];
	bool is_long = last[0] == '-' && last[1] == '-';

	for (size_t i = 0; i < option->name_count; i++) {
		gk_buf_puts(out, i ? ", \\fB" : "\\fB");
		roff_literal(out, option->names[i], strlen(option->names[i]));
		gk_buf_puts(out, "\\fR");
	}
	if (*option->arg) {
		gk_buf_puts(out, option->optional ? "[" : "");
		gk_buf_puts(out, is_long ? "=" : option->optional ? "" : " ");
		roff_usage(out, option->arg, strlen(option->arg));
		gk_buf_puts(out, option->optional ? "]" : "");
	}
	gk_buf_putc(out, '\n');
}

/* Adds the heading of a group of options, such as "Which devices:". */
static void add_group(struct gk_buf *out, const char *title)
{
	size_t len = strlen(title);

	len -= len && title[len - 1] == ':';
	gk_buf_puts(out, ".SS \"");
	roff_literal(out, title, len);
	gk_buf_puts(out, "\"\n");
}

/* Whether argp adds this option to every verb. */
static bool is_standard(const struct manual_option *option)
{
	return option->group == -1;
}

static bool has_headings(const struct manual_options *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (!o->all[i].name_count)
			return true;
	return false;
}

/*
 * Adds the heading of a group, if one begins here. The options that argp adds
 * get one only if other groups have headings.
 */
static void add_group_of(struct gk_buf *out, const struct manual_options *o,
			 size_t i)
{
	if (!o->all[i].name_count)
		add_group(out, o->all[i].doc);
	else if (i && is_standard(&o->all[i]) && !is_standard(&o->all[i - 1]) &&
		 has_headings(o))
		add_group(out, "Help");
}

static void add_options(struct gk_buf *out, const struct gk_manual_page *page)
{
	struct manual_options *o = calloc(1, sizeof *o);

	if (!o) {
		out->failed = true;
		return;
	}
	manual_options(page, o);
	for (size_t i = 0; i < o->count; i++) {
		const struct manual_option *option = &o->all[i];

		if (page->within && is_standard(option))
			continue;
		if (!page->within)
			add_group_of(out, o, i);
		if (!option->name_count)
			continue;
		gk_buf_puts(out, ".TP\n");
		add_option_names(out, option);
		add_option_text(out, option->doc ? option->doc : "");
	}
	free(o);
}

/* ---- synopsis ---- */

/* Whether a usage is that of a subcommand with a page of its own. */
static bool is_subcommand(const struct gk_manual_page *page, const char *usage,
			  size_t len)
{
	char name[64];
	int n;

	while (len && usage[len - 1] == ' ')
		len--;
	len = strcspn(usage, " \n") < len ? strcspn(usage, " \n") : len;
	n = snprintf(name, sizeof name, "%s %.*s", page->name, (int)len, usage);
	return n > 0 && len && pages_find(name, (size_t)n);
}

static void add_usage(struct gk_buf *out, const struct gk_manual_page *page,
		      const char *usage, size_t len)
{
	gk_buf_puts(out, "\\fBgpukit");
	gk_buf_puts(out, *page->name ? " " : "");
	roff_literal(out, page->name, strlen(page->name));
	gk_buf_puts(out, "\\fR");
	if (page->argp && !is_subcommand(page, usage, len))
		gk_buf_puts(out, " [\\fIOPTION\\fR...]");
	if (len)
		gk_buf_putc(out, ' ');
	roff_usage(out, usage, len);
	gk_buf_putc(out, '\n');
}

static void add_synopsis(struct gk_buf *out, const struct gk_manual_page *page)
{
	const char *usage = pages_usage(page);

	for (;;) {
		size_t len = strcspn(usage, "\n");

		add_usage(out, page, usage, len);
		if (!usage[len])
			return;
		gk_buf_puts(out, ".br\n");
		usage += len + 1;
	}
}

/* ---- description ---- */

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/* Returns the paragraph that begins with a word, or NULL. */
static const char *find_paragraph(const char *text, const char *word,
				  size_t *ret_len)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");

		*ret_len = end ? (size_t)(end - text) : strlen(text);
		if (begins(text, word))
			return text;
		text += *ret_len + strspn(text + *ret_len, "\n");
	}
	return NULL;
}

/*
 * Adds the first sentences as a whole: "Shows GPUs." becomes "gpukit stat shows
 * GPUs."
 */
static void add_first_sentences(struct gk_buf *out,
				const struct gk_manual_page *page,
				const char *doc, size_t len)
{
	struct gk_buf text = {0};

	if (!len)
		return;
	if (!page->section)
		gk_buf_printf(&text, "`gpukit%s%s` ", *page->name ? " " : "",
			      page->name);
	gk_buf_putc(&text,
		    page->section ? *doc : (char)tolower((unsigned char)*doc));
	gk_buf_add(&text, doc + 1, len - 1);
	if (text.data)
		roff_text(out, text.data, text.len);
	gk_buf_free(&text);
}

#define EXIT_STATUS "Exit status: "
#define ENVIRONMENT "Environment: "

static void add_description(struct gk_buf *out,
			    const struct gk_manual_page *page)
{
	const char *doc, *more;
	size_t len;

	pages_doc(page, &doc, &len, &more);
	add_first_sentences(out, page, doc, len);
	while (*more) {
		const char *end = strstr(more, "\n\n");

		len = end ? (size_t)(end - more) : strlen(more);
		if (!begins(more, EXIT_STATUS) && !begins(more, ENVIRONMENT)) {
			gk_buf_puts(out, ".PP\n");
			roff_text(out, more, len);
		}
		more += len + strspn(more + len, "\n");
	}
	if (page->text) {
		gk_buf_puts(out, ".PP\n");
		roff_paragraphs(out, page->text);
	}
}

/* ---- tables ---- */

/* Adds a table with rows "term\ttext\n". */
static void add_rows(struct gk_buf *out, const char *rows)
{
	while (*rows) {
		size_t term = strcspn(rows, "\t");
		size_t len = strcspn(rows, "\n");

		gk_buf_puts(out, ".TP\n\\fB");
		roff_literal(out, rows, term);
		gk_buf_puts(out, "\\fR\n");
		roff_text(out, rows + term + 1, len - term - 1);
		rows += len + (rows[len] == '\n');
	}
}

/* Adds examples from rows "command\ttext\n". */
static void add_examples(struct gk_buf *out, const char *rows)
{
	for (bool first = true; *rows; first = false) {
		size_t command = strcspn(rows, "\t");
		size_t len = strcspn(rows, "\n");

		gk_buf_puts(out, first ? "" : ".PP\n");
		roff_text(out, rows + command + 1, len - command - 1);
		gk_buf_puts(out, ".PP\n.RS 4\n.EX\n");
		roff_literal(out, rows, command);
		gk_buf_puts(out, "\n.EE\n.RE\n");
		rows += len + (rows[len] == '\n');
	}
}

/*
 * Adds an exit status. The text is "0", "1 after a failure" or a phrase without
 * a number.
 */
static void add_status(struct gk_buf *out, const char *text, size_t len,
		       bool first)
{
	size_t digits = strspn(text, "0123456789");
	struct gk_buf told = {0};

	gk_buf_puts(out, digits ? ".TP\n\\fB" : first ? "" : ".PP\n");
	if (digits) {
		gk_buf_add(out, text, digits);
		gk_buf_puts(out, "\\fR\n");
		text += digits + (len > digits);
		len -= digits + (len > digits);
	}
	if (!len) {
		gk_buf_puts(out, "Success.\n");
		return;
	}
	gk_buf_putc(&told, (char)toupper((unsigned char)*text));
	gk_buf_add(&told, text + 1, len - 1);
	gk_buf_putc(&told, '.');
	if (told.data)
		roff_text(out, told.data, told.len);
	gk_buf_free(&told);
}

/*
 * Adds the statuses in "Exit status: 0; 1 after a failure; 2 for a wrong
 * option."
 */
static void add_statuses(struct gk_buf *out, const char *text, size_t len)
{
	const char *end = text + len - (len && text[len - 1] == '.');

	text += strlen(EXIT_STATUS);
	for (bool first = true; text < end; first = false) {
		const char *next = strstr(text, "; ");

		if (!next || next > end)
			next = end;
		add_status(out, text, (size_t)(next - text), first);
		text = next + (next < end ? 2 : 0);
	}
}

static void add_exit_status(struct gk_buf *out,
			    const struct gk_manual_page *page)
{
	const char *doc, *more, *found;
	size_t len;

	pages_doc(page, &doc, &len, &more);
	found = find_paragraph(more, EXIT_STATUS, &len);
	if (!found && !page->exit_status)
		return;
	add_heading(out, "EXIT STATUS");
	if (page->exit_status)
		add_rows(out, page->exit_status);
	else
		add_statuses(out, found, len);
}

static void add_table(struct gk_buf *out, const char *title, const char *rows)
{
	if (rows) {
		add_heading(out, title);
		add_rows(out, rows);
	}
}

static void add_facts(struct gk_buf *out, const struct gk_manual_page *page)
{
	struct gk_buf rows = {0};

	if (!page->add_rows)
		return;
	page->add_rows(&rows);
	out->failed |= rows.failed;
	add_table(out, page->heading, rows.data);
	gk_buf_free(&rows);
}

/* ---- other pages ---- */

struct writer {
	struct gk_buf *out;
	const struct gk_manual_page *page;
	bool any;
};

static void add_subcommand(void *data, const struct gk_manual_page *page,
			   const char *summary)
{
	struct writer *w = data;

	(void)summary;
	if (!pages_below(page, w->page) || !page->within)
		return;
	if (!w->any)
		add_heading(w->out, "SUBCOMMANDS");
	w->any = true;
	gk_buf_puts(w->out, ".SS ");
	add_usage(w->out, page, pages_usage(page), strlen(pages_usage(page)));
	add_description(w->out, page);
	add_options(w->out, page);
}

static void add_reference(struct gk_buf *out, const struct gk_manual_page *page,
			  bool first)
{
	char title[64];

	page_title(page, title, sizeof title);
	gk_buf_puts(out, first ? ".BR " : " ,\n.BR ");
	roff_literal(out, title, strlen(title));
	gk_buf_printf(out, " (%s)", section_of(page));
}

/*
 * Adds a reference to a page if it is above or below this one. The page of
 * gpukit itself and the pages of verbs refer to each other, too.
 */
static void refer_to(void *data, const struct gk_manual_page *page,
		     const char *summary)
{
	struct writer *w = data;
	bool near = pages_below(page, w->page) || pages_below(w->page, page);
	bool of_all = !*page->name || !*w->page->name;

	(void)summary;
	if (page == w->page || page->within ||
	    !(near || (of_all && !strchr(page->name, ' ')) || !*page->name))
		return;
	add_reference(w->out, page, !w->any);
	w->any = true;
}

/* Adds references such as "nvidia-smi(1), nvcc(1)". */
static void refer_to_others(struct gk_buf *out, const char *see)
{
	while (*see) {
		size_t name = strcspn(see, "(");
		size_t len = strcspn(see, ",");

		gk_buf_puts(out, " ,\n.BR ");
		roff_literal(out, see, name);
		gk_buf_printf(out, " %.*s", (int)(len - name), see + name);
		see += len + (see[len] == ',');
		see += strspn(see, " ");
	}
}

static void add_see_also(struct gk_buf *out, const struct gk_manual_page *page)
{
	struct writer w = {out, page, false};

	add_heading(out, "SEE ALSO");
	pages_each(refer_to, &w);
	if (page->see)
		refer_to_others(out, page->see);
	gk_buf_putc(out, '\n');
}

/* ---- a page ---- */

static void add_title(struct gk_buf *out, const struct gk_manual_page *page,
		      const char *summary)
{
	char title[64];

	page_title(page, title, sizeof title);
	gk_buf_puts(out, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH ");
	for (const char *c = title; *c; c++) {
		char upper = (char)toupper((unsigned char)*c);

		roff_literal(out, &upper, 1);
	}
	gk_buf_printf(out,
		      " %s " GPUKIT_DAY " \"gpukit " GPUKIT_VERSION
		      "\" \"gpukit manual\"\n",
		      section_of(page));
	add_heading(out, "NAME");
	roff_literal(out, title, strlen(title));
	gk_buf_puts(out, " \\- ");
	roff_literal(out, summary, strlen(summary));
	gk_buf_putc(out, '\n');
}

static void add_page(struct gk_buf *out, const struct gk_manual_page *page,
		     const char *summary)
{
	struct writer w = {out, page, false};

	add_title(out, page, summary);
	if (page->argp || page->synopsis) {
		add_heading(out, "SYNOPSIS");
		add_synopsis(out, page);
	}
	add_heading(out, "DESCRIPTION");
	add_description(out, page);
	add_facts(out, page);
	if (page->argp || page->lines) {
		add_heading(out, "OPTIONS");
		add_options(out, page);
	}
	pages_each(add_subcommand, &w);
	add_exit_status(out, page);
	add_table(out, "ENVIRONMENT", page->environment);
	add_table(out, "FILES", page->files);
	if (page->examples) {
		add_heading(out, "EXAMPLES");
		add_examples(out, page->examples);
	}
	add_see_also(out, page);
}

/* ---- files ---- */

struct manual {
	const char *directory;
	int status;
};

static int write_text(const char *path, const struct gk_buf *text)
{
	FILE *file = fopen(path, "we");
	bool ok = file && !text->failed &&
		  fwrite(text->data, 1, text->len, file) == text->len;

	if (file && fclose(file))
		ok = false;
	if (ok)
		return GK_EXIT_OK;
	fprintf(stderr, "gpukit: %s: %s\n", path,
		text->failed ? "out of memory" : strerror(errno));
	return GK_EXIT_FAILURE;
}

static void write_page(void *data, const struct gk_manual_page *page,
		       const char *summary)
{
	struct manual *manual = data;
	struct gk_buf out = {0};
	char title[64], path[PATH_MAX];

	if (page->within || manual->status)
		return;
	page_title(page, title, sizeof title);
	snprintf(path, sizeof path, "%s/%s.%s", manual->directory, title,
		 section_of(page));
	add_page(&out, page, summary);
	manual->status = write_text(path, &out);
	gk_buf_free(&out);
}

int gk_manual_write(const char *directory)
{
	struct manual manual = {.directory = directory};

	pages_each(write_page, &manual);
	return manual.status;
}
