/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_classes.h - classes of device memory: how each is allocated and freed.
 */
#ifndef TESTS_MEMORY_CLASSES_H
#define TESTS_MEMORY_CLASSES_H

#include "abi/cuda/cuda_abi.h"

struct piece {
	const struct class *class;
	CUdeviceptr at;
	void *handle, *more;
};

struct class
{
	const char *name;
	CUresult (*take)(struct piece *p, size_t bytes);
	CUresult (*give)(struct piece *p);
};

extern const struct class memory_classes[];
extern const unsigned memory_class_count;

/* Exits when there is no class of that name. */
const struct class *find_class(const char *name);

CUresult give_virtual(struct piece *p);

/* The device that has the memory, and a pool of the program's own. */
extern CUdevice device;
extern CUmemoryPool pool;

#endif
