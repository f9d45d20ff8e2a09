/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.h - decides whose kernels run on a device: processes take turns, as a
 * GPU divides its time among them. So the device's busy time is the union of
 * the processes' busy times.
 *
 * All threads of a process share its turn. Each MIG device has turns of its
 * own. Waiters sleep on a futex and get the device in the order of their
 * requests; every 10 ms they check whether the holder is alive. A dead holder
 * then loses its turn; a stopped holder (SIGSTOP) loses it 100 ms after the
 * turn began. If the stopped process is continued, its kernel runs on until it
 * calls gkf_turn_due(). Holders in another pid namespace cannot be checked and
 * count as alive.
 */
#ifndef GKF_TURN_H
#define GKF_TURN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdatomic.h>

struct gkf_machine;

/* How long a process may keep its turn while others wait. */
#define GKF_TURN_SLICE_NS 2000000ULL

/*
 * Waits for this process's turn, before it executes kernels on the slot's
 * device. Each successful call needs a call of gkf_turn_give(), by any thread.
 * GK_ERR_TIMEOUT when *stop became true while waiting (checked every 10 ms;
 * NULL: never): the turn was not taken. GK_ERR_NOT_FOUND for a slot that is not
 * this process's.
 */
int gkf_turn_take(struct gkf_machine *m, unsigned slot,
		  const atomic_bool *stop);

/*
 * Whether the process should give up the turn, because others wait and its
 * slice is over, or because the turn was taken away. All threads that took the
 * turn must then give it up, and take it again to continue. Cheap.
 */
bool gkf_turn_due(struct gkf_machine *m, unsigned slot);

/* Gives up the turn; the last thread of the process hands the device over. */
void gkf_turn_give(struct gkf_machine *m, unsigned slot);

/* ---- for src/machine alone ---- */

/* Hands on the turn of a slot being freed. The writers' lock may be held. */
void gkf_turn_drop(struct gkf_machine *m, unsigned slot);

/*
 * The machine time at which the slot's process was handed its turn; 0: it took
 * a free device. Later calls for the same turn return 0.
 */
uint64_t gkf_turn_passed(struct gkf_machine *m, unsigned slot);

#endif
