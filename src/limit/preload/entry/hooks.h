/*
 * hooks.h - the table of hooks, made from hooks.def. Nothing in it needs a
 * relocation: a program that never touches a GPU pays nothing for it.
 */
#ifndef GKL_PRELOAD_HOOKS_H
#define GKL_PRELOAD_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

enum hook {
#define HOOK(symbol)      HOOK_##symbol,
#define HOOK_NVML(symbol) HOOK_##symbol,
#include "limit/preload/hooks.def"
#undef HOOK
#undef HOOK_NVML
	HOOKS
};

struct hook_row {
	char symbol[56];
	uint16_t row; /* of cuda.def or nvml.def */
	bool nvml;
};

extern const struct hook_row hook_rows[HOOKS];

/* Our function that stands for the driver's. */
void *hook_function(enum hook hook);

/* HOOKS: no hook has this name. */
enum hook hook_find(const char *symbol);

#endif
