/* SPDX-License-Identifier: Apache-2.0 */
/* replay_test.c - checks the clock of a recording. */
#include "format/fixture.h"
#include "unit.h"

#include "base/clock.h"
#include "record/replay.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_BLOCKS 100
#define STEP_NS      (GK_NS_PER_S / 10) /* between two snapshots */

static struct fixture fx;
static char path[] = "/tmp/gpukit-replay-XXXXXX";
static struct gk_replay *replay;

/* Ten seconds; the number of a snapshot is its temperature. */
static void record_some(FILE *file)
{
	struct gk_tape_writer *w = gk_tape_writer_new();
	struct gk_buf out = {0};

	gk_buf_add(&out, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
	for (int i = 0; i < COUNT_BLOCKS; i++) {
		fx.snap.wall_ns = GK_NS_PER_S + (unsigned)i * STEP_NS;
		/* The machine was rebooted half-way. */
		fx.snap.mono_ns = 5 + (unsigned)(i % 50) * STEP_NS;
		fx.devices[0].m[GK_M_TEMP] = present(i);
		assert_int_equal(gk_tape_add(w, &fx.snap, i == 0, &out), 0);
	}
	assert_int_equal(fwrite(out.data, 1, out.len, file), out.len);
	gk_buf_free(&out);
	gk_tape_writer_free(w);
}

static void play(double speed)
{
	struct gk_tape *tape;

	assert_int_equal(gk_tape_open(path, &tape), 0);
	assert_int_equal(gk_replay_new(tape, speed, &replay), 0);
}

static int setup(void **state)
{
	FILE *file;
	int fd;

	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	fixture_init(&fx, 1);
	record_some(file);
	return fclose(file);
}

static int teardown(void **state)
{
	(void)state;
	gk_replay_free(replay);
	replay = NULL;
	return unlink(path);
}

/* Waits until one is due, for at most a second; its number, or -1. */
static int64_t next(bool *ret_jumped)
{
	struct pollfd due = {.fd = gk_replay_fd(replay), .events = POLLIN};
	struct gk_snapshot *snap;
	int64_t number;

	if (poll(&due, 1, 1000) != 1)
		return -1;
	assert_int_equal(gk_replay_next(replay, ret_jumped, &snap), 0);
	number = snap->devices[0].m[GK_M_TEMP].v;
	gk_snapshot_free(snap);
	return number;
}

static void it_takes_its_time_and_ends(void **state)
{
	uint64_t began = gk_mono_ns(), took;
	int64_t number = -1, before;
	bool jumped;

	(void)state;
	play(10); /* ten seconds in one */
	for (before = -1; before < COUNT_BLOCKS - 1; before = number) {
		number = next(&jumped);
		assert_true(number > before);
		/* At the start, and where time went back. */
		assert_int_equal(jumped,
				 before < 0 || (before < 50 && number >= 50));
	}
	took = gk_mono_ns() - began;
	assert_true(took > 900 * GK_NS_PER_MS && took < 5 * GK_NS_PER_S);
	assert_true(gk_replay_ended(replay));
	assert_int_equal(next(&jumped), -1);
}

static void it_stands_still_and_is_sought(void **state)
{
	struct gk_snapshot *snap;
	char text[64];
	bool jumped;

	(void)state;
	play(1);
	gk_replay_pause(replay, true);
	assert_int_equal(next(&jumped), 0);
	assert_int_equal(next(&jumped), -1);
	gk_replay_seek(replay, 2 * (int64_t)GK_NS_PER_S);
	assert_int_equal(next(&jumped), 20);
	assert_true(jumped);
	assert_int_equal(gk_replay_before(replay, 3, &snap), 0);
	assert_int_equal(snap->devices[0].m[GK_M_TEMP].v, 17);
	gk_snapshot_free(snap);
	assert_int_equal(gk_replay_before(replay, 21, &snap), GK_ERR_RANGE);
	gk_replay_seek(replay, -(int64_t)GK_NS_PER_S);
	assert_int_equal(next(&jumped), 10);
	gk_replay_seek(replay, INT64_MIN / 2);
	assert_int_equal(next(&jumped), 0);
	gk_replay_seek_end(replay);
	assert_int_equal(next(&jumped), COUNT_BLOCKS - 1);
	gk_replay_text(replay, text, sizeof text);
	assert_string_equal(text, "REPLAY x1 100 %");
	gk_replay_seek(replay, -(int64_t)(5 * GK_NS_PER_S));
	assert_int_equal(next(&jumped), 49);
	gk_replay_pause(replay, false);
	assert_int_equal(next(&jumped), 50);
	assert_true(jumped); /* another boot of the machine */
}

/* Its last byte belongs to the last snapshot. */
static void damage_is_passed_over(void **state)
{
	FILE *file = fopen(path, "r+");
	bool jumped;

	(void)state;
	assert_non_null(file);
	fseek(file, -1, SEEK_END);
	assert_int_equal(fputc('?', file), '?');
	fclose(file);
	play(1);
	gk_replay_pause(replay, true);
	gk_replay_seek_end(replay);
	assert_int_equal(next(&jumped), COUNT_BLOCKS - 2);
	gk_replay_seek(replay, -(int64_t)GK_NS_PER_S);
	assert_int_equal(next(&jumped), COUNT_BLOCKS - 11);
	/*
	 * The first one, without which those up to the next key cannot be read.
	 */
	file = fopen(path, "r+");
	assert_non_null(file);
	fseek(file, 80, SEEK_SET);
	assert_int_equal(fputc('?', file), '?');
	fclose(file);
	gk_replay_free(replay);
	play(1);
	assert_int_equal(next(&jumped), 64);
	assert_true(jumped);
}

static void its_speed_has_limits(void **state)
{
	char text[64];

	(void)state;
	play(1);
	gk_replay_faster(replay, 3);
	gk_replay_text(replay, text, sizeof text);
	assert_string_equal(text, "REPLAY x8 0 %");
	gk_replay_faster(replay, 20);
	gk_replay_text(replay, text, sizeof text);
	assert_string_equal(text, "REPLAY x8 0 %");
	gk_replay_faster(replay, -4);
	gk_replay_text(replay, text, sizeof text);
	assert_string_equal(text, "REPLAY x0.5 0 %");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(it_takes_its_time_and_ends),
	    T(it_stands_still_and_is_sought),
	    T(damage_is_passed_over),
	    T(its_speed_has_limits),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
