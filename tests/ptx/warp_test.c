/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp_test.c - checks lanes of a warp that act together, wherever each of them
 * is.
 */
#include "ptx/fixture.h"

/* Sums of halves of the warp by xor; neighbours; all read from one. */
static void lanes_exchange_values(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("mul.lo.u32 %r2, %r1, %r1; mov.u32 %r4, %r2;\n"
		     "mov.u32 %r3, 8;\n"
		     "top: shfl.sync.bfly.b32 %r5, %r4, %r3, 31, -1;\n"
		     "add.u32 %r4, %r4, %r5; shr.u32 %r3, %r3, 1;\n"
		     "setp.ne.u32 %p1, %r3, 0; @%p1 bra top;\n"
		     "shfl.sync.up.b32 %r6|%p2, %r2, 1, 0, -1;\n"
		     "shfl.sync.down.b32 %r7|%p3, %r2, 2, 0x181f, 0xffffffff;\n"
		     "shfl.sync.idx.b32 %r8, %r2, 5, 31, -1;\n"
		     "@!%p2 mov.u32 %r6, 7777; @!%p3 mov.u32 %r7, 8888;\n"
		     "add.u32 %r8, %r8, %r7; mad.lo.u32 %r6, %r6, 10000, %r8;\n"
		     "st.global.v2.u32 [%rd2], {%r4, %r6};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		unsigned sum = 0, up = l ? (l - 1) * (l - 1) : 7777;
		unsigned down = l % 8 < 6 ? (l + 2) * (l + 2) : 8888;

		for (unsigned i = l & 16; i < (l & 16) + 16; i++)
			sum += i * i;
		assert_int_equal((uint32_t)out[l], sum);
		assert_int_equal(out[l] >> 32, up * 10000 + 25 + down);
	}
}

/* Also when they come by other paths, and some have ended. */
static void lanes_vote_together(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body(
		"setp.eq.u32 %p1, %r1, 3; @%p1 exit;\n"
		"setp.lt.u32 %p1, %r1, 9; mov.u32 %r2, 0;\n"
		"@%p1 bra few; bra all;\n"
		"few: activemask.b32 %r2;\n"
		"all: vote.sync.ballot.b32 %r3, %p1, -1;\n"
		"vote.sync.any.pred %p2, %p1, -1;\n"
		"vote.sync.all.pred %p3, %p1, -1;\n"
		"vote.sync.uni.pred %p4, !%p2, -1;\n"
		"and.b32 %r4, %r1, 3; match.any.sync.b32 %r5, %r4, -1;\n"
		"selp.b32 %r6, 1, 0, %p2; @%p3 add.u32 %r6, %r6, 2;\n"
		"@%p4 add.u32 %r6, %r6, 4;\n"
		"redux.sync.max.u32 %r7, %r1, -1;\n"
		"redux.sync.xor.b32 %r8, %r1, -1;\n"
		"mad.lo.u32 %r6, %r7, 16, %r6;\n"
		"mad.lo.u32 %r6, %r8, 0x10000, %r6; xor.b32 %r3, %r3, %r2;\n"
		"xor.b32 %r3, %r3, %r5; st.global.v2.u32 [%rd2], {%r3, %r6};",
		NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		uint32_t few = 0x1f7, same = 0;

		if (l == 3)
			continue;
		for (unsigned i = l & 3; i < 32; i += 4)
			same |= i == 3 ? 0 : 1U << i;
		assert_int_equal((uint32_t)out[l],
				 (l < 9 ? few : 0) ^ few ^ same);
		assert_int_equal(out[l] >> 32, 5 + 31 * 16 + (3 << 16));
	}
}

/* Two instructions, one exchange: lanes meet by what they wait for. */
static void lanes_meet_from_different_places(void **state)
{
	uint64_t out[32] = {0};
	uint32_t said = 0;

	(void)state;
	assert_int_equal(
	    ptx_body("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n"
		     "rem.u32 %r3, %r1, 3; setp.eq.u32 %p2, %r3, 0;\n"
		     "rem.u32 %r4, %r1, 5; setp.eq.u32 %p3, %r4, 0;\n"
		     "@%p1 bra even;\n"
		     "mul.lo.u32 %r5, %r1, 10;\n"
		     "shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;\n"
		     "vote.sync.ballot.b32 %r7, %p2, -1; bra.uni both;\n"
		     "even: mul.lo.u32 %r8, %r1, 7;\n"
		     "shfl.sync.bfly.b32 %r6, %r8, 1, 31, -1;\n"
		     "vote.sync.ballot.b32 %r7, %p3, -1;\n"
		     "both: st.global.v2.u32 [%rd2], {%r6, %r7};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		said |= (uint32_t)((l & 1 ? l % 3 : l % 5) == 0) << l;
	for (unsigned l = 0; l < 32; l++) {
		assert_int_equal((uint32_t)out[l],
				 (l ^ 1) * ((l ^ 1) & 1 ? 10 : 7));
		assert_int_equal(out[l] >> 32, said);
	}
}

/* Lane 0 waits for lane 1, which exchanges with lane 2 first. */
static void lanes_wait_for_who_waits_for_them(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("mov.u32 %r6, 0; mov.u32 %r7, 0;\n"
		     "setp.gt.u32 %p1, %r1, 2; @%p1 bra end;\n"
		     "setp.eq.u32 %p1, %r1, 0; @%p1 bra first;\n"
		     "setp.eq.u32 %p1, %r1, 1; @%p1 bra second;\n"
		     "mov.u32 %r2, 0;\n"
		     "long: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000;\n"
		     "@%p1 bra long; shfl.sync.idx.b32 %r6, 222, 1, 31, 6;\n"
		     "bra end;\n"
		     "second: shfl.sync.idx.b32 %r6, 111, 2, 31, 6;\n"
		     "shfl.sync.idx.b32 %r7, 333, 0, 31, 3; bra end;\n"
		     "first: shfl.sync.idx.b32 %r7, 444, 1, 31, 3;\n"
		     "end: st.global.v2.u32 [%rd2], {%r6, %r7};",
		     NULL, out),
	    GKF_PTX_DONE);
	assert_int_equal(out[0], 333ULL << 32);
	assert_int_equal(out[1], 444ULL << 32 | 222);
	assert_int_equal(out[2], 111);
}

/* One instruction, several groups: each includes only its own lanes. */
static void groups_act_by_themselves(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("rem.u32 %r2, %r1, 5; mov.b32 %r7, 0;\n"
		     "match.any.sync.b32 %r3, %r2, -1;\n"
		     "setp.gt.u32 %p1, %r1, 9;\n"
		     "redux.sync.add.u32 %r4, %r1, %r3;\n"
		     "vote.sync.ballot.b32 %r5, %p1, %r3;\n"
		     "setp.ge.u32 %p1, %r1, 31;\n"
		     "vote.sync.any.pred %p2, %p1, %r3;\n"
		     "@%p2 mov.b32 %r7, 1000; add.u32 %r4, %r4, %r7;\n"
		     "st.global.v2.u32 [%rd2], {%r4, %r5};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		uint32_t sum = l % 5 == 31 % 5 ? 1000 : 0, said = 0;

		for (unsigned i = l % 5; i < 32; i += 5) {
			sum += i;
			said |= (uint32_t)(i > 9) << i;
		}
		assert_int_equal((uint32_t)out[l], sum);
		assert_int_equal(out[l] >> 32, said);
	}
}

/* Lanes vote while others of the warp wait to shuffle. */
static void votes_are_of_voters_alone(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("mov.u32 %r2, 0xffffffff; mov.u32 %r4, 7;\n"
		     "setp.gt.u32 %p1, %r1, 3; @%p1 bra many;\n"
		     "shfl.sync.bfly.b32 %r3, %r2, 4, 31, 0xff; bra end;\n"
		     "many: setp.lt.u32 %p1, %r1, 8; @%p1 bra late;\n"
		     "setp.eq.u32 %p2, %r1, 30;\n"
		     "vote.sync.ballot.b32 %r3, %p2, 0xffffff00;\n"
		     "vote.sync.all.pred %p3, %p2, 0xffffff00;\n"
		     "vote.sync.uni.pred %p4, %p2, 0xffffff00;\n"
		     "selp.b32 %r4, 1, 0, %p3; @%p4 add.u32 %r4, %r4, 2;\n"
		     "bra end;\n"
		     "late: shfl.sync.bfly.b32 %r3, %r1, 4, 31, 0xff;\n"
		     "end: st.global.v2.u32 [%rd2], {%r3, %r4};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		uint32_t got = l < 4 ? l + 4 : l < 8 ? UINT32_MAX : 1U << 30;

		assert_int_equal((uint32_t)out[l], got);
		assert_int_equal(out[l] >> 32, l < 8 ? 7 : 0);
	}
}

static const char locking[] =
    HEAD ".func lock(.param .b64 at) {\n"
	 ".reg .b32 %r; .reg .b64 %rd; .reg .pred %p;\n"
	 "ld.param.u64 %rd, [at];\n"
	 "again: atom.global.cas.b32 %r, [%rd], 0, 1;\n"
	 "setp.ne.u32 %p, %r, 0; @%p bra again; ret; }\n"
	 ".entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
	 "ld.param.u64 %rd1, [out];\n"
	 "{ .param .b64 a; st.param.b64 [a], %rd1; call lock, (a); }\n"
	 "ld.volatile.global.u32 %r1, [%rd1+4]; add.u32 %r1, %r1, 1;\n"
	 "st.volatile.global.u32 [%rd1+4], %r1; membar.gl;\n"
	 "atom.global.exch.b32 %r2, [%rd1], 0; ret; }\n";

static void who_returned_waits_for_nobody(void **state)
{
	struct ptx_program p;
	uint32_t out[2] = {0};
	uint64_t at;

	(void)state;
	ptx_load(&p, locking);
	at = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 2, 70, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out[0], 0);
	assert_int_equal(out[1], 140);
	ptx_unload(&p);
}

/* "sync" may follow the instruction's name. */
static void lanes_act_in_either_spelling(void **state)
{
	uint64_t in[32], out[32] = {0};

	(void)state;
	for (unsigned l = 0; l < 32; l++)
		in[l] = l;
	assert_int_equal(
	    ptx_body("setp.lt.u32 %p1, %r1, 3; setp.lt.u32 %p3, %r1, 5;\n"
		     "vote.ballot.sync.b32 %r2, %p1, -1;\n"
		     "vote.any.sync.pred %p2, !%p1, -1;\n"
		     "sub.s32 %r3, %r1, 9; redux.min.sync.s32 %r4, %r3, -1;\n"
		     "redux.sync.min.u32 %r5, %r3, -1;\n"
		     "shfl.bfly.sync.b32 %r6, %r1, 1, 31, -1;\n"
		     "and.pred %p3, %p3, !%p1; @%p3 add.u32 %r2, %r2, 100;\n"
		     "selp.u32 %r7, 1, 0, %p2;\n"
		     "sub.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5;\n"
		     "mad.lo.u32 %r2, %r7, 1000, %r2;\n"
		     "mad.lo.u32 %r2, %r6, 10000, %r2;\n"
		     "cvt.u64.u32 %rd4, %r2; st.global.u64 [%rd2], %rd4;",
		     in, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++)
		assert_int_equal(out[l], 7 + (l == 3 || l == 4 ? 100 : 0) + 9 +
					     1000 + (l ^ 1) * 10000);
}

/* Element i of a matrix is i: each lane has two neighbours of a row, or of a
 * column. */
static void lanes_load_matrices(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body(".shared .align 16 .b8 s[512];\n"
		     "mov.u32 %r9, s; mad.lo.u32 %r9, %r1, 16, %r9;\n"
		     "mul.lo.u32 %r2, %r1, 0x80008;\n"
		     "add.u32 %r2, %r2, 0x10000; add.u32 %r3, %r2, 0x20002;\n"
		     "add.u32 %r4, %r3, 0x20002; add.u32 %r5, %r4, 0x20002;\n"
		     "st.shared.v4.u32 [%r9], {%r2, %r3, %r4, %r5};\n"
		     "bar.warp.sync -1;\n"
		     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
		     "{%r2, %r3, %r4, %r5}, [%r9];\n"
		     "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 "
		     "{%r6, %r7}, [%r9];\n"
		     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r9];\n"
		     "mad.lo.u32 %r2, %r3, 3, %r2; mad.lo.u32 %r2, %r4, 5, "
		     "%r2;\n"
		     "mad.lo.u32 %r2, %r5, 7, %r2; mad.lo.u32 %r6, %r7, 3, "
		     "%r6;\n"
		     "mad.lo.u32 %r6, %r9, 5, %r6;\n"
		     "st.global.v2.u32 [%rd2], {%r2, %r6};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (uint32_t l = 0; l < 32; l++) {
		uint32_t row = l / 4 * 8 + l % 4 * 2,
			 column = l % 4 * 16 + l / 4;
		uint32_t rows = row | (row + 1) << 16;
		uint32_t columns = column | (column + 8) << 16;
		uint32_t next = 64 | 64 << 16;

		assert_int_equal((uint32_t)out[l], rows + 3 * (rows + next) +
						       5 * (rows + 2 * next) +
						       7 * (rows + 3 * next));
		assert_int_equal(
		    out[l] >> 32,
		    (uint32_t)(columns + 3 * (columns + next) + 5 * rows));
	}
}

static void vectors_are_added_to_memory(void **state)
{
	float out[32][2] = {{0}};

	(void)state;
	assert_int_equal(
	    ptx_body("cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3f000000;\n"
		     "red.global.gpu.relaxed.add.v2.f32 [%rd2], {%f1, %f2};\n"
		     "atom.global.gpu.relaxed.add.v2.f32 {%f3, %f4}, [%rd2], "
		     "{%f1, %f2};\n"
		     "red.global.add.v2.f32 [%rd2], {%f3, %f4};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (unsigned l = 0; l < 32; l++) {
		assert_true(out[l][0] == (float)(3 * l));
		assert_true(out[l][1] == 1.5F);
	}
}

/* Each lane acts for itself: inactive ones keep their carry. */
static void words_carry_into_the_next(void **state)
{
	uint64_t out[32] = {0};

	(void)state;
	assert_int_equal(
	    ptx_body("mul.lo.u32 %r2, %r1, 0x9e3779b9; not.b32 %r3, %r2;\n"
		     "mov.u32 %r4, 0xf0000000;\n"
		     "add.cc.u32 %r5, %r2, %r4; addc.u32 %r6, %r3, 7;\n"
		     "sub.cc.u32 %r7, %r2, %r4; subc.u32 %r8, %r3, 9;\n"
		     "mad.lo.cc.u32 %r9, %r2, %r4, %r3;\n"
		     "setp.lt.u32 %p1, %r1, 9; @%p1 add.cc.u32 %r10, 1, 1;\n"
		     "madc.hi.cc.u32 %r10, %r2, %r4, 0xfffffff0;\n"
		     "addc.u32 %r11, 0, 0;\n"
		     "xor.b32 %r5, %r5, %r7; xor.b32 %r6, %r6, %r8;\n"
		     "xor.b32 %r5, %r5, %r9; xor.b32 %r6, %r6, %r10;\n"
		     "xor.b32 %r5, %r5, %r11;\n"
		     "st.global.v2.u32 [%rd2], {%r5, %r6};",
		     NULL, out),
	    GKF_PTX_DONE);
	for (uint32_t l = 0; l < 32; l++) {
		uint32_t x = l * 0x9e3779b9U, y = 0xf0000000;
		uint64_t a = (uint64_t)~x << 32 | x;
		unsigned __int128 all = (unsigned __int128)x * y + (uint32_t)~x;
		uint64_t sum = a + ((uint64_t)7 << 32 | y);
		uint64_t difference = a - ((uint64_t)9 << 32 | y);

		if (l < 9) /* the carry of its lower word was lost */
			all =
			    ((unsigned __int128)((uint64_t)x * y >> 32) << 32) |
			    (uint32_t)all;
		all += (unsigned __int128)0xfffffff0U << 32;
		assert_int_equal(out[l], (sum ^ difference ^ (uint64_t)all ^
					  (uint64_t)(all >> 64)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lanes_exchange_values),
	    cmocka_unit_test(lanes_vote_together),
	    cmocka_unit_test(lanes_meet_from_different_places),
	    cmocka_unit_test(lanes_wait_for_who_waits_for_them),
	    cmocka_unit_test(groups_act_by_themselves),
	    cmocka_unit_test(votes_are_of_voters_alone),
	    cmocka_unit_test(who_returned_waits_for_nobody),
	    cmocka_unit_test(lanes_act_in_either_spelling),
	    cmocka_unit_test(lanes_load_matrices),
	    cmocka_unit_test(vectors_are_added_to_memory),
	    cmocka_unit_test(words_carry_into_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
