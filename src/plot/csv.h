/*
 * csv.h - rows of a CSV file (RFC 4180), read as a stream. A file that begins
 * with a brace has a JSON object a line: its keys come as a row of titles,
 * again when they change, and its values as the row behind.
 *
 * Lines may end in LF or CR LF; a quoted field may hold either. A byte order
 * mark is passed over. Memory stays at one block whatever the file's size.
 */
#ifndef GK_PLOT_CSV_H
#define GK_PLOT_CSV_H

#include <stddef.h>
#include <stdint.h>

/* Not NUL-terminated; quotes, and the apostrophe before what looks like a
 * formula (gk_str_is_formula()), are taken off. Valid until the next row. */
struct gk_csv_field {
	const char *text;
	size_t len;
};

struct gk_csv_row {
	const struct gk_csv_field *fields; /* until the next row is read */
	size_t count;
	uint64_t line; /* where it begins, from 1 */
};

struct gk_csv;

/* Reads from a descriptor that stays the caller's. 0 or GK_ERR_NOMEM. */
int gk_csv_open(int fd, struct gk_csv **ret_csv);
void gk_csv_close(struct gk_csv *csv);

/*
 * The next row: 0; GK_ERR_NOT_FOUND at the end of the file; GK_ERR_CORRUPT
 * when a row is broken (a quote that is not closed, text behind a closed one,
 * too long, too many fields, a file that ends within it): row->line says
 * where, and the next call goes on with the line behind. Any other gk_err:
 * the file cannot be read.
 */
int gk_csv_next(struct gk_csv *csv, struct gk_csv_row *row);

#endif
