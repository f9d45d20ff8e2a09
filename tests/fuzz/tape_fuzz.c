/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_fuzz.c - checks uncompressed bytes of tapes: any snapshot made from them
 * is valid.
 */
#include "fuzz.h"
#include "record/tape_decode.h"

#include <stdlib.h>
#include <string.h>

/* Checks that positions are valid and texts end. */
static void look(const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->parent >= (int)i ||
		    !memchr(d->name, 0, sizeof d->name) ||
		    d->health > GK_HEALTH_ERROR)
			abort();
	}
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (p->device >= snap->device_count ||
		    strlen(p->command) + strlen(p->name) > 1 << 28 ||
		    (p->args_len && memchr(p->args, 0, p->args_len) == p))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gk_tape_cursor cursor = {data, data + size, false};
	struct gk_tape_schema *schema = gk_tape_schema_new();
	struct gk_snapshot *snap;

	if (!schema)
		abort();
	if (!gk_tape_schema_read(schema, &cursor) &&
	    !gk_tape_decode(schema, &cursor, &snap)) {
		look(snap);
		check_ranges(snap);
		gk_snapshot_free(snap);
	}
	gk_tape_schema_free(schema);
	return 0;
}
