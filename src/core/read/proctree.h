/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proctree.h - trees of the processes on GPUs, with all their ancestors and
 * their direct children.
 *
 * /proc is read only when a tree is made, and once per snapshot, however many
 * trees are made from it.
 */
#ifndef GK_CORE_PROCTREE_H
#define GK_CORE_PROCTREE_H

#include "core/read/family.h"

struct gk_tree_node {
	/*
	 * The process. Its strings belong to the snapshot and the family, and
	 * are valid until the next scan. m is summed over all its GPUs; device
	 * is not set.
	 */
	struct gk_process process;
	/* Sum over the process and all its descendants. */
	struct gk_value sum[GK_PM_COUNT];
	uint64_t threads; /* 0: unknown */
	int parent;       /* index in nodes; -1: a root */
	unsigned depth;   /* 0: a root */
	unsigned size;    /* number of nodes in its subtree, itself included */
	bool on_gpu;
	bool last; /* it is the last of its siblings */
};

struct gk_tree {
	size_t count;
	struct gk_tree_node *nodes; /* parents first, siblings together */
};

/*
 * Makes the tree of some processes of a snapshot; `chosen` has indices in
 * snap->processes. Siblings are sorted by user, then by pid; processes that
 * have ended come last. For processes that are on no GPU, CPU shares are known
 * from the second snapshot on. Belongs to the family's thread. Free *ret_tree
 * with gk_tree_free(). Returns 0, GK_ERR_NOMEM, or the error of reading /proc.
 */
int gk_tree_take(struct gk_family *family, const struct gk_snapshot *snap,
		 const unsigned *chosen, size_t count,
		 struct gk_tree **ret_tree);
void gk_tree_free(struct gk_tree *tree);

/* Adds a value to a sum; absent values are ignored. */
void gk_value_add(struct gk_value *sum, struct gk_value value);

#endif
