/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_export.h - memory that the calling process has exported to other
 * processes, which may keep it even after this process has died. The exported
 * bytes then stay in its account, and its slot stays in use, marked as that of
 * an ended process, as long as anybody holds them.
 *
 * The kernel knows who holds the memory. Each export has a number of its own.
 * Each holder has an open file with a lock on the byte of that number
 * (base/ofd_locks.h). The file is either a descriptor that the driver gave out,
 * which carries the lock wherever it is sent, or an unnamed file in a process
 * that imported the memory.
 */
#ifndef GKL_LEDGER_EXPORT_H
#define GKL_LEDGER_EXPORT_H

#include "limit/ledger.h"

#include <stdbool.h>
#include <stdint.h>

/* Our locks begin at this offset; other programs lock no bytes that far up. */
#define GKL_EXPORT_FIRST (1ULL << 61)

/*
 * gkl_export_number(): a number that no other export has.
 * gkl_export_number_of(): the number for a handle, computed from the handle's
 * bytes.
 */
uint64_t gkl_export_number(void);
uint64_t gkl_export_number_of(const void *handle, unsigned int bytes);

/*
 * gkl_export_begin() records an export of the calling process. Returns its
 * index, GK_ERR_TOO_MANY, or GK_ERR_NOT_FOUND if the process has no slot.
 * gkl_export_change() adds to the export's bytes. Call gkl_export_end() when
 * the memory was freed, or when nobody else can hold it any longer.
 */
int gkl_export_begin(struct gkl_ledger *ledger, unsigned int device,
		     uint64_t number, uint64_t bytes);
void gkl_export_change(struct gkl_ledger *ledger, int place, int64_t bytes);
void gkl_export_end(struct gkl_ledger *ledger, int place);

/*
 * Marks a descriptor that the driver gave out with an export's number, by a
 * lock on it. False: the descriptor cannot be locked.
 */
bool gkl_export_mark(int fd, uint64_t number);

/* The number of a descriptor received from others; 0: it has none. */
uint64_t gkl_export_read(int fd);

/*
 * Marks an export as held until the returned hold is dropped; NULL: that is not
 * possible.
 */
void *gkl_export_hold(uint64_t number);
void gkl_export_drop(void *hold);

/* Whether anybody but its maker holds an export. */
bool gkl_export_is_held(uint64_t number);

#endif
