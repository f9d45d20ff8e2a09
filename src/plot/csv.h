/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - reads the rows of a CSV file (RFC 4180) as a stream, in constant
 * memory.
 *
 * A file that begins with a brace has one JSON object per line. Its keys are
 * returned as a row of titles, both at first and whenever they change, and its
 * values as the next row. Lines may end in LF or CR LF; a quoted field may
 * contain either. A byte order mark is skipped.
 */
#ifndef GK_PLOT_CSV_H
#define GK_PLOT_CSV_H

#include <stddef.h>
#include <stdint.h>

/*
 * A field, without a NUL at its end. Its quotes are removed, and so is the
 * apostrophe before a text that looks like a formula (gk_str_is_formula()).
 * Valid until the next row is read.
 */
struct gk_csv_field {
	const char *text;
	size_t len;
};

struct gk_csv_row {
	const struct gk_csv_field *fields; /* valid until the next row is
					    * read */
	size_t count;
	uint64_t line; /* number of the row's first line, from 1 */
};

struct gk_csv;

/*
 * Reads from a descriptor, which the caller keeps. Returns 0 or GK_ERR_NOMEM.
 */
int gk_csv_open(int fd, struct gk_csv **ret_csv);
void gk_csv_close(struct gk_csv *csv);

/*
 * Reads the next row. Returns 0; GK_ERR_NOT_FOUND at the end of the file;
 * GK_ERR_CORRUPT for a broken row (an unclosed quote, text after a closing
 * quote, too long, too many fields, or cut off by the end of the file); or
 * another gk_err if the file cannot be read. After GK_ERR_CORRUPT, row->line is
 * the line of the broken row, and the next call continues after that line.
 */
int gk_csv_next(struct gk_csv *csv, struct gk_csv_row *row);

#endif
