/*
 * ecc.h - error counters, for the getters and for fields by id.
 */
#ifndef GKF_NVML_ECC_H
#define GKF_NVML_ECC_H

#include "fronts/nvml/front.h"

/*
 * Errors of a type, of a counter, at bits of places (GKF_ECC_ALL_LOCATIONS,
 * GKF_ECC_SRAM, GKF_ECC_BIT(GKF_ECC_L2)...). NOT_SUPPORTED: ECC is off.
 */
nvmlReturn_t ecc_count(const struct call *c, nvmlMemoryErrorType_t type,
		       nvmlEccCounterType_t counter, unsigned places,
		       uint64_t *ret_count);

/*
 * The places that a location of NVML stands for, of errors of a type; 0: this
 * board does not tell them apart.
 */
unsigned ecc_places(const struct call *c, nvmlMemoryErrorType_t type,
		    nvmlMemoryLocation_t location);

#endif
