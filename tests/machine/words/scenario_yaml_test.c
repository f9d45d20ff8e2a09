/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_yaml_test.c - checks scenario files as a whole: their keys, and what
 * the command overrides.
 */
#include "machine/file/scenario_state.h"
#include "machine/words/compiled.h"

#include "machine/file/profile.h"
#include "machine/words/scenario_load.h"

#include <sys/stat.h>

#define FAULTY TEST_DATA "/profiles/no-layout.yaml"

static void a_file_says_what_its_machine_is(void **state)
{
	struct gkf_scenario_table table;
	struct gkf_scenario s;

	(void)state;
	compile("steps: [{at: 1s, note: one}, {at: 2s, note: other}]\n"
		"loads: {a: 'idle:0,mem=1GiB'}\n"
		"gpus: t4:1,h100:2\n"
		"duration: 2m\n"
		"speed: 2.5\n"
		"seed: -3\n"
		"topology: pcie\n"
		"driver: 535.54.03\n"
		"description: all there is\n"
		"name: everything\n",
		&s);
	assert_string_equal(s.name, "everything");
	assert_string_equal(s.description, "all there is");
	assert_string_equal(s.driver, "535.54.03");
	assert_int_equal(s.layout, GKF_LAYOUT_PCIE);
	assert_true(s.seed == (uint64_t)-3);
	assert_int_equal(s.speed, 2500);
	assert_int_equal(s.duration, 720);
	assert_int_equal(s.begin, 0);
	assert_int_equal(s.device_count, 3);
	assert_string_equal(s.profiles[0].id, "t4");
	assert_string_equal(s.profiles[2].id, "h100-80gb-hbm3");
	assert_int_equal(s.load_count, 1);
	assert_int_equal(s.step_count, 2);
	table = gkf_scenario_table(&s);
	assert_ptr_equal(table.name, s.name);
	assert_ptr_equal(table.steps, s.steps);
	assert_int_equal(table.count, 2);
	assert_int_equal(table.text_size, sizeof "one" + sizeof "other");
	assert_memory_equal(table.texts, "one\0other", sizeof "one\0other");
	assert_int_equal(table.begin_bin, 0);
	assert_int_equal(table.end_bin, 720);
	gkf_scenario_free(&s);
	assert_int_equal(s.step_count, 0);
	assert_null(s.steps);
}

static void what_is_not_said_is_the_usual(void **state)
{
	struct gkf_scenario_table table;
	struct gkf_scenario s;

	(void)state;
	compile("description: d\ngpus: none\nduration: 167ms\nsteps: []\n", &s);
	assert_string_equal(s.driver, "");
	assert_int_equal(s.layout, GKF_LAYOUT_AUTO);
	assert_int_equal(s.seed, 0);
	assert_int_equal(s.speed, 1000);
	assert_int_equal(s.duration, 1);
	assert_int_equal(s.device_count, 0);
	assert_int_equal(s.load_count, 0);
	table = gkf_scenario_table(&s);
	assert_int_equal(table.count, 0);
	assert_int_equal(table.text_size, 0);
	assert_string_equal(table.texts, "");
	gkf_scenario_free(&s);
}

/* Loads work during the warm-up; everything else waits for its end. */
static void the_command_may_say_it_otherwise(void **state)
{
	static const uint64_t seed = 99;
	const struct gkf_scenario_options options = {.profiles = PROFILES,
						     .gpus = "l4:3",
						     .seed = &seed,
						     .warm_up_ns = 10000000000};
	char message[MESSAGE_MAX];
	struct gkf_scenario_table table;
	struct gkf_scenario s;

	(void)state;
	assert_int_equal(compile_with("description: d\n"
				      "gpus: t4\n"
				      "seed: 5\n"
				      "duration: 30s\n"
				      "loads: {a: 'idle:2,mem=1GiB'}\n"
				      "steps: [{at: 1s, note: x}]\n",
				      &options, &s, message),
			 0);
	assert_int_equal(s.device_count, 3);
	assert_string_equal(s.profiles[2].id, "l4");
	assert_int_equal(s.seed, 99);
	assert_int_equal(s.begin, 60);
	assert_int_equal(s.loads[0].wave.start_bin, 0);
	assert_int_equal(s.steps[0].bin, 66);
	table = gkf_scenario_table(&s);
	assert_int_equal(table.begin_bin, 60);
	assert_int_equal(table.end_bin, 60 + 180);
	gkf_scenario_free(&s);
}

static void gpus_of_the_command_are_told_as_its_own(void **state)
{
	const struct gkf_scenario_options options = {.profiles = PROFILES,
						     .gpus = "l4:0"};
	char message[MESSAGE_MAX];
	struct gkf_scenario s;

	(void)state;
	assert_int_equal(
	    compile_with(HEAD "steps: []\n", &options, &s, message),
	    GK_ERR_INVALID);
	assert_string_equal(message, ":2: gpus: --gpus: 'l4:0': the count must "
				     "be 1 to 64, as in h100:4; for no GPU at "
				     "all: --gpus none");
}

/* The jitter of each process has a seed of its own, derived from the file's. */
static void seeds_of_loads_follow_from_the_seed(void **state)
{
	static const uint64_t seeds[] = {1, 1, 2};
	struct gkf_scenario s[3];
	char message[MESSAGE_MAX];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct gkf_scenario_options options = {
		    .profiles = PROFILES, .seed = &seeds[i]};

		assert_int_equal(
		    compile_with(HEAD "loads: {a: 'train,n=2,mem=1GiB'}\n"
				      "steps: []\n",
				 &options, &s[i], message),
		    0);
		assert_int_equal(s[i].load_count, 4);
		for (unsigned k = 0; k < 4; k++)
			for (unsigned l = 0; l < k; l++)
				assert_int_not_equal(s[i].loads[k].wave.seed,
						     s[i].loads[l].wave.seed);
	}
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(s[0].loads[k].wave.seed,
				 s[1].loads[k].wave.seed);
		assert_int_not_equal(s[0].loads[k].wave.seed,
				     s[2].loads[k].wave.seed);
	}
	for (unsigned i = 0; i < 3; i++)
		gkf_scenario_free(&s[i]);
}

static void what_is_wrong_with_a_file_is_told(void **state)
{
#define NO_DURATION(text)                                                      \
	":1: duration: '" text "' must be a time of at least 167ms up to "     \
	"366d, such as 30s or 5m"
#define NO_SPEED(text)                                                         \
	":4: speed: '" text "' must be a number from 0.001 to 1000"
#define NO_DRIVER                                                              \
	":4: driver: must be a generation or a version, such as 535 or "       \
	"535.54.03"
#define NO_TOPOLOGY  ":4: topology: must be one of auto, hgx, pcie, nvl, mesh"
#define LONG_TEXT(n) ":4: name: must be a text of 1 to " n " bytes, in one line"
#define TEN          "0123456789"
	static const struct refused cases[] = {
	    {"gpus: t4\nduration: 1s\nsteps: []\n",
	     ":1: description: key is missing; a scenario must have it"},
	    {"description: d\nduration: 1s\nsteps: []\n",
	     ":1: gpus: key is missing; a scenario must have it"},
	    {"description: d\ngpus: t4\nsteps: []\n",
	     ":1: duration: key is missing; a scenario must have it"},
	    {HEAD, ":1: steps: key is missing; a scenario must have it"},
	    {HEAD "step: []\n", ":4: unknown key 'step'; did you mean "
				"'steps'?"},
	    {HEAD "colour: red\n",
	     ":4: unknown key 'colour' of a scenario; allowed are name, "
	     "description, driver, topology, seed, speed, duration, gpus, "
	     "loads, steps"},
	    {HEAD "seed: 1\nseed: 2\nsteps: []\n",
	     ":5: seed: duplicate key, first in line 4; remove one of them"},
	    {HEAD "seed: x\nsteps: []\n",
	     ":4: seed: must be an integer from -9223372036854775808 to "
	     "9223372036854775807"},
	    {HEAD "seed: [1]\nsteps: []\n",
	     ":4: seed: must be an integer from -9223372036854775808 to "
	     "9223372036854775807"},
	    {"duration: 166ms\ndescription: d\ngpus: t4\nsteps: []\n",
	     NO_DURATION("166ms")},
	    {"duration: 366.1d\ndescription: d\ngpus: t4\nsteps: []\n",
	     NO_DURATION("366.1d")},
	    {"duration: {}\ndescription: d\ngpus: t4\nsteps: []\n",
	     NO_DURATION("")},
	    {HEAD "speed: 0\nsteps: []\n", NO_SPEED("0")},
	    {HEAD "speed: 1001\nsteps: []\n", NO_SPEED("1001")},
	    {HEAD "speed: [2]\nsteps: []\n", NO_SPEED("")},
	    {HEAD "driver: ''\nsteps: []\n", NO_DRIVER},
	    {HEAD "driver: [535]\nsteps: []\n", NO_DRIVER},
	    {HEAD "driver: " TEN TEN TEN "12\nsteps: []\n", NO_DRIVER},
	    {HEAD "topology: star\nsteps: []\n", NO_TOPOLOGY},
	    {HEAD "topology: [hgx]\nsteps: []\n", NO_TOPOLOGY},
	    {HEAD "name: " TEN TEN TEN TEN TEN TEN "1234\nsteps: []\n",
	     LONG_TEXT("63")},
	    {HEAD "name: 5\nsteps: []\n", ":4: name: must be a text"},
	    {"description: 5\ngpus: t4\nduration: 1s\nsteps: []\n",
	     ":1: description: must be a text"},
	    {"description: d\ngpus: [t4]\nduration: 1s\nsteps: []\n",
	     ":2: gpus: must be a text"},
	    {"description: d\ngpus: t4:x\nduration: 1s\nsteps: []\n",
	     ":2: gpus: gpus: 't4:x': the count must be 1 to 64, as in h100:4; "
	     "for no GPU at all: gpus none"},
	    {"description: d\ngpus: " FAULTY "\nduration: 1s\nsteps: []\n",
	     ":2: gpus: mig_layout: invalid argument"},
	    {HEAD "loads: [a]\nsteps: []\n",
	     ":4: loads: must be a mapping, with one 'NAME: SPEC' per line"},
	    {HEAD "steps: []\n---\nx: 1\n",
	     ":6: a second document; a scenario has only one"},
	};

	(void)state;
	expect_refused(cases, COUNT(cases));
}

static void lengths_are_as_long_as_they_may_be(void **state)
{
	struct gkf_scenario s;

	(void)state;
	compile("description: d\ngpus: t4\nduration: 366d\n"
		"name: " TEN TEN TEN TEN TEN TEN "123\n"
		"driver: " TEN TEN TEN "1\nsteps: [{at: 366d, note: end}]\n",
		&s);
	assert_string_equal(s.name, TEN TEN TEN TEN TEN TEN "123");
	assert_string_equal(s.driver, TEN TEN TEN "1");
	assert_int_equal(s.duration, 366ULL * 86400000000000 / GKF_BIN_NS);
	assert_int_equal(s.steps[0].bin, s.duration);
	gkf_scenario_free(&s);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void without_a_name_it_is_called_as_its_file(void **state)
{
	static const char *const cases[][2] = {
	    {"own.yaml", "own"},           {"a.yaml", "a"},
	    {"no-ending", "no-ending"},    {".yaml", ".yaml"},
	    {"two.yaml.yaml", "two.yaml"},
	};
	const struct gkf_scenario_options options = {.profiles = PROFILES};
	char dir[64], here[512], *was;
	char message[MESSAGE_MAX], path[96];
	struct gkf_scenario s;

	(void)state;
	snprintf(dir, sizeof dir, "/dev/shm/gpukit-test-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(dir));
	was = getcwd(here, sizeof here);
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(path, sizeof path, "%s/%s", dir, cases[i][0]);
		write_text(path, HEAD "steps: []\n");
		assert_int_equal(gkf_scenario_compile(path, &options, &s,
						      message, sizeof message),
				 0);
		assert_string_equal(s.name, cases[i][1]);
		gkf_scenario_free(&s);
		assert_int_equal(chdir(dir), 0);
		assert_int_equal(gkf_scenario_compile(cases[i][0], &options, &s,
						      message, sizeof message),
				 0);
		assert_string_equal(s.name, cases[i][1]);
		gkf_scenario_free(&s);
		assert_int_equal(chdir(was), 0);
		unlink(path);
	}
	rmdir(dir);
}

static void a_file_has_at_most_256_kib(void **state)
{
	const struct gkf_scenario_options options = {.profiles = PROFILES};
	const size_t most = (size_t)256 * 1024 - 2;
	char *text = malloc(most + 2), message[MESSAGE_MAX];
	struct gkf_scenario s;

	(void)state;
	assert_non_null(text);
	memset(text, '\n', most + 1);
	memcpy(text, HEAD "steps: []\n", strlen(HEAD "steps: []\n"));
	text[most] = '\0';
	compile(text, &s);
	gkf_scenario_free(&s);
	text[most] = '\n';
	text[most + 1] = '\0';
	assert_int_not_equal(compile_with(text, &options, &s, message), 0);
	assert_string_equal(message,
			    ": too large; a scenario has at most 256 KiB");
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_says_what_its_machine_is),
	    cmocka_unit_test(what_is_not_said_is_the_usual),
	    cmocka_unit_test(the_command_may_say_it_otherwise),
	    cmocka_unit_test(gpus_of_the_command_are_told_as_its_own),
	    cmocka_unit_test(seeds_of_loads_follow_from_the_seed),
	    cmocka_unit_test(what_is_wrong_with_a_file_is_told),
	    cmocka_unit_test(lengths_are_as_long_as_they_may_be),
	    cmocka_unit_test(without_a_name_it_is_called_as_its_file),
	    cmocka_unit_test(a_file_has_at_most_256_kib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
