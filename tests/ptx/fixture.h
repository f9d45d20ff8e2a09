/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - runs kernels on memory of the test, without a device.
 */
#ifndef TESTS_PTX_FIXTURE_H
#define TESTS_PTX_FIXTURE_H

#include "ptx/front/fatbin.h"
#include "ptx/interp/kernel.h"
#include "unit.h"

#include <string.h>

/* Any PTX that CUDA 13.0 knows. */
#define PTX_NEWEST 90

/* The pieces of memory that a kernel sees. */
#define PIECES 32
struct ptx_memory {
	struct gkf_ptx_window piece[PIECES];
	unsigned count;
};

/* The beginning of a module. */
#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"

/* A module with memory for its variables. */
struct ptx_program {
	struct gkf_ptx_module *module;
	uint64_t addresses[256];
	struct ptx_memory memory;
	struct gkf_ptx_report report;
	uint32_t dynamic_shared;
	bool (*stopped)(void); /* NULL: never */
};

void ptx_load(struct ptx_program *p, const char *text);
void ptx_load_file(struct ptx_program *p, const char *name); /* of tests/data */
/* Links two texts. */
void ptx_load_two(struct ptx_program *p, const char *one, const char *two);
void ptx_unload(struct ptx_program *p);

/* Lets kernels see size bytes; returns their address. */
uint64_t ptx_show(struct ptx_program *p, void *bytes, uint64_t size);

/* Runs a kernel; params as in memory. */
enum gkf_ptx_end ptx_run(struct ptx_program *p, const char *kernel,
			 unsigned blocks, unsigned threads, const void *params,
			 size_t size);

/*
 * Runs a body of instructions in one warp: %rd1 points to in (32 places of 8
 * bytes), %rd2 to out, and %r1 is the lane. in and out may be NULL.
 */
enum gkf_ptx_end ptx_body(const char *body, const void *in, void *out);

/* The content of a file of tests/data, which the caller owns. */
void *ptx_read_file(const char *name, size_t *ret_size);

#endif
