/* SPDX-License-Identifier: Apache-2.0 */
/* function.c - cuFunc*: attributes and settings of functions. */
#include "fronts/cuda/generation.h"
#include "fronts/cuda/module/module.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"

/* bytes of shared memory available without opting in */
#define PLAIN_SHARED 49152

int function_limit(const struct cuda_device *d, CUdevice_attribute id)
{
	int value = 0;

	return device_attribute(d, id, &value) ? value : 0;
}

int function_threads(const struct cuda_device *d,
		     const struct gkf_ptx_function *f,
		     const struct gkf_ptx_kernel *k)
{
	int most = function_limit(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	int registers =
	    function_limit(d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
	const uint32_t *said = f->reqntid[0] ? f->reqntid : f->maxntid;
	uint64_t stated = (uint64_t)said[0] * said[1] * said[2];
	int fitting = registers / (int)gkf_ptx_kernel_registers(k) / 32 * 32;

	if (stated && stated < (uint64_t)most)
		return (int)stated;
	return fitting && fitting < most ? fitting : most;
}

CUresult function_attribute(const struct cuda_device *d,
			    const struct gkf_ptx_module *m,
			    const struct gkf_ptx_function *f,
			    const struct gkf_ptx_kernel *k,
			    const struct function_settings *set,
			    CUfunction_attribute id, int *ret_value)
{
	const struct gkf_profile *p = &d->board->profile;
	int plain = PLAIN_SHARED - (int)gkf_ptx_kernel_shared(k);

	switch (id) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*ret_value = function_threads(d, f, k);
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*ret_value = (int)gkf_ptx_kernel_shared(k);
		break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		*ret_value = (int)gkf_ptx_kernel_constants(k);
		break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*ret_value = (int)gkf_ptx_kernel_local(k);
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*ret_value = (int)gkf_ptx_kernel_registers(k);
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
		*ret_value = (int)m->target;
		break;
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*ret_value = (int)(p->compute_major * 10 + p->compute_minor);
		break;
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		*ret_value = 0;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*ret_value = set->dynamic_shared ? set->dynamic_shared
			     : plain > 0         ? plain
						 : 0;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*ret_value = set->carveout;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
		*ret_value = 0;
		break;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		*ret_value =
		    set->cluster[id - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*ret_value = set->non_portable;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		*ret_value = set->policy;
		break;
	case CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED: /* since 13.3 */
		if (front_generation->cuda < 13030)
			return CUDA_ERROR_INVALID_VALUE;
		*ret_value = 0;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static CUresult set_shared(const struct cuda_device *d,
			   const struct gkf_ptx_kernel *k,
			   struct function_settings *set, int value)
{
	int most = function_limit(
	    d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

	if (value < 0 || value > most - (int)gkf_ptx_kernel_shared(k))
		return CUDA_ERROR_INVALID_VALUE;
	set->dynamic_shared = value;
	return CUDA_SUCCESS;
}

CUresult function_set(const struct cuda_device *d,
		      const struct gkf_ptx_kernel *k,
		      struct function_settings *set, CUfunction_attribute id,
		      int value)
{
	if (id == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		return set_shared(d, k, set, value);
	if (id == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
		if (value < -1 || value > 100)
			return CUDA_ERROR_INVALID_VALUE;
		set->carveout = value;
		return CUDA_SUCCESS;
	}
	/* Attributes of clusters, which are not simulated. */
	if (id >= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH &&
	    id < CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult function_parameter(const struct gkf_ptx_module *m,
			    const struct gkf_ptx_function *f, size_t index,
			    size_t *ret_offset, size_t *ret_size)
{
	if (!ret_offset || index >= f->param_count)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_offset = m->variables[f->params[index]].offset;
	if (ret_size)
		*ret_size = m->variables[f->params[index]].size;
	return CUDA_SUCCESS;
}

CUresult function_of(CUcontext ctx, CUfunction given, CUfunction *ret_function)
{
	if (__builtin_expect(handle_is(given, HANDLE_FUNCTION), 1)) {
		if (given->module->ctx != ctx->base)
			return CUDA_ERROR_INVALID_HANDLE;
		*ret_function = given;
		return CUDA_SUCCESS;
	}
	/* A CUkernel stands for its function in the current context. */
	if (handle_is(given, HANDLE_KERNEL))
		return kernel_function(ctx, (CUkernel)given, ret_function);
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult decode_function(CUcontext ctx, CUfunction given,
				CUfunction *ret,
				const struct gkf_ptx_kernel **ret_kernel)
{
	CUresult r = function_of(ctx, given, ret);

	return r ? r : module_kernel((*ret)->image, (*ret)->ptx, ret_kernel);
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib,
			    CUfunction hfunc)
{
	READS_CODE;
	const struct gkf_ptx_kernel *k;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncGetAttribute, ctx);
	if (!pi)
		return CUDA_ERROR_INVALID_VALUE;
	r = decode_function(ctx, hfunc, &f, &k);
	return r ? r
		 : function_attribute(ctx->device, f->image->source->ptx,
				      f->ptx, k, &f->set, attrib, pi);
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib,
			    int value)
{
	READS_CODE;
	const struct gkf_ptx_kernel *k;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncSetAttribute, ctx);
	r = decode_function(ctx, hfunc, &f, &k);
	if (!r)
		r = function_set(ctx->device, k, &f->set, attrib, value);
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(ROW_cuFuncSetAttribute);
	return r;
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	READS_CODE;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncSetCacheConfig, ctx);
	r = function_of(ctx, hfunc, &f);
	if (!r && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
		r = CUDA_ERROR_INVALID_VALUE;
	return r;
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
	READS_CODE;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncSetSharedMemConfig, ctx);
	r = function_of(ctx, hfunc, &f);
	if (!r && (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
		r = CUDA_ERROR_INVALID_VALUE;
	return r;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
	READS_CODE;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncGetModule, ctx);
	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	r = function_of(ctx, hfunc, &f);
	if (!r)
		*hmod = f->module;
	return r;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
	READS_CODE;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncGetName, ctx);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	r = function_of(ctx, hfunc, &f);
	if (!r)
		*name = f->ptx->name;
	return r;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex,
			    size_t *paramOffset, size_t *paramSize)
{
	READS_CODE;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncGetParamInfo, ctx);
	r = function_of(ctx, func, &f);
	return r ? r
		 : function_parameter(f->image->source->ptx, f->ptx, paramIndex,
				      paramOffset, paramSize);
}

CUresult cuFuncGetParamCount(CUfunction func, size_t *paramCount)
{
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncGetParamCount, ctx);
	if (!paramCount)
		return CUDA_ERROR_INVALID_VALUE;
	r = function_of(ctx, func, &f);
	if (!r)
		*paramCount = f->ptx->param_count;
	return r;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
	READS_CODE;
	CUfunction f;
	CUresult r;

	ENTER_CONTEXT(cuFuncIsLoaded, ctx);
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	r = function_of(ctx, function, &f);
	if (!r)
		*state =
		    f->image->kernels[f->ptx - f->image->source->ptx->functions]
			? CU_FUNCTION_LOADING_STATE_LOADED
			: CU_FUNCTION_LOADING_STATE_UNLOADED;
	return r;
}

CUresult cuFuncLoad(CUfunction function)
{
	READS_CODE;
	const struct gkf_ptx_kernel *k;
	CUfunction f;

	ENTER_CONTEXT(cuFuncLoad, ctx);
	return decode_function(ctx, function, &f, &k);
}
