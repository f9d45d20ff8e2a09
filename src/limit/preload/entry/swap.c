/* SPDX-License-Identifier: Apache-2.0 */
/* swap.c - replaces the driver's functions with our hooks. */
#include "limit/preload/entry/driver.h"
#include "limit/preload/entry/hooks.h"

#include <stdint.h>

/* The offset of each hook from this table (offsets.S). */
extern const int32_t hook_offsets[HOOKS];

void *hook_function(enum hook hook)
{
	return (char *)(uintptr_t)hook_offsets + hook_offsets[hook];
}

void *driver_swap(void *address, const char *name)
{
	enum hook hook = driver_find_hook(address, name);

	return hook == HOOKS ? address : hook_function(hook);
}

/*
 * A second copy of the driver, loaded from another file, is replaced by the
 * first: hooking half of its functions would split its state.
 */
void *driver_swap_found(void *address, const char *name)
{
	void *first = driver_first_at(address, name);

	return first ? driver_swap(first, name) : address;
}
