/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.c - finds the targets of calls that the dynamic linker has bound to our
 * exported names, and owns the table of these targets. A target is the function
 * that the call would reach without us or, if that is the driver's function,
 * our hook.
 */
#include "base/log.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/entry/hooks.h"
#include "limit/preload/entry/libc.h"
#include "limit/preload/entry/lookup.h"

#include <stdbool.h>
#include <stddef.h>

/* Read by entry.S, which calls entry_target() where an entry is NULL. */
extern void *entry_targets[HOOKS];
void *entry_targets[HOOKS];

/*
 * The target of a call that returns to `caller`. Never NULL. If the target is
 * the same for all callers, it is stored in entry_targets; until then entry.S
 * calls this function each time.
 */
void *entry_target(enum hook hook, const void *caller);

static int answer_no_driver(void)
{
	return CUDA_ERROR_NO_DEVICE;
}

static int answer_no_library(void)
{
	return NVML_ERROR_LIBRARY_NOT_FOUND;
}

static int answer_no_function(void)
{
	return CUDA_ERROR_NOT_FOUND;
}

static int answer_no_function_of_nvml(void)
{
	return NVML_ERROR_FUNCTION_NOT_FOUND;
}

/* The driver's function, or NULL. */
static void *find_in_driver(const struct hook_row *row)
{
	void **functions =
	    row->nvml ? (void **)&driver_nvml : (void **)&driver_cuda;

	return functions[row->row];
}

/* A driver's library may be loaded later, so its absence is not remembered. */
static void *choose_answer(const struct hook_row *row, bool ready)
{
	if (row->nvml)
		return ready ? (void *)answer_no_function_of_nvml
			     : (void *)answer_no_library;
	return ready ? (void *)answer_no_function : (void *)answer_no_driver;
}

/* The function that the call would reach without us; NULL: none. */
static void *find_without_us(const char *symbol, const void *caller)
{
	void *found = lookup_default(symbol, caller);

	if (!found)
		libc()->dlerror();
	return found;
}

/*
 * Whether calls from all objects would reach `found`, not only calls from this
 * caller.
 */
static bool is_for_all(const void *found, const char *symbol)
{
	void *behind = libc()->dlsym(RTLD_NEXT, symbol);

	if (!behind)
		libc()->dlerror();
	return behind == found;
}

static void *find_hook(enum hook hook)
{
	const struct hook_row *row = &hook_rows[hook];
	bool ready = row->nvml ? driver_nvml_ready() : driver_cuda_ready();

	return ready && find_in_driver(row) ? hook_function(hook)
					    : choose_answer(row, ready);
}

static bool is_worth_keeping(enum hook hook, void *target, void *found)
{
	return target == hook_function(hook) ||
	       (found && is_for_all(found, hook_rows[hook].symbol));
}

void *entry_target(enum hook hook, const void *caller)
{
	const char *symbol = hook_rows[hook].symbol;
	void *found = find_without_us(symbol, caller);
	void *target =
	    found ? driver_swap_found(found, symbol) : find_hook(hook);

	if (is_worth_keeping(hook, target, found))
		__atomic_store_n(&entry_targets[hook], target,
				 __ATOMIC_RELEASE);
	gk_log(GK_LOG_DEBUG, "limit: a call of %s goes to %s", symbol,
	       target == hook_function(hook) ? "its hook"
	       : found                       ? "another library's"
					     : "no driver");
	return target;
}
