/* list.c - which processes are listed, in which order; what is selected. */
#include "format/names.h"
#include "tui/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDER(name, id_, descending_)                                          \
	[SORT_##name] = {.id = GK_COLUMN_##id_,                                \
			 .descending = descending_,                            \
			 .action = ACTION_SORT_##name,                         \
			 .reversed = ACTION_SORT_##name##_R}

const struct tui_sort_info tui_sorts[SORT_COUNT] = {
    ORDER(NATURAL, GPU, false), ORDER(PID, PID, false),
    ORDER(USER, USER, false),   ORDER(MEMORY, GPU_MEM, true),
    ORDER(SM, SM, true),        ORDER(BANDWIDTH, GMBW, true),
    ORDER(CPU, CPU, true),      ORDER(HOST, MEM, true),
    ORDER(TIME, TIME, true),
};

/* ---- filter ---- */

static bool has_text(const struct gk_process *p, const char *text)
{
	char pid[16];

	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	return strcasestr(p->command, text) || strcasestr(p->name, text) ||
	       strstr(pid, text);
}

static bool passes(const struct tui *t, const struct gk_process *p)
{
	const struct tui_filter *f = &t->options.filter;
	unsigned gpu = t->snap->devices[p->device].index;
	struct gk_value memory = p->m[GK_PM_GPU_MEM];

	return (!f->types || p->types & f->types) &&
	       (!f->only_types || !(p->types & ~f->only_types)) &&
	       (!f->gpus || (gpu < 64 && f->gpus >> gpu & 1)) &&
	       (!*f->user || !strcmp(p->user, f->user)) &&
	       (!*f->text || has_text(p, f->text)) &&
	       (!f->memory_over || (memory.why == GK_PRESENT &&
				    (uint64_t)memory.v > f->memory_over));
}

/* ---- order ---- */

static int compare_natural(const struct gk_process *a,
			   const struct gk_process *b)
{
	static const enum gk_column columns[] = {GK_COLUMN_GPU, GK_COLUMN_USER,
						 GK_COLUMN_PID};
	int order = 0;

	for (size_t i = 0; !order && i < sizeof columns / sizeof *columns; i++)
		order = gk_column_compare(columns[i], a, b);
	return order;
}

static int compare_by(enum tui_sort sort, bool reversed,
		      const struct gk_process *a, const struct gk_process *b)
{
	int order = gk_column_compare(tui_sorts[sort].id, a, b);

	return tui_sorts[sort].descending != reversed ? -order : order;
}

/* Those that are gone come last in every order, by GPU on each GPU. Ties are
 * in the order before this one. */
static int compare(const void *left, const void *right, void *data)
{
	const struct tui *t = data;
	const struct gk_process *a =
	    &t->snap->processes[*(const unsigned *)left];
	const struct gk_process *b =
	    &t->snap->processes[*(const unsigned *)right];
	bool a_gone = a->state == GK_PROCESS_GONE;
	bool b_gone = b->state == GK_PROCESS_GONE;
	int order = 0;

	if (t->sort == SORT_NATURAL)
		order = compare_by(SORT_NATURAL, t->reversed, a, b);
	if (!order && a_gone != b_gone)
		return a_gone ? 1 : -1;
	if (!order)
		order = compare_by(t->sort, t->reversed, a, b);
	if (!order && t->sort != SORT_NATURAL)
		order = compare_by(t->sort_before, t->reversed_before, a, b);
	return order ? order : compare_natural(a, b);
}

void tui_sort_by(struct tui *t, enum tui_sort sort, bool reversed)
{
	if (sort != t->sort) {
		t->sort_before = t->sort;
		t->reversed_before = t->reversed;
	}
	t->sort = sort;
	t->reversed = reversed;
	tui_list_update(t);
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
		if (passes(t, &t->snap->processes[i]) &&
		    tui_words_hold(&t->words, t->snap, &t->snap->processes[i]))
			t->list[t->list_count++] = (unsigned)i;
	if (t->list_count)
		qsort_r(t->list, t->list_count, sizeof *t->list, compare, t);
}

/* ---- selection and tags ---- */

static const struct gk_process *at(const struct tui *t, size_t position)
{
	return &t->snap->processes[t->list[position]];
}

long tui_selected(const struct tui *t)
{
	for (size_t i = 0; t->selected.pid && i < t->list_count; i++) {
		const struct gk_process *p = at(t, i);

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
	p = at(t, (size_t)position);
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
