/*
 * yaml_file.h - one YAML file of gpukit's: a single mapping, read whole and
 * checked key by key; what is wrong is told as "file:line: ...". For the
 * command only: clients of a made-up machine never read YAML.
 */
#ifndef GKF_YAML_FILE_H
#define GKF_YAML_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

/* A file being read. The caller sets path, what, limit, message and cap. */
struct gkf_yaml {
	const char *path;
	const char *what; /* "profile": of messages */
	size_t limit;     /* bytes a file may have */
	char *message;    /* of the first failure; one line */
	size_t cap;
	yaml_document_t document; /* during gkf_yaml_use */
};

/*
 * Writes "file:line: text" as one line into the message; line 0: none is
 * known. Returns GK_ERR_INVALID.
 */
int gkf_yaml_fail(struct gkf_yaml *y, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads the file and calls back with its mapping. 0, or a gk_err that is
 * told.
 */
typedef int gkf_yaml_use(void *data, const yaml_node_t *top);
int gkf_yaml_read(struct gkf_yaml *y, gkf_yaml_use *use, void *data);

/* Calls back for each key of a mapping, which is a plain word; until one is
 * nonzero. */
typedef int gkf_yaml_pair(void *data, const yaml_node_t *key,
			  const yaml_node_t *value);
int gkf_yaml_each(struct gkf_yaml *y, const yaml_node_t *mapping,
		  gkf_yaml_pair *pair, void *data);

/* The value of a key, or NULL. */
const yaml_node_t *gkf_yaml_value(struct gkf_yaml *y,
				  const yaml_node_t *mapping, const char *key);

unsigned gkf_yaml_line(const yaml_node_t *node);
const char *gkf_yaml_scalar(const yaml_node_t *node);

/* Decimal or 0x; unquoted and used up. */
bool gkf_yaml_integer(const yaml_node_t *node, int64_t *ret_value);

/* Text is quoted or plain, but not empty, a number, or unprintable. */
bool gkf_yaml_is_text(const yaml_node_t *node);

/*
 * The word of a NULL-terminated list that a mistyped one may have meant, or
 * NULL.
 */
const char *gkf_yaml_like(const char *text, const char *const *words);

#endif
