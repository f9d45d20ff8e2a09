/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.c - owns each thread's stack of contexts; thread-local storage holds
 * only a pointer to it.
 */
#include "fronts/cuda/context/stack.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * Static thread-local storage is scarce for libraries loaded at run time, but
 * one word is always available, and accessing it needs no function call.
 */
_Thread_local
    __attribute__((tls_model("initial-exec"))) struct stack *stack_mine;

static pthread_key_t stack_exit_key;
static bool has_stack_exit_key;

/* Called when the thread ends; its contexts stay alive. */
static void end_thread_stack(void *stack)
{
	stack_mine = NULL;
	free(((struct stack *)stack)->top);
	free(stack);
}

__attribute__((constructor)) static void make_stack_exit_key(void)
{
	has_stack_exit_key =
	    !pthread_key_create(&stack_exit_key, end_thread_stack);
}

static bool stack_has_room(struct stack *s)
{
	unsigned room = s->room ? 2 * s->room : 4;
	struct stack_entry *top;

	if (s->depth < s->room)
		return true;
	top = realloc(s->top, room * sizeof(*top));
	if (!top)
		return false;
	s->top = top;
	s->room = room;
	return true;
}

bool stack_push(CUcontext ctx)
{
	if (!stack_mine) {
		stack_mine = calloc(1, sizeof(*stack_mine));
		if (stack_mine && has_stack_exit_key)
			pthread_setspecific(stack_exit_key, stack_mine);
	}
	if (!stack_mine || !stack_has_room(stack_mine))
		return false;
	stack_mine->top[stack_mine->depth++] =
	    (struct stack_entry){ctx, handle_life(ctx)};
	return true;
}

CUcontext stack_pop(void)
{
	return stack_mine && stack_mine->depth
		   ? stack_mine->top[--stack_mine->depth].ctx
		   : NULL;
}

CUcontext ctx_current(void)
{
	return stack_mine && stack_mine->depth
		   ? stack_mine->top[stack_mine->depth - 1].ctx
		   : NULL;
}
