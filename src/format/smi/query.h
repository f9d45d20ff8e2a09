/*
 * query.h - the tables that --query-gpu and its like choose from, and the
 * rows that they print.
 */
#ifndef GK_FORMAT_SMI_QUERY_H
#define GK_FORMAT_SMI_QUERY_H

#include "format/smi/value.h"

/* A field that can be asked for. */
struct gk_smi_field {
	const char *name;
	const char *other; /* a second spelling, or NULL */
	const char *unit;  /* NULL: none */
	unsigned when;     /* bits: which drivers, how it is absent */
	struct gk_smi_source source;
	const char *help;
};

/* The kinds of thing that a row can describe. */
enum gk_smi_rows {
	GK_SMI_PER_GPU,
	GK_SMI_PER_PROCESS,
	GK_SMI_PER_ACCOUNT,
	GK_SMI_PER_PAGE,
	GK_SMI_PER_CLOCK,
};

/* An option of nvidia-smi, such as --query-gpu. */
struct gk_smi_query {
	const char *option; /* without dashes */
	const char *about;  /* a line for its help */
	enum gk_smi_rows rows;
	const struct gk_smi_field *fields;
	size_t count;
};

/* All of them; ends with a NULL option. */
extern const struct gk_smi_query gk_smi_queries[];

enum { GK_SMI_FIELDS_MAX = 512 };

/* The fields that somebody asked for, in that order. */
struct gk_smi_chosen {
	const struct gk_smi_query *query;
	const struct gk_smi_field *fields[GK_SMI_FIELDS_MAX];
	size_t count;
};

/*
 * Finds the fields of a list with commas. GK_ERR_NOT_FOUND: ret_unknown (room
 * for 128 bytes) is the first that no driver has; GK_ERR_RANGE: too many.
 */
int gk_smi_choose(const struct gk_smi_query *query, const char *list,
		  struct gk_smi_chosen *ret_chosen, char *ret_unknown);

/* The first of them that this driver does not know; NULL: it knows all. */
const struct gk_smi_field *gk_smi_too_new(const struct gk_smi_chosen *chosen,
					  const struct gk_snapshot *snap);

/* Adds the metrics that the fields show. */
void gk_smi_wanted(const struct gk_smi_chosen *chosen,
		   struct gk_metric_set *set);
/* Whether `is` holds for a field: gk_smi_is_fact, gk_smi_is_board. */
bool gk_smi_wants(const struct gk_smi_chosen *chosen,
		  bool (*is)(const struct gk_smi_source *source));

/*
 * Add the line of titles, and the rows of a snapshot. units: behind numbers;
 * gpus: how many whole GPUs there are, shown or not.
 */
void gk_smi_csv_titles(struct gk_buf *out, const struct gk_smi_chosen *chosen);
void gk_smi_csv_rows(struct gk_buf *out, const struct gk_snapshot *snap,
		     const struct gk_smi_chosen *chosen, bool units,
		     unsigned gpus);

/* Prints the fields, for --help-query-gpu and its like. */
void gk_smi_query_help(struct gk_buf *out, const struct gk_smi_query *query);

#endif
