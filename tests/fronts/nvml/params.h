/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.h - the parameters of every entry point of NVML, parsed from the rows
 * of nvml.def.
 */
#ifndef TESTS_NVML_PARAMS_H
#define TESTS_NVML_PARAMS_H

#include "fronts/nvml/calls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum kind {
	SCALAR,
	TEXT_IN,
	TEXT_OUT, /* its length is another parameter */
	THING,    /* a pointer to one of types[] */
	LIST,     /* a pointer to a list whose length is another parameter */
	HANDLE,
};

enum handle {
	DEVICE,
	GPU_INSTANCE,
	COMPUTE_INSTANCE,
	EVENT_SET,
	GPM_SAMPLE,
	UNIT,
	HANDLES,
};

#define VERSIONS_MAX 3

/* The type of a pointer's target. */
struct type {
	const char *name;
	uint32_t size;
	uint32_t versions[VERSIONS_MAX]; /* 0: has none */
};

struct param {
	enum kind kind;
	bool counts;       /* it is the length of others */
	bool counts_bytes; /* of lists: in bytes, not elements */
	int counted_by;    /* the parameter that is the length, or -1 */
	int handle;        /* enum handle of the value or target, or -1 */
	uint32_t size;     /* of the target, or of one element */
	const struct type *type;
	char name[48];
};

typedef long any_call(long, long, long, long, long, long, long, long);

struct function {
	const char *name, *params;
	any_call *call;
	bool roomy;
	_Atomic bool worked; /* it has returned SUCCESS */
	unsigned count;
	struct param param[CALLS_PARAMS];
};

extern struct function functions[]; /* in the order of nvml.def */
extern const unsigned function_count;

/* Looks up all entry points and parses their parameters. */
void params_prepare(void *library);

/* Ends the test: the test code itself is wrong. */
void give_up(const char *what, const char *text) __attribute__((noreturn));

#endif
