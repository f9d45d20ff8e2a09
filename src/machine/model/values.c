/* values.c - the table of what can be read and set; see values.def. */
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
