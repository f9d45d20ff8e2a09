/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_fixture.h - opens the memory of two devices, for tests of space.h.
 */
#ifndef TESTS_SPACE_FIXTURE_H
#define TESTS_SPACE_FIXTURE_H

#include "base/err.h"
#include "base/units.h"
#include "device/space.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

#define BLOCK (2 * MIB)

/* Sanitizers need addresses and memory themselves. */
static inline void skip_sanitized(bool by_asan_too)
{
#ifdef __SANITIZE_THREAD__
	skip();
#endif
#ifdef __SANITIZE_ADDRESS__
	if (by_asan_too)
		skip();
#endif
	(void)by_asan_too;
}

static struct fixture fx;
static unsigned slots[2];

static inline void open_devices(void)
{
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(
		    gkf_books_attach(fx.m, i, GKF_NO_INSTANCE, &slots[i]), 0);
		assert_int_equal(gkf_space_open(fx.m, i, slots[i]), 0);
	}
}

static inline int setup(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	open_devices();
	return 0;
}

static inline int setup_closed(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		gkf_space_close(i);
		assert_int_equal(gkf_held_bytes(fx.m, i), 0);
	}
	fixture_close(&fx);
	return 0;
}

static inline int try_alloc(enum gkf_memory_kind kind, unsigned device,
			    uint64_t size, uint64_t *ret_address)
{
	struct gkf_memory_ask ask = {
	    .kind = kind, .device = device, .size = size, .owner = &fx};

	return gkf_space_alloc(&ask, ret_address);
}

static inline uint64_t alloc(unsigned device, uint64_t size)
{
	uint64_t address = 0;

	assert_int_equal(try_alloc(GKF_MEMORY_DEVICE, device, size, &address),
			 0);
	return address;
}

/* Bytes of RAM that this process has to itself. */
static inline uint64_t resident(void)
{
	unsigned long size, pages;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_int_equal(fscanf(f, "%lu %lu", &size, &pages), 2);
	fclose(f);
	return pages * 4096ULL;
}

#define SPACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
