/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - computes the checksum of rows.h. It is a sum over all rows, so that
 * the compiler can compute it. Each row adds the length of its name, multiplied
 * by its position. If a row is added or removed, the positions of all later
 * rows change.
 */
#include "machine/store/rows.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/value.h"

enum nvml_place {
#define NVML(symbol, ...) NVML_##symbol,
#include "abi/nvml/nvml.def"
#undef NVML
	NVML_ROWS
};

enum cuda_place {
#define CUDA_SYMBOL(symbol, ...) CUDA_##symbol,
#include "abi/cuda/cuda_symbols.def"
	CUDA_ROWS
};

#define PLACED(name, place) +sizeof #name *((place) + 1)

uint32_t gkf_rows_check(void)
{
	return (uint32_t)(sizeof(struct gkf_board)
#define NVML(symbol, ...) PLACED(symbol, NVML_##symbol)
#include "abi/nvml/nvml.def"
#undef NVML
#define CUDA_SYMBOL(symbol, ...) PLACED(symbol, NVML_ROWS + CUDA_##symbol)
#include "abi/cuda/cuda_symbols.def"
#define VALUE(id, ...) PLACED(id, NVML_ROWS + CUDA_ROWS + GKF_V_##id)
#include "machine/file/values.def"
#undef VALUE
#define FAULT(id, ...)         PLACED(id, GKF_FAULT_##id)
#define MACHINE_FAULT(id, ...) PLACED(id, GKF_MACHINE_FAULT_##id)
#include "machine/file/fault.def"
#undef FAULT
#undef MACHINE_FAULT
	);
}
