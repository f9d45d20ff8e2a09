/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versions.c - for each version of a struct, the first driver that accepts it.
 */
#include "fronts/nvml/front.h"

const unsigned front_struct_since[STRUCT_COUNT] = {
#define STRUCT_SINCE(macro, major, minor)                                      \
	[STRUCT_##macro] = GKF_LEVEL(major, minor),
#include "abi/nvml/nvml_struct_since.def"
#undef STRUCT_SINCE
};
