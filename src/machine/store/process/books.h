/* SPDX-License-Identifier: Apache-2.0 */
/*
 * books.h - accounts for the device memory of this process: attach once per
 * device, then charge and refund bytes.
 *
 * Each device has books with a robust lock of their own, so taking memory reads
 * no other process's slot and waits only for processes that take memory of that
 * device at the same moment. The books stay correct if a process is killed at
 * any instruction: its memory is freed when it is reaped.
 */
#ifndef GKF_BOOKS_H
#define GKF_BOOKS_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;
struct gkf_slot;

/*
 * Attaches this process, which uses CUDA, to a device: like gkf_attach() with
 * type compute and a wave whose work is measured (busy.h). instance: a MIG
 * instance, or GKF_NO_INSTANCE. If there is no free slot or another process has
 * exclusive use, dead processes are removed first. gkf_detach() or the death of
 * the process detaches it and frees all its memory.
 */
GKF_API int gkf_books_attach(struct gkf_machine *m, unsigned device,
			     uint32_t instance, unsigned *ret_slot);

/*
 * The bytes that the nth context (from 0) of a process takes on a device. The
 * first takes the profile's context_mib; later ones share the code that it
 * loaded, so they take three quarters.
 */
GKF_API uint64_t gkf_books_context(const struct gkf_machine *m, unsigned device,
				   unsigned nth);

/*
 * Take device memory for a slot of this process, or give it back; any thread.
 * Exact: the sum never exceeds the device or the GPU instance. GK_ERR_NO_SPACE
 * when too little is left, even after dead processes were removed; GK_ERR_RANGE
 * when more is refunded than held; GK_ERR_NOT_FOUND when the slot is not this
 * process's (also in a forked child); GK_ERR_TIMEOUT when another process has
 * held the books for a second; after such a timeout, further calls wait only a
 * millisecond. On errors nothing changes.
 */
GKF_API int gkf_books_charge(struct gkf_machine *m, unsigned slot,
			     uint64_t bytes);
int gkf_books_refund(struct gkf_machine *m, unsigned slot, uint64_t bytes);

/*
 * Like gkf_books_charge() and gkf_books_refund(), but for managed memory that
 * is resident on the device. It takes space like other memory, but a driver
 * does not count it as memory of a process. It is evicted when another process
 * needs the space; a refund then gives back less.
 */
int gkf_books_charge_managed(struct gkf_machine *m, unsigned slot,
			     uint64_t bytes);
int gkf_books_refund_managed(struct gkf_machine *m, unsigned slot,
			     uint64_t bytes);

/*
 * The rest is for src/machine alone. A device's slots appear, disappear and
 * change their bytes only while the books of that device are locked. Where both
 * locks are needed, take the writers' lock first.
 */
int gkf_books_lock(struct gkf_machine *m, unsigned device);
int gkf_books_lock_within(struct gkf_machine *m, unsigned device,
			  uint64_t patience_ns);
void gkf_books_unlock(struct gkf_machine *m, unsigned device);

/* For GK_ASSERT: whether the calling thread holds the books of a device. */
bool gkf_books_held(const struct gkf_machine *m, unsigned device);

/*
 * gkf_books_enter() adds a slot to the sums; it gets a copy of the slot, which
 * is not visible yet. gkf_books_leave() subtracts a slot of the file, which is
 * still visible; `device` is the slot's device, as the caller has checked it.
 * The caller holds the device's books.
 */
void gkf_books_enter(struct gkf_machine *m, const struct gkf_slot *slot);
void gkf_books_leave(struct gkf_machine *m, const struct gkf_slot *slot,
		     unsigned device);

/*
 * Reduces a slot's memory to `bytes` bytes, and its managed memory to none. The
 * caller holds the device's books.
 */
void gkf_books_keep(struct gkf_machine *m, struct gkf_slot *slot,
		    unsigned device, uint64_t bytes);

/*
 * In books.c: does what gkf_books_charge() does, but without removing dead
 * processes.
 */
int gkf_books_try(struct gkf_machine *m, unsigned index, uint64_t bytes,
		  bool managed);

#endif
