/* value.h - the values of a device, numbered by the rows of values.def. */
#ifndef GKF_VALUE_H
#define GKF_VALUE_H

enum gkf_value {
#define VALUE(id, name, min, max, unit, help, ...) GKF_V_##id,
#include "machine/file/values.def"
#undef VALUE
	GKF_V_COUNT
};

#endif
