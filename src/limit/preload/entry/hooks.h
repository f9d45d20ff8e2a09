/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h - the table of hooks, made from hooks.def. Nothing in it needs a
 * relocation: it costs nothing in a program that never uses a GPU.
 */
#ifndef GKL_PRELOAD_HOOKS_H
#define GKL_PRELOAD_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

enum hook {
#define HOOK(symbol)      HOOK_##symbol,
#define HOOK_NVML(symbol) HOOK_##symbol,
#include "limit/preload/entry/hooks.def"
	HOOKS
};

struct hook_row {
	char symbol[56];
	uint16_t row; /* row of cuda_symbols.def or nvml.def */
	bool nvml;
};

extern const struct hook_row hook_rows[HOOKS];

/* Our function that replaces the driver's. */
void *hook_function(enum hook hook);

/* The hook with this name; HOOKS: none. */
enum hook hook_find(const char *symbol);

#endif
