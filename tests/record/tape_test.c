/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_test.c - checks tapes: what is written is read, whatever happens in
 * between.
 */
#include "format/fixture.h"
#include "unit.h"

#include "format/json.h"
#include "record/tape.h"
#include "record/tape_block.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCKS 150

static struct fixture fx;
static char path[] = "/tmp/gpukit-tape-XXXXXX";
static struct gk_detail detail;
static uint64_t ends[BLOCKS]; /* where each block ends */

static int setup(void **state)
{
	int fd;

	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	fixture_everything(&fx);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void save(const struct gk_buf *out)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(out->data, 1, out->len, file), out->len);
	fclose(file);
}

/* A snapshot for each second, in which a value is its number. */
static void change(int i)
{
	fx.snap.wall_ns = 1000000000ULL * (unsigned)(i + 1);
	fx.snap.mono_ns = 7000000000ULL + fx.snap.wall_ns;
	fx.devices[0].m[GK_M_TEMP] = present(i - 3);
}

static void make(struct gk_buf *out, int count)
{
	struct gk_tape_writer *w = gk_tape_writer_new();

	gk_buf_add(out, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
	for (int i = 0; i < count; i++) {
		change(i);
		assert_int_equal(gk_tape_add(w, &fx.snap, i == 0, out), 0);
		ends[i] = out->len;
	}
	gk_tape_writer_free(w);
}

static void write_tape(int count)
{
	struct gk_buf out = {0};

	make(&out, count);
	save(&out);
	gk_buf_free(&out);
}

static struct gk_tape *open_tape(void)
{
	struct gk_tape *tape;

	assert_int_equal(gk_tape_open(path, &tape), 0);
	return tape;
}

static void assert_is(struct gk_tape *tape, size_t at, int64_t temperature)
{
	struct gk_snapshot *snap;

	assert_int_equal(gk_tape_read(tape, at, &snap), 0);
	assert_int_equal(snap->devices[0].m[GK_M_TEMP].v, temperature);
	gk_snapshot_free(snap);
}

/* As JSON with all reasons, which contains nearly everything. */
static void everything_comes_back(void **state)
{
	struct gk_buf before = {0}, after = {0};
	struct gk_snapshot *snap;
	struct gk_tape *tape;

	(void)state;
	write_tape(3);
	tape = open_tape();
	assert_int_equal(gk_tape_count(tape), 3);
	assert_int_equal(gk_tape_damaged(tape), 0);
	assert_int_equal(gk_tape_time(tape, 1), 2000000000);
	assert_int_equal(gk_tape_time(tape, 3), 0);
	assert_int_equal(gk_tape_read(tape, 2, &snap), 0);
	gk_format_json(&before, &fx.snap, GK_JSON_WHY);
	gk_format_json(&after, snap, GK_JSON_WHY);
	assert_string_equal(before.data, after.data);
	assert_true(before.len > 5000);
	for (size_t i = 0; i < snap->device_count; i++)
		assert_memory_equal(snap->devices[i].read_ns,
				    fx.devices[i].read_ns,
				    sizeof fx.devices[i].read_ns);
	for (size_t i = 0; i < snap->process_count; i++)
		assert_memory_equal(snap->processes[i].args,
				    fx.processes[i].args,
				    fx.processes[i].args_len);
	gk_buf_free(&before);
	gk_buf_free(&after);
	gk_snapshot_free(snap);
	gk_tape_close(tape);
}

/* Whoever wrote the tape: values are checked, numbers have bounds, and what was
 * nonsense when it was recorded is so again, with the original value. */
static void what_cannot_be_is_absent_again(void **state)
{
	struct gk_value *m = fx.devices[0].m;
	struct gk_snapshot *snap;
	struct gk_tape *tape;

	(void)state;
	for (int i = 0; i < GK_M_COUNT; i++)
		m[i] = present(gk_metric_range((enum gk_metric)i)->most + 1);
	m[GK_M_GPU_UTIL].why = GK_ABSENT_NONSENSE;
	m[GK_M_FAN] = (struct gk_value){.v = 7, .why = GK_ABSENT_NONSENSE};
	fx.snap.host.mem_total = present(INT64_MIN);
	fx.devices[0].minor = -70;
	fx.processes[0].pid = -5;
	fx.processes[0].m[GK_PM_SM_UTIL] = present(101);
	write_tape(1);
	tape = open_tape();
	assert_int_equal(gk_tape_read(tape, 0, &snap), 0);
	for (int i = 0; i < GK_M_COUNT; i++)
		if (i != GK_M_TEMP) /* the number of the snapshot */
			assert_int_equal(snap->devices[0].m[i].why,
					 GK_ABSENT_NONSENSE);
	assert_int_equal(snap->devices[0].m[GK_M_GPU_UTIL].v, 101);
	assert_int_equal(snap->host.mem_total.why, GK_ABSENT_NONSENSE);
	assert_int_equal(snap->devices[0].minor, -1);
	assert_int_equal(snap->processes[0].pid, 0);
	assert_int_equal(snap->processes[0].m[GK_PM_SM_UTIL].why,
			 GK_ABSENT_NONSENSE);
	gk_snapshot_free(snap);
	gk_tape_close(tape);
}

static void details_and_topology_come_back(void **state)
{
	static const struct gk_place places[2] = {{"0-7", "0", -1},
						  {"8-15", "1", 3}};
	static const struct gk_peer peers[4] = {{GK_PATH_SELF, 0},
						{GK_PATH_SYSTEM, 12},
						{GK_PATH_SYSTEM, 12},
						{GK_PATH_SELF, 0}};
	struct gk_topology topology = {2, places, peers};
	struct gk_snapshot *snap;
	struct gk_tape *tape;

	(void)state;
	memset(&detail, 0, sizeof detail);
	for (int i = 0; i < GK_T_COUNT; i++)
		snprintf(detail.facts[i].s, sizeof detail.facts[i].s, "f%d", i);
	detail.facts[0].why = GK_ABSENT_NO_FUNCTION;
	detail.link_count = 2;
	detail.links[1].index = 5;
	detail.links[1].end = GK_LINK_END_SWITCH;
	strcpy(detail.links[1].remote_bus_id, "00000000:07:00.0");
	detail.links[1].m[GK_L_RX] = present(9000000000000000000);
	fx.devices[0].detail = &detail;
	fx.snap.topology = &topology;
	write_tape(1);
	tape = open_tape();
	assert_int_equal(gk_tape_read(tape, 0, &snap), 0);
	assert_null(snap->devices[1].detail);
	assert_int_equal(snap->devices[0].detail->facts[0].why,
			 GK_ABSENT_NO_FUNCTION);
	assert_string_equal(snap->devices[0].detail->facts[1].s, "f1");
	assert_memory_equal(&snap->devices[0].detail->links[1],
			    &detail.links[1], sizeof detail.links[1]);
	assert_int_equal(snap->topology->count, 2);
	assert_memory_equal(snap->topology->peers, peers, sizeof peers);
	assert_string_equal(snap->topology->places[1].cpus, "8-15");
	assert_int_equal(snap->topology->places[1].numa_node, 3);
	fx.snap.topology = NULL;
	gk_snapshot_free(snap);
	gk_tape_close(tape);
}

static void any_of_them_can_be_read_in_any_order(void **state)
{
	struct gk_tape *tape;
	unsigned seed = 3;

	(void)state;
	write_tape(BLOCKS);
	tape = open_tape();
	assert_int_equal(gk_tape_count(tape), BLOCKS);
	for (int i = 0; i < BLOCKS; i++)
		assert_is(tape, (size_t)i, i - 3);
	for (int i = 0; i < 300; i++) {
		int at = rand_r(&seed) % BLOCKS;

		assert_is(tape, (size_t)at, at - 3);
	}
	assert_int_equal(gk_tape_find(tape, 0), 0);
	assert_int_equal(gk_tape_find(tape, 10500000000ULL), 9);
	assert_int_equal(gk_tape_find(tape, UINT64_MAX), BLOCKS - 1);
	gk_tape_close(tape);
}

/* As when the clock is set back by an hour half-way. */
static void time_never_goes_back(void **state)
{
	struct gk_tape_writer *w = gk_tape_writer_new();
	struct gk_buf out = {0};
	struct gk_tape *tape;
	const uint64_t s = 1000000000;

	(void)state;
	gk_buf_add(&out, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
	for (unsigned i = 0; i < 10; i++) {
		change((int)i);
		fx.snap.wall_ns = (10000 + i) * s - (i < 5 ? 0 : 3600 * s);
		assert_int_equal(gk_tape_add(w, &fx.snap, i == 0, &out), 0);
	}
	gk_tape_writer_free(w);
	save(&out);
	gk_buf_free(&out);
	tape = open_tape();
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(gk_tape_time(tape, i),
				 (10000 + i - (i < 5 ? 0 : 1)) * s);
	assert_int_equal(gk_tape_find(tape, 10003 * s), 3);
	assert_int_equal(gk_tape_find(tape, 10006 * s), 7);
	gk_tape_close(tape);
}

/* Hundreds of places where a writer may have been killed. */
static void a_tape_cut_anywhere_is_read_up_to_there(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	make(&out, 20);
	for (size_t cut = GK_TAPE_HEADER_LEN; cut < out.len; cut += 13) {
		struct gk_buf part = {.data = out.data, .len = cut};
		struct gk_tape *tape;
		size_t whole = 0;
		int fd;

		while (ends[whole] <= cut)
			whole++;
		save(&part);
		fd = open(path, O_RDONLY);
		assert_int_equal(gk_tape_whole(fd, cut),
				 whole ? ends[whole - 1]
				       : (size_t)GK_TAPE_HEADER_LEN);
		close(fd);
		if (!whole) {
			assert_int_equal(gk_tape_open(path, &tape),
					 GK_ERR_CORRUPT);
			continue;
		}
		tape = open_tape();
		assert_int_equal(gk_tape_count(tape), whole);
		assert_int_equal(gk_tape_damaged(tape), cut - ends[whole - 1]);
		assert_is(tape, whole - 1, (int64_t)whole - 4);
		gk_tape_close(tape);
	}
	gk_buf_free(&out);
}

static void after_damage_it_goes_on_at_a_key_block(void **state)
{
	struct gk_buf out = {0};
	struct gk_tape *tape;

	(void)state;
	make(&out, BLOCKS);
	memset(out.data + ends[9], 0, 100);
	save(&out);
	tape = open_tape();
	/* There is a key every 64 snapshots. */
	assert_int_equal(gk_tape_count(tape), 10 + BLOCKS - 64);
	assert_is(tape, 9, 9 - 3);
	assert_is(tape, 10, 64 - 3);
	assert_is(tape, 10 + BLOCKS - 64 - 1, BLOCKS - 1 - 3);
	assert_int_equal(gk_tape_damaged(tape), ends[63] - ends[9]);
	gk_tape_close(tape);
	gk_buf_free(&out);
}

/* How many blocks of a tape cannot be read; all if it cannot be opened. */
static size_t unreadable(size_t all)
{
	struct gk_snapshot *snap;
	struct gk_tape *tape;
	size_t good = 0;

	if (gk_tape_open(path, &tape))
		return all;
	for (size_t i = 0; i < gk_tape_count(tape); i++) {
		if (gk_tape_read(tape, i, &snap))
			continue;
		gk_snapshot_free(snap);
		good++;
	}
	gk_tape_close(tape);
	return all - good;
}

/* Nothing that is read can be trusted: no byte may crash a reader. */
static void flipped_bits_are_found(void **state)
{
	struct gk_buf out = {0};
	unsigned seed = 5;

	(void)state;
	make(&out, 4);
	for (int i = 0; i < 2000; i++) {
		size_t at =
		    GK_TAPE_HEADER_LEN +
		    (size_t)rand_r(&seed) % (out.len - GK_TAPE_HEADER_LEN);
		char before = out.data[at];

		out.data[at] = (char)(before ^ 1 << rand_r(&seed) % 8);
		save(&out);
		assert_true(unreadable(4) > 0);
		out.data[at] = before;
	}
	save(&out);
	assert_int_equal(unreadable(4), 0);
	gk_buf_free(&out);
}

static void what_is_no_tape_is_refused(void **state)
{
	struct gk_buf out = {0};
	struct gk_tape *tape;

	(void)state;
	gk_buf_puts(&out, "timestamp,gpu_index,pid\n1,2,3\n");
	save(&out);
	assert_int_equal(gk_tape_open(path, &tape), GK_ERR_INVALID);
	out.len = 0;
	make(&out, 1);
	out.data[8] = 2;
	save(&out);
	assert_int_equal(gk_tape_open(path, &tape), GK_ERR_VERSION);
	assert_int_equal(gk_tape_open("/nonexistent", &tape), GK_ERR_NOT_FOUND);
	assert_int_equal(gk_tape_open("/dev/zero", &tape), GK_ERR_INVALID);
	gk_buf_free(&out);
}

static void xids_come_back(void **state)
{
	struct gk_xids xids = {
	    .count = 3,
	    .kind_count = 2,
	    .last = {{1, 1000, 48, 0}, {2, 1000, 94, 0}, {7, 2000, 48, 0}},
	    .kinds = {{48, 0, 2}, {94, 0, 5}}};
	struct gk_snapshot *snap;
	struct gk_tape *tape;

	(void)state;
	fx.devices[0].xids = &xids;
	write_tape(1);
	tape = open_tape();
	assert_int_equal(gk_tape_read(tape, 0, &snap), 0);
	assert_non_null(snap->devices[0].xids);
	assert_memory_equal(snap->devices[0].xids, &xids, sizeof xids);
	assert_null(snap->devices[1].xids);
	gk_snapshot_free(snap);
	gk_tape_close(tape);
}

static void xids_of_a_stranger_are_bounded(void **state)
{
	struct gk_xids xids = {
	    .count = 1,
	    .last = {{.at = 1, .wall_ns = UINT64_MAX, .number = UINT32_MAX}},
	    .kind_count = 1,
	    .kinds = {{.number = 31, .count = UINT64_MAX}},
	};
	struct gk_snapshot *snap;
	struct gk_tape *tape;

	(void)state;
	fx.devices[0].xids = &xids;
	write_tape(1);
	tape = open_tape();
	assert_int_equal(gk_tape_read(tape, 0, &snap), 0);
	assert_non_null(snap->devices[0].xids);
	assert_int_equal(snap->devices[0].xids->last[0].at, 1);
	assert_int_equal(snap->devices[0].xids->last[0].wall_ns, 0);
	assert_int_equal(snap->devices[0].xids->last[0].number, 0);
	assert_int_equal(snap->devices[0].xids->kinds[0].number, 31);
	assert_int_equal(snap->devices[0].xids->kinds[0].count, 0);
	gk_snapshot_free(snap);
	gk_tape_close(tape);
}

static void a_head_says_only_what_may_be(void **state)
{
	static const struct {
		uint32_t stored, raw;
		bool fits;
	} cases[] = {
	    {1, 1, true},
	    {0, 1, false},
	    {1, 0, false},
	    {100, GK_TAPE_RATIO_FREE, true},
	    {100, GK_TAPE_RATIO_FREE + 100 * GK_TAPE_RATIO_MAX, true},
	    {100, GK_TAPE_RATIO_FREE + 100 * GK_TAPE_RATIO_MAX + 1, false},
	    {GK_TAPE_BLOCK_MAX, GK_TAPE_BLOCK_MAX, true},
	    {GK_TAPE_BLOCK_MAX, GK_TAPE_BLOCK_MAX + 1, false},
	    {GK_TAPE_BLOCK_MAX + 1, GK_TAPE_BLOCK_MAX, false},
	    {UINT32_MAX, UINT32_MAX, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned char bytes[GK_TAPE_HEAD_LEN];
		struct gk_tape_head head = {.stored = cases[i].stored,
					    .raw = cases[i].raw};

		gk_tape_head_write(&head, bytes);
		assert_int_equal(gk_tape_head_read(bytes, &head),
				 cases[i].fits);
	}
}

/* Its first process has a command line that alone fills a block. */
static void a_command_line_too_long_is_left_out(void **state)
{
	char *args = malloc(GK_TAPE_BLOCK_MAX + 1);
	struct gk_process *p = &fx.processes[0];
	struct gk_tape_writer *w = gk_tape_writer_new();
	struct gk_snapshot *snap;
	struct gk_buf out = {0};
	struct gk_tape *tape;

	(void)state;
	assert_non_null(args);
	gk_buf_add(&out, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
	assert_int_equal(gk_tape_add(w, &fx.snap, true, &out), 0);
	memset(args, 'x', GK_TAPE_BLOCK_MAX);
	args[GK_TAPE_BLOCK_MAX] = '\0';
	p->args = args;
	p->args_len = GK_TAPE_BLOCK_MAX;
	assert_int_equal(gk_tape_add(w, &fx.snap, false, &out), 0);
	save(&out);
	tape = open_tape();
	assert_int_equal(gk_tape_count(tape), 2);
	assert_int_equal(gk_tape_damaged(tape), 0);
	assert_int_equal(gk_tape_read(tape, 1, &snap), 0);
	assert_int_equal(snap->process_count, fx.snap.process_count);
	assert_int_equal(snap->processes[0].args_len, 0);
	assert_int_equal(snap->processes[0].pid, p->pid);
	assert_string_equal(snap->processes[0].name, p->name);
	gk_snapshot_free(snap);
	gk_tape_close(tape);
	gk_tape_writer_free(w);
	gk_buf_free(&out);
	free(args);
}

static void the_checksum_is_that_of_iscsi(void **state)
{
	unsigned char zeros[32] = {0};

	(void)state;
	assert_int_equal(gk_crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(gk_crc32c(zeros, 32), 0x8a9136aa);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(everything_comes_back),
	    T(what_cannot_be_is_absent_again),
	    T(details_and_topology_come_back),
	    T(any_of_them_can_be_read_in_any_order),
	    T(time_never_goes_back),
	    T(a_tape_cut_anywhere_is_read_up_to_there),
	    T(after_damage_it_goes_on_at_a_key_block),
	    T(flipped_bits_are_found),
	    T(what_is_no_tape_is_refused),
	    T(xids_come_back),
	    T(xids_of_a_stranger_are_bounded),
	    T(a_head_says_only_what_may_be),
	    T(a_command_line_too_long_is_left_out),
	    T(the_checksum_is_that_of_iscsi),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
