/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - the parameters of every entry point of CUDA, parsed from the rows of
 * cuda_symbols.def.
 */
#ifndef TESTS_CUDA_ARGS_H
#define TESTS_CUDA_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#define ARGS_MAX 16

enum arg_kind {
	ARG_NUMBER,   /* sizes, flags, enums */
	ARG_DEVICE,   /* CUdevice */
	ARG_ADDRESS,  /* CUdeviceptr */
	ARG_HANDLE,   /* of an object: CUstream and others */
	ARG_CALLBACK, /* a function of the caller */
	ARG_TEXT,     /* const char * */
	ARG_POINTER,  /* to anything else */
};

struct arg {
	enum arg_kind kind;
	char type[64]; /* "const CUDA_MEMCPY2D *" */
	char name[48];
};

/* A struct by value is no number, but none reads more than is passed. */
typedef int any_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t);

struct entry_point {
	const char *symbol, *params;
	any_function *call;
	bool weak; /* not implemented */
	unsigned count;
	struct arg arg[ARGS_MAX];
};

/* In the order of cuda_symbols.def. */
extern struct entry_point entry_points[];
extern const unsigned entry_point_count;

/* Looks up all entry points and parses their parameters. */
void args_prepare(void *library);

/* Calls one with as many of the values as it takes. */
int args_call(const struct entry_point *e, const uint64_t *values);

#endif
