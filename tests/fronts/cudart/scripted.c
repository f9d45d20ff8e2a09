/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted.c - implements every function of libcuda, which counts its calls and
 * returns what the test says; and finds them by name, version and kind of
 * stream.
 */
#include "fronts/cudart/scripted_own.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

enum stream_kind { LEGACY, PTDS, PTSZ };

static const struct row {
	const char *symbol, *base;
	int since;
	enum stream_kind stream;
	void (*function)(void);
} rows[] = {
#define CUDA_SYMBOL(symbol, base, since, stream, ...)                          \
	{#symbol, #base, since, stream, (void (*)(void))symbol},
#include "abi/cuda/cuda_symbols.def"
};

static _Atomic unsigned calls[ROW_COUNT], all_calls;
static CUresult answers[ROW_COUNT];
static _Thread_local const char *last = "";

int scripted_version = 13000;

CUresult scripted_enter(enum scripted_row row)
{
	calls[row]++;
	all_calls++;
	last = rows[row].symbol;
	return answers[row];
}

#define CUDA_SYMBOL(symbol, base, since, stream, limit, capture, refused,      \
		    params)                                                    \
	__attribute__((weak)) CUresult symbol params                           \
	{                                                                      \
		return scripted_enter(ROW_##symbol);                           \
	}
#include "abi/cuda/cuda_symbols.def"

static int row_of(const char *symbol)
{
	for (int i = 0; i < ROW_COUNT; i++)
		if (!strcmp(rows[i].symbol, symbol))
			return i;
	abort();
}

void scripted_answer(const char *symbol, CUresult result)
{
	answers[row_of(symbol)] = result;
}

unsigned scripted_calls(const char *symbol)
{
	return symbol ? calls[row_of(symbol)] : all_calls;
}

const char *scripted_last(void)
{
	return last;
}

void scripted_forget(void)
{
	last = "";
}

static bool suits(const struct row *r, const char *base, int version,
		  bool per_thread)
{
	return !strcmp(r->base, base) && r->since <= version &&
	       r->since <= scripted_version &&
	       (per_thread || r->stream == LEGACY);
}

/* The newest that fits; a per-thread one rather than none. */
static const struct row *find(const char *base, int version, bool per_thread)
{
	const struct row *best = NULL;

	for (int i = 0; i < ROW_COUNT; i++) {
		const struct row *r = &rows[i];

		if (!suits(r, base, version, per_thread))
			continue;
		if (!best || (best->stream == LEGACY) > (r->stream == LEGACY) ||
		    ((best->stream == LEGACY) == (r->stream == LEGACY) &&
		     r->since > best->since))
			best = r;
	}
	return best;
}

void (*scripted_find(const char *base, int version, bool per_thread))(void)
{
	const struct row *r = find(base, version, per_thread);

	return r ? r->function : NULL;
}
