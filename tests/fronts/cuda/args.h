/*
 * args.h - what the parameters of every entry point of CUDA are, read from
 * the text of the rows of cuda.def.
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
	ARG_HANDLE,   /* of an object: CUstream... */
	ARG_CALLBACK, /* a function of the caller */
	ARG_TEXT,     /* const char * */
	ARG_POINTER,  /* to anything else */
};

struct arg {
	enum arg_kind kind;
	char type[64]; /* "const CUDA_MEMCPY2D *" */
	char name[48];
};

/* A struct by value is no number, but none reads more of it than there is. */
typedef int any_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			 uint64_t);

struct entry_point {
	const char *symbol, *params;
	any_function *call;
	bool weak; /* nobody has written it */
	unsigned count;
	struct arg arg[ARGS_MAX];
};

extern struct entry_point entry_points[]; /* by row of cuda.def */
extern const unsigned entry_point_count;

/* Looks up all entry points and parses their parameters. */
void args_prepare(void *library);

/* Calls one with as many of the values as it takes. */
int args_call(const struct entry_point *e, const uint64_t *values);

#endif
