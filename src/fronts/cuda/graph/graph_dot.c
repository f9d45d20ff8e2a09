/* SPDX-License-Identifier: Apache-2.0 */
/* graph_dot.c - cuGraphDebugDotPrint: writes a graph as text for Graphviz. */
#include "fronts/cuda/graph/graph.h"
#include "fronts/cuda/module/module_use.h"

#include <stdlib.h>

/*
 * Graphs and nodes are numbered as by cuGraphGetId() and
 * cuGraphNodeGetLocalId().
 */
struct picture {
	FILE *file;
	unsigned flags;
};

static void print_graph(struct picture *p, CUgraph graph);

static bool is_wanted(const struct picture *p, unsigned flags)
{
	return p->flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | flags);
}

static void print_node(const struct picture *p, unsigned graph, CUgraphNode n)
{
	const struct graph_kind *kind = node_kind(n);

	fprintf(p->file,
		"\"graph_%u_node_%u\" [shape=\"record\" label=\"{%s|{id|%u}",
		graph, n->id, kind->name, n->id);
	if (is_wanted(p, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
		fprintf(p->file, "|{handle|%p}", (void *)n);
	if (kind->print && is_wanted(p, kind->dot_flags))
		kind->print(n, p->file);
	fprintf(p->file, "}\"];\n");
}

static void print_edges(const struct picture *p, unsigned graph, CUgraphNode n)
{
	for (unsigned i = 0; i < n->out.count; i++)
		fprintf(p->file,
			"\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"%s;\n",
			graph, n->id, graph, n->out.at[i].node->id,
			edge_is_plain(&n->out.at[i].data)
			    ? ""
			    : " [label=\"programmatic\"]");
}

static void print_parts(struct picture *p, CUgraphNode n)
{
	const struct conditional *c = n->own;

	if (n->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
		print_graph(p, n->params.graph.graph);
	if (n->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		for (unsigned i = 0; i < c->count; i++)
			print_graph(p, c->body[i]);
}

static void print_graph(struct picture *p, CUgraph graph)
{
	fprintf(p->file, "subgraph cluster_%u {\nlabel=\"graph_%u\";\n",
		graph->id, graph->id);
	for (CUgraphNode n = graph->first; n; n = n->next)
		print_node(p, graph->id, n);
	for (CUgraphNode n = graph->first; n; n = n->next)
		print_edges(p, graph->id, n);
	fprintf(p->file, "}\n");
	for (CUgraphNode n = graph->first; n; n = n->next)
		print_parts(p, n);
}

/*
 * Prints to memory first, because graph_mutex is held and writing a file may
 * take long.
 */
static CUresult print_text(CUgraph graph, unsigned flags, char **ret_text,
			   size_t *ret_size)
{
	struct picture p = {.flags = flags};
	bool failed;

	if (!graph_is(graph))
		return CUDA_ERROR_INVALID_VALUE;
	p.file = open_memstream(ret_text, ret_size);
	if (!p.file)
		return CUDA_ERROR_OUT_OF_MEMORY;
	fprintf(p.file, "digraph dot {\n");
	print_graph(&p, graph);
	fprintf(p.file, "}\n");
	failed = ferror(p.file);
	return fclose(p.file) || failed ? CUDA_ERROR_OUT_OF_MEMORY
					: CUDA_SUCCESS;
}

static CUresult write_text(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "we");
	bool failed;

	if (!file)
		return CUDA_ERROR_OPERATING_SYSTEM;
	failed = fwrite(text, 1, size, file) != size;
	return fclose(file) || failed ? CUDA_ERROR_OPERATING_SYSTEM
				      : CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char *path,
			      unsigned int flags)
{
	READS_CODE;
	char *text = NULL;
	size_t size = 0;
	CUresult r;

	ENTER(cuGraphDebugDotPrint);
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	r = GRAPH_LOCKED(print_text(hGraph, flags, &text, &size));
	if (!r)
		r = write_text(path, text, size);
	free(text);
	return r;
}
