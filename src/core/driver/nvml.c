/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.c - finds, loads and initialises the driver library. */
#include "core/driver/nvml.h"
#include "base/array.h"
#include "base/clock.h"

#include "base/log.h"
#include "base/str.h"
#include "core/read/gate.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const struct gk_nvml_symbol gk_nvml_symbols[GK_NVML_SYMBOLS] = {
#define NVML(symbol, major, minor, core, ...)                                  \
	GK_NVML_IN_##core({#symbol, offsetof(struct gk_nvml, symbol),          \
			   GK_NVML_##core, (major)*1000 + (minor)}, )
#include "abi/nvml/nvml.def"
#undef NVML
};

/* On WSL, the driver is outside the directories that the loader searches. */
static const char *const places[] = {
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

void *gk_nvml_load(const char *path)
{
	void *library = NULL;

	if (path)
		return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	for (size_t i = 0; !library && i < COUNT(places); i++)
		library = dlopen(places[i], RTLD_LAZY | RTLD_LOCAL);
	return library;
}

/*
 * How long a closed library stays. A thread that has called it may still be
 * ending, and run the library's code for its thread-specific data.
 */
#define CLOSED_NS GK_NS_PER_S

static struct gk_nvml *_Atomic closed;

static void put_away(struct gk_nvml *nvml)
{
	nvml->next = atomic_load(&closed);
	while (!atomic_compare_exchange_weak(&closed, &nvml->next, nvml))
		;
}

/* Unloads the libraries that were closed long enough ago. */
static void unload_closed(void)
{
	struct gk_nvml *nvml = atomic_exchange(&closed, NULL), *next;

	for (; nvml; nvml = next) {
		next = nvml->next;
		if (gk_mono_ns() - nvml->closed_ns < CLOSED_NS) {
			put_away(nvml);
			continue;
		}
		dlclose(nvml->library);
		free(nvml);
	}
}

static void unload_later(struct gk_nvml *nvml)
{
	nvml->closed_ns = gk_mono_ns();
	put_away(nvml);
}

static void *look_up_symbol(struct gk_nvml *nvml, size_t i)
{
	void *address = dlsym(nvml->library, gk_nvml_symbols[i].name);

	memcpy((char *)nvml + gk_nvml_symbols[i].offset, &address,
	       sizeof address);
	return address;
}

/* Fills the pointers; false when a required function is missing. */
static bool resolve_functions(struct gk_nvml *nvml)
{
	bool complete = true;

	for (size_t i = 0; i < GK_NVML_SYMBOLS; i++) {
		if (gk_nvml_symbols[i].need == GK_NVML_MORE ||
		    look_up_symbol(nvml, i) ||
		    gk_nvml_symbols[i].need == GK_NVML_OPT)
			continue;
		gk_log(GK_LOG_ERROR, "driver library lacks %s",
		       gk_nvml_symbols[i].name);
		complete = false;
	}
	return complete;
}

void gk_nvml_more(struct gk_nvml *nvml)
{
	if (nvml->more)
		return;
	pthread_mutex_lock(&nvml->looking);
	for (size_t i = 0; !nvml->more && i < GK_NVML_SYMBOLS; i++)
		if (gk_nvml_symbols[i].need == GK_NVML_MORE)
			look_up_symbol(nvml, i);
	nvml->more = true;
	pthread_mutex_unlock(&nvml->looking);
}

static void read_versions(struct gk_nvml *nvml)
{
	if (GK_NVML_CALL(nvml, nvmlSystemGetDriverVersion, nvml->driver_version,
			 sizeof nvml->driver_version))
		nvml->driver_version[0] = '\0';
	if (GK_NVML_CALL(nvml, nvmlSystemGetNVMLVersion, nvml->nvml_version,
			 sizeof nvml->nvml_version))
		nvml->nvml_version[0] = '\0';
	if (GK_NVML_CALL(nvml, nvmlSystemGetCudaDriverVersion_v2,
			 &nvml->cuda_version) &&
	    GK_NVML_CALL(nvml, nvmlSystemGetCudaDriverVersion,
			 &nvml->cuda_version))
		nvml->cuda_version = 0;
	nvml->driver_version[sizeof nvml->driver_version - 1] = '\0';
	nvml->nvml_version[sizeof nvml->nvml_version - 1] = '\0';
	nvml->cuda_version =
	    (int)gk_bounded(nvml->cuda_version, GK_BOUND_CUDA_VERSION);
}

int gk_nvml_open(const char *path, int *ret_nvml_error,
		 struct gk_nvml **ret_nvml)
{
	struct gk_nvml *nvml = calloc(1, sizeof *nvml);
	nvmlReturn_t answer;
	struct gk_span span;
	bool complete;

	if (!nvml)
		return GK_ERR_NOMEM;
	unload_closed();
	gk_span_begin(&span, GK_SPAN_LOAD);
	nvml->library = gk_nvml_load(path);
	complete = nvml->library && resolve_functions(nvml);
	gk_span_end(&span);
	if (!nvml->library) {
		gk_log(GK_LOG_INFO, "%s", dlerror());
		free(nvml);
		return GK_ERR_NO_DRIVER;
	}
	answer = NVML_ERROR_FUNCTION_NOT_FOUND;
	if (complete)
		answer = GK_NVML_CALL(nvml, nvmlInit_v2);
	if (answer) {
		*ret_nvml_error = (int)answer;
		unload_later(nvml);
		return GK_ERR_DRIVER;
	}
	read_versions(nvml);
	pthread_mutex_init(&nvml->looking, NULL);
	nvml->uses = 1;
	*ret_nvml = nvml;
	return 0;
}

struct gk_nvml *gk_nvml_ref(struct gk_nvml *nvml)
{
	atomic_fetch_add(&nvml->uses, 1);
	return nvml;
}

void gk_nvml_close(struct gk_nvml *nvml)
{
	if (atomic_fetch_sub(&nvml->uses, 1) != 1)
		return;
	GK_NVML_CALL(nvml, nvmlShutdown);
	pthread_mutex_destroy(&nvml->looking);
	unload_later(nvml);
}

/* Other codes become GK_ABSENT_ERROR. */
static const struct {
	nvmlReturn_t answer;
	enum gk_absence why;
} meanings[] = {
    {NVML_SUCCESS, GK_PRESENT},
    {NVML_ERROR_NOT_SUPPORTED, GK_ABSENT_NOT_SUPPORTED},
    {NVML_ERROR_DEPRECATED, GK_ABSENT_NOT_SUPPORTED},
    {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, GK_ABSENT_NOT_SUPPORTED},
    {NVML_ERROR_FUNCTION_NOT_FOUND, GK_ABSENT_NO_FUNCTION},
    {NVML_ERROR_NO_PERMISSION, GK_ABSENT_PERMISSION},
    {NVML_ERROR_TIMEOUT, GK_ABSENT_TIMEOUT},
    {NVML_ERROR_GPU_IS_LOST, GK_ABSENT_LOST},
    {NVML_ERROR_RESET_REQUIRED, GK_ABSENT_RESET},
    {NVML_ERROR_GPU_NOT_FOUND, GK_ABSENT_LOST},
};

enum gk_absence gk_nvml_absence(nvmlReturn_t answer)
{
	for (size_t i = 0; i < COUNT(meanings); i++)
		if (meanings[i].answer == answer)
			return meanings[i].why;
	return GK_ABSENT_ERROR;
}

bool gk_nvml_is_lost(nvmlReturn_t answer)
{
	enum gk_absence why = gk_nvml_absence(answer);

	return why == GK_ABSENT_LOST || why == GK_ABSENT_RESET;
}
