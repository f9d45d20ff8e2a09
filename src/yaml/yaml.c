/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.c - reads one YAML file and checks each key. */
#include "yaml/yaml.h"
#include "yaml/shape.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int gk_yaml_fail(struct gk_yaml *y, unsigned line, const char *format, ...)
{
	struct gk_buf text = {0};
	char detail[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof detail, format, args);
	va_end(args);
	gk_buf_puts(&text, y->path);
	if (line)
		gk_buf_printf(&text, ":%u", line);
	gk_buf_printf(&text, ": %s", detail);
	if (text.data && y->cap)
		gk_str_clean(y->message, y->cap, text.data, text.len);
	gk_buf_free(&text);
	return GK_ERR_INVALID;
}

unsigned gk_yaml_line(const yaml_node_t *node)
{
	return (unsigned)node->start_mark.line + 1;
}

const char *gk_yaml_scalar(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

bool gk_yaml_integer(const yaml_node_t *node, int64_t *ret_value)
{
	const char *text = gk_yaml_scalar(node);
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

bool gk_yaml_is_text(const yaml_node_t *node)
{
	char clean[4096];
	int64_t number;

	if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length ||
	    node->data.scalar.length >= sizeof clean ||
	    gk_yaml_integer(node, &number))
		return false;
	gk_str_clean(clean, sizeof clean, gk_yaml_scalar(node),
		     node->data.scalar.length);
	return !strcmp(clean, gk_yaml_scalar(node)) ||
	       node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE ||
	       node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE;
}

int gk_yaml_each(struct gk_yaml *y, const yaml_node_t *mapping,
		 gk_yaml_pair *pair, void *data)
{
	int err = 0;

	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
	     !err && p < mapping->data.mapping.pairs.top; p++) {
		yaml_node_t *key = yaml_document_get_node(&y->document, p->key);

		if (key->type != YAML_SCALAR_NODE)
			return gk_yaml_fail(y, gk_yaml_line(key),
					    "a key must be a plain word");
		err = pair(data, key,
			   yaml_document_get_node(&y->document, p->value));
	}
	return err;
}

const yaml_node_t *gk_yaml_value(struct gk_yaml *y, const yaml_node_t *mapping,
				 const char *key)
{
	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start;
	     p < mapping->data.mapping.pairs.top; p++) {
		yaml_node_t *k = yaml_document_get_node(&y->document, p->key);

		if (k->type == YAML_SCALAR_NODE &&
		    !strcmp(gk_yaml_scalar(k), key))
			return yaml_document_get_node(&y->document, p->value);
	}
	return NULL;
}

/*
 * Returns the edit distance of texts of at most 63 bytes; 99 for longer ones.
 */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[64], n = (unsigned)strlen(b);

	if (n >= 64 || strlen(a) >= 64)
		return 99;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

const char *gk_yaml_like(const char *text, const char *const *words)
{
	unsigned best = 4; /* with more than 3 edits it is a different word */
	const char *near = NULL;

	for (; *words; words++) {
		unsigned d = edit_distance(text, *words);

		if (d < best) {
			best = d;
			near = *words;
		}
	}
	return near;
}

static int read_document(struct gk_yaml *y, yaml_parser_t *parser,
			 gk_yaml_use *use, void *data)
{
	const yaml_node_t *top;
	int err;

	if (!yaml_parser_load(parser, &y->document)) {
		size_t line = parser->problem_mark.line + 1;

		return gk_yaml_fail(y, (unsigned)line,
				    "syntax: %s; expected one YAML mapping, "
				    "one 'key: value' per line",
				    parser->problem ? parser->problem
						    : "not YAML");
	}
	top = yaml_document_get_root_node(&y->document);
	if (!top && y->may_be_empty)
		err = 0;
	else if (!top || top->type != YAML_MAPPING_NODE)
		err = gk_yaml_fail(y, top ? gk_yaml_line(top) : 1,
				   "no mapping; expected one YAML mapping, "
				   "one 'key: value' per line");
	else
		err = use(data, top);
	yaml_document_delete(&y->document);
	return err;
}

/* Without this check a second document would be ignored silently. */
static int check_end(struct gk_yaml *y, yaml_parser_t *parser)
{
	yaml_document_t more;
	const yaml_node_t *top;
	int err = 0;

	if (!yaml_parser_load(parser, &more))
		return gk_yaml_fail(y, (unsigned)parser->problem_mark.line + 1,
				    "syntax: %s", parser->problem);
	top = yaml_document_get_root_node(&more);
	if (top)
		err = gk_yaml_fail(y, gk_yaml_line(top),
				   "a second document; a %s has only one",
				   y->what);
	yaml_document_delete(&more);
	return err;
}

static int parse_yaml(struct gk_yaml *y, const char *text, size_t len,
		      gk_yaml_use *use, void *data)
{
	yaml_parser_t parser;
	const char *problem;
	unsigned line;
	int err;

	if (!gk_yaml_shape(text, len, &line, &problem))
		return gk_yaml_fail(y, line, "%s; a %s has none", problem,
				    y->what);
	if (!yaml_parser_initialize(&parser))
		return gk_yaml_fail(y, 0, "out of memory"), GK_ERR_NOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	err = read_document(y, &parser, use, data);
	if (!err)
		err = check_end(y, &parser);
	yaml_parser_delete(&parser);
	return err;
}

static int cannot_open(struct gk_yaml *y, int error)
{
	if (error == ENOENT || error == ENOTDIR)
		return gk_yaml_fail(y, 0, "%s", strerror(error)),
		       GK_ERR_NOT_FOUND;
	return gk_yaml_fail(y, 0, "cannot be read: %s", strerror(error)),
	       gk_err_from_errno(error);
}

static int read_file(struct gk_yaml *y, char *text, ssize_t *ret_len)
{
	struct stat st;
	ssize_t n;

	if (fstat(y->fd, &st) || !S_ISREG(st.st_mode))
		return gk_yaml_fail(y, 0, "not a file");
	n = gk_read_fd(y->fd, text, y->limit);
	if (n < 0)
		return gk_yaml_fail(y, 0, "cannot be read: %s",
				    gk_strerror((int)n)),
		       (int)n;
	if ((size_t)n == y->limit - 1)
		return gk_yaml_fail(y, 0, "too large; a %s has at most %zu KiB",
				    y->what, y->limit / 1024);
	*ret_len = n;
	return 0;
}

int gk_yaml_read(struct gk_yaml *y, gk_yaml_use *use, void *data)
{
	char *text = malloc(y->limit);
	ssize_t len = 0;
	int err;

	if (!text)
		return gk_yaml_fail(y, 0, "out of memory"), GK_ERR_NOMEM;
	/* O_NONBLOCK: the name may be that of a FIFO, which would block. */
	y->fd = open(y->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	err = y->fd < 0 ? cannot_open(y, errno) : read_file(y, text, &len);
	if (!err)
		err = parse_yaml(y, text, (size_t)len, use, data);
	if (y->fd >= 0)
		close(y->fd);
	free(text);
	return err;
}
