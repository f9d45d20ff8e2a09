/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - shares memory of devices and events between processes of one user.
 *
 * A device's memory is an unnamed file to which only a descriptor of the keeper
 * thread refers. The memory in the file is followed by rows, one for each thing
 * that is shared. A handle contains the process, its keeper thread, the
 * descriptor and the row. An exported descriptor refers to the same file, and
 * its file position is that of the row.
 *
 * Handles, rows and positions come from other processes, so they are copied and
 * checked before use. The file is sealed and cannot be truncated. Memory that
 * was opened stays valid, whatever happens to the process that shared it.
 */
#ifndef GKF_SHARE_H
#define GKF_SHARE_H

#include "base/export.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_memory_ask;

enum gkf_share_kind {
	GKF_SHARE_MEMORY = 1, /* a piece of memory */
	GKF_SHARE_EVENT,
	GKF_SHARE_PHYSICAL, /* memory without an address */
	GKF_SHARE_POOL,     /* a pool; has no memory of its own */
	GKF_SHARE_POINTER,  /* a piece of a pool */
};

/*
 * Describes a shared thing; a process that opens the thing gets a copy of this
 * struct.
 */
struct gkf_share_about {
	enum gkf_share_kind kind;
	unsigned device;       /* index in the machine */
	uint64_t offset, size; /* range in the file; size 0: no memory */
	uint64_t note;         /* chosen by the caller */
};

struct gkf_shared {
	unsigned char bytes[64];
};

#define GKF_SHARE_RECORDS 8

/*
 * An event. `recorded` is the number of its records so far. Record n is in the
 * slot record[n % GKF_SHARE_RECORDS]. In a slot, `reached` is the number of the
 * last record that was reached, and `who` is the process that made the latest
 * record. Records of different streams may be reached out of order.
 */
struct gkf_share_event {
	_Atomic uint64_t recorded;
	_Atomic uint32_t word; /* changes whenever a record is reached */
	struct gkf_share_record {
		_Atomic uint64_t reached, who;
	} record[GKF_SHARE_RECORDS];
};

/*
 * Shares something until gkf_share_end() is called for its row; then it can no
 * longer be opened. `base` is the start of its memory, which belongs to an open
 * device, or 0. GK_ERR_NOT_SUPPORTED: this process cannot share;
 * GK_ERR_TOO_MANY: no free row.
 */
GKF_API int gkf_share_new(unsigned device, enum gkf_share_kind kind,
			  uint64_t base, uint64_t size, uint64_t note,
			  uint32_t *ret_row);
GKF_API void gkf_share_end(unsigned device, uint32_t row);

/*
 * Shares a piece until the piece is freed; further calls return the same row.
 */
GKF_API int gkf_share_piece(unsigned device, enum gkf_share_kind kind,
			    uint64_t base, uint64_t size, uint32_t *ret_row);

/* Return the handle of a row, and its event. */
GKF_API void gkf_share_handle(unsigned device, uint32_t row,
			      struct gkf_shared *ret_handle);
GKF_API struct gkf_share_event *gkf_share_event_of(unsigned device,
						   uint32_t row);

/*
 * Makes a descriptor for a row; the program owns it. For physical memory,
 * gkf_share_in_use() returns true while the descriptor or a mapping of it is
 * open in any process.
 */
GKF_API int gkf_share_descriptor(unsigned device, uint32_t row, int *ret_fd);
GKF_API bool gkf_share_in_use(unsigned device, uint32_t row);

/*
 * Called at process exit: gives all unshared memory back to the system, even if
 * other processes keep the file open. If a process is killed instead, all of
 * its memory exists until no process has the file open.
 */
GKF_API void gkf_share_leave(void);

/*
 * Opens something that another process shares. The caller owns *ret_fd and
 * closes it before running code of the program. Errors:
 *
 * GK_ERR_CORRUPT: not a handle of this kind and of this machine.
 * GK_ERR_NOT_FOUND: the other process has ended or no longer shares it.
 * GK_ERR_IN_USE: the handle is this process's own. GK_ERR_TOO_MANY: no free
 * descriptor.
 */
GKF_API int gkf_share_open(struct gkf_machine *m,
			   const struct gkf_shared *handle,
			   enum gkf_share_kind kind, int *ret_fd,
			   struct gkf_share_about *ret_about);

/*
 * Like gkf_share_open(), but with a descriptor received from another process.
 */
GKF_API int gkf_share_received(struct gkf_machine *m, int fd,
			       enum gkf_share_kind kind,
			       struct gkf_share_about *ret_about);

/* Returns an id, which is the same for all handles of one shared thing. */
GKF_API uint64_t gkf_share_id(const struct gkf_shared *handle);

/*
 * gkf_share_map() maps memory of an opened file as a piece that belongs to
 * ask->owner, at a new address; it may fail with GK_ERR_NOMEM. If `all` is not
 * NULL, it is the file as mapped by gkf_share_all(), and fd is ignored.
 * gkf_share_unmap() unmaps the piece.
 */
GKF_API int gkf_share_map(int fd, void *all,
			  const struct gkf_share_about *about,
			  const struct gkf_memory_ask *ask,
			  uint64_t *ret_address);
GKF_API void gkf_share_unmap(uint64_t address);

/*
 * gkf_share_all() maps a whole opened file, until munmap(); NULL: no memory.
 * gkf_share_find() finds what a handle of this file refers to, with the checks
 * and errors of gkf_share_open().
 */
GKF_API void *gkf_share_all(int fd, uint64_t *ret_size);
GKF_API int gkf_share_find(struct gkf_machine *m, const void *all,
			   uint64_t size, const struct gkf_shared *handle,
			   enum gkf_share_kind kind,
			   struct gkf_share_about *ret_about);

/* Maps memory of an opened file for use by gkf_space_map(); NULL: no memory. */
GKF_API void *gkf_share_source(int fd, const struct gkf_share_about *about);
GKF_API void gkf_share_source_end(void *source,
				  const struct gkf_share_about *about);

/* Map the event of an opened row, and unmap it. NULL: no memory. */
GKF_API struct gkf_share_event *gkf_share_event_at(int fd,
						   const struct gkf_shared *h);

GKF_API void gkf_share_event_close(struct gkf_share_event *e);

/* ---- events, in any process ---- */

/*
 * Makes a record and returns its number. GK_ERR_TOO_MANY: the record's slot
 * contains an unreached record of another process.
 */
GKF_API int gkf_share_record(const struct gkf_machine *m,
			     struct gkf_share_event *e, uint64_t *ret_number);

/*
 * gkf_share_reach() marks a record as reached, and with it all earlier records
 * in its slot. gkf_share_may_reach() returns whether all those earlier records
 * are reached already; if not, the caller should wait.
 */
GKF_API bool gkf_share_may_reach(struct gkf_share_event *e, uint64_t number);
GKF_API void gkf_share_reach(struct gkf_share_event *e, uint64_t number);

/*
 * gkf_share_abandoned() returns whether the process that made the record has
 * ended; it reads /proc. gkf_share_wait() waits a short time for the record to
 * be reached or abandoned, and returns whether it is.
 */
GKF_API bool gkf_share_reached(struct gkf_share_event *e, uint64_t number);
GKF_API bool gkf_share_abandoned(const struct gkf_machine *m,
				 struct gkf_share_event *e, uint64_t number);
GKF_API bool gkf_share_wait(const struct gkf_machine *m,
			    struct gkf_share_event *e, uint64_t number);

#endif
