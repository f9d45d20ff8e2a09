/*
 * export_table.h - what cuGetExportTable of this libcuda has for the libraries
 * that come with it. They work without, on a driver that has no such table.
 */
#ifndef GKF_CUDA_EXPORT_TABLE_H
#define GKF_CUDA_EXPORT_TABLE_H

#include <stddef.h>

/* The first 16 bytes are its UUID. */
#define GPUKIT_TABLE_UUID "gpukit runtime 1"

struct gpukit_table {
	size_t size; /* of the table, for what later versions append */
	/*
	 * Count a call that a library above refused, by its name: the runtime,
	 * cuBLAS. After cuInit.
	 */
	void (*refused)(const char *symbol);
	void (*refused_blas)(const char *symbol);
};

#endif
