/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c - filters and sorts the listed processes, and keeps the selection and
 * the tags.
 */
#include "format/names.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

struct gk_columns tui_columns(const struct tui *t)
{
	return t->options.columns.count ? t->options.columns
					: gk_columns_default;
}

unsigned tui_with(const struct tui *t)
{
	struct gk_columns columns = tui_columns(t);
	unsigned with = gk_column_with(t->order.first.column) |
			gk_column_with(t->order.second.column) |
			tui_words_with(&t->words) |
			(t->tree.tree ? GK_WITH_THREADS : 0);

	for (int i = 0; i < columns.count; i++)
		with |= gk_column_with(columns.id[i]);
	return with;
}

/* ---- filter ---- */

static bool contains_text(const struct gk_process *p, const char *text)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	return strcasestr(p->command, text) || strcasestr(p->name, text) ||
	       strstr(pid, text);
}

static bool passes_filter(const struct tui *t, const struct gk_process *p)
{
	const struct tui_filter *f = &t->options.filter;
	unsigned gpu = t->snap->devices[p->device].index;
	struct gk_value memory = p->m[GK_PM_GPU_MEM];

	return (!f->types || p->types & f->types) &&
	       (!f->only_types || !(p->types & ~f->only_types)) &&
	       (!f->gpus || (gpu < 64 && f->gpus >> gpu & 1)) &&
	       (!*f->user || !strcmp(p->user, f->user)) &&
	       (!*f->text || contains_text(p, f->text)) &&
	       (!f->memory_over || (memory.why == GK_PRESENT &&
				    (uint64_t)memory.v > f->memory_over));
}

/* ---- order ---- */

static int compare_rows(const void *left, const void *right, void *data)
{
	const struct tui *t = data;

	return tui_order_compare(&t->order,
				 &t->snap->processes[*(const unsigned *)left],
				 &t->snap->processes[*(const unsigned *)right]);
}

void tui_list_update(struct tui *t)
{
	size_t count = t->snap ? t->snap->process_count : 0;

	if (count > t->list_cap) {
		unsigned *more = realloc(t->list, count * sizeof *more);

		if (!more)
			count = t->list_cap;
		else
			t->list = more;
		t->list_cap = more ? count : t->list_cap;
	}
	t->list_count = 0;
	for (size_t i = 0; i < count; i++)
		if (passes_filter(t, &t->snap->processes[i]) &&
		    tui_words_hold(&t->words, t->snap, &t->snap->processes[i]))
			t->list[t->list_count++] = (unsigned)i;
	if (t->list_count)
		qsort_r(t->list, t->list_count, sizeof *t->list, compare_rows,
			t);
}

/* ---- selection and tags ---- */

static const struct gk_process *process_of_row(const struct tui *t,
					       size_t position)
{
	return &t->snap->processes[t->list[position]];
}

long tui_selected(const struct tui *t)
{
	for (size_t i = 0; t->selected.pid && i < t->list_count; i++) {
		const struct gk_process *p = process_of_row(t, i);

		if (p->pid == t->selected.pid &&
		    p->start_ticks == t->selected.start_ticks &&
		    (!*t->selected.uuid ||
		     !strcmp(t->snap->devices[p->device].uuid,
			     t->selected.uuid)))
			return (long)i;
	}
	return -1;
}

void tui_select(struct tui *t, long position)
{
	const struct gk_process *p;

	memset(&t->selected, 0, sizeof t->selected);
	if (position < 0 || (size_t)position >= t->list_count)
		return;
	p = process_of_row(t, (size_t)position);
	t->selected.pid = p->pid;
	t->selected.start_ticks = p->start_ticks;
	gk_str_copy(t->selected.uuid, sizeof t->selected.uuid,
		    t->snap->devices[p->device].uuid);
}

static size_t find_tag(const struct tui *t, const struct gk_process *p)
{
	size_t i = 0;

	while (i < t->tag_count && (t->tags[i].pid != p->pid ||
				    t->tags[i].start_ticks != p->start_ticks))
		i++;
	return i;
}

bool tui_is_tagged(const struct tui *t, const struct gk_process *p)
{
	return find_tag(t, p) < t->tag_count;
}

void tui_tag_toggle(struct tui *t, const struct gk_process *p)
{
	size_t i = find_tag(t, p);
	struct tui_tag *more;

	if (i < t->tag_count) {
		t->tags[i] = t->tags[--t->tag_count];
		return;
	}
	more = realloc(t->tags, (t->tag_count + 1) * sizeof *more);
	if (!more)
		return;
	t->tags = more;
	t->tags[t->tag_count++] =
	    (struct tui_tag){.pid = p->pid, .start_ticks = p->start_ticks};
}
