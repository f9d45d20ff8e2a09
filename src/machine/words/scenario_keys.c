/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_keys.c - reads the keys of mappings; see scenario_keys.h. */
#include "machine/words/scenario_keys.h"
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/trouble/fault.h"
#include "machine/words/scenario_build.h"

#include <string.h>

#define KEYS_MAX 32

/* The longest time allowed in a file. */
#define DURATION_MAX_NS (366 * 86400 * GK_NS_PER_S)

/* A mapping being searched. */
struct search {
	struct gkf_build *b;
	const char *what;
	const struct gkf_key *keys;
	size_t count;
	const yaml_node_t **at;
	unsigned lines[KEYS_MAX];
};

static int unknown_key(struct search *s, const yaml_node_t *key)
{
	const char *words[KEYS_MAX + 1] = {0}, *near;
	struct gk_buf list = {0};
	int err;

	for (size_t i = 0; i < s->count; i++) {
		words[i] = s->keys[i].name;
		gk_buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
	}
	near = gk_yaml_like(gk_yaml_scalar(key), words);
	err = near && strlen(gk_yaml_scalar(key)) > 2
		  ? GKF_BUILD_FAIL(s->b, key,
				   "unknown key '%.64s'; did you mean '%s'?",
				   gk_yaml_scalar(key), near)
		  : GKF_BUILD_FAIL(s->b, key,
				   "unknown key '%.64s' of a %s; allowed are "
				   "%s",
				   gk_yaml_scalar(key), s->what,
				   list.data ? list.data : "?");
	gk_buf_free(&list);
	return err;
}

static int find_one(void *data, const yaml_node_t *key,
		    const yaml_node_t *value)
{
	struct search *s = data;
	size_t i = 0;

	while (i < s->count && strcmp(s->keys[i].name, gk_yaml_scalar(key)))
		i++;
	if (i == s->count)
		return unknown_key(s, key);
	if (s->at[i])
		return GKF_BUILD_FAIL(
		    s->b, key,
		    "%s: duplicate key, first in line %u; remove one of them",
		    s->keys[i].name, s->lines[i]);
	s->at[i] = value;
	s->lines[i] = gk_yaml_line(key);
	return 0;
}

int gkf_keys_find(struct gkf_build *b, const char *what,
		  const yaml_node_t *mapping, const struct gkf_key *keys,
		  size_t count, const yaml_node_t **ret_at)
{
	struct search s = {b, what, keys, count, ret_at, {0}};
	int err;

	memset(ret_at, 0, count * sizeof *ret_at);
	if (mapping->type != YAML_MAPPING_NODE)
		return GKF_BUILD_FAIL(
		    b, mapping,
		    "%s: must be a mapping, with one 'key: value' per line",
		    what);
	err = gk_yaml_each(&b->yaml, mapping, find_one, &s);
	for (size_t i = 0; !err && i < count; i++)
		if (keys[i].required && !ret_at[i])
			err = GKF_BUILD_FAIL(b, mapping,
					     "%s: key is missing; a %s must "
					     "have it",
					     keys[i].name, what);
	return err;
}

int gkf_key_each(struct gkf_build *b, const yaml_node_t *node,
		 gkf_key_read *item)
{
	int err = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return item(b, node);
	for (yaml_node_item_t *at = node->data.sequence.items.start;
	     !err && at < node->data.sequence.items.top; at++)
		err = item(b, yaml_document_get_node(&b->yaml.document, *at));
	return err;
}

int gkf_key_text(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 char *ret_text, size_t cap)
{
	size_t len;

	if (!gk_yaml_is_text(node))
		return GKF_BUILD_FAIL(b, node, "%s: must be a text", key);
	len = node->data.scalar.length;
	/* A YAML block scalar ends with a newline. */
	while (len && gk_yaml_scalar(node)[len - 1] == '\n')
		len--;
	if (!len || len >= cap || memchr(gk_yaml_scalar(node), '\n', len))
		return GKF_BUILD_FAIL(b, node,
				      "%s: must be a text of 1 to %zu bytes, "
				      "in one line",
				      key, cap - 1);
	memcpy(ret_text, gk_yaml_scalar(node), len);
	ret_text[len] = '\0';
	return 0;
}

int gkf_key_integer(struct gkf_build *b, const char *key,
		    const yaml_node_t *node, int64_t min, int64_t max,
		    int64_t *ret_value)
{
	int64_t value;

	if (node->type != YAML_SCALAR_NODE || !gk_yaml_integer(node, &value) ||
	    value < min || value > max)
		return GKF_BUILD_FAIL(b, node,
				      "%s: must be an integer from %lld to "
				      "%lld",
				      key, (long long)min, (long long)max);
	*ret_value = value;
	return 0;
}

int gkf_key_bool(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 bool *ret_value)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";

	if (strcmp(text, "true") && strcmp(text, "false"))
		return GKF_BUILD_FAIL(b, node, "%s: must be true or false",
				      key);
	*ret_value = *text == 't';
	return 0;
}

int gkf_key_time(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 uint64_t least_bins, uint64_t *ret_bins)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	uint64_t ns;

	if (gk_parse_duration(text, &ns) || ns < least_bins * GKF_BIN_NS ||
	    ns > DURATION_MAX_NS)
		return GKF_BUILD_FAIL(b, node,
				      "%s: '%.40s' must be a time%s up to "
				      "366d, such as 30s or 5m",
				      key, text,
				      least_bins ? " of at least 167ms" : "");
	*ret_bins = ns / GKF_BIN_NS;
	return 0;
}

int gkf_key_word(struct gkf_build *b, const char *key, const yaml_node_t *node,
		 const char *(*name)(unsigned), unsigned *ret_index)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	struct gk_buf list = {0};
	int err;

	for (unsigned i = 0; name(i); i++) {
		if (!strcmp(name(i), text)) {
			*ret_index = i;
			gk_buf_free(&list);
			return 0;
		}
		gk_buf_printf(&list, "%s%s", i ? ", " : "", name(i));
	}
	err = GKF_BUILD_FAIL(b, node, "%s: '%.40s' must be one of %s", key,
			     text, list.data ? list.data : "?");
	gk_buf_free(&list);
	return err;
}

static int no_such(struct gkf_build *b, const yaml_node_t *node,
		   const char *what, const char *const *words)
{
	const char *text =
	    node->type == YAML_SCALAR_NODE ? gk_yaml_scalar(node) : "";
	const char *near = strlen(text) > 2 ? gk_yaml_like(text, words) : NULL;
	struct gk_buf list = {0};
	int err;

	for (unsigned i = 0; words[i]; i++)
		gk_buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
	err = near
		  ? GKF_BUILD_FAIL(b, node,
				   "'%.64s' is not a %s; did you mean '%s'?",
				   text, what, near)
		  : GKF_BUILD_FAIL(b, node, "'%.64s' is not a %s; there are %s",
				   text, what, list.data ? list.data : "?");
	gk_buf_free(&list);
	return err;
}

int gkf_key_no_value(struct gkf_build *b, const yaml_node_t *node)
{
	const char *words[GKF_V_COUNT + 1] = {0};

	for (int i = 0; i < GKF_V_COUNT; i++)
		words[i] = gkf_values[i].name;
	return no_such(b, node, "value", words);
}

int gkf_key_no_fault(struct gkf_build *b, const yaml_node_t *node)
{
	const char *words[GKF_FAULT_COUNT + GKF_MACHINE_FAULT_COUNT + 2] = {0};
	int n = 0;

	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		words[n++] = gkf_faults[i].name;
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		words[n++] = gkf_machine_faults[i].name;
	words[n] = "xid=N";
	return no_such(b, node, "failure", words);
}

int gkf_key_gpus(struct gkf_build *b, const yaml_node_t *node, const char *key)
{
	return b->has_gpus
		   ? 0
		   : GKF_BUILD_FAIL(b, node, "%s: gpu: is missing in this step",
				    key);
}

int gkf_key_step_all(struct gkf_build *b, const yaml_node_t *node,
		     const char *key, enum gkf_step_kind kind, uint32_t number,
		     int64_t argument, const char *text)
{
	int err = gkf_key_gpus(b, node, key);

	GKF_FOR_GPUS(b, d)
	err = gkf_build_step(b, kind, d, number, argument, text);
	return err;
}
