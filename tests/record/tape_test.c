/* Tapes: what is written is what is read, whatever happens in between. */
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

/* A snapshot of each second, in which a value tells its number. */
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

/* As JSON with all reasons, which holds nearly everything. */
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
	detail.links[1].m[GK_L_RX] = present(INT64_MAX);
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
	/* Keys are every 64. */
	assert_int_equal(gk_tape_count(tape), 10 + BLOCKS - 64);
	assert_is(tape, 9, 9 - 3);
	assert_is(tape, 10, 64 - 3);
	assert_is(tape, 10 + BLOCKS - 64 - 1, BLOCKS - 1 - 3);
	assert_int_equal(gk_tape_damaged(tape), ends[63] - ends[9]);
	gk_tape_close(tape);
	gk_buf_free(&out);
}

/* How many blocks of a tape cannot be read; all when it cannot be opened. */
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

/* Nothing that is read may be trusted: no byte may crash a reader. */
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
	    T(details_and_topology_come_back),
	    T(any_of_them_can_be_read_in_any_order),
	    T(time_never_goes_back),
	    T(a_tape_cut_anywhere_is_read_up_to_there),
	    T(after_damage_it_goes_on_at_a_key_block),
	    T(flipped_bits_are_found),
	    T(what_is_no_tape_is_refused),
	    T(the_checksum_is_that_of_iscsi),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
