/*
 * versions.c - since which driver a version of a struct is taken.
 */
#include "fronts/nvml/front.h"

const unsigned front_struct_since[STRUCT_COUNT] = {
#define STRUCT_SINCE(macro, major, minor)                                      \
	[STRUCT_##macro] = GKF_LEVEL(major, minor),
#include "abi/nvml_struct_since.def"
#undef STRUCT_SINCE
};
