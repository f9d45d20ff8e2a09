/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - the events of a machine: a ring of the last ones, and a word on
 * which to wait for more. Events are pushed under the writers' lock; readers
 * take no lock.
 */
#ifndef GKF_EVENT_H
#define GKF_EVENT_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_event;
struct gkf_machine;

/*
 * Adds an event of a device. The caller holds the writers' lock. Xids are
 * always kept, other types only after gkf_event_interest().
 */
void gkf_event_push(struct gkf_machine *m, uint32_t device, uint64_t type,
		    uint64_t data, uint32_t instance);

/* From now on events of these types are kept. */
GKF_API void gkf_event_interest(struct gkf_machine *m, uint64_t types);

/* The number of the last event; a new listener starts after it. */
GKF_API uint64_t gkf_event_last(const struct gkf_machine *m);

/*
 * Reads the event after *number and sets *number to its number; false: there is
 * none yet. Events overwritten before they were read are skipped.
 */
GKF_API bool gkf_event_next(const struct gkf_machine *m, uint64_t *number,
			    struct gkf_event *ret_event);

/*
 * To wait, read the word, check for events, then sleep with that word. The
 * sleep ends when an event has occurred since the word was read, after
 * timeout_ns, or sometimes earlier.
 */
GKF_API uint32_t gkf_event_word(const struct gkf_machine *m);
GKF_API void gkf_event_sleep(struct gkf_machine *m, uint32_t word,
			     uint64_t timeout_ns);

/* Wakes all sleepers, which then check what changed. */
GKF_API void gkf_event_wake(struct gkf_machine *m);

#endif
