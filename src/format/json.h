/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - a snapshot as one JSON object, described by docs/stat.schema.json.
 */
#ifndef GK_FORMAT_JSON_H
#define GK_FORMAT_JSON_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_json_flag {
	GK_JSON_WHY = 1,          /* say why values are null */
	GK_JSON_INDENT = 2,       /* use several lines rather than one */
	GK_JSON_NO_PROCESSES = 4, /* processes were not read */
};

/*
 * Adds the object and a newline. Text is written directly, without building a
 * tree first. So a stream of 100 frames per second needs no allocation per
 * value, and integers stay exact. Invisible characters are escaped and invalid
 * bytes become U+FFFD, so that the result is always valid JSON and safe to
 * print on a terminal.
 */
void gk_format_json(struct gk_buf *out, const struct gk_snapshot *snap,
		    unsigned flags);

/* Adds a JSON string with its quotes. */
void gk_json_string(struct gk_buf *out, const char *text, size_t len);

#endif
