/*
 * tape_decode.h - the plain bytes of a block as a snapshot.
 */
#ifndef GK_RECORD_TAPE_DECODE_H
#define GK_RECORD_TAPE_DECODE_H

#include "record/tape_fields.h"

/* The fields of a tape: its names, matched with ours. */
struct gk_tape_schema;

struct gk_tape_schema *gk_tape_schema_new(void);
void gk_tape_schema_free(struct gk_tape_schema *schema);

/* Reads what a key block begins with. 0, GK_ERR_CORRUPT or GK_ERR_NOMEM. */
int gk_tape_schema_read(struct gk_tape_schema *schema,
			struct gk_tape_cursor *cursor);

/* The rest of a block. 0, GK_ERR_CORRUPT or GK_ERR_NOMEM. */
int gk_tape_decode(const struct gk_tape_schema *schema,
		   struct gk_tape_cursor *cursor,
		   struct gk_snapshot **ret_snap);

#endif
