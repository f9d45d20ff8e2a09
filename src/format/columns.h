/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - the columns of process tables: titles, texts and sort order. The
 * report and the viewer share them.
 */
#ifndef GK_FORMAT_COLUMNS_H
#define GK_FORMAT_COLUMNS_H

#include "format/width.h"

#include <gpukit/gpukit.h>

enum gk_column {
#define COLUMN(id, ...) GK_COLUMN_##id,
#include "format/columns.def"
#undef COLUMN
	GK_COLUMN_COUNT
};

enum gk_column_part { GK_PART_DRIVER, GK_PART_HOST };

struct gk_column_info {
	const char *name, *title, *help;
	enum gk_column_part part;
	int width; /* 0 for COMMAND, which gets the remaining columns */
	enum gk_align align;
	const char *mark;
	int worth;
	bool descending; /* usually sorted largest first */
};

extern const struct gk_column_info gk_column_infos[GK_COLUMN_COUNT];

/* The columns that were selected, in their order. */
struct gk_columns {
	unsigned char id[GK_COLUMN_COUNT];
	int count;
};

/*
 * The columns shown by default: GPU PID TYPE USER GPU-MEM %SM %GMBW %CPU %MEM
 * TIME COMMAND.
 */
extern const struct gk_columns gk_columns_default;

/*
 * Parses column names separated by commas or blanks: "gpu, pid, user, encoder,
 * command". Moves the columns of the DRIVER part before those of the HOST part,
 * and the command to the end. Returns false, without setting *ret_columns, if a
 * name is unknown or repeated, or if the list is empty; *ret_bad then points at
 * that name or at the end of the text.
 */
bool gk_columns_parse(const char *text, struct gk_columns *ret_columns,
		      const char **ret_bad);

/*
 * Formats a selection as text: "gpu, pid, user". dst must have GK_COLUMNS_TEXT
 * bytes.
 */
#define GK_COLUMNS_TEXT (GK_COLUMN_COUNT * 18)
char *gk_columns_text(char *dst, const struct gk_columns *columns);

/* Returns the column of that name, or GK_COLUMN_COUNT. */
enum gk_column gk_column_find(const char *name, size_t len);

/* Whether a selection includes a column. */
bool gk_columns_have(const struct gk_columns *columns, enum gk_column column);

/*
 * Returns, as bits of gk_with, the data that must be read to show a column or
 * sort by it.
 */
unsigned gk_column_with(enum gk_column column);

/*
 * Returns a process's text in a column, "N/A" if it is absent. The text is in
 * dst, which must have GK_NAME_MAX bytes, or in the snapshot. A text in the
 * snapshot may contain any bytes.
 */
const char *gk_column_text(enum gk_column column, char *dst,
			   const struct gk_snapshot *snap,
			   const struct gk_process *process);

/*
 * Compares two processes of a snapshot by a column. Absent values come last in
 * both directions.
 */
int gk_column_order(enum gk_column column, bool descending,
		    const struct gk_process *a, const struct gk_process *b);

#endif
