/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - owns the table of values (values.def), and reads those that are
 * forced.
 */
#include "machine/model/forced.h"
#include "machine/model/model.h"

#include <string.h>

const struct gkf_value_info gkf_values[GKF_V_COUNT] = {
#define VALUE(id, name_, min_, max_, unit_, help_, ...)                        \
	[GKF_V_##id] = {.name = name_,                                         \
			.unit = unit_,                                         \
			.help = help_,                                         \
			.min = min_,                                           \
			.max = max_},
#include "machine/file/value.h"
#include "machine/file/values.def"
#undef VALUE
};

int gkf_value_by_name(const char *name)
{
	for (int i = 0; i < GKF_V_COUNT; i++)
		if (!strcmp(gkf_values[i].name, name))
			return i;
	return -1;
}

void gkf_values_forced(struct gkf_machine *m, unsigned device,
		       int64_t ret_set[GKF_VALUES_MAX])
{
	const struct gkf_device *dev = &m->file->device[device];
	bool broken =
	    atomic_load_explicit(&dev->fault.active, memory_order_relaxed);

	for (int v = 0; v < GKF_V_COUNT; v++) {
		ret_set[v] =
		    atomic_load_explicit(&dev->set[v], memory_order_relaxed);
		if (broken || ret_set[v] != GKF_UNSET)
			ret_set[v] =
			    gkf_value_forced(m, device, (enum gkf_value)v);
	}
}
