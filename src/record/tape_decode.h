/* SPDX-License-Identifier: Apache-2.0 */
/* tape_decode.h - decodes the unpacked bytes of a block into a snapshot. */
#ifndef GK_RECORD_TAPE_DECODE_H
#define GK_RECORD_TAPE_DECODE_H

#include "record/tape_fields.h"

/* The fields of a tape, matched by name with those of this gpukit. */
struct gk_tape_schema;

struct gk_tape_schema *gk_tape_schema_new(void);
void gk_tape_schema_free(struct gk_tape_schema *schema);

/*
 * Reads the beginning of a key block. Returns 0, GK_ERR_CORRUPT or
 * GK_ERR_NOMEM.
 */
int gk_tape_schema_read(struct gk_tape_schema *schema,
			struct gk_tape_cursor *cursor);

/* Reads the rest of a block. Returns 0, GK_ERR_CORRUPT or GK_ERR_NOMEM. */
int gk_tape_decode(const struct gk_tape_schema *schema,
		   struct gk_tape_cursor *cursor,
		   struct gk_snapshot **ret_snap);

#endif
