/* SPDX-License-Identifier: Apache-2.0 */
/* profile_facts.c - reads the sources of a profile's values. */
#include "machine/words/profile_facts.h"
#include "machine/file/profile.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"capture",    "document",  "list",
				    "remembered", "estimated", NULL};

const char *gkf_source_name(enum gkf_source origin)
{
	return origin < GKF_SOURCES ? names[origin] : "none";
}

void gkf_facts_clear(struct gkf_facts *facts)
{
	*facts = (struct gkf_facts){0};
	memset(facts->origin, GKF_SOURCE_NONE, sizeof facts->origin);
}

/* Whether a field describes the board rather than its file. */
static bool is_value(const struct gkf_field *field)
{
	return field->kind == GKF_FIELD_TEXT ||
	       field->kind == GKF_FIELD_INTEGER ||
	       field->kind == GKF_FIELD_YEAR;
}

static unsigned count_to(const struct gkf_facts *facts, enum gkf_source last)
{
	unsigned n = 0;

	for (size_t i = 0; i < gkf_field_count; i++)
		n += facts->given[i] && is_value(&gkf_fields[i]) &&
		     facts->origin[i] <= last;
	return n;
}

unsigned gkf_facts_given(const struct gkf_facts *facts)
{
	return count_to(facts, GKF_SOURCE_NONE);
}

unsigned gkf_facts_sourced(const struct gkf_facts *facts)
{
	return count_to(facts, GKF_SOURCE_LIST);
}

/* A mapping of `source` being read. */
struct entry {
	struct gk_yaml *yaml;
	struct gkf_facts *facts;
	enum gkf_source origin;
	const yaml_node_t *keys;
};

static int read_word(void *data, const yaml_node_t *key,
		     const yaml_node_t *value)
{
	struct entry *e = data;
	const char *word = gk_yaml_scalar(key);

	if (!strcmp(word, "keys") && value->type == YAML_SEQUENCE_NODE) {
		e->keys = value;
		return 0;
	}
	for (int i = 0; names[i]; i++)
		if (!strcmp(word, names[i]) && e->origin == GKF_SOURCE_NONE &&
		    gk_yaml_is_text(value)) {
			e->origin = (enum gkf_source)i;
			return 0;
		}
	return gk_yaml_fail(e->yaml, gk_yaml_line(key),
			    "source: '%.64s' must be one of capture, document, "
			    "list, remembered, estimated with a text, or keys "
			    "with a list",
			    word);
}

static int add_key(struct entry *e, const yaml_node_t *node)
{
	const char *key =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	int i = gkf_field_find(key);

	if (i < 0 || !is_value(&gkf_fields[i]))
		return gk_yaml_fail(e->yaml, gk_yaml_line(node),
				    "source: '%.64s' is not a key with a value",
				    key);
	e->facts->origin[i] = (uint8_t)e->origin;
	return 0;
}

static int read_entry(struct gk_yaml *yaml, const yaml_node_t *mapping,
		      struct gkf_facts *facts)
{
	struct entry e = {
	    .yaml = yaml, .facts = facts, .origin = GKF_SOURCE_NONE};
	int err = gk_yaml_each(yaml, mapping, read_word, &e);

	if (!err && (e.origin == GKF_SOURCE_NONE || !e.keys))
		return gk_yaml_fail(yaml, gk_yaml_line(mapping),
				    "source: a mapping must have a source and "
				    "its keys");
	for (yaml_node_item_t *item = err ? NULL
					  : e.keys->data.sequence.items.start;
	     !err && item < e.keys->data.sequence.items.top; item++)
		err =
		    add_key(&e, yaml_document_get_node(&yaml->document, *item));
	return err;
}

static int read_item(struct gk_yaml *yaml, const struct gkf_field *field,
		     const yaml_node_t *node, struct gkf_facts *facts)
{
	char allowed[256];

	if (node->type == YAML_MAPPING_NODE)
		return read_entry(yaml, node, facts);
	if (gk_yaml_is_text(node))
		return 0;
	gkf_field_describe(field, allowed, sizeof allowed);
	return gk_yaml_fail(
	    yaml, gk_yaml_line(node), "%s: '%.80s' must be %s", field->key,
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "a list",
	    allowed);
}

int gkf_facts_read(struct gk_yaml *yaml, const struct gkf_field *field,
		   const yaml_node_t *source, struct gkf_facts *facts)
{
	int err = 0;

	if (source->type != YAML_SEQUENCE_NODE)
		return read_item(yaml, field, source, facts);
	for (yaml_node_item_t *item = source->data.sequence.items.start;
	     !err && item < source->data.sequence.items.top; item++)
		err = read_item(yaml, field,
				yaml_document_get_node(&yaml->document, *item),
				facts);
	return err;
}
