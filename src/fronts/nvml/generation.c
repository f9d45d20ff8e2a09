/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generation.c - names the driver generation that this library imitates. It is
 * compiled once per generation; -DFRONT_GENERATION is the id of its row, and
 * -DFRONT_LEVEL its driver.
 */
#include "fronts/nvml/front.h"

#define ROW_(id) &gkf_generations[GKF_GENERATION_##id]
#define ROW(id)  ROW_(id)

const struct gkf_generation *const front_generation = ROW(FRONT_GENERATION);

/*
 * Only drivers of the branch 525 have these, which no header declares; their
 * Python binding does. What a board answers is not known.
 */
#if FRONT_LEVEL / 1000 == 525
NVML_EXPORT nvmlReturn_t nvmlDeviceCcuGetStreamState(nvmlDevice_t device,
						     unsigned int *state);
NVML_EXPORT nvmlReturn_t nvmlDeviceCcuSetStreamState(nvmlDevice_t device,
						     unsigned int state);

nvmlReturn_t nvmlDeviceCcuGetStreamState(nvmlDevice_t device,
					 unsigned int *state)
{
	(void)device;
	(void)state;
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceCcuSetStreamState(nvmlDevice_t device,
					 unsigned int state)
{
	(void)device;
	(void)state;
	return NVML_ERROR_NOT_SUPPORTED;
}
#endif
