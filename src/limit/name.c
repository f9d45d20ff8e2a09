/* SPDX-License-Identifier: Apache-2.0 */
/* name.c - checks names of groups. */
#include "limit/name.h"

#include <string.h>

bool gkl_name_is_good(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t len = strlen(name);

	return len && len < GKL_NAME && name[0] != '.' &&
	       strspn(name, allowed) == len;
}
