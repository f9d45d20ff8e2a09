/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.c - walks through the events of a YAML text, using a fixed amount of
 * memory. libyaml itself would compose documents of any depth, in time that
 * grows quadratically with the depth.
 */
#include "yaml/shape.h"

#include "base/str.h"

#include <string.h>
#include <yaml.h>

#define NAME_MAX_BYTES 64

struct anchor {
	char name[NAME_MAX_BYTES];
	/* nodes in the anchored node, at any depth; 0: it has not ended */
	size_t nodes;
};

/* An open list or mapping. */
struct level {
	struct anchor *anchor; /* or NULL */
	size_t before;         /* number of nodes before this list or mapping */
};

struct walk {
	struct anchor anchors[GK_YAML_ANCHORS];
	size_t anchor_count;
	struct level levels[GK_YAML_DEPTH];
	size_t depth;
	size_t nodes, aliased;
	const char *problem; /* NULL: none so far */
};

/* Adds an anchor. Returns NULL if the node has none or there are too many. */
static struct anchor *add_anchor(struct walk *w, const yaml_char_t *name)
{
	struct anchor *a = &w->anchors[w->anchor_count];

	if (!name)
		return NULL;
	if (w->anchor_count == GK_YAML_ANCHORS ||
	    strlen((const char *)name) >= NAME_MAX_BYTES) {
		w->problem = "too many anchors, or an anchor name "
			     "that is too long";
		return NULL;
	}
	w->anchor_count++;
	gk_str_copy(a->name, sizeof a->name, (const char *)name);
	a->nodes = 0;
	return a;
}

static void add_scalar(struct walk *w, const yaml_char_t *anchor)
{
	struct anchor *a = add_anchor(w, anchor);

	w->nodes++;
	if (a)
		a->nodes = 1;
}

static void open_level(struct walk *w, const yaml_char_t *anchor)
{
	struct anchor *a = add_anchor(w, anchor);

	if (w->depth == GK_YAML_DEPTH) {
		w->problem = "lists and mappings nested more than 64 deep";
		return;
	}
	w->levels[w->depth++] = (struct level){a, w->nodes++};
}

static void close_level(struct walk *w)
{
	const struct level *level = &w->levels[--w->depth];

	if (level->anchor)
		level->anchor->nodes = w->nodes - level->before;
}

/*
 * If a name has several anchors, the newest counts. libyaml reports unknown
 * anchors.
 */
static void add_alias(struct walk *w, const yaml_char_t *name)
{
	for (size_t i = w->anchor_count; i-- > 0;) {
		const struct anchor *a = &w->anchors[i];

		if (strcmp(a->name, (const char *)name) != 0)
			continue;
		w->nodes += a->nodes;
		w->aliased += a->nodes;
		if (!a->nodes)
			w->problem = "an alias within its own anchor";
		else if (w->aliased > GK_YAML_ALIASED)
			w->problem = "aliases that expand to too much";
		return;
	}
}

static void take_event(struct walk *w, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		add_scalar(w, event->data.scalar.anchor);
		return;
	case YAML_SEQUENCE_START_EVENT:
		open_level(w, event->data.sequence_start.anchor);
		return;
	case YAML_MAPPING_START_EVENT:
		open_level(w, event->data.mapping_start.anchor);
		return;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		close_level(w);
		return;
	case YAML_ALIAS_EVENT:
		add_alias(w, event->data.alias.anchor);
		return;
	case YAML_DOCUMENT_START_EVENT:
		w->anchor_count = 0;
		return;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return;
	}
}

bool gk_yaml_shape(const char *text, size_t len, unsigned *ret_line,
		   const char **ret_problem)
{
	struct walk walk = {.problem = NULL};
	yaml_parser_t parser;
	bool more = true;

	if (!yaml_parser_initialize(&parser))
		return true;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (more && !walk.problem) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event))
			break;
		more = event.type != YAML_STREAM_END_EVENT;
		take_event(&walk, &event);
		if (walk.problem)
			*ret_line = (unsigned)event.start_mark.line + 1;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (walk.problem)
		*ret_problem = walk.problem;
	return !walk.problem;
}
