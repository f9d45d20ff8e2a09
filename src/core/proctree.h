/*
 * proctree.h - processes on GPUs in their family: their ancestors up to the
 * first process, and their direct children.
 *
 * /proc is read once for each snapshot, however many trees are taken of it,
 * and only while somebody looks at one.
 */
#ifndef GK_CORE_PROCTREE_H
#define GK_CORE_PROCTREE_H

#include "core/family.h"

struct gk_tree_node {
	/*
	 * The process, its strings owned by the snapshot and the family, until
	 * the next scan. m is of the process on all its GPUs together; device
	 * means nothing.
	 */
	struct gk_process process;
	struct gk_value sum[GK_PM_COUNT]; /* with all its descendants */
	uint64_t threads;                 /* 0: unknown */
	int parent;                       /* position in nodes, -1: a root */
	unsigned depth;                   /* 0: a root */
	unsigned size; /* of its tree: itself and descendants, which follow */
	bool on_gpu;
	bool last; /* of its siblings */
};

struct gk_tree {
	size_t count;
	struct gk_tree_node *nodes; /* parents first, siblings together */
};

/*
 * Takes the tree of some processes of a snapshot (positions in
 * snap->processes). Siblings are in the order: those that are gone last, then
 * by user, then by pid. CPU shares of processes that are on no GPU are known
 * from the second snapshot on that the same family reads. Belongs to the
 * thread of the family. Free *ret_tree with gk_tree_free(). GK_ERR_NOMEM, or
 * why /proc is closed.
 */
int gk_tree_take(struct gk_family *family, const struct gk_snapshot *snap,
		 const unsigned *chosen, size_t count,
		 struct gk_tree **ret_tree);
void gk_tree_free(struct gk_tree *tree);

/* Adds a value to a sum; what is absent counts only while nothing is there. */
void gk_value_add(struct gk_value *sum, struct gk_value value);

#endif
