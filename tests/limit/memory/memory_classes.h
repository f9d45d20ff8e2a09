/* memory_classes.h - classes of device memory: how each is taken and given. */
#ifndef TESTS_MEMORY_CLASSES_H
#define TESTS_MEMORY_CLASSES_H

#include "abi/cuda_abi.h"

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

/* Ends the program when there is none of that name. */
const struct class *find_class(const char *name);

CUresult give_virtual(struct piece *p);

/* The device on which they are, and a pool of the program's own. */
extern CUdevice device;
extern CUmemoryPool pool;

#endif
