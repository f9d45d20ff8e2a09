/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procaddress.c - cuGetProcAddress: finds entry points by name, CUDA version
 * and stream variant. Works before cuInit() and is not counted: a CUDA runtime
 * calls it about 440 times when it starts.
 */
#include "fronts/cuda/context/front.h"
#include "fronts/cuda/generation.h"

#include <pthread.h>
#include <string.h>

enum stream_kind { LEGACY, PTDS, PTSZ };

static const struct entry {
	const char *base;
	void *function;
	unsigned since;
	enum stream_kind stream;
} entries[ROW_COUNT] = {
#define CUDA_SYMBOL(symbol, base, since, stream, ...)                          \
	{#base, (void *)symbol, since, stream},
#include "abi/cuda/cuda_symbols.def"
};

/*
 * Entries by the hash of their base name: linked lists of index + 1, ended by
 * 0.
 */
#define BUCKETS 1024u /* a power of two */
static uint16_t first[BUCKETS], next[ROW_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* FNV-1a */
static unsigned bucket_of_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash % BUCKETS;
}

/*
 * Fills the hash table, leaving out functions that are newer than this driver.
 * If fork() interrupts this function, the child runs it again, from the start.
 */
static void fill_names(void)
{
	memset(first, 0, sizeof(first));
	for (unsigned i = 0; i < ROW_COUNT; i++) {
		unsigned bucket = bucket_of_name(entries[i].base);

		if (entries[i].since > front_generation->cuda)
			continue;
		next[i] = first[bucket];
		first[bucket] = (uint16_t)(i + 1);
	}
}

/*
 * Prefers the newer entry; of two equally old entries, prefers the one for
 * per-thread streams.
 */
static bool is_better(const struct entry *e, const struct entry *than)
{
	if (!than || e->since != than->since)
		return !than || e->since > than->since;
	return e->stream != LEGACY;
}

/*
 * Finds the best entry of a base name for a caller of this CUDA version.
 * *ret_known: whether there is an entry for any version.
 */
static const struct entry *find_entry_point(const char *base, unsigned version,
					    bool per_thread, bool *ret_known)
{
	const struct entry *best = NULL;

	pthread_once(&once, fill_names);
	*ret_known = false;
	for (unsigned i = first[bucket_of_name(base)]; i; i = next[i - 1]) {
		const struct entry *e = &entries[i - 1];

		if (strcmp(e->base, base) != 0 ||
		    (e->stream != LEGACY && !per_thread))
			continue;
		*ret_known = true;
		if (e->since <= version && is_better(e, best))
			best = e;
	}
	return best;
}

/*
 * Since CUDA 13.0, a version newer than the driver is documented as an error;
 * before, the newest entry was returned.
 */
static bool is_usable_version(int version)
{
	unsigned newest = front_generation->cuda;

	return version >= 0 && (newest < 13000 || (unsigned)version <= newest);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
	const struct entry *e;
	bool known;

	if (!symbol || !pfn || !is_usable_version(cudaVersion) ||
	    flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	e = find_entry_point(
	    symbol, (unsigned)cudaVersion,
	    flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
	if (!e)
		status = known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
			       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (symbolStatus)
		*symbolStatus = status;
	*pfn = e ? e->function : NULL;
	return e ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
			  cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
