/*
 * hooks.c - owns the table of hooks.
 */
#include "limit/preload/hooks.h"

#include "limit/preload/driver.h"

#include <stddef.h>
#include <string.h>

const struct hook_row hook_rows[HOOKS] = {
#define HOOK(symbol)                                                           \
	{#symbol, offsetof(struct driver_cuda, symbol) / sizeof(void *), false},
#define HOOK_NVML(symbol)                                                      \
	{#symbol, offsetof(struct driver_nvml, symbol) / sizeof(void *), true},
#include "limit/preload/hooks.def"
#undef HOOK
#undef HOOK_NVML
};

/* Where each hook lies, from here (entry.S). */
extern const int32_t hook_offsets[HOOKS];

void *hook_function(enum hook hook)
{
	return (char *)(uintptr_t)hook_offsets + hook_offsets[hook];
}

enum hook hook_find(const char *symbol)
{
	unsigned int i = 0;

	while (i < HOOKS && strcmp(hook_rows[i].symbol, symbol) != 0)
		i++;
	return (enum hook)i;
}
