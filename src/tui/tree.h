/*
 * tree.h - the state of the tree screen: the processes in their family while
 * it is open, and which trees are closed.
 */
#ifndef GK_TUI_TREE_H
#define GK_TUI_TREE_H

#include "core/proctree.h"

struct tui_tree_closed {
	pid_t pid;
	uint64_t start_ticks;
};

struct tui_tree {
	int proc_fd; /* a directory to read as /proc; 0: /proc */
	struct gk_family *family;
	struct gk_tree *tree; /* NULL: not open */
	unsigned *rows; /* nodes that are shown: none under a closed one */
	size_t row_count;
	int widths[3]; /* of pids, users, devices: the longest */
	struct tui_tree_closed *closed;
	size_t closed_count;
};

struct tui;

/* Whether all below a process is in its line. */
bool tree_is_closed(const struct tui_tree *tree,
		    const struct gk_tree_node *node);

/* The node in a row; position < row_count. */
const struct gk_tree_node *tree_node(const struct tui_tree *tree,
				     long position);

/* Notes how wide the columns must be for a new frame. */
void tree_measure(struct tui *t);

#endif
