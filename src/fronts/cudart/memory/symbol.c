/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.c - finds and copies device variables. Programs name each one by the
 * address of a host variable.
 */
#include "fronts/cudart/memory/copy.h"
#include "fronts/cudart/kernel/registry.h"

struct variable {
	char *at;
	size_t size;
};

static cudaError_t find_variable(struct variable *ret, const void *symbol)
{
	struct entry *e = registry_find(symbol);
	CUlibrary library;
	CUdeviceptr at = 0;
	size_t size = 0;
	CUresult r;

	ENTER_CONTEXT();
	REQUIRE(e && e->kind != ENTRY_KERNEL, cudaErrorInvalidSymbol);
	TRY(registry_library(e, &library));
	r = e->kind == ENTRY_MANAGED
		? legacy->cuLibraryGetManaged(&at, &size, library, e->name)
		: legacy->cuLibraryGetGlobal(&at, &size, library, e->name);
	REQUIRE(r != CUDA_ERROR_NOT_FOUND, cudaErrorInvalidSymbol);
	TRY(runtime_result(r));
	*ret = (struct variable){(char *)at, size};
	return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
	struct variable v;

	ENTER();
	REQUIRE(devPtr, cudaErrorInvalidValue);
	TRY(find_variable(&v, symbol));
	*devPtr = v.at;
	return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	struct variable v;

	ENTER();
	REQUIRE(size, cudaErrorInvalidValue);
	TRY(find_variable(&v, symbol));
	*size = v.size;
	return cudaSuccess;
}

cudaError_t symbol_find_part(char **ret_at, const void *symbol, size_t count,
			     size_t offset, enum cudaMemcpyKind kind,
			     enum cudaMemcpyKind other_kind)
{
	struct variable v;

	ENTER();
	REQUIRE(kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault ||
		    kind == other_kind,
		cudaErrorInvalidMemcpyDirection);
	TRY(find_variable(&v, symbol));
	REQUIRE(offset <= v.size && count <= v.size - offset,
		cudaErrorInvalidValue);
	*ret_at = v.at + offset;
	return cudaSuccess;
}

BOTH_STREAMS(cudaMemcpyToSymbol, _ptds,
	     (const void *symbol, const void *src, size_t count, size_t offset,
	      enum cudaMemcpyKind kind),
	     (symbol, src, count, offset, kind))
{
	char *at = NULL;

	TRY(symbol_find_part(&at, symbol, count, offset, kind,
			     cudaMemcpyHostToDevice));
	return copy_now(d, at, src, count, kind);
}

BOTH_STREAMS(cudaMemcpyFromSymbol, _ptds,
	     (void *dst, const void *symbol, size_t count, size_t offset,
	      enum cudaMemcpyKind kind),
	     (dst, symbol, count, offset, kind))
{
	char *at = NULL;

	TRY(symbol_find_part(&at, symbol, count, offset, kind,
			     cudaMemcpyDeviceToHost));
	return copy_now(d, dst, at, count, kind);
}

BOTH_STREAMS(cudaMemcpyToSymbolAsync, _ptsz,
	     (const void *symbol, const void *src, size_t count, size_t offset,
	      enum cudaMemcpyKind kind, cudaStream_t stream),
	     (symbol, src, count, offset, kind, stream))
{
	char *at = NULL;

	TRY(symbol_find_part(&at, symbol, count, offset, kind,
			     cudaMemcpyHostToDevice));
	return copy_queued(d, at, src, count, kind, stream);
}

BOTH_STREAMS(cudaMemcpyFromSymbolAsync, _ptsz,
	     (void *dst, const void *symbol, size_t count, size_t offset,
	      enum cudaMemcpyKind kind, cudaStream_t stream),
	     (dst, symbol, count, offset, kind, stream))
{
	char *at = NULL;

	TRY(symbol_find_part(&at, symbol, count, offset, kind,
			     cudaMemcpyDeviceToHost));
	return copy_queued(d, dst, at, count, kind, stream);
}
