/*
 * ecc.h - error counters, for the getters and for fields by id.
 */
#ifndef GKF_NVML_ECC_H
#define GKF_NVML_ECC_H

#include "fake/nvml/front.h"

/*
 * Errors of a type since the driver was loaded. NOT_SUPPORTED when ECC is off
 * or the board has none.
 */
nvmlReturn_t ecc_errors(const struct call *c, nvmlMemoryErrorType_t type,
			uint64_t *ret_count);

#endif
