/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h - reads one of gpukit's YAML files: a profile, a scenario, or the
 * viewer's settings. The file is a single mapping, which is read as a whole and
 * checked key by key. Errors read "file:line: ...". Only the gpukit command
 * uses this; programs that run on a made-up machine never read YAML.
 */
#ifndef GK_YAML_YAML_H
#define GK_YAML_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

/* A file being read. The caller sets path, what, limit, message and cap. */
struct gk_yaml {
	const char *path;
	const char *what; /* kind of file in messages, such as "profile" */
	size_t limit;     /* maximum size of the file in bytes */
	char *message;    /* receives the first error, on one line */
	size_t cap;
	/* Empty files are valid; use() is not called for them. */
	bool may_be_empty;
	yaml_document_t document; /* valid only while use() runs */
	/* Descriptor of the file; valid only while use() runs. */
	int fd;
};

/*
 * Writes "file:line: text" to the message, on one line; line 0 means unknown.
 * Returns GK_ERR_INVALID.
 */
int gk_yaml_fail(struct gk_yaml *y, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads the file and calls use() with its mapping. Returns 0, or a gk_err with
 * the message set.
 */
typedef int gk_yaml_use(void *data, const yaml_node_t *top);
int gk_yaml_read(struct gk_yaml *y, gk_yaml_use *use, void *data);

/*
 * Calls pair() for each key of a mapping until it returns nonzero. All keys
 * must be plain words.
 */
typedef int gk_yaml_pair(void *data, const yaml_node_t *key,
			 const yaml_node_t *value);
int gk_yaml_each(struct gk_yaml *y, const yaml_node_t *mapping,
		 gk_yaml_pair *pair, void *data);

/* Returns the value of a key, or NULL. */
const yaml_node_t *gk_yaml_value(struct gk_yaml *y, const yaml_node_t *mapping,
				 const char *key);

/* Returns the line on which a node begins, counted from 1. */
unsigned gk_yaml_line(const yaml_node_t *node);
/* Returns the text of a scalar node, which lives as long as the document. */
const char *gk_yaml_scalar(const yaml_node_t *node);

/* Reads a decimal or 0x integer; false if it is quoted or not an integer. */
bool gk_yaml_integer(const yaml_node_t *node, int64_t *ret_value);

/*
 * Whether a node is a text: not empty, not an integer, and printable unless it
 * is a block (| or >).
 */
bool gk_yaml_is_text(const yaml_node_t *node);

/*
 * Returns the word in a NULL-terminated list that a mistyped text was probably
 * meant to be, or NULL.
 */
const char *gk_yaml_like(const char *text, const char *const *words);

#endif
