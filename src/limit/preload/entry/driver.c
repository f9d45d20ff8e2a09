/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - owns the driver's functions: finds its libraries and all their
 * functions once, and maps addresses to hooks.
 *
 * There are no locks, so a child of fork never waits for a thread that it
 * lacks. Threads that search at the same time find and store the same words.
 */
#include "limit/preload/entry/driver.h"

#include "base/log.h"
#include "base/mix.h"
#include "limit/preload/entry/hooks.h"
#include "limit/preload/entry/libc.h"
#include "limit/preload/entry/object.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct driver_cuda driver_cuda;
struct driver_nvml driver_nvml;

/*
 * The symbols of all rows, one after the other, in the order of the members of
 * driver_cuda and driver_nvml.
 */
static const char cuda_names[] =
#define CUDA_SYMBOL(symbol, ...) #symbol "\0"
#include "abi/cuda/cuda_symbols.def"
    ;

static const char nvml_names[] =
#define NVML(symbol, ...) #symbol "\0"
#include "abi/nvml/nvml.def"
#undef NVML
    ;

/*
 * How the symbol treats stream 0: as the legacy default stream, or as the
 * calling thread's own (in symbols ending in _ptds or _ptsz).
 */
enum stream_kind { LEGACY, PTDS, PTSZ };

static const struct {
	uint16_t since;
	uint8_t base; /* length of the symbol's base name, in bytes */
	uint8_t stream;
} versions[] = {
#define CUDA_SYMBOL(symbol, base, since, stream, ...)                          \
	{since, sizeof(#base) - 1, stream},
#include "abi/cuda/cuda_symbols.def"
};

static struct library {
	char soname[20];
	bool nvml;
	_Atomic bool ready;
} cuda = {"libcuda.so.1", false, false},
  nvml = {"libnvidia-ml.so.1", true, false};

/* The functions as an array of pointers, in the order of the names. */
static void **list_functions(const struct library *library)
{
	return library->nvml ? (void **)&driver_nvml : (void **)&driver_cuda;
}

static void *real_function(enum hook hook)
{
	const struct hook_row *row = &hook_rows[hook];

	return list_functions(row->nvml ? &nvml : &cuda)[row->row];
}

/*
 * A hash table with open addressing. It maps the address of a driver's function
 * to the hook that replaces the function; an entry is 0 or hook + 1.
 * other_address: the address that cuGetProcAddress() gives for a function, if
 * it differs from the exported one.
 */
enum { SLOTS = 1024 };
static _Atomic uint16_t slots[SLOTS];
static void *other_address[HOOKS];

_Static_assert(HOOKS * 4 <= SLOTS, "the table of addresses is too full");

static bool is_address_of(enum hook hook, const void *address)
{
	return address == real_function(hook) ||
	       address ==
		   __atomic_load_n(&other_address[hook], __ATOMIC_RELAXED);
}

static unsigned int first_slot(const void *address)
{
	return (unsigned int)gkf_mix((uintptr_t)address) % SLOTS;
}

static void insert_address(const void *address, enum hook hook)
{
	uint16_t mine = (uint16_t)(hook + 1);

	for (unsigned int i = first_slot(address);; i = (i + 1) % SLOTS) {
		uint16_t there = 0;

		if (atomic_compare_exchange_strong(&slots[i], &there, mine) ||
		    there == mine)
			return;
	}
}

enum hook driver_find_hook(const void *address, const char *name)
{
	size_t length = strlen(name);
	enum hook found = HOOKS;
	uint16_t there;

	for (unsigned int i = first_slot(address);
	     (there = atomic_load_explicit(&slots[i], memory_order_relaxed));
	     i = (i + 1) % SLOTS) {
		enum hook hook = (enum hook)(there - 1);

		if (!is_address_of(hook, address))
			continue;
		if (!strncmp(hook_rows[hook].symbol, name, length))
			return hook;
		if (found == HOOKS)
			found = hook;
	}
	return found;
}

static void fill_functions(const struct library *library, void *handle)
{
	void **function = list_functions(library);
	const char *name = library->nvml ? nvml_names : cuda_names;

	for (; *name; name += strlen(name) + 1)
		__atomic_store_n(function++, libc()->dlsym(handle, name),
				 __ATOMIC_RELAXED);
}

static void fill_hooks(const struct library *library)
{
	for (unsigned int i = 0; i < HOOKS; i++) {
		void *address = real_function((enum hook)i);

		if (hook_rows[i].nvml == library->nvml && address)
			insert_address(address, (enum hook)i);
	}
}

/* Notes the address that cuGetProcAddress() gives for a hooked function. */
static void fill_other(enum hook hook)
{
	const struct hook_row *row = &hook_rows[hook];
	cuuint64_t flags = versions[row->row].stream == LEGACY
			       ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
			       : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	char base[sizeof row->symbol] = "";
	void *address = NULL;

	memcpy(base, row->symbol, versions[row->row].base);
	if (REAL(cuGetProcAddress)(base, &address, versions[row->row].since,
				   flags) != CUDA_SUCCESS ||
	    driver_find_hook(address, base) != HOOKS)
		return;
	__atomic_store_n(&other_address[hook], address, __ATOMIC_RELAXED);
	insert_address(address, hook);
}

static void fill_others(void)
{
	for (unsigned int i = 0; i < HOOKS && REAL(cuGetProcAddress); i++)
		if (!hook_rows[i].nvml && real_function((enum hook)i))
			fill_other((enum hook)i);
}

static bool is_ready(const struct library *library)
{
	return atomic_load_explicit(&library->ready, memory_order_acquire);
}

/* Kept out of make_ready(), because that runs at the beginning of each hook. */
__attribute__((noinline, cold)) static bool
load_library(struct library *library)
{
	void *handle = libc()->dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		/* Clears the error: the program did not cause it. */
		libc()->dlerror();
		gk_log(GK_LOG_DEBUG, "limit: there is no %s", library->soname);
		return false;
	}
	fill_functions(library, handle);
	fill_hooks(library);
	if (!library->nvml)
		fill_others();
	atomic_store_explicit(&library->ready, true, memory_order_release);
	gk_log(GK_LOG_DEBUG, "limit: hooks stand before %s", library->soname);
	return true;
}

static inline bool make_ready(struct library *library)
{
	return is_ready(library) || load_library(library);
}

bool driver_cuda_ready(void)
{
	return make_ready(&cuda);
}

bool driver_nvml_ready(void)
{
	return make_ready(&nvml);
}

/* The driver's library that contains an address, or NULL. */
static struct library *find_library(const void *address)
{
	struct object object;

	if (!object_at(address, &object))
		return NULL;
	if (object_is(&object, cuda.soname))
		return &cuda;
	return object_is(&object, nvml.soname) ? &nvml : NULL;
}

/*
 * The function of that name in the driver's library that was loaded first;
 * NULL: it has none.
 */
static void *find_first(const struct library *library, const char *name)
{
	void **function = list_functions(library);
	const char *row = library->nvml ? nvml_names : cuda_names;

	for (; *row; row += strlen(row) + 1, function++)
		if (!strcmp(row, name))
			return *function;
	return NULL;
}

void *driver_first_at(const void *address, const char *name)
{
	struct library *library = find_library(address);
	void *first;

	if (!library || !make_ready(library))
		return NULL;
	first = find_first(library, name);
	return first ? first : (void *)(uintptr_t)address;
}
