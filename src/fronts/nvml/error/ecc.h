/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc.h - ECC error counts, for the getters and the fields by id.
 */
#ifndef GKF_NVML_ECC_H
#define GKF_NVML_ECC_H

#include "fronts/nvml/front.h"

/*
 * Sums the errors of one type and counter over the locations in the mask
 * `places` (GKF_ECC_ALL_LOCATIONS, GKF_ECC_SRAM, GKF_ECC_BIT(GKF_ECC_L2)...).
 * NOT_SUPPORTED: ECC is off.
 */
nvmlReturn_t ecc_count(const struct call *c, nvmlMemoryErrorType_t type,
		       nvmlEccCounterType_t counter, unsigned places,
		       uint64_t *ret_count);

/*
 * The mask of locations that NVML's location comprises; 0 if the board does not
 * report it separately for errors of this type.
 */
unsigned ecc_places(const struct call *c, nvmlMemoryErrorType_t type,
		    nvmlMemoryLocation_t location);

#endif
