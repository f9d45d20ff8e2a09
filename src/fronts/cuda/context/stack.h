/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - each thread's stack of contexts; the topmost is the current
 * context.
 */
#ifndef GKF_CUDA_STACK_H
#define GKF_CUDA_STACK_H

#include "fronts/cuda/context/front.h"

/* A context, and what handle_life() returned when it was pushed. */
struct stack_entry {
	CUcontext ctx;
	uint64_t life;
};

struct stack {
	unsigned depth, room;
	/* an array; its last entry is the current context */
	struct stack_entry *top;
};

/* The calling thread's stack; NULL: not created yet. */
extern __attribute__((visibility("hidden"))) _Thread_local
    __attribute__((tls_model("initial-exec"))) struct stack *stack_mine;

/* Pushes ctx, which is or was a context. False: out of memory. */
bool stack_push(CUcontext ctx);

/* Pops the current context; NULL: the stack is empty. */
CUcontext stack_pop(void);

#endif
