/*
 * default.c - defines every function that nobody has written: not supported,
 * and counted. A strong definition in another file of this library wins. Lists
 * of done and not done: nm -D libcuda.so.1, ' T ' and ' W '.
 */
#include "fronts/cuda/front.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

#define CUDA(symbol, base, since, stream, params)                              \
	__attribute__((weak)) CUresult symbol params                           \
	{                                                                      \
		return front_refuse(ROW_##symbol);                             \
	}
#include "abi/cuda.def"
#undef CUDA
