/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_yaml.c - reads one profile file and checks it against the table of
 * keys. profile_find.c finds the files.
 */
#include "machine/words/profile_yaml.h"
#include "base/err.h"
#include "machine/file/profile.h"
#include "machine/words/profile_facts.h"
#include "machine/words/profile_schema.h"
#include "machine/words/scenario_build.h"
#include "yaml/yaml.h"

#include <stdio.h>
#include <string.h>

#define FILE_MAX (64 * 1024)

/* Pairs of keys: the value of the first must not exceed that of the second. */
static const char *const ordered[][2] = {
    {"reserved_mib", "memory_mib"},
    {"sm_clock_idle_mhz", "sm_clock_busy_mhz"},
    {"sm_clock_busy_mhz", "sm_clock_max_mhz"},
    {"memory_clock_idle_mhz", "memory_clock_busy_mhz"},
    {"memory_clock_busy_mhz", "memory_clock_max_mhz"},
    {"video_clock_idle_mhz", "video_clock_max_mhz"},
    {"power_idle_mw", "power_busy_mw"},
    {"power_min_mw", "power_limit_mw"},
    {"power_limit_mw", "power_max_mw"},
    {"temperature_idle_c", "temperature_busy_c"},
    {"temperature_slowdown_c", "temperature_shutdown_c"},
};

struct reader {
	struct gk_yaml yaml;
	struct gkf_profile profile;
	struct gkf_facts facts;
	/* Line of each key in this file; 0: the file does not have the key. */
	unsigned lines[GKF_FIELDS_MAX];
	unsigned top_line;
	struct gk_buf *aliases;
	gkf_load_parent *load_parent;
	void *data; /* for load_parent() */
};

#define fail(r, ...) gk_yaml_fail(&(r)->yaml, __VA_ARGS__)

static int refuse_field_key(struct reader *r, const yaml_node_t *key)
{
	const char *near = gkf_field_like(gk_yaml_scalar(key));
	struct gk_buf keys = {0};
	int err;

	if (near)
		return fail(r, gk_yaml_line(key),
			    "unknown key '%.64s'; did you mean '%s'?",
			    gk_yaml_scalar(key), near);
	for (size_t i = 0; i < gkf_field_count; i++)
		gk_buf_printf(&keys, "%s%s", i ? ", " : "", gkf_fields[i].key);
	err = fail(r, gk_yaml_line(key), "unknown key '%.64s'; allowed are %s",
		   gk_yaml_scalar(key), keys.data ? keys.data : "?");
	gk_buf_free(&keys);
	return err;
}

static int bad_value(struct reader *r, const struct gkf_field *field,
		     const yaml_node_t *node)
{
	char allowed[1024];

	gkf_field_describe(field, allowed, sizeof allowed);
	if (node->type == YAML_SCALAR_NODE)
		return fail(r, gk_yaml_line(node), "%s: '%.80s' must be %s",
			    field->key, gk_yaml_scalar(node), allowed);
	return fail(r, gk_yaml_line(node), "%s: a %s where there must be %s",
		    field->key,
		    node->type == YAML_MAPPING_NODE ? "mapping" : "list",
		    allowed);
}

static int set_integer(struct reader *r, const struct gkf_field *field,
		       const yaml_node_t *node)
{
	int64_t value;

	if (node->type != YAML_SCALAR_NODE)
		return bad_value(r, field, node);
	if (field->min == -1 && !strcmp(gk_yaml_scalar(node), "none"))
		value = -1;
	else if (!gk_yaml_integer(node, &value) || value < field->min ||
		 value > field->max)
		return bad_value(r, field, node);
	if (field->kind == GKF_FIELD_YEAR)
		r->facts.year = value;
	else
		memcpy((char *)&r->profile + field->offset, &value,
		       sizeof value);
	return 0;
}

static bool allowed_word(const struct gkf_field *field, const char *text)
{
	if (!field->words)
		return true;
	for (size_t i = 0; field->words[i]; i++)
		if (!strcmp(field->words[i], text))
			return true;
	return false;
}

static int set_text_field(struct reader *r, const struct gkf_field *field,
			  const yaml_node_t *node)
{
	const char *text;

	if (!gk_yaml_is_text(node))
		return bad_value(r, field, node);
	text = gk_yaml_scalar(node);
	if (field->may_be_none && !strcmp(text, "none"))
		text = "";
	if (strlen(text) >= field->size || strchr(text, '\n') ||
	    !allowed_word(field, text))
		return bad_value(r, field, node);
	/* Fill the array, so that equal profiles are equal byte for byte. */
	strncpy((char *)&r->profile + field->offset, text, field->size);
	return 0;
}

static int add_list_item(struct reader *r, const struct gkf_field *field,
			 const yaml_node_t *node)
{
	if (!gk_yaml_is_text(node))
		return bad_value(r, field, node);
	if (r->aliases)
		gk_buf_printf(r->aliases, "\n%s\n", gk_yaml_scalar(node));
	return 0;
}

static int read_list(struct reader *r, const struct gkf_field *field,
		     const yaml_node_t *node)
{
	if (node->type != YAML_SEQUENCE_NODE)
		return add_list_item(r, field, node);
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		int err = add_list_item(
		    r, field, yaml_document_get_node(&r->yaml.document, *item));

		if (err)
			return err;
	}
	return 0;
}

/* Notes the line of a key; refuses unknown and repeated keys. */
static int check_key(void *data, const yaml_node_t *key,
		     const yaml_node_t *value)
{
	struct reader *r = data;
	int i = gkf_field_find(gk_yaml_scalar(key));

	(void)value;
	if (i < 0)
		return refuse_field_key(r, key);
	if (r->lines[i])
		return fail(
		    r, gk_yaml_line(key),
		    "%s: duplicate key, first in line %u; remove one of them",
		    gkf_fields[i].key, r->lines[i]);
	r->lines[i] = gk_yaml_line(key);
	return 0;
}

static int set_key(void *data, const yaml_node_t *key, const yaml_node_t *value)
{
	const struct gkf_field *field =
	    &gkf_fields[gkf_field_find(gk_yaml_scalar(key))];
	struct reader *r = data;

	r->facts.given[field - gkf_fields] = true;
	switch (field->kind) {
	case GKF_FIELD_INTEGER:
	case GKF_FIELD_YEAR:
		return set_integer(r, field, value);
	case GKF_FIELD_TEXT:
		return set_text_field(r, field, value);
	case GKF_FIELD_SOURCE:
		return gkf_facts_read(&r->yaml, field, value, &r->facts);
	case GKF_FIELD_ALIASES:
		return read_list(r, field, value);
	case GKF_FIELD_INHERITS:
		break;
	}
	return 0;
}

/*
 * Sets the values that neither this file nor its parent gives; fails if one of
 * their keys is required.
 */
static int fill_missing(struct reader *r, bool inherits)
{
	char allowed[1024];
	int64_t value;

	for (size_t i = 0; !inherits && i < gkf_field_count; i++) {
		if (r->lines[i])
			continue;
		if (gkf_field_may_be_missing(&gkf_fields[i], &value)) {
			if (gkf_fields[i].kind == GKF_FIELD_INTEGER)
				memcpy((char *)&r->profile +
					   gkf_fields[i].offset,
				       &value, sizeof value);
			continue;
		}
		gkf_field_describe(&gkf_fields[i], allowed, sizeof allowed);
		return fail(r, r->top_line,
			    "%s: key is missing; it must be %s, or 'inherits' "
			    "must name a profile that has it",
			    gkf_fields[i].key, allowed);
	}
	return 0;
}

static int64_t integer_at(const struct reader *r, int field)
{
	int64_t value;

	memcpy(&value, (const char *)&r->profile + gkf_fields[field].offset,
	       sizeof value);
	return value;
}

/* Whether a value differs from the one that stands for a missing key. */
static bool is_known(const struct reader *r, int field)
{
	int64_t missing;

	return !gkf_field_may_be_missing(&gkf_fields[field], &missing) ||
	       integer_at(r, field) != missing;
}

/*
 * Checks all pairs of known values. The parent was valid, so at least one key
 * of a bad pair is in this file.
 */
static int check_order(struct reader *r)
{
	for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
		int low = gkf_field_find(ordered[i][0]);
		int high = gkf_field_find(ordered[i][1]);
		bool low_here = r->lines[low] != 0;

		if (integer_at(r, low) <= integer_at(r, high) ||
		    !is_known(r, low) || !is_known(r, high))
			continue;
		return fail(r, r->lines[low_here ? low : high],
			    "%s: %lld must be %s %s, which is %lld",
			    gkf_fields[low_here ? low : high].key,
			    (long long)integer_at(r, low_here ? low : high),
			    low_here ? "at most" : "at least",
			    gkf_fields[low_here ? high : low].key,
			    (long long)integer_at(r, low_here ? high : low));
	}
	return 0;
}

static int inherit_fields(struct reader *r, const yaml_node_t *value)
{
	static const struct gkf_field *const field = &gkf_fields[0];

	if (!gk_yaml_is_text(value))
		return bad_value(r, field, value);
	return r->load_parent(r->data, gk_yaml_scalar(value),
			      gk_yaml_line(value), &r->profile, &r->facts);
}

static int read_mapping(void *data, const yaml_node_t *top)
{
	struct reader *r = data;
	const yaml_node_t *parent;
	int err;

	r->top_line = gk_yaml_line(top);
	err = gk_yaml_each(&r->yaml, top, check_key, r);
	if (err)
		return err;
	parent = gk_yaml_value(&r->yaml, top, "inherits");
	err = parent ? inherit_fields(r, parent) : 0;
	/* The parent's source does not apply to values that this file gives. */
	for (size_t i = 0; i < gkf_field_count; i++)
		if (r->lines[i])
			r->facts.origin[i] = GKF_SOURCE_NONE;
	if (!err)
		err = gk_yaml_each(&r->yaml, top, set_key, r);
	if (!err)
		err = fill_missing(r, parent != NULL);
	return err ? err : check_order(r);
}

/* The id is the file's name without .yaml. */
static int set_id(struct reader *r)
{
	const char *name = strrchr(r->yaml.path, '/');
	size_t len;

	name = name ? name + 1 : r->yaml.path;
	len = strlen(name);
	if (len > 5 && !strcmp(name + len - 5, ".yaml"))
		len -= 5;
	if (len >= sizeof r->profile.id)
		return fail(r, 0, "file name too long; allowed are %zu bytes",
			    sizeof r->profile.id - 1);
	memset(r->profile.id, 0, sizeof r->profile.id);
	memcpy(r->profile.id, name, len);
	return 0;
}

int gkf_profile_read(const char *path, gkf_load_parent *load_parent, void *data,
		     struct gk_buf *aliases, struct gkf_profile *ret_profile,
		     struct gkf_facts *ret_facts, char *ret_message, size_t cap)
{
	struct reader r = {.yaml = {.path = path,
				    .what = "profile",
				    .limit = FILE_MAX,
				    .message = ret_message,
				    .cap = cap},
			   .aliases = aliases,
			   .load_parent = load_parent,
			   .data = data};
	int err;

	gkf_facts_clear(&r.facts);
	err = gk_yaml_read(&r.yaml, read_mapping, &r);
	if (!err)
		err = set_id(&r);
	if (!err) {
		*ret_profile = r.profile;
		*ret_facts = r.facts;
	}
	return err;
}
