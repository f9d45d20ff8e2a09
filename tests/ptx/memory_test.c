/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_test.c - checks memory as lanes of one instruction use it once it has
 * been found.
 */
#include "ptx/fixture.h"

#include <stdio.h>

/*
 * The same access by a warp, `times` in all, each `step` further on: the first
 * finds the memory, the next ones reuse that. The last lane begins 8 bytes
 * before the end.
 */
static enum gkf_ptx_end walk(const char *load, unsigned step, unsigned times)
{
	uint64_t in[32] = {0}, out[32];
	char body[512];

	snprintf(body, sizeof body,
		 "mov.u32 %%r2, 0;\n"
		 "again: %s\n"
		 "add.u64 %%rd1, %%rd1, %u; add.u32 %%r2, %%r2, 1;\n"
		 "setp.lt.u32 %%p1, %%r2, %u;\n"
		 "@%%p1 bra again;\n",
		 load, step, times);
	return ptx_body(body, in, out);
}

static void the_end_of_memory_is_the_end(void **state)
{
	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		enum gkf_ptx_end end =
		    more ? GKF_PTX_ILLEGAL_ADDRESS : GKF_PTX_DONE;

		assert_int_equal(walk("ld.global.u8 %r3, [%rd1];", 1, 8 + more),
				 end);
		assert_int_equal(walk("st.global.u8 [%rd1], %r3;", 1, 8 + more),
				 end);
		assert_int_equal(
		    walk("ld.global.u32 %r3, [%rd1];", 4, 2 + more), end);
	}
}

static void every_access_is_aligned(void **state)
{
	(void)state;
	assert_int_equal(walk("ld.global.u32 %r3, [%rd1];", 2, 2),
			 GKF_PTX_MISALIGNED);
	assert_int_equal(walk("st.global.u64 [%rd1], %rd1;", 4, 2),
			 GKF_PTX_MISALIGNED);
	assert_int_equal(walk("ld.global.v2.u32 {%r3, %r4}, [%rd1];", 4, 2),
			 GKF_PTX_MISALIGNED);
}

static void signs_are_extended_as_told(void **state)
{
	uint64_t in[32], out[32] = {0};

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = 0x80000000 + l;
	assert_int_equal(ptx_body("ld.global.s32 %rd4, [%rd1];\n"
				  "st.global.u64 [%rd2], %rd4;",
				  in, out),
			 GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], 0xffffffff80000000 + l);
	assert_int_equal(ptx_body("ld.global.u32 %rd4, [%rd1];\n"
				  "st.global.u64 [%rd2], %rd4;",
				  in, out),
			 GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], in[l]);
}

/* When lanes store to one address, the last one's value stays. */
static void lanes_that_meet_store_in_order(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(ptx_body(".shared .align 8 .b32 s[2];\n"
				  "st.shared.u32 [s+4], %r1;\n"
				  "ld.shared.u32 %r2, [s+4];\n"
				  "cvt.u64.u32 %rd4, %r2;\n"
				  "st.global.u64 [%rd2], %rd4;",
				  NULL, out),
			 GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], 31);
}

/*
 * Elements, not bytes; of a vector, its scalars. 32 bits of a sum are the
 * index.
 */
static void elements_of_arrays_are_counted(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body(
		".shared .align 8 .b32 s[64]; .local .b16 l[40];\n"
		".global .v2 .u32 v[2] = {{1, 2}, {3, 4}};\n"
		"st.shared.u32 s[%r1], %r1;\n"
		"st.shared.u32 s[%r1+4*8], 100;\n"
		"ld.shared.u32 %r2, s[3];\n"
		"xor.b32 %r3, %r1, 7; ld.shared.u32 %r4, s[%r3+1];\n"
		"cvt.u16.u32 %rs1, %r1; st.local.u16 l[%rs1], %rs1;\n"
		"st.local.u16 l[39], 5; ld.local.u16 %rs2, [l+78];\n"
		"mov.u64 %rd4, 0x1fffffffe; ld.global.u32 %r5, v[%rd4+5];\n"
		"mov.u32 %r6, s[2]; mov.u32 %r7, s; sub.u32 %r6, %r6, %r7;\n"
		"mov.u64 %rd5, v[%r1]; mov.u64 %rd6, v;\n"
		"sub.u64 %rd5, %rd5, %rd6; cvt.u32.u64 %r8, %rd5;\n"
		"cvt.u32.u16 %r9, %rs2; ld.local.u16 %rs3, l[%r1];\n"
		"cvt.u32.u16 %r10, %rs3;\n"
		"mad.lo.u32 %r2, %r4, 10, %r2;\n"
		"mad.lo.u32 %r2, %r5, 10000, %r2;\n"
		"mad.lo.u32 %r2, %r6, 100000, %r2;\n"
		"mad.lo.u32 %r2, %r9, 1000000, %r2;\n"
		"mad.lo.u32 %r2, %r8, 10000000, %r2;\n"
		"cvt.u64.u32 %rd4, %r2; cvt.u64.u32 %rd5, %r10;\n"
		"mad.lo.u64 %rd4, %rd5, 10000000000, %rd4;\n"
		"st.global.u64 [%rd2], %rd4;",
		NULL, out),
	    GKF_PTX_DONE);
	for (uint64_t l = 0; l < 32; l++) {
		uint64_t next = (l ^ 7) + 1, at = next < 32 ? next : 100;

		assert_int_equal(out[l], 3 + at * 10 + 40000 + 800000 +
					     5000000 + l * 4 * 10000000 +
					     l * 10000000000);
	}
}

/* A vector of registers is its elements. */
static void vectors_of_registers_are_registers(void **state)
{
	uint64_t in[32], out[32] = {0};

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = (uint64_t)l << 32 | (l + 5);
	assert_int_equal(ptx_body(".reg .v2 .u32 v, w<3>;\n"
				  "ld.global.v2.u32 v, [%rd1];\n"
				  "mov.u32 w1.x, v.g; mov.u32 w1.y, v.r;\n"
				  "add.u32 w1.x, w1.x, 1;\n"
				  "st.global.v2.u32 [%rd2], w1;",
				  in, out),
			 GKF_PTX_DONE);
	for (uint64_t l = 0; l < 32; l++)
		assert_int_equal(out[l], (l + 5) << 32 | (l + 1));
}

/* Hints change nothing, and the assembler accepts modifiers in any order. */
static void modifiers_stand_in_any_order(void **state)
{
	static const char *const loads[] = {
	    "ld.global.L2::128B.u64",
	    "ld.global.L1::evict_last.L2::64B.u64",
	    "ld.global.nc.L1::no_allocate.L2::256B.u64",
	    "ld.relaxed.gpu.global.u64",
	    "ld.global.relaxed.gpu.u64",
	    "ld.u64.global.sys.acquire",
	    "ld.mmio.relaxed.sys.global.u64",
	    "ld.volatile.u64",
	    "ld.weak.global.ca.u64",
	};
	static const char *const adds[] = {
	    "atom.add.relaxed.gpu.u64",
	    "atom.relaxed.gpu.global.add.u64",
	    "atom.add.global.relaxed.gpu.u64",
	    "atom.global.gpu.relaxed.add.u64",
	    "atom.u64.add.sys.acq_rel",
	    "atom.global.gpu.add.u64",
	};
	uint64_t in[32], out[32];
	char body[512];

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = l * 77;
	for (size_t i = 0; i < COUNT(loads) * COUNT(adds); i++) {
		const char *add = adds[i % COUNT(adds)];

		memset(out, 0, sizeof out);
		snprintf(
		    body, sizeof body,
		    "createpolicy.fractional.L2::evict_last.b64 %%rd7;\n"
		    "griddepcontrol.wait;\n"
		    "prefetch.global.L2::evict_last [%%rd1];\n"
		    "%s %%rd4, [%%rd1]; %s %%rd5, [%%rd2], %%rd4;\n"
		    "ld.global.L2::cache_hint.u64 {%%rd4}, [%%rd1], %%rd7;\n"
		    "red%s [%%rd2], %%rd4;\n"
		    "red.global.add.L2::cache_hint.u64 [%%rd2], 1, %%rd7;",
		    loads[i / COUNT(adds)], add, add + strlen("atom"));
		assert_int_equal(ptx_body(body, in, out), GKF_PTX_DONE);
		for (unsigned l = 0; l < 32; l++)
			assert_int_equal(out[l], l * 77 * 2 + 1);
	}
}

/* Inactive lanes keep their predicates. */
static void predicates_are_of_those_who_ask(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body(".shared .align 8 .b32 s[2];\n"
		     "mov.u64 %rd4, s; cvta.shared.u64 %rd4, %rd4;\n"
		     "setp.eq.u32 %p1, %r1, %r1;\n"
		     "setp.lt.u32 %p2, %r1, 16;\n"
		     "@%p2 isspacep.local %p1, %rd4;\n"
		     "selp.u64 %rd5, 1, 0, %p1;\n"
		     "st.global.u64 [%rd2], %rd5;",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], l >= 16);
}

/* A rounding mode applies to its instruction alone. */
static void rounding_ends_with_its_instruction(void **state)
{
	uint64_t in[32], out[32] = {0};

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = 0xffffffffff;
	assert_int_equal(ptx_body("ld.global.u64 %rd4, [%rd1];\n"
				  "cvt.rz.f32.u64 %f1, %rd4;\n"
				  "cvt.rn.f32.u64 %f2, %rd4;\n"
				  "setp.lt.f32 %p1, %f1, %f2;\n"
				  "selp.u64 %rd5, 1, 0, %p1;\n"
				  "st.global.u64 [%rd2], %rd5;",
				  in, out),
			 GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_end_of_memory_is_the_end),
	    cmocka_unit_test(every_access_is_aligned),
	    cmocka_unit_test(signs_are_extended_as_told),
	    cmocka_unit_test(lanes_that_meet_store_in_order),
	    cmocka_unit_test(elements_of_arrays_are_counted),
	    cmocka_unit_test(modifiers_stand_in_any_order),
	    cmocka_unit_test(vectors_of_registers_are_registers),
	    cmocka_unit_test(predicates_are_of_those_who_ask),
	    cmocka_unit_test(rounding_ends_with_its_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
