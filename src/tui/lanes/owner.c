/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - assigns inks and letters to the owners of memory. */
#include "tui/lanes/state.h"

#include "base/assert.h"
#include "base/str.h"
#include "format/model.h"
#include "format/names.h"
#include "tui/model/model.h"

#include <string.h>

enum ink lanes_owner_ink(int owner)
{
	GK_ASSERT(owner >= 0 && owner <= GK_OWNERS);
	return (enum ink)(INK_OWNER + owner);
}

char lanes_owner_letter(int owner)
{
	GK_ASSERT(owner >= 0 && owner <= GK_OWNERS);
	return owner < GK_OWNERS ? (char)('a' + owner) : 'x';
}

int lanes_owner(const struct tui *t, const struct gk_process *p)
{
	return gk_owner_of(&t->lanes.owners, t->snap, p);
}

bool lanes_by_user(const struct tui *t)
{
	return t->lanes.owners.count > 1;
}

int lanes_shares(const struct tui *t, size_t device,
		 struct gk_share shares[GK_SHARES])
{
	return gk_shares_of(&t->lanes.owners, t->snap, device, shares);
}

char *lanes_model(const struct tui *t, const struct gk_device *d, int width,
		  char dst[GK_NAME_MAX])
{
	static const char mark[] = " unified";
	int room = width - (int)(sizeof mark - 1);

	if (!gk_is_unified(d) || room < (int)sizeof mark)
		return gk_short_model(t->snap, d, width, dst);
	gk_short_model(t->snap, d, room, dst);
	gk_str_copy(dst + strlen(dst), GK_NAME_MAX - strlen(dst), mark);
	return dst;
}

bool lanes_one_model(const struct tui *t)
{
	return gk_one_model(t->snap);
}
