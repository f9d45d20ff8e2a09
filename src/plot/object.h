/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - parses in place a flat JSON object such as a line written by
 * `gpukit record --format jsonl`.
 */
#ifndef GK_PLOT_OBJECT_H
#define GK_PLOT_OBJECT_H

#include "plot/csv.h"

/*
 * Finds the keys and values of the object between text and end, at most `most`
 * pairs. Changes the text: strings lose their quotes and escapes, and null
 * becomes an empty text. If `values` is NULL, finds only the keys and changes
 * nothing. Returns 0, or GK_ERR_CORRUPT if the text is not such an object.
 */
int gk_object_split(char *text, const char *end, struct gk_csv_field *keys,
		    struct gk_csv_field *values, size_t most,
		    size_t *ret_count);

#endif
