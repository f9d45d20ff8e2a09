/* owner.c - gives the owners of memory their colours and letters. */
#include "tui/lanes/state.h"

#include "format/model.h"
#include "tui/model.h"

enum ink lanes_owner_ink(int owner)
{
	return (enum ink)(INK_OWNER + owner);
}

char lanes_owner_letter(int owner)
{
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
	return gk_short_model(t->snap, d, width, dst);
}

bool lanes_one_model(const struct tui *t)
{
	return gk_one_model(t->snap);
}
