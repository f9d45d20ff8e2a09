/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dice.h - throws dice for the arguments of any implemented entry point of
 * CUDA, and calls it; see calls_test.c.
 */
#ifndef TESTS_CUDA_DICE_H
#define TESTS_CUDA_DICE_H

#include "abi/cuda/cuda_abi.h"
#include "fronts/cuda/args.h"

#include <stddef.h>
#include <stdatomic.h>

#define DICE_BUFFER  65536 /* bytes */
#define DICE_BUFFERS (4 * ARGS_MAX)
#define DICE_FEW     24 /* DICE_FEW^3 bytes fit into a buffer twice */

#define DICE_KINDS 21 /* of remembered handles and addresses */
#define DICE_POOL  48 /* of a kind; some are dead */

/* One thread's dice: what it frees no other uses, as in any correct program. */
struct dice {
	uint64_t seed, state;
	unsigned number; /* of the thread */
	_Atomic uint64_t done;
	unsigned row; /* of cuda_symbols.def: the call under way */
	/* Memory for work, which may still be written in later calls ... */
	unsigned char *buffers[DICE_BUFFERS];
	/* ... and what other arguments point to: structs, texts, images. */
	unsigned char *arguments[ARGS_MAX];
	unsigned used, arguments_used; /* by the call under way */
	uint64_t pool[DICE_KINDS][DICE_POOL];
};

/* Called before the first call: looks up the entry points. */
void dice_prepare(void *library);

/* Maps the buffers of a thread. */
void dice_buffers(struct dice *d);

/* Makes one random call. */
void dice_once(struct dice *d);

/* A number from 0 to n - 1. */
uint32_t dice_below(struct dice *d, uint32_t n);

/* Forgets all handles. */
void dice_forget(struct dice *d);

/* Remembers a handle or an address of that type, so that it is used often. */
void dice_remember(struct dice *d, const char *type, uint64_t value);

/* A host function. */
void dice_nothing(void *data);

/* A kernel with one parameter, "every", and two variables. */
extern const char dice_ptx[];

/* How many functions have returned SUCCESS, and how many are implemented. */
unsigned dice_worked(unsigned *ret_written);

/* Prints those that never did. */
void dice_tell_idle(void);

/* ---- between dice.c and dice_fill.c ---- */

enum { ADDRESS, CONTEXT, STREAM, HOST = DICE_KINDS - 1 };

uint64_t dice_next(struct dice *d);
bool dice_one_in(struct dice *d, uint32_t n);

/* A number below DICE_FEW. */
uint64_t dice_few(struct dice *d);

/* DICE_BUFFER bytes between two pages without access. */
unsigned char *dice_buffer(struct dice *d);

/* DICE_KINDS: not a remembered kind. */
size_t dice_kind_of(const char *type);
uint64_t dice_remembered(struct dice *d, size_t kind);
uint64_t dice_address(struct dice *d);

/* Fills the target of this parameter's pointer, if it needs certain values. */
void dice_fill(struct dice *d, const struct arg *a, void *at);

#endif
