/*
 * table.h - what this process has of its driver, by address or handle: finding
 * one costs the same among one or a million. Any thread.
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
	uint64_t owner; /* of the caller: a context, another key */
	uint32_t word;  /* of the caller */
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

/* Adds a row, in the place of one with that key. False: no memory. */
bool table_put(struct table *t, const struct table_row *row);

/* Copies the row of a key; take: and removes it. False: there is none. */
bool table_find(struct table *t, uint64_t key, struct table_row *ret_row);
bool table_take(struct table *t, uint64_t key, struct table_row *ret_row);

/*
 * Removes the rows of which `is_gone` says so. It must not use the table.
 */
void table_sweep(struct table *t,
		 bool (*is_gone)(const struct table_row *row, void *arg),
		 void *arg);

#endif
