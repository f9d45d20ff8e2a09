/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - what the programs test_* of this directory share. Each allocates in
 * one way, checks values there, and must be refused what exceeds a GPU of this
 * size. They do not use gpukit: the limit is given by the first argument or by
 * HAMi's CUDA_DEVICE_MEMORY_LIMIT[_0], as bytes or with k, m or g; then the GPU
 * must seem to be exactly that big.
 *
 * An error is reported in one line, with status 1; status 77: there is no GPU.
 */
#ifndef LIMIT_KNOWN_KNOWN_H
#define LIMIT_KNOWN_KNOWN_H

#include "cuda/check.h"

#include <ctype.h>
#include <stddef.h>

#define MIB   ((size_t)1 << 20)
#define BLOCK (2 * MIB)  /* the driver's unit of physical memory */
#define PIECE (64 * MIB) /* what one step allocates */

/* Bytes of a limit given as text: 2147483648, 2048m, 2g, 2GiB. */
static inline size_t known_size(const char *text)
{
	static const char units[] = "kmgt";
	char *end;
	size_t bytes = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, tolower(*end)) : NULL;

	return unit ? bytes << 10 * (unit - units + 1) : bytes;
}

/* 0: there is no limit. */
static inline size_t known_limit(int argc, char **argv)
{
	const char *of_first = getenv("CUDA_DEVICE_MEMORY_LIMIT_0");
	const char *of_all = getenv("CUDA_DEVICE_MEMORY_LIMIT");

	if (argc > 1)
		return known_size(argv[1]);
	if (of_first)
		return known_size(of_first);
	return of_all ? known_size(of_all) : 0;
}

/* One way to get memory from the driver or the runtime. */
struct known_way {
	/* True: *ret_thing holds this many bytes; false: out of memory. */
	int (*take)(size_t bytes, void **ret_thing);
	void (*check)(void *thing, size_t bytes); /* writes and reads it */
	void (*give)(void *thing);
	void (*room)(size_t *ret_free, size_t *ret_total);
	size_t slack; /* bytes that a PIECE may need beyond its size */
	int lends;    /* without a limit, the host lends what does not fit */
};

static inline size_t known_free(const struct known_way *way)
{
	size_t room = 0, total = 0;

	way->room(&room, &total);
	REQUIRE(room <= total);
	return room;
}

/* Checks that the GPU seems to be as big as the limit says. */
static inline void known_total(const struct known_way *way, size_t limit)
{
	size_t room = 0, total = 0;

	way->room(&room, &total);
	if (limit)
		EQUAL(total, limit);
}

/* Takes one piece, checks that it is counted, and gives it back. */
static inline void known_one(const struct known_way *way)
{
	size_t before = known_free(way), held;
	void *thing;

	REQUIRE(way->take(PIECE, &thing));
	way->check(thing, PIECE);
	held = before - known_free(way);
	REQUIRE(way->lends || (held >= PIECE && held <= PIECE + way->slack));
	way->give(thing);
	EQUAL(known_free(way), before);
}

/* A request for too much is refused, and does not touch what is there. */
static inline void known_too_much(const struct known_way *way, size_t limit)
{
	size_t before = known_free(way);
	void *thing;

	if (way->lends && !limit)
		return;
	REQUIRE(!way->take(before + BLOCK, &thing));
	EQUAL(known_free(way), before);
}

/*
 * Under a limit, pieces up to the first refusal are exactly as many as fit, and
 * all of them come back.
 */
static inline void known_fill(const struct known_way *way)
{
	size_t before = known_free(way), most = before / PIECE, count = 0;
	void **things = (void **)calloc(most + 1, sizeof *things);

	REQUIRE(things);
	while (count <= most && way->take(PIECE, &things[count]))
		count++;
	REQUIRE(count <= most);
	REQUIRE(count >= before / (PIECE + way->slack));
	REQUIRE(known_free(way) < PIECE + way->slack);
	way->check(things[0], PIECE);
	way->check(things[count - 1], PIECE);
	while (count)
		way->give(things[--count]);
	free(things);
	EQUAL(known_free(way), before);
}

static inline int known_run(const struct known_way *way, size_t limit)
{
	known_total(way, limit);
	known_one(way);
	known_too_much(way, limit);
	if (limit)
		known_fill(way);
	known_one(way);
	known_total(way, limit);
	return 0;
}

#endif
