/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - keeps the rows of the tree screen, its closed nodes and its
 * selection.
 */
#include "base/assert.h"
#include "tui/model/value.h"
#include "tui/views/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static size_t find_closed(const struct tui_tree *tree,
			  const struct gk_process *p)
{
	size_t i = 0;

	while (i < tree->closed_count &&
	       (tree->closed[i].pid != p->pid ||
		tree->closed[i].start_ticks != p->start_ticks))
		i++;
	return i;
}

bool tui_tree_is_closed(const struct tui_tree *tree,
			const struct gk_tree_node *node)
{
	return node->size > 1 &&
	       find_closed(tree, &node->process) < tree->closed_count;
}

static void list_rows(struct tui_tree *tree)
{
	size_t count = tree->tree ? tree->tree->count : 0;
	unsigned *rows = realloc(tree->rows, (count + 1) * sizeof *rows);

	tree->row_count = 0;
	if (!rows)
		return;
	tree->rows = rows;
	for (size_t i = 0; i < count;) {
		const struct gk_tree_node *node = &tree->tree->nodes[i];

		rows[tree->row_count++] = (unsigned)i;
		i += tui_tree_is_closed(tree, node) ? node->size : 1;
	}
}

const struct gk_tree_node *tui_tree_node(const struct tui_tree *tree,
					 long position)
{
	GK_ASSERT(position >= 0 && (size_t)position < tree->row_count);
	return &tree->tree->nodes[tree->rows[position]];
}

void view_tree_frame(struct tui *t)
{
	struct tui_tree *tree = &t->tree;
	struct gk_tree *next;

	/*
	 * If no new tree could be made, shows no tree: the strings of the old
	 * one may have been freed with its snapshot.
	 */
	if (gk_tree_take(tree->family, t->snap, t->list, t->list_count, &next))
		next = NULL;
	gk_tree_free(tree->tree);
	tree->tree = next;
	list_rows(tree);
}

bool view_tree_open(struct tui *t)
{
	struct tui_tree *tree = &t->tree;
	int r =
	    gk_family_open(tree->proc_fd ? tree->proc_fd : -1, &tree->family);

	if (r) {
		tui_say(t, "/proc cannot be read: %s.", gk_strerror(r));
		return false;
	}
	view_tree_frame(t);
	return true;
}

void view_tree_close(struct tui *t)
{
	struct tui_tree *tree = &t->tree;

	gk_tree_free(tree->tree);
	gk_family_close(tree->family);
	free(tree->rows);
	tree->tree = NULL;
	tree->family = NULL;
	tree->rows = NULL;
	tree->row_count = 0;
}

/* ---- selection, closing and opening ---- */

size_t view_tree_count(const struct tui *t)
{
	return t->tree.row_count;
}

long view_tree_selected(const struct tui *t)
{
	for (size_t i = 0; t->selected.pid && i < t->tree.row_count; i++) {
		const struct gk_process *p =
		    &tui_tree_node(&t->tree, (long)i)->process;

		if (p->pid == t->selected.pid &&
		    p->start_ticks == t->selected.start_ticks)
			return (long)i;
	}
	return -1;
}

/*
 * Selects the process on any device; the main screen then marks its first row.
 */
void view_tree_select(struct tui *t, long position)
{
	memset(&t->selected, 0, sizeof t->selected);
	if (position < 0 || (size_t)position >= t->tree.row_count)
		return;
	t->selected.pid = tui_tree_node(&t->tree, position)->process.pid;
	t->selected.start_ticks =
	    tui_tree_node(&t->tree, position)->process.start_ticks;
}

const struct gk_process *view_tree_process(const struct tui *t)
{
	long at = view_tree_selected(t);

	return at < 0 ? NULL : &tui_tree_node(&t->tree, at)->process;
}

static void close_node(struct tui_tree *tree, const struct gk_process *p)
{
	struct tui_tree_closed *more =
	    realloc(tree->closed, (tree->closed_count + 1) * sizeof *more);

	if (!more)
		return;
	tree->closed = more;
	more[tree->closed_count++] =
	    (struct tui_tree_closed){p->pid, p->start_ticks};
}

static void select_parent(struct tui *t, const struct gk_tree_node *node)
{
	const struct gk_process *p;

	if (node->parent < 0)
		return;
	p = &t->tree.tree->nodes[node->parent].process;
	memset(&t->selected, 0, sizeof t->selected);
	t->selected.pid = p->pid;
	t->selected.start_ticks = p->start_ticks;
}

/*
 * Closes the selected node. If it is a leaf or closed already, selects its
 * parent.
 */
static void collapse_selected(struct tui *t)
{
	long at = view_tree_selected(t);
	const struct gk_tree_node *node;

	if (at < 0)
		return;
	node = tui_tree_node(&t->tree, at);
	if (node->size == 1 || tui_tree_is_closed(&t->tree, node))
		select_parent(t, node);
	else
		close_node(&t->tree, &node->process);
}

static void expand_selected(struct tui *t)
{
	struct tui_tree *tree = &t->tree;
	long at = view_tree_selected(t);
	size_t i;

	if (at < 0)
		return;
	i = find_closed(tree, &tui_tree_node(tree, at)->process);
	if (i < tree->closed_count)
		tree->closed[i] = tree->closed[--tree->closed_count];
}

bool view_tree_act(struct tui *t, enum tui_action action)
{
	if (action == ACTION_COLLAPSE)
		collapse_selected(t);
	else if (action == ACTION_EXPAND)
		expand_selected(t);
	else if (action == ACTION_REFRESH)
		view_tree_frame(t);
	else
		return false;
	list_rows(&t->tree);
	return true;
}

void view_tree_text(const struct tui *t, size_t at, struct gk_buf *out)
{
	tui_search_process(&tui_tree_node(&t->tree, (long)at)->process, out);
}
