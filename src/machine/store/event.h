/*
 * event.h - what happened on a machine, for those who wait for it: a ring of
 * the last events and a word to sleep on. Events are pushed under the writers'
 * lock; readers take none.
 */
#ifndef GKF_EVENT_H
#define GKF_EVENT_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_event;
struct gkf_machine;

/*
 * Says that something happened on a device. The caller holds the writers'
 * lock. Xids are always kept; other types only once somebody is interested.
 */
void gkf_event_push(struct gkf_machine *m, uint32_t device, uint64_t type,
		    uint64_t data, uint32_t instance);

/* Declares that events of these types are waited for, for good. */
GKF_API void gkf_event_interest(struct gkf_machine *m, uint64_t types);

/* The number of the last event: where one who begins to listen begins. */
GKF_API uint64_t gkf_event_last(const struct gkf_machine *m);

/*
 * The event after *number, which becomes its number; false: none yet. Events
 * that were overwritten unread are left out.
 */
GKF_API bool gkf_event_next(const struct gkf_machine *m, uint64_t *number,
			    struct gkf_event *ret_event);

/*
 * To sleep: take the word, look whether there is anything to do, then sleep on
 * that word. Returns when anything happened since the word was taken, or
 * timeout_ns have passed; maybe earlier.
 */
GKF_API uint32_t gkf_event_word(const struct gkf_machine *m);
GKF_API void gkf_event_sleep(struct gkf_machine *m, uint32_t word,
			     uint64_t timeout_ns);

/* Ends the sleep of everybody: they look what is new. */
GKF_API void gkf_event_wake(struct gkf_machine *m);

#endif
