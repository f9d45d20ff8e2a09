/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_test.c - checks divergence, calls, barriers, atomics, memory spaces,
 * and how runs end.
 */
#include "base/clock.h"
#include "ptx/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Lanes of a warp take two paths, and continue together. */
static void ways_part_and_meet(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(ptx_body("setp.lt.u32 %p1, %r1, 10;\n"
				  "mov.u32 %r2, 7;\n"
				  "@%p1 bra less;\n"
				  "mov.u32 %r2, 100; bra both;\n"
				  "less: mov.u32 %r2, 1;\n"
				  "both: add.u32 %r2, %r2, %r1;\n"
				  "st.global.u32 [%rd2], %r2;",
				  NULL, out),
			 GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], (l < 10 ? 1 : 100) + l);
}

static unsigned collatz(unsigned n)
{
	unsigned steps = 0;

	for (; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return steps;
}

/* Loops of different lengths in every lane, with branches inside. */
static void loops_end_when_each_lane_is_done(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("add.u32 %r2, %r1, 1; mov.u32 %r3, 0;\n"
		     "top: setp.eq.u32 %p1, %r2, 1; @%p1 bra end;\n"
		     "add.u32 %r3, %r3, 1; and.b32 %r4, %r2, 1;\n"
		     "setp.ne.u32 %p2, %r4, 0; @!%p2 bra even;\n"
		     "mad.lo.u32 %r2, %r2, 3, 1; bra top;\n"
		     "even: shr.u32 %r2, %r2, 1; bra top;\n"
		     "end: st.global.u32 [%rd2], %r3;",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], collatz(l + 1));
}

/* Guards, both results of a comparison, combined predicates. */
static void predicates_are_put_together(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("setp.lt.u32 %p1|%p2, %r1, 8;\n"
		     "setp.gt.and.u32 %p3|%p4, %r1, 3, %p1;\n"
		     "setp.eq.or.u32 %p5, %r1, 20, !%p2;\n"
		     "xor.pred %p6, %p3, %p5; not.pred %p7, %p6;\n"
		     "mov.u32 %r2, 0;\n"
		     "@%p3 add.u32 %r2, %r2, 1; @%p4 add.u32 %r2, %r2, 2;\n"
		     "@%p5 add.u32 %r2, %r2, 4; @!%p7 add.u32 %r2, %r2, 8;\n"
		     "st.global.u32 [%rd2], %r2;",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		int p = l<8, r3 = l> 3 && p, r4 = !(l > 3) && p;
		int r5 = l == 20 || p;

		assert_int_equal(out[l], r3 + 2 * r4 + 4 * r5 + 8 * (r3 != r5));
	}
}

/* A lock in global memory that all lanes of a warp want. */
static void lanes_wait_for_lanes_of_their_warp(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	/* out[31] is the lock, out[30] what it guards; bases are lane 0's. */
	assert_int_equal(
	    ptx_body("mul.wide.u32 %rd3, %r1, 8; sub.u64 %rd2, %rd2, %rd3;\n"
		     "again: atom.global.cas.b32 %r2, [%rd2+248], 0, 1;\n"
		     "setp.ne.u32 %p1, %r2, 0; @%p1 bra again;\n"
		     "ld.volatile.global.u32 %r3, [%rd2+240];\n"
		     "add.u32 %r3, %r3, 1;\n"
		     "st.volatile.global.u32 [%rd2+240], %r3;\n"
		     "membar.gl; atom.global.exch.b32 %r2, [%rd2+248], 0;",
		     NULL, out),
	    GKF_PTX_DONE);
	assert_int_equal(out[30], 32);
	assert_int_equal(out[31], 0);
}

/*
 * A lane that waits at a place of its own until its turn: word 31 of the
 * output.
 */
#define WAITS                                                                  \
	"%s: ld.volatile.global.u32 %%r2, [%%rd2+248];\n"                      \
	"setp.ne.u32 %%p1, %%r2, %u; @%%p1 bra %s;\n"                          \
	"st.volatile.global.u32 [%%rd2+248], %u; bra end;\n"

/*
 * Lanes that spin at four places: whichever of them all the others wait for
 * gets its turn.
 */
static void nobody_turns_in_circles_for_ever(void **state)
{
	static const char *const place[] = {"a", "b", "c", "d"};
	uint64_t out[32];
	char body[2048];

	(void)state;
	alarm(60); /* it ends, or the test does */
	for (unsigned code = 0; code < 256; code++) {
		unsigned turn[4], seen = 0, n;

		for (unsigned i = 0; i < 4; i++)
			seen |= 1U << (turn[i] = code >> 2 * i & 3);
		if (seen != 15)
			continue;
		n = (unsigned)snprintf(
		    body, sizeof body,
		    "mul.wide.u32 %%rd3, %%r1, 8; sub.u64 %%rd2, %%rd2, "
		    "%%rd3;\n"
		    "setp.eq.u32 %%p1, %%r1, 1; @%%p1 bra b;\n"
		    "setp.eq.u32 %%p1, %%r1, 2; @%%p1 bra c;\n"
		    "setp.eq.u32 %%p1, %%r1, 3; @%%p1 bra d;\n"
		    "setp.gt.u32 %%p1, %%r1, 3; @%%p1 bra end;\n");
		for (unsigned i = 0; i < 4; i++)
			n += (unsigned)snprintf(body + n, sizeof body - n,
						WAITS, place[i], turn[i],
						place[i], turn[i] + 1);
		snprintf(body + n, sizeof body - n, "end:");
		memset(out, 0, sizeof out);
		assert_int_equal(ptx_body(body, NULL, out), GKF_PTX_DONE);
		assert_int_equal(out[31], 4);
	}
	alarm(0);
}

static const char calls[] =
    HEAD ".func (.param .b32 r) fib(.param .b32 n) {\n"
	 ".reg .b32 %r<9>; .reg .pred %p;\n"
	 "ld.param.u32 %r1, [n]; setp.lt.u32 %p, %r1, 2; @%p bra small;\n"
	 "sub.u32 %r2, %r1, 1;\n"
	 "{ .param .b32 a; st.param.b32 [a], %r2; .param .b32 v;\n"
	 "call.uni (v), fib, (a); ld.param.b32 %r3, [v]; }\n"
	 "sub.u32 %r2, %r1, 2;\n"
	 "{ .param .b32 a; st.param.b32 [a], %r2; .param .b32 v;\n"
	 "call.uni (v), fib, (a); ld.param.b32 %r4, [v]; }\n"
	 "add.u32 %r1, %r3, %r4;\n"
	 "small: st.param.b32 [r], %r1; ret; }\n"
	 ".entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
	 "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
	 "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
	 "rem.u32 %r2, %r1, 12;\n"
	 "{ .param .b32 a; st.param.b32 [a], %r2; .param .b32 v;\n"
	 "call (v), fib, (a); ld.param.b32 %r3, [v]; }\n"
	 "st.global.u32 [%rd1], %r3; ret; }\n";

static unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void functions_call_themselves(void **state)
{
	uint32_t out[100];
	struct ptx_program p;
	uint64_t at;

	(void)state;
	ptx_load(&p, calls);
	at = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 1, 100, &at, 8), GKF_PTX_DONE);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(out[i], fib(i % 12));
	ptx_unload(&p);
}

static void endless_calls_overflow(void **state)
{
	struct ptx_program p;

	(void)state;
	ptx_load(&p, HEAD ".func f() { call f; ret; }\n"
			  ".entry k() { call f; ret; }\n");
	assert_int_equal(ptx_run(&p, "k", 1, 32, NULL, 0),
			 GKF_PTX_STACK_OVERFLOW);
	ptx_unload(&p);
}

/* Generic addresses of shared, local and parameter memory; vectors; packs. */
static void spaces_are_told_by_address(void **state)
{
	uint64_t in[32], out[32] = {0};

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = 0x8182838485868700 + l;
	assert_int_equal(
	    ptx_body(
		".local .align 8 .b8 mine[64]; .shared .align 8 .b64 s[32];\n"
		"ld.global.v2.u32 {%r2, %r3}, [%rd1];\n"
		"mov.u64 %rd4, mine; cvta.local.u64 %rd5, %rd4;\n"
		"st.v2.u32 [%rd5+8], {%r3, %r2};\n"
		"ld.local.b64 %rd6, [mine+8];\n"
		"mov.b64 {%r4, %r5}, %rd6; mov.b64 %rd7, {%r5, %r4};\n"
		"mov.u64 %rd8, s; cvta.shared.u64 %rd9, %rd8;\n"
		"mad.wide.u32 %rd9, %r1, 8, %rd9; st.u64 [%rd9], %rd7;\n"
		"isspacep.shared %p1, %rd9; isspacep.local %p2, %rd9;\n"
		"cvta.to.shared.u64 %rd10, %rd9; cvt.u32.u64 %r6, %rd10;\n"
		"ld.shared.u64 %rd11, [%r6]; ld.u8 %r7, [%rd9+7];\n"
		"ld.s8 %r8, [%rd9+7]; st.u16 [%rd9], %r8;\n"
		"ld.s16 %rd12, [%rd9]; add.u64 %rd11, %rd11, %rd12;\n"
		"selp.u64 %rd13, 0, 1000, %p1; selp.u64 %rd14, 7, 0, %p2;\n"
		"add.u64 %rd11, %rd11, %rd13; add.u64 %rd11, %rd11, %rd14;\n"
		"cvt.u64.u32 %rd15, %r7; add.u64 %rd11, %rd11, %rd15;\n"
		"st.global.u64 [%rd2], %rd11;",
		in, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], in[l] + 0x81 - 0x7f);
}

static void errors_tell_where(void **state)
{
	struct ptx_program p;
	uint32_t word[2] = {0};
	uint64_t at;

	(void)state;
	ptx_load(&p, HEAD
		 ".entry wild(.param .u64 out) { .reg .b64 %rd; .reg .b32 %r;\n"
		 "ld.param.u64 %rd, [out];\n"
		 "st.global.u32 [%rd+8], 1; ret; }\n"
		 ".entry odd(.param .u64 out) { .reg .b64 %rd;\n"
		 "ld.param.u64 %rd, [out]; st.global.u32 [%rd+2], 1; ret; }\n"
		 ".entry far(.param .u64 out) { .reg .b32 %r; .shared .b32 s;\n"
		 "mov.u32 %r, 4; st.shared.u32 [%r], 1; ret; }\n"
		 ".entry off(.param .u64 out) { trap; }\n");
	at = ptx_show(&p, word, sizeof word);
	assert_int_equal(ptx_run(&p, "wild", 1, 1, &at, 8),
			 GKF_PTX_ILLEGAL_ADDRESS);
	assert_int_equal(p.report.line, 6);
	assert_int_equal(p.report.address, at + 8);
	assert_string_equal(p.report.function, "wild");
	assert_int_equal(ptx_run(&p, "odd", 1, 1, &at, 8), GKF_PTX_MISALIGNED);
	assert_int_equal(ptx_run(&p, "far", 1, 1, &at, 8),
			 GKF_PTX_ILLEGAL_ADDRESS);
	assert_int_equal(ptx_run(&p, "off", 1, 1, &at, 8), GKF_PTX_TRAPPED);
	ptx_unload(&p);
}

static void an_assertion_ends_the_launch(void **state)
{
	struct ptx_program p;

	(void)state;
	ptx_load(
	    &p,
	    ".version 8.0\n.target sm_70\n.address_size 64\n"
	    ".extern .func __assertfail(.param .b64 m, .param .b64 f,\n"
	    ".param .b32 l, .param .b64 n, .param .b64 s);\n"
	    ".entry holds(.param .u32 it) { .reg .pred %p; .reg .b32 %r;\n"
	    "ld.param.u32 %r, [it]; setp.ne.u32 %p, %r, 0; @%p bra good;\n"
	    "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;\n"
	    ".param .b64 e; st.param.b64 [a], 0; st.param.b64 [b], 0;\n"
	    "st.param.b32 [c], 7; st.param.b64 [d], 0;\n"
	    "st.param.b64 [e], 1;\n"
	    "call.uni __assertfail, (a, b, c, d, e); }\n"
	    "good: ret; }\n");
	assert_int_equal(ptx_run(&p, "holds", 1, 32, &(uint32_t){1}, 4),
			 GKF_PTX_DONE);
	assert_int_equal(ptx_run(&p, "holds", 1, 32, &(uint32_t){0}, 4),
			 GKF_PTX_ASSERTED);
	ptx_unload(&p);
}

static void what_has_no_row_is_refused(void **state)
{
	static const char *const bodies[] = {
	    "sin.approx.f32 %f1, %f2;",
	    "add.cc.u16 %rs2, %rs2, 1;",
	    ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, "
	     "[%r3];"),
	    ("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r1}, [%rd1];"),
	    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%rd3}, [%r3];"),
	    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r3], {%r1};",
	    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r3], {%r1};",
	    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%rs1};",
	    "stmatrix.sync.aligned.m8n8.x1.global.b16 [%rd1], {%r1};",
	    "stmatrix.sync.aligned.m8n8.x8.shared.b16 [%r3], {%r1};",
	    "stmatrix.aligned.m8n8.x1.shared.b16 [%r3], {%r1};",
	    "shfl.sync.bfly.b16 %rs2, %rs1, 1, 31, -1;",
	    "add.u32 %r2, %rs1, 1;",
	    "mov.u32 %r2, %envreg3;",
	    "@%p1 wgmma.fence.sync.aligned;",
	    "cvt.rn.f32.bf16 %f1, %rs1;",
	    "ld.global.f64x3 %fd1, [%rd1];",
	    "add.rn.tf32 %f1, %f2, %f3;",
	    "cvt.s32.f32 %r1, %f1;",
	    "mapa.shared::cluster.u32 %r1, %r2, 0;",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++)
		if (ptx_body(bodies[i], NULL, NULL) != GKF_PTX_REFUSED)
			fail_msg("%s", bodies[i]);
}

/* No instruction has a row for them, but each form may name such a register. */
static void registers_of_128_bits_are_refused(void **state)
{
	static const char *const bodies[] = {
	    "cvt.u32.u64 %w, %rd1;",
	    "cvt.s32.s64 %w, %rd1;",
	    "cvt.u32.u64 %r2, %w;",
	    "cvt.rn.f32.u64 %w, %rd1;",
	    "ld.global.u32 %w, [%rd1];",
	    "ld.global.s8 %w, [%rd1];",
	    "ld.global.v2.u32 {%w, %w}, [%rd1];",
	    "st.global.u32 [%rd2], %w;",
	    "ld.global.u32 %r2, [%w];",
	    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%w}, [%r3];",
	    "atom.global.add.u64 %w, [%rd2], 1;",
	    "atom.global.exch.b64 %rd4, [%rd2], %w;",
	    "mov.b64 %w, %rd1;",
	    "mov.b128 %w, %w;",
	    "mov.b128 {%rd4, %rd5}, %w;",
	    "mov.b64 {%r2, %r3}, %w;",
	    "add.u64 %w, %rd1, 1;",
	    "selp.b64 %w, %rd1, %rd2, %p1;",
	    "slct.b64.s32 %w, %rd1, %rd2, %r1;",
	    "setp.eq.u64 %p1, %w, %rd1;",
	    "shfl.sync.idx.b32 %w, %r1, 0, 31, -1;",
	    "match.any.sync.b64 %r2, %w, -1;",
	    "vote.sync.ballot.b32 %w, %p1, -1;",
	    "activemask.b32 %w;",
	    "bar.sync %w;",
	    "cvta.global.u64 %w, %rd1;",
	    "isspacep.global %p1, %w;",
	};
	char body[128];

	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++) {
		snprintf(body, sizeof body, ".reg .b128 %%w; %s", bodies[i]);
		if (ptx_body(body, NULL, NULL) != GKF_PTX_REFUSED)
			fail_msg("%s", bodies[i]);
	}
}

/* Blocks run one after the other, which those of a cluster could not. */
static void clusters_are_refused(void **state)
{
	struct ptx_program p;

	(void)state;
	ptx_load(
	    &p, HEAD
	    ".entry two() .reqnctapercluster 2, 1, 1 { ret; }\n"
	    ".entry one() .explicitcluster .reqnctapercluster 1 { ret; }\n");
	assert_int_equal(ptx_run(&p, "two", 2, 32, NULL, 0), GKF_PTX_REFUSED);
	assert_int_equal(ptx_run(&p, "one", 2, 32, NULL, 0), GKF_PTX_DONE);
	ptx_unload(&p);
}

static bool at_once(void)
{
	return true;
}

/* Also those without a loop: a grid may have 2^31 blocks. */
static void kernels_stop_when_told(void **state)
{
	struct ptx_program p;
	uint32_t count = 0;
	uint64_t at;

	(void)state;
	ptx_load(&p, HEAD ".entry k(.param .u64 out) { .reg .b64 %rd;\n"
			  "ld.param.u64 %rd, [out];\n"
			  "red.global.add.u32 [%rd], 1; ret; }\n");
	at = ptx_show(&p, &count, sizeof count);
	p.stopped = at_once;
	assert_int_equal(ptx_run(&p, "k", 1000, 1, &at, 8), GKF_PTX_STOPPED);
	assert_int_equal(count, 1);
	ptx_unload(&p);
}

static void clocks_go_forward(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("mov.u64 %rd4, %clock64; nanosleep.u32 1000;\n"
		     "mov.u64 %rd5, %clock64;\n"
		     "sub.u64 %rd6, %rd5, %rd4;\n"
		     "mov.u64 %rd7, %globaltimer;\n"
		     "st.global.u64 [%rd2], %rd6;\n"
		     "setp.eq.u32 %p1, %r1, 31;\n"
		     "@%p1 st.global.u64 [%rd2], %rd7;",
		     NULL, out),
	    GKF_PTX_DONE);
	assert_true(out[0] > 100 && out[0] < GK_NS_PER_S * 60);
	assert_true(gk_wall_ns() - out[31] < GK_NS_PER_S * 60);
}

/* A short nap is shorter than the system's shortest sleep. */
static void naps_are_short(void **state)
{
	uint64_t out[32], start, shortest = UINT64_MAX;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		start = gk_mono_ns();
		assert_int_equal(
		    ptx_body("mov.u64 %rd4, %clock64; nanosleep.u32 5000;\n"
			     "mov.u64 %rd5, %clock64;\n"
			     "sub.u64 %rd6, %rd5, %rd4;\n"
			     "st.global.u64 [%rd2], %rd6;",
			     NULL, out),
		    GKF_PTX_DONE);
		assert_true(gk_mono_ns() - start >= 5000);
		/* Shorter: it was over before the instruction was reached. */
		if (out[0] >= 3000 && out[0] < shortest)
			shortest = out[0];
	}
	assert_true(shortest < 30000);
}

/* However long the kernel has worked before: half a millisecond each. */
static void naps_begin_when_they_are_reached(void **state)
{
	uint64_t out[32];

	(void)state;
	assert_int_equal(ptx_body("mov.u64 %rd4, %globaltimer;\n"
				  "again: mov.u64 %rd5, %globaltimer;\n"
				  "sub.u64 %rd6, %rd5, %rd4;\n"
				  "setp.lt.u64 %p1, %rd6, 5000000;\n"
				  "@%p1 bra again;\n"
				  "nanosleep.u32 500000;\n"
				  "nanosleep.u32 500000;\n"
				  "mov.u64 %rd4, %globaltimer;\n"
				  "sub.u64 %rd6, %rd4, %rd5;\n"
				  "st.global.u64 [%rd2], %rd6;",
				  NULL, out),
			 GKF_PTX_DONE);
	assert_in_range(out[0], 990000, GK_NS_PER_S);
}

/* The kernel has nothing local: no address is local. */
static void no_local_memory_is_no_memory(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(ptx_body("mov.u64 %rd4, 0;\n"
				  "ld.local.u32 %r2, [%rd4];\n"
				  "st.global.u32 [%rd2], %r2;",
				  NULL, out),
			 GKF_PTX_ILLEGAL_ADDRESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ways_part_and_meet),
	    cmocka_unit_test(naps_are_short),
	    cmocka_unit_test(naps_begin_when_they_are_reached),
	    cmocka_unit_test(no_local_memory_is_no_memory),
	    cmocka_unit_test(loops_end_when_each_lane_is_done),
	    cmocka_unit_test(predicates_are_put_together),
	    cmocka_unit_test(lanes_wait_for_lanes_of_their_warp),
	    cmocka_unit_test(nobody_turns_in_circles_for_ever),
	    cmocka_unit_test(functions_call_themselves),
	    cmocka_unit_test(endless_calls_overflow),
	    cmocka_unit_test(spaces_are_told_by_address),
	    cmocka_unit_test(errors_tell_where),
	    cmocka_unit_test(an_assertion_ends_the_launch),
	    cmocka_unit_test(what_has_no_row_is_refused),
	    cmocka_unit_test(registers_of_128_bits_are_refused),
	    cmocka_unit_test(clusters_are_refused),
	    cmocka_unit_test(kernels_stop_when_told),
	    cmocka_unit_test(clocks_go_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
