/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.c - owns the table of hooks.
 */
#include "limit/preload/entry/hooks.h"

#include "limit/preload/entry/driver.h"

#include <stddef.h>
#include <string.h>

const struct hook_row hook_rows[HOOKS] = {
#define HOOK(symbol)                                                           \
	{#symbol, offsetof(struct driver_cuda, symbol) / sizeof(void *), false},
#define HOOK_NVML(symbol)                                                      \
	{#symbol, offsetof(struct driver_nvml, symbol) / sizeof(void *), true},
#include "limit/preload/entry/hooks.def"
};

enum hook hook_find(const char *symbol)
{
	unsigned int i = 0;

	while (i < HOOKS && strcmp(hook_rows[i].symbol, symbol) != 0)
		i++;
	return (enum hook)i;
}
