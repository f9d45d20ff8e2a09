/*
 * cuda_dice.h - throws dice for the arguments of any entry point of CUDA that
 * somebody has written, and calls it; see cuda_calls_test.c.
 */
#ifndef TESTS_FAKE_CUDA_DICE_H
#define TESTS_FAKE_CUDA_DICE_H

#include "abi/cuda_abi.h"
#include "fake/cuda_args.h"

#define DICE_KINDS 12 /* of handles and addresses that are remembered */
#define DICE_POOL  48 /* of a kind; some are gone */

/* A thread's: what one frees no other uses, as in any sound program. */
struct dice {
	uint64_t seed, state;
	unsigned number; /* of the thread */
	_Atomic uint64_t done;
	unsigned row; /* of cuda.def: the call under way */
	unsigned char *buffers[ARGS_MAX * 4];
	unsigned used; /* buffers of the call under way */
	uint64_t pool[DICE_KINDS][DICE_POOL];
};

/* Before the first call of all: looks up the entry points. */
void dice_prepare(void *library);

/* Maps the buffers of a thread. */
void dice_buffers(struct dice *d);

/* One call of something. */
void dice_once(struct dice *d);

/* A number from 0 to n - 1. */
uint32_t dice_below(struct dice *d, uint32_t n);

/* Forgets all handles but this context. */
void dice_begin_anew(struct dice *d, CUcontext ctx);

/* How many functions have answered SUCCESS, of how many that are written. */
unsigned dice_worked(unsigned *ret_written);

/* Prints those that never did. */
void dice_tell_idle(void);

#endif
