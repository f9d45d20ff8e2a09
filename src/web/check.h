/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - parses events and checks that each has the form of its kind. A
 * peer's events are not trusted.
 */
#ifndef GK_WEB_CHECK_H
#define GK_WEB_CHECK_H

#include "web/event.h"

#include <jansson.h>
#include <stdbool.h>

#define GK_WEB_DEVICES 256 /* maximum devices of a host */

/* Return a member of an object, or NaN or "" if it has another type. */
double gk_member_number(const json_t *object, const char *key);
const char *gk_member_text(const json_t *object, const char *key);

/*
 * Parses an event; the caller releases it with json_decref(). `own` says that
 * this program made the event. In a peer's event, numbers outside the ranges of
 * their metrics are removed, and *ret_changed is set. Returns NULL if the text
 * is not an event of that kind, if it would need more memory than any valid
 * event, or if it contains a line end, which browsers would take for the end of
 * the event.
 */
json_t *gk_event_read(enum gk_event_kind kind, const char *json, size_t len,
		      bool own, bool *ret_changed);

#endif
