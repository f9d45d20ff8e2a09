/*
 * yaml.h - one YAML file of gpukit's (a profile, a scenario, the settings of
 * the viewer): a single mapping, read whole and checked key by key; what is
 * wrong is told as "file:line: ...". For the command only: clients of a
 * made-up machine never read YAML.
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
	const char *what; /* "profile": of messages */
	size_t limit;     /* bytes a file may have */
	char *message;    /* of the first failure; one line */
	size_t cap;
	bool may_be_empty;        /* nothing but comments: use is not called */
	yaml_document_t document; /* during gk_yaml_use */
	int fd;                   /* of the file; the same */
};

/*
 * Writes "file:line: text" as one line into the message; line 0: none is
 * known. Returns GK_ERR_INVALID.
 */
int gk_yaml_fail(struct gk_yaml *y, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads the file and calls back with its mapping. 0, or a gk_err that is
 * told.
 */
typedef int gk_yaml_use(void *data, const yaml_node_t *top);
int gk_yaml_read(struct gk_yaml *y, gk_yaml_use *use, void *data);

/* Calls back for each key of a mapping, which is a plain word; until one is
 * nonzero. */
typedef int gk_yaml_pair(void *data, const yaml_node_t *key,
			 const yaml_node_t *value);
int gk_yaml_each(struct gk_yaml *y, const yaml_node_t *mapping,
		 gk_yaml_pair *pair, void *data);

/* The value of a key, or NULL. */
const yaml_node_t *gk_yaml_value(struct gk_yaml *y, const yaml_node_t *mapping,
				 const char *key);

/* The line on which a node begins, from 1. */
unsigned gk_yaml_line(const yaml_node_t *node);
/* The text of a scalar node, which lives as long as the document. */
const char *gk_yaml_scalar(const yaml_node_t *node);

/* Decimal or 0x; unquoted and used up. */
bool gk_yaml_integer(const yaml_node_t *node, int64_t *ret_value);

/* Text is quoted or plain, but not empty, a number, or unprintable. */
bool gk_yaml_is_text(const yaml_node_t *node);

/*
 * The word of a NULL-terminated list that a mistyped one may have meant, or
 * NULL.
 */
const char *gk_yaml_like(const char *text, const char *const *words);

#endif
