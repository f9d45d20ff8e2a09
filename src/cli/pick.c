/* pick.c - a part of a snapshot; see pick.h. */
#include "cli/pick.h"

#include <stdlib.h>
#include <string.h>

/* The number at *list, which moves behind it; -1 at the end. */
static long next_index(const char **list)
{
	char *end;
	long index;

	if (!**list)
		return -1;
	index = strtol(*list, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return index;
}

bool gk_pick_valid(const char *list)
{
	for (;;) {
		size_t digits = strspn(list, "0123456789");

		if (!digits || digits > 6)
			return false;
		if (!list[digits])
			return true;
		if (list[digits] != ',')
			return false;
		list += digits + 1;
	}
}

static bool named(const char *list, unsigned index)
{
	for (long i; (i = next_index(&list)) >= 0;)
		if (i == (long)index)
			return true;
	return false;
}

/* An index of the list that no GPU has, -1 when all are there. */
static long missing(const struct gk_snapshot *snap, const char *list)
{
	for (long index; (index = next_index(&list)) >= 0;) {
		size_t i = 0;

		while (i < snap->device_count &&
		       snap->devices[i].index != (unsigned long)index)
			i++;
		if (i == snap->device_count)
			return index;
	}
	return -1;
}

static void fill(const struct gk_snapshot *snap, const char *list,
		 struct gk_snapshot *part, int *moved)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_device *d = &part->devices[part->device_count];

		moved[i] = -1;
		if (!named(list, snap->devices[i].index))
			continue;
		*d = snap->devices[i];
		if (d->parent >= 0)
			d->parent = moved[d->parent];
		moved[i] = (int)part->device_count++;
	}
	for (size_t i = 0; i < snap->process_count; i++) {
		int to = moved[snap->processes[i].device];

		if (to < 0)
			continue;
		part->processes[part->process_count] = snap->processes[i];
		part->processes[part->process_count++].device = (unsigned)to;
	}
}

int gk_pick(const struct gk_snapshot *snap, const char *list, long *ret_missing,
	    struct gk_snapshot *ret_part)
{
	struct gk_snapshot part = *snap;
	int *moved = calloc(snap->device_count + 1, sizeof *moved);
	long absent = missing(snap, list);

	part.device_count = part.process_count = 0;
	part.devices = calloc(snap->device_count + 1, sizeof *part.devices);
	part.processes =
	    calloc(snap->process_count + 1, sizeof *part.processes);
	if (!moved || !part.devices || !part.processes || absent >= 0) {
		gk_pick_free(&part);
		free(moved);
		if (absent >= 0 && ret_missing)
			*ret_missing = absent;
		return absent >= 0 ? GK_ERR_NOT_FOUND : GK_ERR_NOMEM;
	}
	fill(snap, list, &part, moved);
	free(moved);
	*ret_part = part;
	return 0;
}

void gk_pick_free(struct gk_snapshot *part)
{
	free(part->devices);
	free(part->processes);
	part->devices = NULL;
	part->processes = NULL;
}
