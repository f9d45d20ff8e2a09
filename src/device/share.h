/*
 * share.h - what processes of one user share: memory of devices and events.
 *
 * The memory of a device lies in a file without a name, which the keeper's
 * descriptor alone refers to. Behind it in the file are rows, one for each
 * thing that is shared. A handle names the process, the keeper, its descriptor
 * and the row; a descriptor that is given away refers to the same file, and its
 * position is the row.
 *
 * Handles, rows and positions are what others wrote: they are copied and
 * checked before they are used. The file cannot be cut off (sealed). Memory
 * that was opened stays, whatever becomes of who shared it.
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
	GKF_SHARE_MEMORY = 1, /* a piece */
	GKF_SHARE_EVENT,
	GKF_SHARE_PHYSICAL, /* memory without addresses */
	GKF_SHARE_POOL,     /* none of its own */
	GKF_SHARE_POINTER,  /* a piece of a pool */
};

/* What is said of something shared; whoever opens it has a copy. */
struct gkf_share_about {
	enum gkf_share_kind kind;
	unsigned device;       /* of the machine */
	uint64_t offset, size; /* in the file; 0: no memory */
	uint64_t note;         /* of the caller */
};

struct gkf_shared {
	unsigned char bytes[64];
};

#define GKF_SHARE_RECORDS 8

/*
 * An event: how often it was recorded, and of the last records, each at the
 * place of its number: the last that was reached there, and who made the last
 * one. Later records may be reached before earlier ones, in other streams.
 */
struct gkf_share_event {
	_Atomic uint64_t recorded;
	_Atomic uint32_t word; /* changes whenever one is reached */
	struct gkf_share_record {
		_Atomic uint64_t reached, who;
	} record[GKF_SHARE_RECORDS];
};

/*
 * Shares; ret_row is given to gkf_share_end(), after which nobody can open it
 * any more. `base`: where the memory begins, of a device that is open; 0: none.
 * GK_ERR_NOT_SUPPORTED: this process can share nothing; GK_ERR_TOO_MANY.
 */
GKF_API int gkf_share_new(unsigned device, enum gkf_share_kind kind,
			  uint64_t base, uint64_t size, uint64_t note,
			  uint32_t *ret_row);
GKF_API void gkf_share_end(unsigned device, uint32_t row);

/*
 * The same of a piece, which is shared until it is freed; asked again it is the
 * same row.
 */
GKF_API int gkf_share_piece(unsigned device, enum gkf_share_kind kind,
			    uint64_t base, uint64_t size, uint32_t *ret_row);

/* The handle of a row; the event in it. */
GKF_API void gkf_share_handle(unsigned device, uint32_t row,
			      struct gkf_shared *ret_handle);
GKF_API struct gkf_share_event *gkf_share_event_of(unsigned device,
						   uint32_t row);

/*
 * A descriptor for a row, the program's. While it is open anywhere, or
 * something is mapped of it, gkf_share_in_use() says so, of physical memory.
 */
GKF_API int gkf_share_descriptor(unsigned device, uint32_t row, int *ret_fd);
GKF_API bool gkf_share_in_use(unsigned device, uint32_t row);

/*
 * The process ends: the host gets back what nobody else may have, even where
 * others keep the file. Of one that is killed they keep all of it, as long as
 * they have any of it open.
 */
GKF_API void gkf_share_leave(void);

/*
 * Opens what another process shares. GK_ERR_CORRUPT: that is no handle of
 * anything of this kind and machine; GK_ERR_NOT_FOUND: its process has ended,
 * or shares it no more; GK_ERR_IN_USE: it is this process's own;
 * GK_ERR_TOO_MANY: this process has all descriptors it may have. ret_fd is the
 * caller's, to be closed before anybody else runs.
 */
GKF_API int gkf_share_open(struct gkf_machine *m,
			   const struct gkf_shared *handle,
			   enum gkf_share_kind kind, int *ret_fd,
			   struct gkf_share_about *ret_about);

/* The same of a descriptor that somebody gave. */
GKF_API int gkf_share_received(struct gkf_machine *m, int fd,
			       enum gkf_share_kind kind,
			       struct gkf_share_about *ret_about);

/* The word by which an opened handle is known again. */
GKF_API uint64_t gkf_share_id(const struct gkf_shared *handle);

/*
 * Memory of an opened file as a piece of `owner`, at an address of its own, and
 * its end. all: the file as gkf_share_all() shows it, then fd does not matter;
 * or NULL. GK_ERR_NOMEM.
 */
GKF_API int gkf_share_map(int fd, void *all,
			  const struct gkf_share_about *about,
			  const struct gkf_memory_ask *ask,
			  uint64_t *ret_address);
GKF_API void gkf_share_unmap(uint64_t address);

/*
 * A whole file that was opened, until munmap(); NULL: no memory. And what a
 * handle of this file means, as gkf_share_open() has it.
 */
GKF_API void *gkf_share_all(int fd, uint64_t *ret_size);
GKF_API int gkf_share_find(struct gkf_machine *m, const void *all,
			   uint64_t size, const struct gkf_shared *handle,
			   enum gkf_share_kind kind,
			   struct gkf_share_about *ret_about);

/*
 * The same without an address, as gkf_space_map() takes it; `all` of the file.
 * NULL: no memory.
 */
GKF_API void *gkf_share_source(int fd, const struct gkf_share_about *about);
GKF_API void gkf_share_source_end(void *source,
				  const struct gkf_share_about *about);

/* The event of an opened row, and its end. NULL: no memory. */
GKF_API struct gkf_share_event *gkf_share_event_at(int fd,
						   const struct gkf_shared *h);

GKF_API void gkf_share_event_close(struct gkf_share_event *e);

/* ---- events, by whoever has them ---- */

/*
 * A new record; the number of it. GK_ERR_TOO_MANY: the one whose place it would
 * have is another process's, and not reached yet.
 */
GKF_API int gkf_share_record(const struct gkf_machine *m,
			     struct gkf_share_event *e, uint64_t *ret_number);

/*
 * With it those are reached that had its place before. may_reach(): are they?
 * Until then a record that is to tell the truth is not reached.
 */
GKF_API bool gkf_share_may_reach(struct gkf_share_event *e, uint64_t number);
GKF_API void gkf_share_reach(struct gkf_share_event *e, uint64_t number);

/*
 * abandoned(): has who made the record ended? It costs a look at /proc.
 * wait(): until it is reached or abandoned, but a short while only; is it?
 */
GKF_API bool gkf_share_reached(struct gkf_share_event *e, uint64_t number);
GKF_API bool gkf_share_abandoned(const struct gkf_machine *m,
				 struct gkf_share_event *e, uint64_t number);
GKF_API bool gkf_share_wait(const struct gkf_machine *m,
			    struct gkf_share_event *e, uint64_t number);

#endif
