/*
 * profile_yaml.c - one profile file: YAML checked against the table of keys.
 * Knows nothing of where profiles lie; see profile_find.c.
 */
#include "fake/profile_yaml.h"

#include "base/err.h"
#include "base/fs.h"
#include "fake/profile_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#define FILE_MAX (64 * 1024)

/* The first must not be more than the second. */
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
	const char *path;
	yaml_document_t document;
	struct gkf_profile profile;
	unsigned lines[GKF_FIELDS_MAX]; /* of each key here; 0: not there */
	unsigned top_line;
	struct gk_buf *aliases;
	char *message;
	size_t cap;
};

/* Writes "file:line: text" as one line; line 0: none is known. */
static int __attribute__((format(printf, 3, 4)))
fail(struct reader *r, unsigned line, const char *format, ...)
{
	struct gk_buf text = {0};
	char detail[GKF_PROFILE_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof detail, format, args);
	va_end(args);
	gk_buf_puts(&text, r->path);
	if (line)
		gk_buf_printf(&text, ":%u", line);
	gk_buf_printf(&text, ": %s", detail);
	if (text.data && r->cap)
		gk_str_clean(r->message, r->cap, text.data, text.len);
	gk_buf_free(&text);
	return GK_ERR_INVALID;
}

static unsigned line_of(const yaml_node_t *node)
{
	return (unsigned)node->start_mark.line + 1;
}

static const char *scalar(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

static int unknown_key(struct reader *r, const yaml_node_t *key)
{
	const char *near = gkf_field_like(scalar(key));
	struct gk_buf keys = {0};
	int err;

	if (near)
		return fail(r, line_of(key),
			    "unknown key '%.64s'; did you mean '%s'?",
			    scalar(key), near);
	for (size_t i = 0; i < gkf_field_count; i++)
		gk_buf_printf(&keys, "%s%s", i ? ", " : "", gkf_fields[i].key);
	err = fail(r, line_of(key), "unknown key '%.64s'; allowed are %s",
		   scalar(key), keys.data ? keys.data : "?");
	gk_buf_free(&keys);
	return err;
}

static int bad_value(struct reader *r, const struct gkf_field *field,
		     const yaml_node_t *node)
{
	char allowed[1024];

	gkf_field_describe(field, allowed, sizeof allowed);
	if (node->type == YAML_SCALAR_NODE)
		return fail(r, line_of(node), "%s: '%.80s' must be %s",
			    field->key, scalar(node), allowed);
	return fail(
	    r, line_of(node), "%s: a %s where there must be %s", field->key,
	    node->type == YAML_MAPPING_NODE ? "mapping" : "list", allowed);
}

/* Decimal or 0x; the text must be unquoted and used up. */
static bool parse_integer(const yaml_node_t *node, int64_t *ret_value)
{
	const char *text = scalar(node);
	const char *digits = text + (*text == '-');
	int base = strncmp(digits, "0x", 2) ? 10 : 16;
	char *end;
	long long value;

	if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	if (base == 16)
		digits += 2;
	if (!*digits ||
	    strspn(digits, base == 16 ? "0123456789abcdefABCDEF"
				      : "0123456789") != strlen(digits))
		return false;
	errno = 0;
	value = strtoll(text, &end, base);
	if (errno || *end)
		return false;
	*ret_value = value;
	return true;
}

static int set_integer(struct reader *r, const struct gkf_field *field,
		       const yaml_node_t *node)
{
	int64_t value;

	if (node->type != YAML_SCALAR_NODE)
		return bad_value(r, field, node);
	if (field->min == -1 && !strcmp(scalar(node), "none"))
		value = -1;
	else if (!parse_integer(node, &value) || value < field->min ||
		 value > field->max)
		return bad_value(r, field, node);
	memcpy((char *)&r->profile + field->offset, &value, sizeof value);
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

/* Text is quoted or plain, but not empty, a number, or unprintable. */
static bool is_text(const yaml_node_t *node)
{
	char clean[4096];
	int64_t number;

	if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length ||
	    node->data.scalar.length >= sizeof clean ||
	    parse_integer(node, &number))
		return false;
	gk_str_clean(clean, sizeof clean, scalar(node),
		     node->data.scalar.length);
	return !strcmp(clean, scalar(node)) ||
	       node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
	       node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
}

static int set_text(struct reader *r, const struct gkf_field *field,
		    const yaml_node_t *node)
{
	const char *text;

	if (!is_text(node))
		return bad_value(r, field, node);
	text = scalar(node);
	if (field->may_be_none && !strcmp(text, "none"))
		text = "";
	if (strlen(text) >= field->size || strchr(text, '\n') ||
	    !allowed_word(field, text))
		return bad_value(r, field, node);
	/* The whole array: equal profiles are equal byte for byte. */
	strncpy((char *)&r->profile + field->offset, text, field->size);
	return 0;
}

static int add_list_item(struct reader *r, const struct gkf_field *field,
			 const yaml_node_t *node)
{
	if (!is_text(node))
		return bad_value(r, field, node);
	if (field->kind == GKF_FIELD_ALIASES && r->aliases)
		gk_buf_printf(r->aliases, "\n%s\n", scalar(node));
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
		    r, field, yaml_document_get_node(&r->document, *item));

		if (err)
			return err;
	}
	return 0;
}

static int set_field(struct reader *r, const struct gkf_field *field,
		     const yaml_node_t *node)
{
	switch (field->kind) {
	case GKF_FIELD_INTEGER:
		return set_integer(r, field, node);
	case GKF_FIELD_TEXT:
		return set_text(r, field, node);
	case GKF_FIELD_SOURCE:
	case GKF_FIELD_ALIASES:
		return read_list(r, field, node);
	case GKF_FIELD_INHERITS:
		break;
	}
	return 0;
}

/* Notes the line of every key; refuses unknown and double ones. */
static int check_keys(struct reader *r, const yaml_node_t *top)
{
	for (yaml_node_pair_t *pair = top->data.mapping.pairs.start;
	     pair < top->data.mapping.pairs.top; pair++) {
		yaml_node_t *key =
		    yaml_document_get_node(&r->document, pair->key);
		int i;

		if (key->type != YAML_SCALAR_NODE)
			return fail(r, line_of(key),
				    "a key must be a plain word");
		i = gkf_field_find(scalar(key));
		if (i < 0)
			return unknown_key(r, key);
		if (r->lines[i])
			return fail(r, line_of(key),
				    "%s: double key, first in line %u; one of "
				    "them must go",
				    gkf_fields[i].key, r->lines[i]);
		r->lines[i] = line_of(key);
	}
	return 0;
}

static const yaml_node_t *value_of(struct reader *r, const yaml_node_t *top,
				   const char *key)
{
	for (yaml_node_pair_t *pair = top->data.mapping.pairs.start;
	     pair < top->data.mapping.pairs.top; pair++)
		if (!strcmp(
			scalar(yaml_document_get_node(&r->document, pair->key)),
			key))
			return yaml_document_get_node(&r->document,
						      pair->value);
	return NULL;
}

/* Every key that is neither here nor inherited. */
static int check_missing(struct reader *r, bool inherits)
{
	char allowed[1024];

	for (size_t i = 0; !inherits && i < gkf_field_count; i++) {
		if (gkf_fields[i].optional || r->lines[i])
			continue;
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

/* A parent is in order, so at least one of a bad pair stands in this file. */
static int check_order(struct reader *r)
{
	for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
		int low = gkf_field_find(ordered[i][0]);
		int high = gkf_field_find(ordered[i][1]);
		bool low_here = r->lines[low] != 0;

		if (integer_at(r, low) <= integer_at(r, high))
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

static int inherit(struct reader *r, const yaml_node_t *value,
		   gkf_load_parent *load_parent, void *data)
{
	static const struct gkf_field *const field = &gkf_fields[0];

	if (!is_text(value))
		return bad_value(r, field, value);
	return load_parent(data, scalar(value), line_of(value), &r->profile);
}

static int read_mapping(struct reader *r, const yaml_node_t *top,
			gkf_load_parent *load_parent, void *data)
{
	const yaml_node_t *parent;
	int err;

	err = check_keys(r, top);
	if (err)
		return err;
	parent = value_of(r, top, "inherits");
	err = parent ? inherit(r, parent, load_parent, data) : 0;
	for (yaml_node_pair_t *pair = top->data.mapping.pairs.start;
	     !err && pair < top->data.mapping.pairs.top; pair++)
		err = set_field(
		    r,
		    &gkf_fields[gkf_field_find(scalar(
			yaml_document_get_node(&r->document, pair->key)))],
		    yaml_document_get_node(&r->document, pair->value));
	if (!err)
		err = check_missing(r, parent != NULL);
	return err ? err : check_order(r);
}

static int read_document(struct reader *r, yaml_parser_t *parser,
			 gkf_load_parent *load_parent, void *data)
{
	const yaml_node_t *top;
	int err;

	if (!yaml_parser_load(parser, &r->document)) {
		size_t line = parser->problem_mark.line + 1;

		return fail(r, (unsigned)line,
			    "syntax: %s; allowed is one YAML mapping, a "
			    "'key: value' a line",
			    parser->problem ? parser->problem : "not YAML");
	}
	top = yaml_document_get_root_node(&r->document);
	if (!top || top->type != YAML_MAPPING_NODE) {
		err = fail(r, top ? line_of(top) : 1,
			   "no mapping; allowed is one YAML mapping, a 'key: "
			   "value' a line");
	} else {
		r->top_line = line_of(top);
		err = read_mapping(r, top, load_parent, data);
	}
	yaml_document_delete(&r->document);
	return err;
}

/* A second document would be ignored silently. */
static int check_end(struct reader *r, yaml_parser_t *parser)
{
	yaml_document_t more;
	const yaml_node_t *top;
	int err = 0;

	if (!yaml_parser_load(parser, &more))
		return fail(r, (unsigned)parser->problem_mark.line + 1,
			    "syntax: %s", parser->problem);
	top = yaml_document_get_root_node(&more);
	if (top)
		err = fail(r, line_of(top),
			   "a second document; a profile is one");
	yaml_document_delete(&more);
	return err;
}

static int parse(struct reader *r, const char *text, size_t len,
		 gkf_load_parent *load_parent, void *data)
{
	yaml_parser_t parser;
	int err;

	if (!yaml_parser_initialize(&parser))
		return fail(r, 0, "out of memory"), GK_ERR_NOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	err = read_document(r, &parser, load_parent, data);
	if (!err)
		err = check_end(r, &parser);
	yaml_parser_delete(&parser);
	return err;
}

/* The id is the file's name without .yaml. */
static int set_id(struct reader *r)
{
	const char *name = strrchr(r->path, '/');
	size_t len;

	name = name ? name + 1 : r->path;
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

static int read_file(struct reader *r, char *text, ssize_t *ret_len)
{
	struct stat st;
	ssize_t n;

	if (stat(r->path, &st))
		return fail(r, 0, "%s", strerror(errno)), GK_ERR_NOT_FOUND;
	if (!S_ISREG(st.st_mode))
		return fail(r, 0, "not a file");
	n = gk_read_at(AT_FDCWD, r->path, text, FILE_MAX);
	if (n < 0)
		return fail(r, 0, "cannot be read: %s", gk_strerror((int)n)),
		       (int)n;
	if (n == FILE_MAX - 1)
		return fail(r, 0, "too big; a profile has at most %d KiB",
			    FILE_MAX / 1024);
	*ret_len = n;
	return 0;
}

int gkf_profile_read(const char *path, gkf_load_parent *load_parent, void *data,
		     struct gk_buf *aliases, struct gkf_profile *ret_profile,
		     char *ret_message, size_t cap)
{
	struct reader r = {.path = path,
			   .aliases = aliases,
			   .message = ret_message,
			   .cap = cap};
	char *text = malloc(FILE_MAX);
	ssize_t len = 0;
	int err;

	if (!text)
		return fail(&r, 0, "out of memory"), GK_ERR_NOMEM;
	err = read_file(&r, text, &len);
	if (!err)
		err = parse(&r, text, (size_t)len, load_parent, data);
	if (!err)
		err = set_id(&r);
	if (!err)
		*ret_profile = r.profile;
	free(text);
	return err;
}
