/*
 * symbol.c - variables of device code, by their shadows on the host.
 */
#include "fronts/cudart/copy.h"
#include "fronts/cudart/registry.h"

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

cudaError_t find_variable_part(char **ret_at, const void *symbol, size_t count,
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

static cudaError_t cudaMemcpyToSymbol_by(const struct driver *d,
					 const void *symbol, const void *src,
					 size_t count, size_t offset,
					 enum cudaMemcpyKind kind)
{
	char *at = NULL;

	TRY(find_variable_part(&at, symbol, count, offset, kind,
			       cudaMemcpyHostToDevice));
	return copy_now(d, at, src, count, kind);
}
BOTH(cudaMemcpyToSymbol, _ptds,
     (const void *symbol, const void *src, size_t count, size_t offset,
      enum cudaMemcpyKind kind),
     (symbol, src, count, offset, kind))

static cudaError_t cudaMemcpyFromSymbol_by(const struct driver *d, void *dst,
					   const void *symbol, size_t count,
					   size_t offset,
					   enum cudaMemcpyKind kind)
{
	char *at = NULL;

	TRY(find_variable_part(&at, symbol, count, offset, kind,
			       cudaMemcpyDeviceToHost));
	return copy_now(d, dst, at, count, kind);
}
BOTH(cudaMemcpyFromSymbol, _ptds,
     (void *dst, const void *symbol, size_t count, size_t offset,
      enum cudaMemcpyKind kind),
     (dst, symbol, count, offset, kind))

static cudaError_t
cudaMemcpyToSymbolAsync_by(const struct driver *d, const void *symbol,
			   const void *src, size_t count, size_t offset,
			   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	char *at = NULL;

	TRY(find_variable_part(&at, symbol, count, offset, kind,
			       cudaMemcpyHostToDevice));
	return copy_queued(d, at, src, count, kind, stream);
}
BOTH(cudaMemcpyToSymbolAsync, _ptsz,
     (const void *symbol, const void *src, size_t count, size_t offset,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (symbol, src, count, offset, kind, stream))

static cudaError_t cudaMemcpyFromSymbolAsync_by(const struct driver *d,
						void *dst, const void *symbol,
						size_t count, size_t offset,
						enum cudaMemcpyKind kind,
						cudaStream_t stream)
{
	char *at = NULL;

	TRY(find_variable_part(&at, symbol, count, offset, kind,
			       cudaMemcpyDeviceToHost));
	return copy_queued(d, dst, at, count, kind, stream);
}
BOTH(cudaMemcpyFromSymbolAsync, _ptsz,
     (void *dst, const void *symbol, size_t count, size_t offset,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, symbol, count, offset, kind, stream))
