/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - copies and frees the values of a GPU. */
#include "core/driver/reading.h"

#include "base/err.h"
#include "core/read/detail_lists.h"

#include <stdlib.h>
#include <string.h>

struct gk_detail *gk_detail_new_copy(const struct gk_detail *detail)
{
	struct gk_detail *copy = malloc(gk_detail_size(detail));

	if (copy)
		gk_detail_copy(copy, detail);
	return copy;
}

/* Returns NULL if there are no items; malloc(0) may do so, too. */
static void *copy_items(const void *items, size_t count, size_t size)
{
	void *copy = count ? malloc(count * size) : NULL;

	return copy ? memcpy(copy, items, count * size) : NULL;
}

int gk_reading_copy(const struct gk_reading *from, struct gk_reading *ret_copy)
{
	struct gk_reading copy = *from;

	copy.devices = copy_items(from->devices, from->device_count,
				  sizeof *from->devices);
	copy.listed =
	    copy_items(from->listed, from->listed_count, sizeof *from->listed);
	copy.detail = from->detail ? gk_detail_new_copy(from->detail) : NULL;
	if ((from->device_count && !copy.devices) ||
	    (from->listed_count && !copy.listed) ||
	    (from->detail && !copy.detail)) {
		gk_reading_free(&copy);
		return GK_ERR_NOMEM;
	}
	*ret_copy = copy;
	return 0;
}

void gk_reading_free(struct gk_reading *reading)
{
	free(reading->devices);
	free(reading->listed);
	free(reading->detail);
	*reading = (struct gk_reading){0};
}
