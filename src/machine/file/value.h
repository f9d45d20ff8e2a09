/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - the values of a device, numbered by the rows of values.def. */
#ifndef GKF_VALUE_H
#define GKF_VALUE_H

#include "machine/file/numbers.h"

enum gkf_value {
#define VALUE(id, name, min, max, unit, help, ...) GKF_V_##id,
#include "machine/file/values.def"
#undef VALUE
	GKF_V_COUNT
};

_Static_assert(GKF_V_COUNT <= GKF_VALUES_MAX, "values.def has no more rows");

#endif
