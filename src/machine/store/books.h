/*
 * books.h - device memory of this process in the machine's one ledger:
 * attach once per device, then take and give back bytes.
 *
 * The books of a device have a robust lock of their own, so taking memory
 * looks at no other process and waits for none but those who take memory of
 * that device at the same moment. A process that is killed at any instruction
 * leaves them right: what it held is free when it is reaped.
 */
#ifndef GKF_BOOKS_H
#define GKF_BOOKS_H

#include "base/export.h"

#include <stdint.h>

struct gkf_machine;
struct gkf_slot;

/*
 * Puts this process, which runs CUDA, on a device: as gkf_attach() with type
 * compute and as one whose work is measured (busy.h). instance: of MIG, or
 * GKF_NO_INSTANCE. When there is no slot or somebody else has the device for
 * himself, the dead are removed first. gkf_detach() or death ends it, and
 * gives back all that it holds.
 */
GKF_API int gkf_books_attach(struct gkf_machine *m, unsigned device,
			     uint32_t instance, unsigned *ret_slot);

/*
 * The bytes that the nth context (from 0) of a process costs on a device. The
 * first costs the profile's context_mib; the code that it loads is there for
 * the further ones, so they cost three quarters.
 */
GKF_API uint64_t gkf_books_context(const struct gkf_machine *m, unsigned device,
				   unsigned nth);

/*
 * Takes device memory for a slot of this process, or gives it back; any
 * thread. Exact: never more than the device, or the GPU instance, has.
 * GK_ERR_NO_SPACE when it has not that much left, not even when the dead are
 * removed. GK_ERR_RANGE when more is given back than held, GK_ERR_NOT_FOUND
 * when the slot is not this process's (in a forked child, too),
 * GK_ERR_TIMEOUT when a stopped process keeps the books for a second, or still
 * keeps them a millisecond after such a time. Nothing changes then.
 */
GKF_API int gkf_books_charge(struct gkf_machine *m, unsigned slot,
			     uint64_t bytes);
int gkf_books_refund(struct gkf_machine *m, unsigned slot, uint64_t bytes);

/*
 * The same of managed memory that has come to the device: it is taken like any
 * other, but a driver does not count it as the memory of a process, and it is
 * taken away when another process needs room; then less is given back.
 */
int gkf_books_charge_managed(struct gkf_machine *m, unsigned slot,
			     uint64_t bytes);
int gkf_books_refund_managed(struct gkf_machine *m, unsigned slot,
			     uint64_t bytes);

/*
 * The rest is for the machine's core: the books of a device, locked. A
 * slot's bytes, and its coming and going, change under them. Take the
 * writers' lock first where both are needed.
 */
int gkf_books_lock(struct gkf_machine *m, unsigned device);
int gkf_books_lock_within(struct gkf_machine *m, unsigned device,
			  uint64_t patience_ns);
void gkf_books_unlock(struct gkf_machine *m, unsigned device);

/*
 * A slot comes (a copy, before it is visible) or goes (in the file, while it
 * still is visible: its device is what the caller checked).
 */
void gkf_books_enter(struct gkf_machine *m, const struct gkf_slot *slot);
void gkf_books_leave(struct gkf_machine *m, const struct gkf_slot *slot,
		     unsigned device);

#endif
