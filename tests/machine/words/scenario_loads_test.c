/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_loads_test.c - checks the loads of scenario files: which processes
 * run when, and what they hold.
 */
#include "machine/file/numbers.h"
#include "machine/words/compiled.h"

#include "base/units.h"
#include "machine/file/profile.h"
#include "machine/words/scenario_load.h"

#define LOADS(loads) HEAD "loads:\n" loads "steps:\n"
#define START(at, name, spec)                                                  \
	"  - {at: " at ", load: {start: " name ", spec: \"" spec "\"}}\n"
#define STOP(at, name) "  - {at: " at ", load: {stop: " name "}}\n"
#define CHANGE(at, name, more)                                                 \
	"  - {at: " at ", load: {change: " name ", " more "}}\n"

static void loads_run_from_their_start_to_their_stop(void **state)
{
	static const struct becomes cases[] = {
	    {LOADS("  a: idle:0,mem=1GiB\n  b: 'train,mem=2GiB'\n") "  []\n",
	     "5: a g0 m-1 1073741824 1073741824 1 0--1\n"
	     "6: b g0 m-1 2147483648 2147483648 2 0--1\n"
	     "6: b g1 m-1 2147483648 2147483648 3 0--1\n"},
	    {STEPS START("1s", "a", "idle:0,mem=1GiB,n=2") STOP("9s", "a")
		 START("9s", "a", "idle:1,mem=1GiB"),
	     "5: a g0 m-1 1073741824 1073741824 1 6-54\n"
	     "5: a g0 m-1 1073741824 1073741824 1 6-54\n"
	     "7: a g1 m-1 1073741824 1073741824 2 54--1\n"},
	    {STEPS START("1s", "a", "idle:0,mem=1GiB")
		 START("1s", "b", "idle:0,mem=1GiB") STOP("2s", "b"),
	     "5: a g0 m-1 1073741824 1073741824 1 6--1\n"
	     "6: b g0 m-1 1073741824 1073741824 2 6-12\n"},
	    /* The step names the GPU. */
	    {STEPS "  - at: 1s\n    gpu: 1\n    load:\n"
		   "      - {start: a, spec: 'idle,mem=1GiB'}\n"
		   "      - {start: b, spec: 'idle,mem=1GiB'}\n",
	     "5: a g1 m-1 1073741824 1073741824 1 6--1\n"
	     "5: b g1 m-1 1073741824 1073741824 2 6--1\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

static void loads_in_mig_devices_are_placed(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS START(
		 "1s", "a",
		 "idle:0:0-1,mem=1GiB,n=2") "  - {at: 1s, gpu: 0, mig: "
					    "{create: 2g.20gb+1g.10gb}}\n",
	     "5: a g0 m0 1073741824 1073741824 1 6--1\n"
	     "5: a g0 m0 1073741824 1073741824 1 6--1\n"
	     "5: a g0 m1 1073741824 1073741824 2 6--1\n"
	     "5: a g0 m1 1073741824 1073741824 2 6--1\n"
	     "6: 6 mig-create g0 0 0 2g.20gb+1g.10gb\n"
	     "5: 6 place g0 1 0\n"
	     "5: 6 place g0 2 1\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

static void memory_of_loads_changes(void **state)
{
#define A LOADS("  a: idle:0,mem=1GiB\n")
	static const struct becomes cases[] = {
	    {A CHANGE("1s", "a", "mem: 2GiB"),
	     "5: a g0 m-1 1073741824 2147483648 1 0--1\n"
	     "7: 6 memory g0 1 2147483648\n"},
	    {A CHANGE("1s", "a", "mem: 512MiB, over: 0"),
	     "5: a g0 m-1 1073741824 1073741824 1 0--1\n"
	     "7: 6 memory g0 1 536870912\n"},
	    {A CHANGE("1s", "a", "mem: 2GiB, over: 0.5s"),
	     "5: a g0 m-1 1073741824 2147483648 1 0--1\n"
	     "7: 6 memory g0 1 1073741824\n"
	     "7: 7 memory g0 1 1431655765\n"
	     "7: 8 memory g0 1 1789569706\n"
	     "7: 9 memory g0 1 2147483648\n"},
	    {A CHANGE("1s", "a", "mem: 1GiB, over: 5s"),
	     "5: a g0 m-1 1073741824 1073741824 1 0--1\n"
	     "7: 6 memory g0 1 1073741824\n"},
	    /* A ramp ends where another change begins. */
	    {A CHANGE("1s", "a", "mem: 3GiB, over: 0.7s")
		 CHANGE("1.4s", "a", "mem: 1GiB, over: 0.4s"),
	     "5: a g0 m-1 1073741824 3221225472 1 0--1\n"
	     "7: 6 memory g0 1 1073741824\n"
	     "7: 7 memory g0 1 1610612736\n"
	     "8: 8 memory g0 1 2147483648\n"
	     "8: 9 memory g0 1 1610612736\n"
	     "8: 10 memory g0 1 1073741824\n"},
	    {A CHANGE("1s", "a", "mem: 3GiB, over: 0.7s")
		 CHANGE("1.4s", "a", "mem: 1GiB"),
	     "5: a g0 m-1 1073741824 3221225472 1 0--1\n"
	     "7: 6 memory g0 1 1073741824\n"
	     "7: 7 memory g0 1 1610612736\n"
	     "8: 8 memory g0 1 1073741824\n"},
	    /* It starts from the current value, not from the first one. */
	    {A CHANGE("1s", "a", "mem: 4GiB")
		 CHANGE("3s", "a", "mem: 2GiB, over: 0.4s"),
	     "5: a g0 m-1 1073741824 4294967296 1 0--1\n"
	     "7: 6 memory g0 1 4294967296\n"
	     "8: 18 memory g0 1 4294967296\n"
	     "8: 19 memory g0 1 3221225472\n"
	     "8: 20 memory g0 1 2147483648\n"},
	    /* Processes in one place share a step; each place has its own. */
	    {LOADS("  a: idle,mem=1GiB,n=2\n  b: 'idle:0,mem=1GiB'\n")
		 CHANGE("1s", "a", "mem: 2GiB"),
	     "5: a g0 m-1 1073741824 2147483648 1 0--1\n"
	     "5: a g0 m-1 1073741824 2147483648 1 0--1\n"
	     "5: a g1 m-1 1073741824 2147483648 2 0--1\n"
	     "5: a g1 m-1 1073741824 2147483648 2 0--1\n"
	     "6: b g0 m-1 1073741824 1073741824 3 0--1\n"
	     "8: 6 memory g0 1 2147483648\n"
	     "8: 6 memory g1 2 2147483648\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

/* One step for each bin of 12 minutes, not one for each process. */
static void processes_of_a_place_share_their_steps(void **state)
{
	struct gkf_scenario s;

	(void)state;
	compile("description: d\ngpus: h100\nduration: 12m\n"
		"loads: {a: 'idle,mem=1MiB,n=64'}\n"
		"steps:\n" CHANGE("0", "a", "mem: 1GiB, over: 12m"),
		&s);
	assert_int_equal(s.load_count, 64);
	assert_int_equal(s.step_count, 12 * 60 * 6 + 1);
	assert_int_equal(s.loads[63].most, GIB);
	gkf_scenario_free(&s);
}

/* Checks the properties of a load other than its memory. */
static void a_load_works_as_its_spec_says(void **state)
{
	struct gkf_scenario s;
	const struct gkf_wave *wave;

	(void)state;
	compile(STEPS START("2s", "a", "infer:1,util=60,period=9s"), &s);
	wave = &s.loads[0].wave;
	assert_int_equal(wave->kind, GKF_WAVE_INFER);
	assert_int_equal(wave->util_permille, 600);
	assert_int_equal(wave->period_ns, 9000000000);
	/* Its share is of the memory that the board does not reserve. */
	assert_int_equal(
	    s.loads[0].bytes / MIB,
	    (s.profiles[1].memory_mib - s.profiles[1].reserved_mib) * 30 / 100);
	gkf_scenario_free(&s);
}

#define OF_LOAD                                                                \
	":5: load: must be {start: NAME, spec: SPEC}, {stop: NAME} or "        \
	"{change: NAME, mem: SIZE, over: TIME}"
#define LOAD(more) STEPS "  - {at: 1s, load: {" more "}}\n"

static void what_is_no_load_is_refused(void **state)
{
	static const struct refused cases[] = {
	    {LOAD(""), OF_LOAD},
	    {LOAD("start: a"), OF_LOAD},
	    {LOAD("spec: idle"), OF_LOAD},
	    {LOAD("start: a, spec: idle, stop: b"), OF_LOAD},
	    {LOAD("start: a, spec: idle, mem: 1"), OF_LOAD},
	    {LOAD("start: a, spec: idle, over: 1s"), OF_LOAD},
	    {LOAD("stop: a, spec: idle"), OF_LOAD},
	    {LOAD("stop: a, over: 1s"), OF_LOAD},
	    {LOAD("stop: a, mem: 1"), OF_LOAD},
	    {LOAD("stop: a, change: b, mem: 1"), OF_LOAD},
	    {LOAD("start: a, spec: idle, change: b, mem: 1"), OF_LOAD},
	    {LOAD("change: a"), OF_LOAD},
	    {LOAD("mem: 1"), OF_LOAD},
	    {LOAD("change: a, over: 1s"), OF_LOAD},
	    {LOAD("start: a, spek: idle"),
	     ":5: unknown key 'spek'; did you mean 'spec'?"},
	    {STEPS "  - {at: 1s, load: a}\n",
	     ":5: load: must be a mapping, with one 'key: value' per line"},
	    {LOAD("start: 5, spec: idle"), ":5: load: must be a text"},
	    {LOAD("stop: 01234567890123456789012345678901x"),
	     ":5: load: must be a text of 1 to 31 bytes, in one line"},
	    {LOAD("start: a, spec: [idle]"),
	     ":5: load: a: must be an argument of --load, such as "
	     "train:0-3,mem=60GiB"},
	    {LOAD("start: a, spec: 'idle:2'"),
	     ":5: load: idle:2: no GPU 2; the machine has 2, counted from 0"},
	    {STEPS "  - {at: 1s, gpu: 0, load: {start: a, spec: 'idle:0'}}\n",
	     ":5: load: a: gpu: already names the GPUs"},
	    {LOAD("stop: a"), ":5: load: no load 'a' is running at that time"},
	    {LOAD("change: a, mem: 1GiB"),
	     ":5: load: no load 'a' is running at that time"},
	    {LOAD("change: a, mem: much"),
	     ":5: mem: must be a size such as 60GiB"},
	    {LOAD("change: a, mem: [1]"),
	     ":5: mem: must be a size such as 60GiB"},
	    {LOAD("change: a, mem: 1GiB, over: long"),
	     ":5: over: 'long' must be a time up to 366d, such as 30s or 5m"},
	    {LOAD("start: a, spec: 'idle:0:0'"),
	     ":5: load: a: mem= is missing; a load in a MIG device must say "
	     "how much it takes"},
	    {LOADS("  a: idle:0\n") START("1s", "a", "idle:1"),
	     ":7: load: start: 'a' is running already, since line 5"},
	    {STEPS START("1s", "a", "idle:0") STOP("1s", "a"),
	     ":6: load: stop: 'a' starts at the same time"},
	    {STEPS START("1s", "a", "idle:0") STOP("2s", "a") STOP("3s", "a"),
	     ":7: load: no load 'a' is running at that time"},
	    {STEPS START("1s", "a", "idle:0") STOP("2s", "a")
		 CHANGE("2s", "a", "mem: 1GiB"),
	     ":7: load: no load 'a' is running at that time"},
	    {LOADS("  a: trane:0\n") "  []\n",
	     ":5: load: trane:0: 'trane' is not a kind of load; allowed are "
	     "train, infer, idle, as in train:0-3,mem=60GiB,util=90"},
	    {LOADS("  a: [idle]\n") "  []\n",
	     ":5: load: a: must be an argument of --load, such as "
	     "train:0-3,mem=60GiB"},
	    {LOADS("  5: idle\n") "  []\n", ":5: loads: must be a text"},
	};

	(void)state;
	expect_refused(cases, COUNT(cases));
}

static void names_may_have_31_bytes(void **state)
{
	struct gkf_scenario s;

	(void)state;
	compile(STEPS START("1s", "0123456789012345678901234567x31",
			    "idle:0,mem=1GiB"),
		&s);
	assert_string_equal(s.loads[0].name, "0123456789012345678901234567x31");
	gkf_scenario_free(&s);
}

/* A T4 has 15360 MiB, of which 448 are the driver's: 14912 MiB, 14.6 GiB. */
static void loads_must_fit_while_they_are_there(void **state)
{
#define FULL "  a: 'idle:1,mem=14912MiB'\n"
#define NO_ROOM(line, name, asked)                                             \
	":" line ": load: " name ": GPU 1 (Tesla T4) has 14.6 GiB, " asked     \
	" GiB are requested at that time; lower mem= or n="
	static const struct refused cases[] = {
	    {LOADS("  a: 'idle:1,mem=14913MiB'\n") "  []\n",
	     NO_ROOM("5", "a", "14.6")},
	    {LOADS("  a: 'idle:1,mem=10GiB,n=2'\n") "  []\n",
	     NO_ROOM("5", "a", "20.0")},
	    {LOADS(FULL) START("1s", "b", "idle:1,mem=1GiB"),
	     NO_ROOM("7", "b", "15.6")},
	    {LOADS("  a: 'idle:1,mem=1GiB'\n")
		 CHANGE("1s", "a", "mem: 20GiB, over: 3s"),
	     NO_ROOM("5", "a", "20.0")},
	    {LOADS("  a: 'idle:1,mem=1GiB,n=2'\n")
		 CHANGE("1s", "a", "mem: 9GiB"),
	     NO_ROOM("5", "a", "18.0")},
	};
	struct gkf_scenario s;

	(void)state;
	expect_refused(cases, COUNT(cases));
	compile(LOADS(FULL "  b: 'idle:0,mem=20GiB'\n") STOP("5s", "a")
		    START("5s", "c", "idle:1,mem=14912MiB"),
		&s);
	assert_int_equal(s.load_count, 3);
	gkf_scenario_free(&s);
}

/* Sixteen loads of 64 processes each. */
static void a_scenario_has_1024_processes(void **state)
{
	char yaml[4096], message[MESSAGE_MAX];
	const struct gkf_scenario_options options = {.profiles = PROFILES};
	struct gkf_scenario s;
	int n = snprintf(yaml, sizeof yaml, "%s", HEAD "steps: []\nloads:\n");

	(void)state;
	for (char name = 'a'; name <= 'p'; name++)
		n += snprintf(yaml + n, sizeof yaml - (size_t)n,
			      "  %c: 'idle:0,mem=1MiB,n=64'\n", name);
	compile(yaml, &s);
	assert_int_equal(s.load_count, 1024);
	assert_string_equal(s.loads[1023].name, "p");
	gkf_scenario_free(&s);
	snprintf(yaml + n, sizeof yaml - (size_t)n, "  q: 'idle:0,mem=1MiB'\n");
	assert_int_equal(compile_with(yaml, &options, &s, message),
			 GK_ERR_INVALID);
	assert_string_equal(message, ":22: load: q: too many; a scenario has "
				     "at most 1024 processes");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(loads_run_from_their_start_to_their_stop),
	    cmocka_unit_test(loads_in_mig_devices_are_placed),
	    cmocka_unit_test(memory_of_loads_changes),
	    cmocka_unit_test(processes_of_a_place_share_their_steps),
	    cmocka_unit_test(a_load_works_as_its_spec_says),
	    cmocka_unit_test(what_is_no_load_is_refused),
	    cmocka_unit_test(names_may_have_31_bytes),
	    cmocka_unit_test(loads_must_fit_while_they_are_there),
	    cmocka_unit_test(a_scenario_has_1024_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
