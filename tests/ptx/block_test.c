/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_test.c - checks blocks: their barriers, what their warps share, and
 * atomics.
 */
#include "ptx/fixture.h"

/* Sums blocks of 200 threads, the last warp not full, by halves. */
static const char sums[] =
    HEAD ".extern .shared .align 8 .b8 dyn[];\n"
	 ".entry k(.param .u64 in, .param .u64 out) {\n"
	 ".reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<4>;\n"
	 ".shared .align 4 .b32 half[256];\n"
	 "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
	 "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
	 "mad.lo.u32 %r3, %r2, 200, %r1; mul.wide.u32 %rd3, %r3, 4;\n"
	 "add.u64 %rd1, %rd1, %rd3; ld.global.u32 %r4, [%rd1];\n"
	 "mov.u32 %r5, half; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6;\n"
	 "st.shared.u32 [%r5], %r4; mov.u32 %r7, dyn; add.u32 %r7, %r7, %r6;\n"
	 "setp.lt.u32 %p1, %r1, 56; @%p1 st.shared.u32 [%r5+800], 0;\n"
	 "mov.u32 %r8, 128;\n"
	 "top: bar.sync 0; setp.ge.u32 %p2, %r1, %r8; @%p2 bra skip;\n"
	 "shl.b32 %r9, %r8, 2; add.u32 %r9, %r9, %r5;\n"
	 "ld.shared.u32 %r10, [%r9]; ld.shared.u32 %r11, [%r5];\n"
	 "add.u32 %r10, %r10, %r11; st.shared.u32 [%r5], %r10;\n"
	 "st.shared.u32 [%r7], %r10;\n"
	 "skip: shr.u32 %r8, %r8, 1; setp.ne.u32 %p3, %r8, 0; @%p3 bra top;\n"
	 "setp.ne.u32 %p1, %r1, 0; @%p1 bra end;\n"
	 "ld.shared.u32 %r4, [dyn]; mul.wide.u32 %rd4, %r2, 4;\n"
	 "add.u64 %rd2, %rd2, %rd4; st.global.u32 [%rd2], %r4;\n"
	 "red.global.add.u32 [%rd2], 0;\n"
	 "end: ret; }\n";

static void blocks_share_and_wait(void **state)
{
	uint32_t in[2000], out[10] = {0};
	struct ptx_program p;
	uint64_t params[2];

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		in[i] = i * i;
	ptx_load(&p, sums);
	p.dynamic_shared = 1024;
	params[0] = ptx_show(&p, in, sizeof in);
	params[1] = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 10, 200, params, 16), GKF_PTX_DONE);
	for (unsigned b = 0; b < 10; b++) {
		uint32_t sum = 0;

		for (unsigned i = 0; i < 200; i++)
			sum += in[b * 200 + i];
		assert_int_equal(out[b], sum);
	}
	ptx_unload(&p);
}

/* Threads that have ended are not waited for; named barriers count warps. */
static void barriers_count_who_is_there(void **state)
{
	struct ptx_program p;

	(void)state;
	ptx_load(&p,
		 HEAD ".entry early() { .reg .b32 %r; .reg .pred %p;\n"
		      "mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 70; @%p exit;\n"
		      "bar.sync 0; barrier.sync.aligned 1; ret; }\n"
		      ".entry named() { .reg .b32 %r; .reg .pred %p;\n"
		      "mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;\n"
		      "@%p bra first; bar.arrive 3, 64; ret;\n"
		      "first: bar.sync 3, 64; ret; }\n"
		      ".entry half() { .reg .b32 %r<3>; .reg .pred %p;\n"
		      "mov.u32 %r1, %laneid; setp.ge.u32 %p, %r1, 16;\n"
		      "@%p bra later; bar.sync 3, 64; ret;\n"
		      "later: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 900;\n"
		      "@%p bra later; exit; }\n"
		      ".entry dead() { .reg .b32 %r; .reg .pred %p;\n"
		      "mov.u32 %r, %tid.x; setp.lt.u32 %p, %r, 32;\n"
		      "@%p bra first; bar.sync 3, 96; ret;\n"
		      "first: bar.sync 4, 64; ret; }\n");
	assert_int_equal(ptx_run(&p, "early", 2, 100, NULL, 0), GKF_PTX_DONE);
	assert_int_equal(ptx_run(&p, "named", 2, 64, NULL, 0), GKF_PTX_DONE);
	assert_int_equal(ptx_run(&p, "half", 2, 64, NULL, 0), GKF_PTX_DONE);
	assert_int_equal(ptx_run(&p, "dead", 1, 64, NULL, 0), GKF_PTX_DEADLOCK);
	ptx_unload(&p);
}

/* 100 threads; those below 40, all, and none say yes, in turn. */
static void barriers_count_what_is_said(void **state)
{
	struct ptx_program p;
	uint32_t out[100];
	uint64_t at;

	(void)state;
	ptx_load(
	    &p, HEAD
	    ".entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .pred %p<9>;\n"
	    ".reg .b64 %rd<3>; ld.param.u64 %rd1, [out];\n"
	    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
	    "add.u64 %rd1, %rd1, %rd2; setp.lt.u32 %p1, %r1, 40;\n"
	    "bar.red.popc.u32 %r2, 0, %p1;\n"
	    "barrier.red.popc.aligned.u32 %r3, 0, !%p1;\n"
	    "bar.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 1, %p1;\n"
	    "setp.lt.u32 %p4, %r1, 100; bar.red.and.pred %p5, 1, %p4;\n"
	    "barrier.cta.red.or.pred.aligned %p6, 2, 128, !%p4;\n"
	    "mad.lo.u32 %r2, %r3, 1000, %r2;\n"
	    "@%p2 add.u32 %r2, %r2, 100000; @%p3 add.u32 %r2, %r2, 200000;\n"
	    "@%p5 add.u32 %r2, %r2, 400000; @%p6 add.u32 %r2, %r2, 800000;\n"
	    "st.global.u32 [%rd1], %r2; ret; }\n");
	at = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 2, 100, &at, 8), GKF_PTX_DONE);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(out[i], 600000 + 60 * 1000 + 40);
	ptx_unload(&p);
}

/* A warp waits for what another warp of its block writes. */
static void warps_wait_for_warps(void **state)
{
	struct ptx_program p;
	uint32_t out[2] = {0, 0};
	uint64_t at;

	(void)state;
	ptx_load(&p, HEAD
		 ".entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .pred %p;\n"
		 ".reg .b64 %rd; .shared .b32 flag;\n"
		 "ld.param.u64 %rd, [out]; mov.u32 %r1, %tid.x;\n"
		 "setp.eq.u32 %p, %r1, 0; @%p st.shared.u32 [flag], 0;\n"
		 "bar.sync 0; setp.ge.u32 %p, %r1, 32; @%p bra second;\n"
		 "wait: ld.volatile.shared.u32 %r2, [flag];\n"
		 "setp.eq.u32 %p, %r2, 0; @%p bra wait;\n"
		 "st.global.u32 [%rd], %r2; ret;\n"
		 "second: st.volatile.shared.u32 [flag], 5; ret; }\n");
	at = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 1, 64, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out[0], 5);
	ptx_unload(&p);
}

static void atomics_lose_nothing(void **state)
{
	struct ptx_program p;
	union {
		uint32_t u[8];
		float f[8];
	} out = {.u = {0, 0, ~0U, 0, 0, 5, 0, 0}};
	uint64_t at;

	(void)state;
	ptx_load(&p, HEAD
		 ".entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd;\n"
		 "ld.param.u64 %rd, [out]; mov.u32 %r1, %tid.x;\n"
		 "atom.global.add.u32 %r2, [%rd], 1;\n"
		 "red.global.max.u32 [%rd+4], %r2;\n"
		 "atom.global.min.u32 %r3, [%rd+8], %r1;\n"
		 "red.relaxed.gpu.global.add.f32 [%rd+12], 0f3F000000;\n"
		 "atom.global.inc.u32 %r4, [%rd+16], 9;\n"
		 "atom.global.dec.u32 %r4, [%rd+20], 6;\n"
		 "atom.add.f32 %r5, [%rd+24], 0f3F800000;\n"
		 "ret; }\n");
	at = ptx_show(&p, &out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 3, 100, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out.u[0], 300);
	assert_int_equal(out.u[1], 299);
	assert_int_equal(out.u[2], 0);
	assert_true(out.f[3] == 150);
	assert_int_equal(out.u[4], 300 % 10);
	assert_int_equal(out.u[5], (5 + 7 * 100 - 300) % 7);
	assert_true(out.f[6] == 300);
	ptx_unload(&p);
}

/*
 * Global memory flushes denormals in sums of single precision, shared memory
 * does not.
 */
static void atomic_sums_flush_where_the_hardware_does(void **state)
{
	struct ptx_program p;
	uint32_t out[6] = {1, 0x00800000, 3, 0, 0, 0};
	uint64_t at;

	(void)state;
	ptx_load(&p, HEAD
		 ".shared .b32 sh;\n"
		 ".entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd;\n"
		 "ld.param.u64 %rd, [out];\n"
		 "red.global.add.f32 [%rd], 0f3F800000;\n"
		 "red.add.f32 [%rd+4], 0f80000001;\n"
		 "atom.global.add.f32 %r1, [%rd+8], 0f00000004;\n"
		 "st.shared.b32 [sh], 5; atom.shared.add.f32 %r2, [sh], "
		 "0f00000006;\n"
		 "ld.shared.b32 %r2, [sh];\n"
		 "st.global.v2.b32 [%rd+16], {%r1, %r2}; ret; }\n");
	at = ptx_show(&p, out, sizeof out);
	assert_int_equal(ptx_run(&p, "k", 1, 1, &at, 8), GKF_PTX_DONE);
	assert_int_equal(out[0], 0x3f800000);
	assert_int_equal(out[1], 0x00800000);
	assert_int_equal(out[2], 0);
	assert_int_equal(out[4], 3);
	assert_int_equal(out[5], 11);
	ptx_unload(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_share_and_wait),
	    cmocka_unit_test(barriers_count_who_is_there),
	    cmocka_unit_test(barriers_count_what_is_said),
	    cmocka_unit_test(warps_wait_for_warps),
	    cmocka_unit_test(atomics_lose_nothing),
	    cmocka_unit_test(atomic_sums_flush_where_the_hardware_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
