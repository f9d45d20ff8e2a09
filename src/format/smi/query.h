/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - the tables of fields for --query-gpu and similar options, and the
 * rows printed for a query.
 */
#ifndef GK_FORMAT_SMI_QUERY_H
#define GK_FORMAT_SMI_QUERY_H

#include "format/smi/value.h"

/* A field that can be queried. */
struct gk_smi_field {
	const char *name;
	const char *other; /* an alternative name, or NULL */
	const char *unit;  /* NULL: none */
	/* the drivers that have the field, and bits of query.c */
	gk_smi_when when;
	struct gk_smi_source source;
	const char *help;
};

/* The kind of object that a row describes. */
enum gk_smi_rows {
	GK_SMI_PER_GPU,
	GK_SMI_PER_PROCESS,
	GK_SMI_PER_ACCOUNT,
	GK_SMI_PER_PAGE,
	GK_SMI_PER_CLOCK,
};

/* An option of nvidia-smi, such as --query-gpu. */
struct gk_smi_query {
	const char *option; /* without the dashes */
	const char *about;  /* the option's line in --help */
	enum gk_smi_rows rows;
	const struct gk_smi_field *fields;
	size_t count;
};

/* All options. The last entry has a NULL option. */
extern const struct gk_smi_query gk_smi_queries[];

enum { GK_SMI_FIELDS_MAX = 512 };

/* The fields chosen by a query, in order. */
struct gk_smi_chosen {
	const struct gk_smi_query *query;
	const struct gk_smi_field *fields[GK_SMI_FIELDS_MAX];
	bool by_other[GK_SMI_FIELDS_MAX]; /* the field was chosen by its
					   * other name */
	size_t count;
};

/*
 * Finds the fields in a comma-separated list. Returns GK_ERR_NOT_FOUND if a
 * field exists in no driver, and writes the first such field to ret_unknown,
 * which must have 128 bytes. Returns GK_ERR_RANGE if there are too many fields.
 */
int gk_smi_choose(const struct gk_smi_query *query, const char *list,
		  struct gk_smi_chosen *ret_chosen, char *ret_unknown);

/* Whether this driver has a field and reports it. */
bool gk_smi_has_field(const struct gk_smi_field *field,
		      const struct gk_snapshot *snap);

/*
 * Returns the first chosen field that this driver does not have, by the name by
 * which it was chosen; or NULL.
 */
const char *gk_smi_not_there(const struct gk_smi_chosen *chosen,
			     const struct gk_snapshot *snap);

/* Adds to a set the metrics that the fields show. */
void gk_smi_wanted(const struct gk_smi_chosen *chosen,
		   struct gk_metric_set *set);
/*
 * Whether is() is true for any chosen field. `is` is gk_smi_is_fact or
 * gk_smi_is_board.
 */
bool gk_smi_wants(const struct gk_smi_chosen *chosen,
		  bool (*is)(const struct gk_smi_source *source));

/*
 * Add the line of titles and the rows of a snapshot. If units is set, numbers
 * have units. gpus is the number of whole GPUs, whether shown or not.
 */
void gk_smi_csv_titles(struct gk_buf *out, const struct gk_snapshot *snap,
		       const struct gk_smi_chosen *chosen);
void gk_smi_csv_rows(struct gk_buf *out, const struct gk_snapshot *snap,
		     const struct gk_smi_chosen *chosen, bool units,
		     unsigned gpus);

/*
 * Prints the fields of an option that a driver of this level has, for
 * --help-query-gpu and the like.
 */
void gk_smi_query_help(struct gk_buf *out, const struct gk_smi_query *query,
		       unsigned level);

#endif
