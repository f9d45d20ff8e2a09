/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible_fuzz.c - checks CUDA_VISIBLE_DEVICES: any text chooses devices that
 * exist, each once.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdint.h>
#include <gpukit/gpukit.h>

#include <stdlib.h>
#include <string.h>

#define COUNT 6

static const struct gk_candidate candidates[COUNT] = {
    {.index = 0, .mig_index = -1, .uuid = "GPU-aa11", .pci_bus = 2},
    {.index = 1, .mig_index = -1, .uuid = "GPU-aa22", .pci_bus = 1},
    {.index = 2,
     .mig_index = -1,
     .uuid = "GPU-bb33",
     .pci_bus = 3,
     .mig_enabled = true},
    {.index = 2, .mig_index = 0, .uuid = "MIG-cc44"},
    {.index = 2, .mig_index = 3, .uuid = "MIG-cc55"},
    {.index = 3, .mig_index = -1, .uuid = "GPU-dd66", .speed = 9},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *value = strndup((const char *)data, size);
	unsigned chosen[COUNT], seen = 0;
	size_t count = 0;
	long bad;

	if (!value ||
	    gk_cuda_visible(value, size & 1, candidates, COUNT, chosen, &count,
			    &bad) ||
	    count > COUNT || bad >= (long)strlen(value) + 1)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (chosen[i] >= COUNT || (seen >> chosen[i] & 1))
			abort();
		seen |= 1U << chosen[i];
	}
	free(value);
	return 0;
}
