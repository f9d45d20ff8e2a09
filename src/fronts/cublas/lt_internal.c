/*
 * lt_internal.c - refuses what cuBLASLt has for NVIDIA's own cuBLAS.
 *
 * Whatever a caller passes is left alone, in registers and on its stack: the
 * prototypes are not known.
 */
#include "fronts/common/native.h"
#include "fronts/cublas/lt.h"

#if FRONT_MAJOR >= 13
#define MAJOR_13 LT_SINCE_12
#define MAJOR_12 __attribute__((visibility("hidden")))
#else
#define MAJOR_13 __attribute__((visibility("hidden")))
#define MAJOR_12 LT_SINCE_12
#endif
#define MAJOR_both LT_SINCE_12

#define CUBLASLT_INTERNAL(symbol, majors)                                      \
	MAJOR_##majors cublasStatus_t symbol(void);                            \
	cublasStatus_t symbol(void)                                            \
	{                                                                      \
		native_refuse(GPUKIT_CUBLAS, #symbol);                         \
		return CUBLAS_STATUS_NOT_SUPPORTED;                            \
	}
#include "abi/cublaslt_internal.def"
#undef CUBLASLT_INTERNAL
