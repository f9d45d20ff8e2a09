/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - reads the config file. */
#include "tui/settings/config.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "format/columns.h"
#include "tui/settings/settings.h"
#include "tui/settings/trust.h"
#include "yaml/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MOST 64

const struct tui_options TUI_OPTIONS_DEFAULT = {
    .boxed = {.color = true, .processes = true},
    .term = {.mouse = true},
    .interval_ns = GK_NS_PER_S,
    .alerts = {.lost = true,
	       .hung = true,
	       .fault = true,
	       .command_ns = 60 * GK_NS_PER_S},
};

struct reader {
	struct gk_yaml y;
	struct tui_options *o;
	const yaml_node_t *mapping; /* the mapping being read */
	const char *group; /* key of `mapping` and a dot; "" at the top level */
	struct tui_keymap *keymap; /* to check the user's keys */
};

static int refuse_value(struct reader *r, const yaml_node_t *at,
			const char *name, const char *wants)
{
	return gk_yaml_fail(&r->y, gk_yaml_line(at), "%s: must be %s", name,
			    wants);
}

/* ---- lists of words ---- */

/*
 * Stores the words of a list or a scalar. Returns their number, or -1 for
 * another kind of node or too many words.
 */
static int words_of(struct reader *r, const yaml_node_t *node,
		    const char **words)
{
	int count = 0;

	if (node->type == YAML_SCALAR_NODE) {
		words[0] = gk_yaml_scalar(node);
		return 1;
	}
	if (node->type != YAML_SEQUENCE_NODE)
		return -1;
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     i < node->data.sequence.items.top; i++) {
		yaml_node_t *item = yaml_document_get_node(&r->y.document, *i);

		if (item->type != YAML_SCALAR_NODE || count == WORDS_MOST)
			return -1;
		words[count++] = gk_yaml_scalar(item);
	}
	return count;
}

static void free_words(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

/* Returns a NULL-terminated copy, or NULL if out of memory. */
static char **copy_words(const char *const *words, size_t count)
{
	char **copy = calloc(count + 1, sizeof *copy);

	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(words[i]);
		if (!copy[i]) {
			free_words(copy);
			return NULL;
		}
	}
	return copy;
}

static int read_word_list(struct reader *r, const char *name,
			  const yaml_node_t *node, const char *wants,
			  char ***ret_words, size_t *ret_count)
{
	const char *words[WORDS_MOST];
	int count =
	    node->type == YAML_SEQUENCE_NODE ? words_of(r, node, words) : -1;
	char **copy;

	if (count < 1)
		return refuse_value(r, node, name, wants);
	copy = copy_words(words, (size_t)count);
	if (!copy)
		return GK_ERR_NOMEM;
	free_words(*ret_words);
	*ret_words = copy;
	*ret_count = (size_t)count;
	return 0;
}

/* ---- keys outside the table of settings ---- */

static int read_alert_command(struct reader *r, const char *name,
			      const yaml_node_t *node)
{
	struct tui_alert_rules *rules = &r->o->alerts;
	char why[TUI_CONFIG_WHY];
	size_t count;
	int err =
	    read_word_list(r, name, node, "a list: a program and its arguments",
			   &rules->command, &count);

	if (err || tui_trusts(r->y.path, r->y.fd, why, sizeof why))
		return err;
	free_words(rules->command);
	rules->command = NULL;
	free(rules->refused);
	if (asprintf(&rules->refused, "alerts.command is not run: %s", why) >=
	    0)
		return 0;
	rules->refused = NULL;
	return GK_ERR_NOMEM;
}

static int read_column_list(struct reader *r, const char *name,
			    const yaml_node_t *node)
{
	struct gk_buf text = {0};
	const char *words[WORDS_MOST], *bad = "";
	int err = 0, count = node->type == YAML_SEQUENCE_NODE
				 ? words_of(r, node, words)
				 : -1;

	if (count < 1)
		return refuse_value(r, node, name, "a list of columns");
	for (int i = 0; i < count; i++)
		gk_buf_printf(&text, "%s,", words[i]);
	if (!text.data)
		err = GK_ERR_NOMEM;
	else if (!gk_columns_parse(text.data, &r->o->columns, &bad))
		err = gk_yaml_fail(&r->y, gk_yaml_line(node),
				   "%s: '%.*s' is not a column, or is repeated",
				   name, (int)strcspn(bad, ","), bad);
	gk_buf_free(&text);
	return err;
}

static int read_binding(void *data, const yaml_node_t *key,
			const yaml_node_t *value)
{
	struct reader *r = data;
	struct tui_options *o = r->o;
	struct tui_binding *more;

	if (value->type != YAML_SCALAR_NODE ||
	    !tui_keymap_set(r->keymap, gk_yaml_scalar(key),
			    gk_yaml_scalar(value)))
		return gk_yaml_fail(
		    &r->y, gk_yaml_line(key),
		    "keys: %s: no such action, or invalid keys; an example: "
		    "'search: F3 Ctrl-F o+x'",
		    gk_yaml_scalar(key));
	more = realloc(o->bindings, (o->binding_count + 1) * sizeof *more);
	if (!more)
		return GK_ERR_NOMEM;
	o->bindings = more;
	more += o->binding_count;
	more->action = strdup(gk_yaml_scalar(key));
	more->keys = strdup(gk_yaml_scalar(value));
	o->binding_count++;
	return more->action && more->keys ? 0 : GK_ERR_NOMEM;
}

static int read_bindings(struct reader *r, const char *name,
			 const yaml_node_t *node)
{
	int err;

	if (node->type != YAML_MAPPING_NODE)
		return refuse_value(r, node, name,
				    "a mapping of actions to keys");
	r->keymap = tui_keymap_new(false);
	if (!r->keymap)
		return GK_ERR_NOMEM;
	err = gk_yaml_each(&r->y, node, read_binding, r);
	tui_keymap_free(r->keymap);
	return err;
}

static const struct {
	const char *name;
	int (*read)(struct reader *r, const char *name,
		    const yaml_node_t *node);
} others[] = {
    {"keys", read_bindings},
    {"columns", read_column_list},
    {"alerts.command", read_alert_command},
};
#define OTHERS (sizeof others / sizeof *others)

/* ---- the file ---- */

static int read_setting(struct reader *r, const struct tui_setting *s,
			const yaml_node_t *node)
{
	const char *words[WORDS_MOST];
	int count = words_of(r, node, words);
	char wants[256];

	if (count >= 0 && tui_setting_set(s, r->o, words, (size_t)count))
		return 0;
	tui_setting_wants(s, wants, sizeof wants);
	return refuse_value(r, node, s->name, wants);
}

static int refuse_key(struct reader *r, const yaml_node_t *key,
		      const char *name)
{
	const char *known[64];
	const char *like;
	size_t n = 0;

	for (size_t i = 0; i < tui_setting_count; i++)
		known[n++] = tui_settings[i].name;
	for (size_t i = 0; i < OTHERS; i++)
		known[n++] = others[i].name;
	known[n++] = "alerts";
	known[n++] = "panels";
	known[n] = NULL;
	like = gk_yaml_like(name, known);
	return gk_yaml_fail(&r->y, gk_yaml_line(key), "%s: no such key%s%s%s",
			    name, like ? "; is it " : "", like ? like : "",
			    like ? "?" : "");
}

static bool is_group(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < tui_setting_count; i++)
		if (!strncmp(tui_settings[i].name, name, len) &&
		    tui_settings[i].name[len] == '.')
			return true;
	return false;
}

static int read_pair(void *data, const yaml_node_t *key,
		     const yaml_node_t *value);

static int read_group(struct reader *r, const char *name,
		      const yaml_node_t *node)
{
	struct reader in = *r;
	char group[128 + 1];

	if (node->type != YAML_MAPPING_NODE)
		return refuse_value(r, node, name, "a mapping");
	snprintf(group, sizeof group, "%s.", name);
	in.group = group;
	in.mapping = node;
	return gk_yaml_each(&in.y, node, read_pair, &in);
}

static int read_pair(void *data, const yaml_node_t *key,
		     const yaml_node_t *value)
{
	struct reader *r = data;
	const struct tui_setting *s;
	char name[128];

	snprintf(name, sizeof name, "%s%s", r->group, gk_yaml_scalar(key));
	if (gk_yaml_value(&r->y, r->mapping, gk_yaml_scalar(key)) != value)
		return gk_yaml_fail(&r->y, gk_yaml_line(key), "%s: is repeated",
				    name);
	s = strchr(gk_yaml_scalar(key), '.') ? NULL : tui_setting_find(name);
	if (s)
		return read_setting(r, s, value);
	for (size_t i = 0; i < OTHERS; i++)
		if (!strcmp(others[i].name, name))
			return others[i].read(r, name, value);
	if (!*r->group && is_group(name))
		return read_group(r, name, value);
	return refuse_key(r, key, name);
}

static int read_top(void *data, const yaml_node_t *top)
{
	struct reader *r = data;

	r->mapping = top;
	return gk_yaml_each(&r->y, top, read_pair, r);
}

int tui_config_read(const char *path, struct tui_options *o, char *message,
		    size_t cap)
{
	struct reader r = {.y = {.path = path,
				 .what = "config file",
				 .limit = TUI_CONFIG_MOST,
				 .may_be_empty = true,
				 .message = message,
				 .cap = cap},
			   .o = o,
			   .group = ""};
	int err;

	GK_ASSERT(path);
	err = gk_yaml_read(&r.y, read_top, &r);
	if (err == GK_ERR_NOMEM)
		snprintf(message, cap, "%s: out of memory", path);
	return err;
}

/*
 * Returns the default path, which the caller frees. NULL: there is no home
 * directory.
 */
static char *path_of(void)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char *path = NULL;

	/*
	 * The XDG Base Directory Specification requires relative paths to be
	 * ignored.
	 */
	if (config && *config == '/') {
		if (asprintf(&path, "%s/gpukit/top.yaml", config) < 0)
			return NULL;
	} else if (home && *home == '/') {
		if (asprintf(&path, "%s/.config/gpukit/top.yaml", home) < 0)
			return NULL;
	}
	return path;
}

/*
 * Whether the file does not exist or may not be read, which is not an error:
 * after su, HOME may be another user's.
 */
static bool is_out_of_reach(const char *path)
{
	return access(path, F_OK) &&
	       (errno == ENOENT || errno == ENOTDIR || errno == EACCES);
}

int tui_config_load(struct tui_options *o, char *message, size_t cap)
{
	o->path = path_of();
	if (!o->path || is_out_of_reach(o->path))
		return 0;
	return tui_config_read(o->path, o, message, cap);
}

void tui_options_free(struct tui_options *o)
{
	for (size_t i = 0; i < o->binding_count; i++) {
		free(o->bindings[i].action);
		free(o->bindings[i].keys);
	}
	free(o->bindings);
	free_words(o->alerts.command);
	free(o->alerts.refused);
	free(o->path);
}
