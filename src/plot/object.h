/*
 * object.h - a JSON object of one level, as `gpukit record --format jsonl`
 * writes one a line, taken apart in place.
 */
#ifndef GK_PLOT_OBJECT_H
#define GK_PLOT_OBJECT_H

#include "plot/csv.h"

/*
 * Finds the keys and values between text and end, most of each at most. Strings
 * lose their quotes and escapes, null becomes an empty text; the text is
 * changed. values NULL: keys alone are wanted, and nothing is changed. 0 or
 * GK_ERR_CORRUPT: it is no such object.
 */
int gk_object_split(char *text, const char *end, struct gk_csv_field *keys,
		    struct gk_csv_field *values, size_t most,
		    size_t *ret_count);

#endif
