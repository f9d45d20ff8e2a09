/*
 * columns.h - the columns of tables of processes: titles, texts and order.
 * One table for the report and the viewer.
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
	int width; /* COMMAND: 0, it takes what is left */
	enum gk_align align;
	const char *mark;
	int worth;
	bool descending; /* big usually comes first */
};

extern const struct gk_column_info gk_column_infos[GK_COLUMN_COUNT];

/* Which columns, in their order. */
struct gk_columns {
	unsigned char id[GK_COLUMN_COUNT];
	int count;
};

/* GPU PID TYPE USER GPU-MEM %SM %GMBW %CPU %MEM TIME COMMAND. */
extern const struct gk_columns gk_columns_default;

/*
 * Names with commas or blanks between: "gpu, pid, user, encoder, command".
 * False, and *ret_columns untouched: one is not known or comes twice, and
 * *ret_bad points at it; or there is none, and *ret_bad at the end.
 * Columns of the DRIVER part are put before those of the host, and the command
 * behind all.
 */
bool gk_columns_parse(const char *text, struct gk_columns *ret_columns,
		      const char **ret_bad);

/* The same back as text: "gpu, pid, user". Room for GK_COLUMNS_TEXT bytes. */
#define GK_COLUMNS_TEXT (GK_COLUMN_COUNT * 18)
char *gk_columns_text(char *dst, const struct gk_columns *columns);

/* The column of a name; GK_COLUMN_COUNT: there is none. */
enum gk_column gk_column_find(const char *name, size_t len);

/* Whether a column is among them. */
bool gk_columns_have(const struct gk_columns *columns, enum gk_column column);

/* Bits of gk_with: they must be read to show or order processes by a column. */
unsigned gk_column_with(enum gk_column column);

/*
 * The text of a process in a column: dst, which has room for GK_NAME_MAX
 * bytes, or a string of the snapshot, which may hold any byte. "N/A" when
 * absent.
 */
const char *gk_column_text(enum gk_column column, char *dst,
			   const struct gk_snapshot *snap,
			   const struct gk_process *process);

/*
 * Orders two processes of a snapshot by a column, big first or small first;
 * what is absent comes behind either way.
 */
int gk_column_order(enum gk_column column, bool descending,
		    const struct gk_process *a, const struct gk_process *b);

#endif
