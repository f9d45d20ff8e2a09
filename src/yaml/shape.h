/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - checks how deep a YAML text is and how much its aliases expand to.
 * This happens before the text is composed, so that reading any text takes
 * little time and memory.
 */
#ifndef GK_YAML_SHAPE_H
#define GK_YAML_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/* The maximum nesting of lists and mappings. */
#define GK_YAML_DEPTH 64

/*
 * The maximum number of anchors, and of nodes to which all aliases expand
 * together.
 */
#define GK_YAML_ANCHORS 256
#define GK_YAML_ALIASED 10000

/*
 * Returns false if the text is too deep or its aliases expand to too much;
 * *ret_line says where, and *ret_problem is a static text. Returns true for a
 * text that is not YAML at all.
 */
bool gk_yaml_shape(const char *text, size_t len, unsigned *ret_line,
		   const char **ret_problem);

#endif
