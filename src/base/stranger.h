/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stranger.h - decides which owners' files in a shared directory may be
 * trusted: those of this user and of root.
 */
#ifndef GK_BASE_STRANGER_H
#define GK_BASE_STRANGER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether an owner is neither this user nor root. In a container, the host's
 * root counts as root too.
 */
bool gk_is_stranger(uid_t owner);

#endif
