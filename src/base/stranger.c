/* SPDX-License-Identifier: Apache-2.0 */
/* stranger.c - finds out whether a user exists in this user namespace. */
#include "base/stranger.h"
#include "base/fs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Whether an owner is outside this user namespace: all such owners appear as
 * the overflow id. For example, in a container that shares a directory of the
 * host, the host's root does. If all user ids are mapped, as on the host, the
 * overflow id is an ordinary user.
 */
static bool is_outside(uid_t owner)
{
	char map[128], overflow[32];
	unsigned first, to, count;

	if (gk_read_at(AT_FDCWD, "/proc/sys/kernel/overflowuid", overflow,
		       sizeof overflow) < 0 ||
	    gk_read_at(AT_FDCWD, "/proc/self/uid_map", map, sizeof map) < 0)
		return false;
	return strtoul(overflow, NULL, 10) == owner &&
	       (sscanf(map, "%u %u %u", &first, &to, &count) != 3 ||
		count != UINT_MAX);
}

bool gk_is_stranger(uid_t owner)
{
	return owner && owner != geteuid() && !is_outside(owner);
}
