/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix_test.c - checks matrices of 8 x 8 numbers of 16 bits between lanes and
 * shared memory.
 */
#include "ptx/fixture.h"

#include <stdio.h>

#define MATRICES 4

/* The register of a lane for a matrix: all halves differ. */
static uint32_t pair(unsigned matrix, unsigned lane)
{
	return (matrix << 8 | lane << 1) | (matrix << 8 | lane << 1 | 1) << 16;
}

/*
 * Stores matrices with the instruction, at addresses in %r9 or %rd9, and reads
 * a half of shared memory back by plain loads, two words a lane.
 */
static void store(const char *stored, unsigned half, uint32_t ret[64])
{
	char body[2048];

	snprintf(
	    body, sizeof body,
	    ".shared .align 16 .b8 s[512];\n"
	    "mov.u32 %%r8, s; shl.b32 %%r2, %%r1, 4;\n"
	    /* rows in another order than lanes: lane l has row l ^ 5 */
	    "xor.b32 %%r2, %%r2, 0x50; add.u32 %%r9, %%r8, %%r2;\n"
	    "cvt.u64.u32 %%rd9, %%r9; cvta.shared.u64 %%rd9, %%rd9;\n"
	    "mov.u32 %%r10, 0xffffffff;\n"
	    "shl.b32 %%r11, %%r1, 4; add.u32 %%r11, %%r11, %%r8;\n"
	    "st.shared.v4.u32 [%%r11], {%%r10, %%r10, %%r10, %%r10};\n"
	    "bar.warp.sync -1;\n"
	    "mul.lo.u32 %%r2, %%r1, 0x20002; add.u32 %%r2, %%r2, 0x10000;\n"
	    "add.u32 %%r3, %%r2, 0x1000100; add.u32 %%r4, %%r3, 0x1000100;\n"
	    "add.u32 %%r5, %%r4, 0x1000100;\n"
	    "%s\n"
	    "bar.warp.sync -1;\n"
	    "mad.lo.u32 %%r11, %%r1, 8, %%r8;\n"
	    "ld.shared.v2.u32 {%%r12, %%r13}, [%%r11+%u];\n"
	    "st.global.v2.u32 [%%rd2], {%%r12, %%r13};",
	    stored, half * 256);
	if (ptx_body(body, NULL, ret) != GKF_PTX_DONE)
		fail_msg("%s", stored);
}

/* The number in a row and a column, from the lane that holds it. */
static uint16_t element(unsigned matrix, unsigned row, unsigned column)
{
	uint32_t p = pair(matrix, row * 4 + column / 2);

	return (uint16_t)(column % 2 ? p >> 16 : p);
}

static void matrices_are_stored_by_rows_or_columns(void **state)
{
	static const struct {
		const char *stored;
		unsigned matrices;
		bool turned;
	} forms[] = {
	    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r2};", 1,
	     false},
	    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], %r2;", 1, false},
	    {"stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%r9], "
	     "{%r2, %r3};",
	     2, false},
	    {"stmatrix.sync.aligned.m8n8.x4.b16 [%rd9], {%r2, %r3, %r4, %r5};",
	     4, false},
	    {"stmatrix.sync.aligned.m8n8.x1.trans.b16 [%rd9], {%r2};", 1, true},
	    {"stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r9], "
	     "{%r2, %r3};",
	     2, true},
	    {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r9], "
	     "{%r2, %r3, %r4, %r5};",
	     4, true},
	};

	(void)state;
	for (size_t f = 0; f < COUNT(forms); f++) {
		uint32_t words[2][64];
		uint16_t found[MATRICES][8][8];

		store(forms[f].stored, 0, words[0]);
		store(forms[f].stored, 1, words[1]);
		memcpy(found, words, sizeof found);
		for (unsigned i = 0; i < MATRICES * 64; i++) {
			unsigned m = i / 64, row = i / 8 % 8, column = i % 8;
			uint16_t wanted = forms[f].turned
					      ? element(m, column, row)
					      : element(m, row, column);

			if (m >= forms[f].matrices)
				wanted = UINT16_MAX; /* unchanged */
			if (found[m][row ^ 5][column] != wanted)
				fail_msg("%s: matrix %u row %u column %u",
					 forms[f].stored, m, row, column);
		}
	}
}

/* A lane has 0 where all its registers are unchanged. */
static void what_was_stored_is_loaded_again(void **state)
{
	static const char *const trans[] = {"", ".trans"};
	char body[2048];

	(void)state;
	for (size_t t = 0; t < COUNT(trans); t++) {
		uint32_t out[32][2];

		snprintf(
		    body, sizeof body,
		    ".shared .align 16 .b8 s[512];\n"
		    "mov.u32 %%r9, s; mad.lo.u32 %%r9, %%r1, 16, %%r9;\n"
		    "mul.lo.u32 %%r2, %%r1, 0x9e3779b9;\n"
		    "not.b32 %%r3, %%r2; shl.b32 %%r4, %%r2, 3;\n"
		    "xor.b32 %%r5, %%r4, %%r3;\n"
		    "stmatrix.sync.aligned.m8n8.x4%s.shared.b16 [%%r9], "
		    "{%%r2, %%r3, %%r4, %%r5};\n"
		    "bar.warp.sync -1;\n"
		    "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 "
		    "{%%r6, %%r7, %%r8, %%r10}, [%%r9];\n"
		    "xor.b32 %%r6, %%r6, %%r2; xor.b32 %%r7, %%r7, %%r3;\n"
		    "xor.b32 %%r8, %%r8, %%r4; xor.b32 %%r10, %%r10, %%r5;\n"
		    "or.b32 %%r6, %%r6, %%r7; or.b32 %%r6, %%r6, %%r8;\n"
		    "or.b32 %%r6, %%r6, %%r10; xor.b32 %%r7, %%r2, %%r5;\n"
		    "st.global.v2.u32 [%%rd2], {%%r6, %%r7};",
		    trans[t], trans[t]);
		assert_int_equal(ptx_body(body, NULL, out), GKF_PTX_DONE);
		for (uint32_t l = 0; l < 32; l++) {
			uint32_t x = l * 0x9e3779b9U;

			assert_int_equal(out[l][0], 0);
			assert_int_equal(out[l][1], x ^ (x << 3 ^ ~x));
		}
	}
}

static void rows_lie_where_they_may(void **state)
{
	static const struct {
		const char *stored;
		enum gkf_ptx_end end;
	} rows[] = {
	    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9+8], {%r1};",
	     GKF_PTX_MISALIGNED},
	    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9+512], {%r1};",
	     GKF_PTX_ILLEGAL_ADDRESS},
	    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r9+8];",
	     GKF_PTX_MISALIGNED},
	    /* a lane that gives a row's address has ended */
	    {"@%p1 exit;\n"
	     "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r1};",
	     GKF_PTX_TRAPPED},
	};
	char body[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(body, sizeof body,
			 ".shared .align 16 .b8 s[512];\n"
			 "mov.u32 %%r9, s; mad.lo.u32 %%r9, %%r1, 16, %%r9;\n"
			 "setp.eq.u32 %%p1, %%r1, 3;\n%s",
			 rows[i].stored);
		if (ptx_body(body, NULL, NULL) != rows[i].end)
			fail_msg("%s", rows[i].stored);
	}
}

static void several_matrices_need_a_vector(void **state)
{
	(void)state;
	assert_int_equal(
	    ptx_body(".reg .b32 %row;\n"
		     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 %row, [%r1];",
		     NULL, NULL),
	    GKF_PTX_REFUSED);
	assert_int_equal(
	    ptx_body("ldmatrix.sync.aligned.m8n8.x2.shared.b16 %r1, [%r1];",
		     NULL, NULL),
	    GKF_PTX_REFUSED);
}

static void older_gpus_store_no_matrices(void **state)
{
	static const char *const targets[] = {"sm_70", "sm_89", "sm_90",
					      "sm_100a"};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT(targets); i++) {
		struct ptx_program p;

		snprintf(text, sizeof text,
			 ".version 8.6\n.target %s\n.address_size 64\n"
			 ".entry k() { .reg .b32 %%r<3>;\n"
			 ".shared .align 16 .b8 s[512];\n"
			 "mov.u32 %%r1, %%laneid; mov.u32 %%r2, s;\n"
			 "mad.lo.u32 %%r2, %%r1, 16, %%r2;\n"
			 "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%%r2], "
			 "{%%r1}; ret; }\n",
			 targets[i]);
		ptx_load(&p, text);
		assert_int_equal(ptx_run(&p, "k", 1, 32, NULL, 0),
				 i < 2 ? GKF_PTX_REFUSED : GKF_PTX_DONE);
		ptx_unload(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(matrices_are_stored_by_rows_or_columns),
	    cmocka_unit_test(what_was_stored_is_loaded_again),
	    cmocka_unit_test(rows_lie_where_they_may),
	    cmocka_unit_test(several_matrices_need_a_vector),
	    cmocka_unit_test(older_gpus_store_no_matrices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
