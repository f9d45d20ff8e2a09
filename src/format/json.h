/*
 * json.h - a snapshot as one JSON object; docs/stat.schema.json describes it.
 */
#ifndef GK_FORMAT_JSON_H
#define GK_FORMAT_JSON_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_json_flag {
	GK_JSON_WHY = 1,          /* say why a value is null */
	GK_JSON_INDENT = 2,       /* many lines; else one line */
	GK_JSON_NO_PROCESSES = 4, /* they were not read */
};

/*
 * Adds the object and a newline. Written by hand rather than through a tree:
 * a stream of 100 frames a second costs no allocation per value, and integers
 * stay exact. Characters that cannot be seen are escaped, bytes that are no
 * UTF-8 become U+FFFD, so the result is always valid JSON and safe on a
 * terminal.
 */
void gk_format_json(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned flags);

/* A JSON string with its quotes. */
void gk_json_string(struct gk_buf *out, const char *text, size_t len);

#endif
