/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - a table of this process's driver objects, by address or handle. A
 * search among a million rows takes as long as among a few. Any thread.
 */
#ifndef GKL_PRELOAD_TABLE_H
#define GKL_PRELOAD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TABLE_SHARDS = 64 };

struct table_row {
	uint64_t key; /* an address or a handle; never 0 */
	uint64_t bytes;
	uint64_t owner; /* for the caller's use: a context or another key */
	uint32_t word;  /* for the caller's use */
	uint16_t device, kind;
};

/* Zeroed memory is an empty table. */
struct table {
	struct table_shard {
		_Atomic uint32_t lock;
		uint32_t count, room; /* room: a power of two, or 0 */
		struct table_row *row;
	} shard[TABLE_SHARDS];
};

/* Adds a row, replacing one with the same key. False: out of memory. */
bool table_put(struct table *t, const struct table_row *row);

/*
 * table_find() copies the row of a key; table_take() also removes it. False: no
 * such row.
 */
bool table_find(struct table *t, uint64_t key, struct table_row *ret_row);
bool table_take(struct table *t, uint64_t key, struct table_row *ret_row);

/*
 * Removes the rows for which is_gone() is true; is_gone() must not use the
 * table.
 */
void table_sweep(struct table *t,
		 bool (*is_gone)(const struct table_row *row, void *arg),
		 void *arg);

#endif
