/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proctree.c - finds the ancestors and children of processes on GPUs.
 */
#include "core/read/proctree.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* A process: a member of the family, or one that the driver lists but /proc
 * hides. */
struct entry {
	struct gk_member *member; /* NULL: hidden in /proc */
	pid_t pid, ppid;
	uint64_t start, threads;
	bool wanted, on_gpu;
	int child, next; /* first child, next sibling; -1: none */
	struct gk_process *process;
};

struct family {
	struct entry *entries;
	size_t count;
	struct gk_process *processes; /* processes of the wanted entries */
	struct gk_tree *tree;
};

void gk_value_add(struct gk_value *sum, struct gk_value value)
{
	if (value.why != GK_PRESENT)
		return;
	if (sum->why != GK_PRESENT)
		*sum = value;
	else if (__builtin_add_overflow(sum->v, value.v, &sum->v))
		sum->v = value.v < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- entries ---- */

static struct entry *add_entry(struct family *f, pid_t pid)
{
	struct entry *e = &f->entries[f->count++];

	*e = (struct entry){.pid = pid, .child = -1, .next = -1};
	return e;
}

/* Makes an entry for each member, with space for `more` other entries. */
static int take_members(struct family *f, struct gk_family *all, size_t more)
{
	size_t count;
	struct gk_member *members = gk_family_members(all, &count);

	f->entries = calloc(count + more + 1, sizeof *f->entries);
	if (!f->entries)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		struct entry *e = add_entry(f, members[i].pid);

		e->member = &members[i];
		e->ppid = members[i].ppid;
		e->start = members[i].start;
		e->threads = members[i].threads;
	}
	return 0;
}

static int compare_entry_pids(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct entry *find_family_entry(const struct family *f, size_t count,
				       pid_t pid)
{
	struct entry key = {.pid = pid};

	return count ? bsearch(&key, f->entries, count, sizeof key,
			       compare_entry_pids)
		     : NULL;
}

/*
 * Returns the parent of an entry, or NULL if it is not older than the entry: if
 * a pid was reused while /proc was read, a process could otherwise become its
 * own ancestor.
 */
static struct entry *parent_of(const struct family *f, size_t count,
			       const struct entry *e)
{
	struct entry *p =
	    e->ppid > 0 ? find_family_entry(f, count, e->ppid) : NULL;

	if (p &&
	    (p->start < e->start || (p->start == e->start && p->pid < e->pid)))
		return p;
	return NULL;
}

/* ---- wanted entries ---- */

/* Marks the entry of a process on a GPU. For a process that /proc hides, adds
 * an entry at the end. */
static void want_process(struct family *f, size_t scanned, pid_t pid)
{
	struct entry *e = find_family_entry(f, scanned, pid);

	for (size_t i = scanned; !e && i < f->count; i++)
		if (f->entries[i].pid == pid)
			e = &f->entries[i];
	if (!e)
		e = add_entry(f, pid);
	e->on_gpu = e->wanted = true;
}

static void want_ancestors(struct family *f, struct entry *e)
{
	while ((e = parent_of(f, f->count, e)) && !e->wanted)
		e->wanted = true;
}

static void want_all(struct family *f, const struct gk_snapshot *snap,
		     const unsigned *chosen, size_t count)
{
	size_t scanned = f->count;

	for (size_t i = 0; i < count; i++)
		want_process(f, scanned, snap->processes[chosen[i]].pid);
	if (f->count > scanned)
		qsort(f->entries, f->count, sizeof *f->entries,
		      compare_entry_pids);
	for (size_t i = 0; i < f->count; i++) {
		struct entry *e = &f->entries[i];
		const struct entry *parent = parent_of(f, f->count, e);

		if (e->on_gpu)
			want_ancestors(f, e);
		else if (parent && parent->on_gpu)
			e->wanted = true;
	}
}

static void keep_wanted(struct family *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++)
		if (f->entries[i].wanted)
			f->entries[kept++] = f->entries[i];
	f->count = kept;
}

/* ---- values ---- */

/* Copies the values of a process from the snapshot, summed over devices. */
static void take_from_snapshot(struct family *f, const struct gk_process *p)
{
	struct entry *e = find_family_entry(f, f->count, p->pid);

	if (!e->process->pid) {
		*e->process = *p;
		return;
	}
	e->process->types |= p->types;
	for (int m = 0; m < GK_PM_COUNT; m++)
		if (gk_process_metrics[m].tier < GK_TIER_HOST)
			gk_value_add(&e->process->m[m], p->m[m]);
}

/* Gets the values of wanted entries: from the snapshot for processes on GPUs,
 * from /proc for others. */
static int read_family_entries(struct family *f, struct gk_family *all,
			       const struct gk_snapshot *snap,
			       const unsigned *chosen, size_t count)
{
	f->processes = calloc(f->count + 1, sizeof *f->processes);
	if (!f->processes)
		return GK_ERR_NOMEM;
	for (size_t i = 0; i < f->count; i++)
		f->entries[i].process = &f->processes[i];
	for (size_t i = 0; i < count; i++)
		take_from_snapshot(f, &snap->processes[chosen[i]]);
	for (size_t i = 0; i < f->count; i++) {
		struct entry *e = &f->entries[i];
		const struct gk_process *p =
		    e->on_gpu ? e->process : gk_family_read(all, e->member);

		if (!p)
			return GK_ERR_NOMEM;
		*e->process = *p;
		if (p->m[GK_PM_THREADS].why == GK_PRESENT)
			e->threads = (uint64_t)p->m[GK_PM_THREADS].v;
	}
	return 0;
}

/* ---- the tree ---- */

static int by_family(const void *left, const void *right, void *data)
{
	const struct entry *entries = data;
	const struct gk_process *a = entries[*(const int *)left].process;
	const struct gk_process *b = entries[*(const int *)right].process;
	bool a_gone = a->state == GK_PROCESS_GONE;
	bool b_gone = b->state == GK_PROCESS_GONE;
	int order = a_gone - b_gone;

	if (!order)
		order = strcmp(a->user, b->user);
	return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

/* Links the children of each entry, in order. Returns the first root, or -1. */
static int chain_children(struct family *f, int *order)
{
	int root = -1;

	for (size_t i = 0; i < f->count; i++)
		order[i] = (int)i;
	if (f->count)
		qsort_r(order, f->count, sizeof *order, by_family, f->entries);
	for (size_t i = f->count; i-- > 0;) {
		struct entry *e = &f->entries[order[i]];
		struct entry *parent = parent_of(f, f->count, e);
		int *head = parent ? &parent->child : &root;

		e->next = *head;
		*head = order[i];
	}
	return root;
}

/* Adds a node for an entry. Returns the node's index. */
static int add_node(struct family *f, const struct entry *e, int parent)
{
	struct gk_tree *tree = f->tree;
	struct gk_tree_node *node = &tree->nodes[tree->count];

	*node = (struct gk_tree_node){
	    .process = *e->process,
	    .threads = e->threads,
	    .parent = parent,
	    .depth = parent < 0 ? 0 : tree->nodes[parent].depth + 1,
	    .size = 1,
	    .on_gpu = e->on_gpu,
	    .last = e->next < 0,
	};
	memcpy(node->sum, node->process.m, sizeof node->sum);
	return (int)tree->count++;
}

/* Adds the nodes in depth-first order: first the children, then the next
 * sibling of the entry or of its nearest ancestor that has one. path[depth] is
 * the current entry at a depth. */
static void add_nodes(struct family *f, int root, int *path)
{
	int at = root, parent = -1, depth = 0;

	while (at >= 0) {
		int node = add_node(f, &f->entries[at], parent);

		path[depth] = at;
		if (f->entries[at].child >= 0) {
			at = f->entries[at].child;
			parent = node;
			depth++;
			continue;
		}
		while (depth > 0 && f->entries[path[depth]].next < 0) {
			depth--;
			parent = f->tree->nodes[parent].parent;
		}
		at = f->entries[path[depth]].next;
	}
}

static void sum_up_tree(struct gk_tree *tree)
{
	for (size_t i = tree->count; i-- > 0;) {
		const struct gk_tree_node *node = &tree->nodes[i];
		struct gk_tree_node *parent;

		if (node->parent < 0)
			continue;
		parent = &tree->nodes[node->parent];
		parent->size += node->size;
		for (int m = 0; m < GK_PM_COUNT; m++)
			gk_value_add(&parent->sum[m], node->sum[m]);
	}
}

static int arrange_family(struct family *f)
{
	int *order = calloc(f->count + 1, sizeof *order);
	int *path = calloc(f->count + 1, sizeof *path);

	f->tree->nodes = calloc(f->count + 1, sizeof *f->tree->nodes);
	if (order && path && f->tree->nodes) {
		add_nodes(f, chain_children(f, order), path);
		sum_up_tree(f->tree);
	}
	free(order);
	free(path);
	return order && path && f->tree->nodes ? 0 : GK_ERR_NOMEM;
}

int gk_tree_take(struct gk_family *family, const struct gk_snapshot *snap,
		 const unsigned *chosen, size_t count,
		 struct gk_tree **ret_tree)
{
	struct family f = {.tree = calloc(1, sizeof *f.tree)};
	int r = f.tree ? gk_family_scan(family, snap) : GK_ERR_NOMEM;

	if (!r)
		r = take_members(&f, family, count);
	if (!r) {
		want_all(&f, snap, chosen, count);
		keep_wanted(&f);
		r = read_family_entries(&f, family, snap, chosen, count);
	}
	if (!r)
		r = arrange_family(&f);
	free(f.entries);
	free(f.processes);
	if (r)
		gk_tree_free(f.tree);
	else
		*ret_tree = f.tree;
	return r;
}

void gk_tree_free(struct gk_tree *tree)
{
	if (!tree)
		return;
	free(tree->nodes);
	free(tree);
}
