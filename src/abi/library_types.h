/*
 * library_types.h - types that the libraries beside cuBLAS share: numbers of
 * data types, and complex numbers. Facts only, under CUDA's own names.
 */
#ifndef GPUKIT_ABI_LIBRARY_TYPES_H
#define GPUKIT_ABI_LIBRARY_TYPES_H

typedef enum {
	CUDA_R_32F = 0,
	CUDA_R_64F = 1,
	CUDA_R_16F = 2,
	CUDA_R_8I = 3,
	CUDA_C_32F = 4,
	CUDA_C_64F = 5,
	CUDA_C_16F = 6,
	CUDA_R_32I = 10,
	CUDA_R_16BF = 14,
	CUDA_C_16BF = 15,
} cudaDataType;

typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

typedef struct CUstream_st *cudaStream_t;

typedef struct {
	float x, y;
} cuComplex;

typedef struct {
	double x, y;
} cuDoubleComplex;

#endif
