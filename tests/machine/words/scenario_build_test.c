/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_build_test.c - checks whole scenarios: what the rehearsal refuses,
 * and how much fits.
 */
#include "machine/file/scenario_state.h"
#include "machine/words/compiled.h"

#define GPU(n, at, more) "  - {at: " at ", gpu: " n ", " more "}\n"
#define H100             "GPU 0 (NVIDIA H100 80GB HBM3): "
#define T4               "GPU 1 (Tesla T4): "
#define HAS_NONE         "not supported: the GPU lacks it, or it is off"
#define NO_MIG_DEVICE    "there is no such MIG device at that time"

static void what_a_gpu_cannot_do_is_refused_at_once(void **state)
{
	static const struct refused cases[] = {
	    {STEPS GPU("0", "1s", "fail: fan-failure"),
	     ":5: fail: " H100 HAS_NONE},
	    {STEPS GPU("1", "1s", "xid: 74"), ":5: xid: " T4 HAS_NONE},
	    {STEPS GPU("0", "1s", "set: {ecc: 0}, ecc: {corrected: 1}"),
	     ":5: ecc: " H100 HAS_NONE},
	    {STEPS GPU("1", "1s", "mig: {enable: true}"),
	     ":5: mig: enable: " T4 HAS_NONE},
	    {STEPS GPU("1", "1s", "mig: {create: 1g.5gb}"),
	     ":5: mig: create: " T4 HAS_NONE},
	    {STEPS GPU("0", "1s", "mig: {create: 9g.90gb}"),
	     ":5: mig: create: " H100 "this GPU does not support the layout"},
	    {STEPS GPU("0", "1s", "mig: {create: 7g.80gb+1g.10gb}"),
	     ":5: mig: create: " H100 "there is not enough room"},
	    {STEPS GPU("0", "1s", "mig: {create: 1g.10gb}")
		 GPU("0", "2s", "mig: {enable: false}"),
	     ":6: mig: enable: " H100
	     "the GPU has instances; destroy them first"},
	    {STEPS GPU("0", "1s", "mig: {create: 1g.10gb}")
		 GPU("0", "2s", "mig: {destroy: 1}"),
	     ":6: mig: destroy: " H100 NO_MIG_DEVICE},
	    {STEPS "  - {at: 1s, load: {start: a, spec: 'idle:0:3,mem=1'}}\n",
	     ":5: load: start: " H100 NO_MIG_DEVICE},
	    {STEPS GPU("0", "1s", "mig: {create: 1g.10gb}")
		 GPU("0", "2s", "mig: {destroy: all}") GPU(
		     "0", "3s",
		     "load: {start: a, spec: 'idle,mem=1'}") "  - {at: 4s, "
							     "load: {start: b, "
							     "spec: "
							     "'idle:0:0,mem=1'}"
							     "}\n",
	     ":8: load: start: " H100 NO_MIG_DEVICE},
	};

	(void)state;
	expect_refused(cases, COUNT(cases));
}

/* Steps run in order of time, whatever their order in the file. */
static void a_step_finds_what_others_left(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS GPU("0", "1s", "set: {ecc: 0}")
		 GPU("0", "2s", "set: {ecc: 1}, ecc: {corrected: 1}"),
	     "5: 6 set g0 ecc 0\n"
	     "6: 12 set g0 ecc 1\n"
	     "6: 12 ecc g0 2 1\n"},
	    {STEPS GPU("0", "1s", "mig: {create: 7g.80gb}")
		 GPU("0", "2s", "mig: {destroy: all, create: 7g.80gb}"),
	     "5: 6 mig-create g0 0 0 7g.80gb\n"
	     "6: 12 mig-destroy g0 -1 0\n"
	     "6: 12 mig-create g0 0 0 7g.80gb\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

/* A profile that is split has its instances before the first step. */
static void a_split_board_is_rehearsed_split(void **state)
{
	static const struct becomes cases[] = {
	    {"description: d\ngpus: t4:1,h100-mig:1\nduration: 9s\nsteps:\n"
	     "  - {at: 1s, load: {start: a, spec: 'idle:1:0,mem=1GiB'}}\n",
	     "5: a g1 m0 1073741824 1073741824 1 6--1\n"
	     "5: 6 place g1 1 0\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

/* A step that the machine as a whole refuses names no GPU. */
static void a_machine_has_64_rules(void **state)
{
	static const struct gkf_scenario_options options = {.profiles =
								PROFILES};
	char yaml[16384], message[MESSAGE_MAX];
	struct gkf_scenario s;
	int n =
	    snprintf(yaml, sizeof yaml, "%s", STEPS "  - at: 1s\n    rule:\n");

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		n += snprintf(yaml + n, sizeof yaml - (size_t)n,
			      "    - {function: %s, answer: UNKNOWN}\n",
			      gkf_rule_function(i));
	compile(yaml, &s);
	assert_int_equal(s.step_count, 64);
	gkf_scenario_free(&s);
	snprintf(yaml + n, sizeof yaml - (size_t)n,
		 "    - {function: %s, answer: UNKNOWN}\n",
		 gkf_rule_function(64));
	assert_int_equal(compile_with(yaml, &options, &s, message),
			 GK_ERR_INVALID);
	assert_string_equal(message, ":5: rule: too many");
}

static void a_note_has_up_to_255_bytes(void **state)
{
	static const struct gkf_scenario_options options = {.profiles =
								PROFILES};
	char yaml[512], message[MESSAGE_MAX];
	struct gkf_scenario s;

	(void)state;
	snprintf(yaml, sizeof yaml, STEPS "  - {at: 1s, note: %0255d}\n", 0);
	yaml[strlen(STEPS "  - {at: 1s, note: ")] = 'n';
	compile(yaml, &s);
	assert_int_equal(s.texts.len, 256);
	gkf_scenario_free(&s);
	snprintf(yaml, sizeof yaml, STEPS "  - {at: 1s, note: n%0255d}\n", 0);
	assert_int_equal(compile_with(yaml, &options, &s, message),
			 GK_ERR_INVALID);
	assert_string_equal(message, ":5: note: must be a text of 1 to 255 "
				     "bytes, in one line");
}

/* A text equal to the last one, or to its end, takes no room. */
static void texts_share_their_room(void **state)
{
	struct gkf_scenario s;

	(void)state;
	compile(STEPS "  - {at: 1s, note: abc}\n"
		      "  - {at: 1s, note: abc}\n"
		      "  - {at: 1s, note: bc}\n"
		      "  - {at: 1s, note: xbc}\n"
		      "  - {at: 1s, note: abc}\n",
		&s);
	assert_int_equal(s.texts.len, 12);
	assert_memory_equal(s.texts.data, "abc\0xbc\0abc", 12);
	assert_int_equal(s.steps[1].text, 0);
	assert_int_equal(s.steps[2].text, 1);
	assert_int_equal(s.steps[3].text, 4);
	assert_int_equal(s.steps[4].text, 8);
	gkf_scenario_free(&s);
}

/* 256 notes of 256 bytes. */
static void texts_have_64_kib(void **state)
{
	static const struct gkf_scenario_options options = {.profiles =
								PROFILES};
	static char yaml[128 * 1024];
	char message[MESSAGE_MAX];
	struct gkf_scenario s;
	size_t n = (size_t)snprintf(yaml, sizeof yaml, "%s", STEPS);

	(void)state;
	for (unsigned i = 0; i < 256; i++)
		n += (size_t)snprintf(yaml + n, sizeof yaml - n,
				      "  - {at: 1s, note: n%0254u}\n", i);
	compile(yaml, &s);
	assert_int_equal(s.texts.len, 65536);
	assert_int_equal(s.step_count, 256);
	assert_int_equal(s.steps[255].text, 65280);
	gkf_scenario_free(&s);
	snprintf(yaml + n, sizeof yaml - n, "  - {at: 1s, note: n}\n");
	assert_int_equal(compile_with(yaml, &options, &s, message),
			 GK_ERR_INVALID);
	assert_string_equal(message, ":261: too many notes; a scenario has "
				     "room for 65536 bytes");
}

static void a_scenario_has_262144_steps(void **state)
{
#define MANY                                                                   \
	"description: d\n"                                                     \
	"gpus: t4:1\n"                                                         \
	"duration: 366d\n"                                                     \
	"steps:\n"                                                             \
	"  - {at: 0, every: 1s, times: 100000, note: a}\n"                     \
	"  - {at: 0, every: 1s, times: 100000, note: b}\n"                     \
	"  - {at: 0, every: 1s, times: 62143, note: c}\n"                      \
	"  - {at: 0, note: d}\n"
	static const struct refused one_more[] = {
	    {MANY "  - {at: 0, note: e}\n",
	     ":9: too many steps; a scenario has at most 262144, and a ramp "
	     "is one for each value"},
	};
	struct gkf_scenario s;

	(void)state;
	compile(MANY, &s);
	assert_int_equal(s.step_count, 262144);
	/* Steps of a bin keep the order of the file, each with its line. */
	assert_int_equal(s.lines[0], 5);
	assert_int_equal(s.lines[1], 6);
	assert_int_equal(s.lines[2], 7);
	assert_int_equal(s.lines[3], 8);
	assert_int_equal(s.lines[4], 5);
	assert_int_equal(s.steps[4].bin, 6);
	assert_int_equal(s.lines[262143], 6);
	assert_int_equal(s.steps[262143].bin, 99999 * 6);
	gkf_scenario_free(&s);
	expect_refused(one_more, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_gpu_cannot_do_is_refused_at_once),
	    cmocka_unit_test(a_step_finds_what_others_left),
	    cmocka_unit_test(a_split_board_is_rehearsed_split),
	    cmocka_unit_test(a_machine_has_64_rules),
	    cmocka_unit_test(a_note_has_up_to_255_bytes),
	    cmocka_unit_test(texts_share_their_room),
	    cmocka_unit_test(texts_have_64_kib),
	    cmocka_unit_test(a_scenario_has_262144_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
