/*
 * stranger.h - who may be trusted with what lies in a shared place: this user
 * and root.
 */
#ifndef GK_BASE_STRANGER_H
#define GK_BASE_STRANGER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether an owner is neither this user nor root, be it the host's root in a
 * container.
 */
bool gk_is_stranger(uid_t owner);

#endif
