/*
 * entry.c - decides where direct calls go.
 */
#include "limit/preload/entry.h"

#include "base/log.h"
#include "limit/preload/driver.h"
#include "limit/preload/libc.h"

#include <stddef.h>

void *entry_targets[HOOKS];

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

/* The driver's function or NULL. */
static void *find_in_driver(const struct hook_row *row)
{
	void **functions =
	    row->nvml ? (void **)&driver_nvml : (void **)&driver_cuda;

	return functions[row->row];
}

/*
 * A driver may still come (its library is loaded later), so that there is none
 * is not remembered.
 */
static void *answer(const struct hook_row *row, bool ready)
{
	gk_log(GK_LOG_DEBUG, "limit: %s called, %s", row->symbol,
	       ready ? "the driver has no such function" : "without a driver");
	if (row->nvml)
		return ready ? (void *)answer_no_function_of_nvml
			     : (void *)answer_no_library;
	return ready ? (void *)answer_no_function : (void *)answer_no_driver;
}

/*
 * What the program's libraries behind us define under that name: a library of
 * its own, another interposer, or the driver. NULL: none.
 */
static void *find_behind(const struct hook_row *row)
{
	void *found = libc()->dlsym(RTLD_NEXT, row->symbol);

	if (!found)
		libc()->dlerror();
	return found;
}

void *entry_target(enum hook hook)
{
	const struct hook_row *row = &hook_rows[hook];
	void *behind = find_behind(row), *target;
	bool ready;

	target = behind ? driver_swap_found(behind, row->symbol) : NULL;
	if (!target) {
		ready = row->nvml ? driver_nvml_ready() : driver_cuda_ready();
		if (!ready || !find_in_driver(row))
			return answer(row, ready);
		target = hook_function(hook);
	}
	gk_log(GK_LOG_DEBUG, "limit: calls of %s go to %s", row->symbol,
	       target == hook_function(hook) ? "its hook"
					     : "another library's");
	__atomic_store_n(&entry_targets[hook], target, __ATOMIC_RELEASE);
	return target;
}
