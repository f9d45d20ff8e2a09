/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - throws dice for the arguments of any entry point of NVML and calls
 * it; see calls_test.c. The parameters are parsed from the rows of nvml.def.
 */
#ifndef TESTS_NVML_CALLS_H
#define TESTS_NVML_CALLS_H

#include <stdint.h>

#define CALLS_PARAMS 8

/*
 * A buffer at a page boundary: bytes [at, at + size) may be touched, no others.
 */
struct caller_buffer {
	unsigned char *pages; /* the first page that may be touched */
	unsigned char *at;
	uint32_t size;
	unsigned char before[16384]; /* its former content */
	uint32_t kept;               /* how many of its bytes were kept */
};

struct caller {
	uint64_t wanted, done, succeeded;
	uint64_t seed, dice;
	unsigned row;    /* of nvml.def: the current call */
	char wrong[256]; /* the first error; "" */
	struct caller_buffer buffers[CALLS_PARAMS * 2];
	unsigned used; /* buffers of the current call */
};

/* Looks up all entry points and parses their parameters. */
void calls_prepare(void *library);

/* Maps the buffers of a caller. */
void calls_buffers(struct caller *c);

/* Makes one random call. */
void calls_once(struct caller *c);

/* A number from 0 to n - 1. */
uint32_t calls_below(struct caller *c, uint32_t n);

/* How many functions have returned SUCCESS at least once. */
unsigned calls_that_worked(void);

const char *calls_name(unsigned row);

#endif
