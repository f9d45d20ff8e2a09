/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - recognises a GPU in later snapshots. */
#include "format/identity.h"

#include "base/str.h"
#include "format/names.h"

#include <stdio.h>
#include <string.h>

struct gk_identity gk_identity_of(const struct gk_device *gpu)
{
	struct gk_identity who = {0};

	gk_identity_follow(&who, gpu);
	return who;
}

bool gk_identity_is(const struct gk_identity *who, const struct gk_device *d)
{
	if (d->mig_index >= 0)
		return false;
	if (*who->uuid && *d->uuid)
		return !strcmp(who->uuid, d->uuid);
	return who->index == d->index;
}

void gk_identity_follow(struct gk_identity *who, const struct gk_device *gpu)
{
	who->index = gpu->index;
	if (*gpu->uuid)
		gk_str_copy(who->uuid, sizeof who->uuid, gpu->uuid);
}

const struct gk_device *gk_identity_find(const struct gk_identity *who,
					 const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (gk_identity_is(who, &snap->devices[i]))
			return &snap->devices[i];
	return NULL;
}

char *gk_identity_text(char *dst, const struct gk_device *d)
{
	char label[GK_NAME_MAX];

	if (*d->uuid)
		gk_str_copy(dst, GK_NAME_MAX, d->uuid);
	else
		snprintf(dst, GK_NAME_MAX, "GPU %.16s",
			 gk_device_label(label, d));
	return dst;
}
