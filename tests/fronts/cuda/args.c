/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - reads the parameters of CUDA; see args.h. */
#include "abi/cuda/cuda_abi.h"
#include "fronts/cuda/args.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry_point entry_points[] = {
#define CUDA_SYMBOL(symbol_, base, since, stream, limit, capture, refused,     \
		    params_)                                                   \
	{.symbol = #symbol_, .params = #params_},
#include "abi/cuda/cuda_symbols.def"
};
const unsigned entry_point_count = sizeof entry_points / sizeof *entry_points;

/* Types that are passed by value and are not numbers. */
static const struct {
	const char *type;
	enum arg_kind kind;
} types[] = {
    {"CUdevice", ARG_DEVICE},
    {"CUdeviceptr", ARG_ADDRESS},
    {"CUdeviceptr_v1", ARG_ADDRESS},
    {"CUhostFn", ARG_CALLBACK},
    {"CUstreamCallback", ARG_CALLBACK},
    {"CUoccupancyB2DSize", ARG_CALLBACK},
    {"CUasyncCallback", ARG_CALLBACK},
    {"CUlogsCallback", ARG_CALLBACK},
    {"CUcoredumpStatusCallback", ARG_CALLBACK},
    {"CUgraphRecaptureCallback", ARG_CALLBACK},
    {"const char *", ARG_TEXT},
    {"CUarray", ARG_HANDLE},
    {"CUasyncCallbackHandle", ARG_HANDLE},
    {"CUcontext", ARG_HANDLE},
    {"CUcoredumpCallbackHandle", ARG_HANDLE},
    {"CUdevResourceDesc", ARG_HANDLE},
    {"CUevent", ARG_HANDLE},
    {"CUexternalMemory", ARG_HANDLE},
    {"CUexternalSemaphore", ARG_HANDLE},
    {"CUfunction", ARG_HANDLE},
    {"CUgraph", ARG_HANDLE},
    {"CUgraphExec", ARG_HANDLE},
    {"CUgraphNode", ARG_HANDLE},
    {"CUgraphicsResource", ARG_HANDLE},
    {"CUgreenCtx", ARG_HANDLE},
    {"CUkernel", ARG_HANDLE},
    {"CUlibrary", ARG_HANDLE},
    {"CUlinkState", ARG_HANDLE},
    {"CUlogsCallbackHandle", ARG_HANDLE},
    {"CUmemGenericAllocationHandle", ARG_HANDLE},
    {"CUmemoryPool", ARG_HANDLE},
    {"CUmipmappedArray", ARG_HANDLE},
    {"CUmodule", ARG_HANDLE},
    {"CUstream", ARG_HANDLE},
    {"CUsurfObject", ARG_HANDLE},
    {"CUsurfref", ARG_HANDLE},
    {"CUtexObject", ARG_HANDLE},
    {"CUtexref", ARG_HANDLE},
    {"CUuserObject", ARG_HANDLE},
};

static enum arg_kind kind_of(const char *type)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i].type, type))
			return types[i].kind;
	return strchr(type, '*') ? ARG_POINTER : ARG_NUMBER;
}

/* "const CUDA_MEMCPY2D *pCopy" */
static void parse_arg(struct arg *a, const char *text)
{
	size_t end = strlen(text), name = end;

	while (name && text[name - 1] != ' ' && text[name - 1] != '*')
		name--;
	snprintf(a->name, sizeof a->name, "%s", text + name);
	while (name && text[name - 1] == ' ')
		name--;
	snprintf(a->type, sizeof a->type, "%.*s", (int)name, text);
	a->kind = kind_of(a->type);
}

static void parse(struct entry_point *e)
{
	char text[1024], *save = NULL;

	snprintf(text, sizeof text, "%s", e->params + 1);
	text[strlen(text) - 1] = '\0';
	if (!strcmp(text, "void"))
		return;
	for (char *word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (e->count == ARGS_MAX) {
			fprintf(stderr, "cuda_args: %s has too many\n",
				e->symbol);
			abort();
		}
		parse_arg(&e->arg[e->count++], word + (*word == ' '));
	}
}

/* Whether it is not implemented: the library's default is a weak symbol. */
static bool is_weak(void *at)
{
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		abort();
	return ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
}

void args_prepare(void *library)
{
	for (unsigned i = 0; i < entry_point_count; i++) {
		struct entry_point *e = &entry_points[i];
		void *at = dlsym(library, e->symbol);

		if (!at) {
			fprintf(stderr, "cuda_args: no %s\n", e->symbol);
			abort();
		}
		memcpy(&e->call, &at, sizeof at);
		e->weak = is_weak(at);
		parse(e);
	}
}

int args_call(const struct entry_point *e, const uint64_t *v)
{
	return e->call(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8],
		       v[9], v[10], v[11], v[12], v[13], v[14], v[15]);
}
