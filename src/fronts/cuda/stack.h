/*
 * stack.h - the contexts that a thread works on: the last one is current.
 */
#ifndef GKF_CUDA_STACK_H
#define GKF_CUDA_STACK_H

#include "fronts/cuda/front.h"

/* A context, and which life of its handle was meant. */
struct stack_entry {
	CUcontext ctx;
	uint64_t life;
};

struct stack {
	unsigned depth, room;
	struct stack_entry *top; /* the oldest first */
};

/* Makes ctx, which is or was a context, current. False: no memory. */
bool stack_push(CUcontext ctx);

/* Takes the current context off; NULL: the stack is empty. */
CUcontext stack_pop(void);

#endif
