/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sharing.h - memory that this process exports to others, and memory that it
 * imports from them. limit/ledger_export.h says how long each counts.
 */
#ifndef GKL_PRELOAD_SHARING_H
#define GKL_PRELOAD_SHARING_H

#include "limit/preload/memory/memory_state.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Stored in `kind` of a table's row: what the handle or address in the row
 * stands for.
 */
enum export_kind {
	EXPORT_VIRTUAL, /* memory of cuMemCreate(), by handle */
	EXPORT_PIECE,   /* memory of cuMemAlloc() and the like, by address */
	EXPORT_POOL,    /* a pool, by handle */
	EXPORT_POINTER, /* a piece of a pool, by address */
};

/* Stored in `word` of a piece's row if other processes may hold the memory. */
enum { PIECE_EXPORTED = 1 };

/* The bytes of the blocks that contain a piece. */
uint64_t export_bytes(uint64_t address, uint64_t bytes);

/*
 * Records that memory is exported, under a number. If `number` is 0, uses the
 * number of an earlier export of that memory, or makes a new number. Returns
 * the number; 0: the table is full, and the memory must not be exported.
 */
uint64_t export_note(enum export_kind what, uint64_t value, int device,
		     uint64_t number, uint64_t bytes);

/* Adds to the bytes of a recorded export. */
void export_change(enum export_kind what, uint64_t value, int64_t bytes);

/*
 * export_descriptor(): makes a descriptor that the driver gave out carry the
 * number. descriptor_number(): the number of a descriptor received from others,
 * or of a fabric handle; 0: it has none.
 */
enum { FABRIC_BYTES = 64 };
void export_descriptor(const void *handle, CUmemAllocationHandleType type,
		       uint64_t number);
uint64_t descriptor_number(const void *handle, CUmemAllocationHandleType type);

/*
 * Call when this process has given up exported memory. `kept`: others may still
 * hold the memory; it counts as this process's until they release it.
 */
void export_end(enum export_kind what, uint64_t value, bool kept);

/*
 * For memory that other processes made: call import_begin() before the driver,
 * import_end() after it, and import_gone() when the memory is freed or closed.
 * import_begin() returns false if the memory cannot be marked as held. `number`
 * is 0 if the maker has no limit.
 */
struct import {
	uint64_t number;
	void *hold;
};
bool import_begin(struct import *ret_import, uint64_t number);
void import_end(struct import *import, bool ok, enum export_kind what,
		uint64_t value);
void import_gone(enum export_kind what, uint64_t value);

/* The number of an import; 0: it is counted nowhere. */
uint64_t import_number(enum export_kind what, uint64_t value);

/* Call after a piece of this process was freed. */
void piece_unexport(const struct table_row *row);

/* Call after a context has ended, which also ends the imports opened in it. */
void imports_end(int device, uint64_t owner);

#endif
