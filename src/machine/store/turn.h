/*
 * turn.h - whose kernels run on a device: processes take turns, as a GPU
 * slices its time between them. Device time is a union, never a sum.
 *
 * Within a process all threads share its turn. Each MIG device has turns of
 * its own. Who waits sleeps on a futex and is handed the device in the order
 * of asking; meanwhile it looks every 10 ms whether the holder is still alive.
 * A dead holder loses its turn then; one that is stopped (SIGSTOP) 100 ms
 * after its turn began, and goes on with its kernel when it is continued,
 * until it asks gkf_turn_due(). Others of a foreign pid namespace cannot be
 * looked at: they count as alive.
 */
#ifndef GKF_TURN_H
#define GKF_TURN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdatomic.h>

struct gkf_machine;

/* How long a process may go on while others wait. */
#define GKF_TURN_SLICE_NS 2000000ULL

/*
 * Before this process executes kernels on the slot's device: waits until it is
 * its turn. Each take wants a give, from any thread. GK_ERR_TIMEOUT when *stop
 * became true while waiting (looked at every 10 ms; NULL: never): then nothing
 * was taken. GK_ERR_NOT_FOUND for a slot that is not this process's.
 */
int gkf_turn_take(struct gkf_machine *m, unsigned slot,
		  const atomic_bool *stop);

/*
 * Cheap: shall those who execute give up the turn, because somebody waits and
 * the slice is over, or because it was taken away? All threads that took it
 * then give it, and take it again to go on.
 */
bool gkf_turn_due(struct gkf_machine *m, unsigned slot);

/* The last thread of the process that gives hands the device over. */
void gkf_turn_give(struct gkf_machine *m, unsigned slot);

/* ---- for the machine's core ---- */

/* A slot is freed: a turn that it has is handed on. The lock may be held. */
void gkf_turn_drop(struct gkf_machine *m, unsigned slot);

/*
 * Machine time at which the slot's process was handed the turn that it has,
 * once; 0: it took a device that was free.
 */
uint64_t gkf_turn_passed(struct gkf_machine *m, unsigned slot);

#endif
