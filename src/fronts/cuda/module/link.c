/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - cuLink*. The result of linking one image is that image, which
 * cuModuleLoadData() and cuLibraryLoadData() accept; the result of linking
 * several images is a bundle.
 */
#include "fronts/cuda/module/link_object.h"
#include "fronts/cuda/module/module.h"

#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
	/* the device of the context in which the state was created */
	const struct cuda_device *device;
	struct module_log log;
	struct module_part *parts;
	unsigned count;
	void *bundle; /* NULL: fewer than two parts, or not completed */
	bool completed;
};

/* One lock guards all link states, because programs rarely link. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult create_link(CUcontext ctx, unsigned count,
			    CUjit_option *options, void **values,
			    CUlinkState *state)
{
	struct module_log log;
	CUlinkState made;
	CUresult r;

	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_log_open(count, options, values, &log);
	if (r)
		return r;
	made = handle_new(HANDLE_LINK, sizeof *made);
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made->device = ctx->device;
	made->log = log;
	/*
	 * Empties the logs here instead of after a successful link, because
	 * cuda-core has freed its array of option values by then, although it
	 * should not.
	 */
	module_log_close(&log, "");
	*state = made;
	return CUDA_SUCCESS;
}

/*
 * Copies the input and appends a NUL. If the input is PTX, copies only the text
 * up to its first NUL.
 */
static CUresult keep_link_input(CUlinkState state, CUjitInputType type,
				const void *data, size_t size)
{
	struct module_part *p =
	    realloc(state->parts, (state->count + 1) * sizeof *state->parts);

	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	state->parts = p;
	p += state->count;
	p->size = type == CU_JIT_INPUT_PTX ? strnlen(data, size) : size;
	p->bytes = calloc(1, p->size + 1);
	if (!p->bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(p->bytes, data, p->size);
	state->count++;
	return CUDA_SUCCESS;
}

/*
 * Returns why the input cannot be linked; NULL if its type and the number of
 * inputs so far allow it.
 */
static const char *explain_unfit(CUlinkState state, CUjitInputType type)
{
	if (type == CU_JIT_INPUT_CUBIN || type == CU_JIT_INPUT_NVVM)
		return "machine code and NVVM code are not linked";
	return state->count >= MODULE_PARTS_MAX ? "too many images" : NULL;
}

/* Adds PTX or a fat binary, if the device can run it. */
static CUresult add_image(CUlinkState state, CUjitInputType type,
			  const void *data, size_t size)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct module_source *source;
	CUresult r;

	if (type == CU_JIT_INPUT_PTX && !module_is_text(data, size)) {
		module_log_close(&state->log, "no PTX");
		return CUDA_ERROR_INVALID_IMAGE;
	}
	r = module_source_read(state->device, data, size, message, &source);
	if (r) {
		module_log_close(&state->log, message);
		return r;
	}
	module_source_drop(source);
	return keep_link_input(state, type, data, size);
}

static CUresult add_from_object(void *to, const void *fatbin, size_t size)
{
	CUlinkState state = to;

	if (state->count >= MODULE_PARTS_MAX)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return add_image(state, CU_JIT_INPUT_FATBINARY, fatbin, size);
}

/* Adds all images in an object or archive, or none of them. */
static CUresult add_object(CUlinkState state, CUjitInputType type,
			   const void *data, size_t size)
{
	unsigned before = state->count;
	CUresult r = link_object_add(type, data, size, add_from_object, state);

	while (r && state->count > before)
		free(state->parts[--state->count].bytes);
	return r;
}

static CUresult add_link_input(enum cuda_row row, CUlinkState state,
			       CUjitInputType type, const void *data,
			       size_t size)
{
	const char *why;

	if (!handle_is(state, HANDLE_LINK))
		return CUDA_ERROR_INVALID_HANDLE;
	if (state->completed)
		return CUDA_ERROR_INVALID_VALUE;
	why = explain_unfit(state, type);
	if (why) {
		module_log_close(&state->log, why);
		return front_refuse(row);
	}
	if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY)
		return add_object(state, type, data, size);
	return add_image(state, type, data, size);
}

static CUresult add_link_data(enum cuda_row row, CUlinkState state,
			      CUjitInputType type, const void *data,
			      size_t size, unsigned count,
			      CUjit_option *options, void **values)
{
	struct module_log none;
	CUresult r;

	if (!data || !size || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_log_open(count, options, values, &none);
	if (r)
		return r;
	pthread_mutex_lock(&lock);
	r = add_link_input(row, state, type, data, size);
	pthread_mutex_unlock(&lock);
	return r;
}

static CUresult add_file(enum cuda_row row, CUlinkState state,
			 CUjitInputType type, const char *path, unsigned count,
			 CUjit_option *options, void **values)
{
	void *bytes;
	size_t size;
	CUresult r;

	if (!path || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES)
		return CUDA_ERROR_INVALID_VALUE;
	r = module_file_read(path, &bytes, &size);
	if (r)
		return r;
	r = add_link_data(row, state, type, bytes, size, count, options,
			  values);
	free(bytes);
	return r;
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options,
		      void **optionValues, CUlinkState *stateOut)
{
	ENTER_CONTEXT(cuLinkCreate, ctx);
	return create_link(ctx, numOptions, options, optionValues, stateOut);
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options,
			 void **optionValues, CUlinkState *stateOut)
{
	ENTER_CONTEXT(cuLinkCreate_v2, ctx);
	return create_link(ctx, numOptions, options, optionValues, stateOut);
}

#define ADD_DATA(symbol)                                                       \
	CUresult symbol(CUlinkState state, CUjitInputType type, void *data,    \
			size_t size, const char *name,                         \
			unsigned int numOptions, CUjit_option *options,        \
			void **optionValues)                                   \
	{                                                                      \
		ENTER_CONTEXT(symbol, ctx);                                    \
		(void)ctx;                                                     \
		(void)name;                                                    \
		return add_link_data(ROW_##symbol, state, type, data, size,    \
				     numOptions, options, optionValues);       \
	}
ADD_DATA(cuLinkAddData)
ADD_DATA(cuLinkAddData_v2)

#define ADD_FILE(symbol)                                                       \
	CUresult symbol(CUlinkState state, CUjitInputType type,                \
			const char *path, unsigned int numOptions,             \
			CUjit_option *options, void **optionValues)            \
	{                                                                      \
		ENTER_CONTEXT(symbol, ctx);                                    \
		(void)ctx;                                                     \
		return add_file(ROW_##symbol, state, type, path, numOptions,   \
				options, optionValues);                        \
	}
ADD_FILE(cuLinkAddFile)
ADD_FILE(cuLinkAddFile_v2)

/*
 * Puts several images in a bundle. Reads the bundle, and so links it, to find
 * missing and duplicate symbols.
 */
static CUresult bundle_parts(CUlinkState state)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct module_source *source;
	CUresult r;

	if (state->count == 1 || state->bundle)
		return CUDA_SUCCESS;
	state->bundle = module_bundle_new(state->parts, state->count);
	if (!state->bundle)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = module_source_read(state->device, state->bundle, 0, message,
			       &source);
	if (!r) {
		module_source_drop(source);
		return r;
	}
	module_log_close(&state->log, message);
	free(state->bundle);
	state->bundle = NULL;
	return r;
}

static CUresult complete_link(CUlinkState state, void **ret_image,
			      size_t *ret_size)
{
	CUresult r;

	if (!handle_is(state, HANDLE_LINK))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!state->count)
		return CUDA_ERROR_INVALID_VALUE;
	r = bundle_parts(state);
	if (r)
		return r;
	state->completed = true;
	*ret_image = state->bundle ? state->bundle : state->parts[0].bytes;
	/* Includes the NUL, for callers that use the result as text. */
	if (ret_size)
		*ret_size = state->bundle ? module_bundle_size(state->bundle)
					  : state->parts[0].size + 1;
	return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
	CUresult r;

	ENTER_CONTEXT(cuLinkComplete, ctx);
	(void)ctx;
	if (!cubinOut)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	r = complete_link(state, cubinOut, sizeOut);
	pthread_mutex_unlock(&lock);
	return r;
}

CUresult cuLinkDestroy(CUlinkState state)
{
	CUresult r = CUDA_SUCCESS;

	ENTER(cuLinkDestroy);
	pthread_mutex_lock(&lock);
	if (handle_is(state, HANDLE_LINK)) {
		while (state->count)
			free(state->parts[--state->count].bytes);
		free(state->parts);
		free(state->bundle);
		handle_free(state);
	} else {
		r = CUDA_ERROR_INVALID_HANDLE;
	}
	pthread_mutex_unlock(&lock);
	return r;
}
