/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_values_test.c - checks values that scenario files set: at once, and
 * evenly over time.
 */
#include "machine/words/compiled.h"

#define GPU0(at, more) "  - {at: " at ", gpu: 0, " more "}\n"
#define RAMP(at, more) GPU0(at, "ramp: {key: temperature, " more "}")

static void values_are_set_in_their_units(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS GPU0("1s", "set: {power: 250W, energy: 3J, sm-clock: "
			      "1.2GHz, extra-memory: 2GiB, "
			      "clocks-event-reasons: 0x14}"),
	     "5: 6 set g0 power 250000\n"
	     "5: 6 set g0 energy 3000\n"
	     "5: 6 set g0 sm-clock 1200\n"
	     "5: 6 set g0 extra-memory 2147483648\n"
	     "5: 6 set g0 clocks-event-reasons 20\n"},
	    {STEPS GPU0("1s", "set: {temperature: 0}")
		 GPU0("2s", "set: {temperature: 150}"),
	     "5: 6 set g0 temperature 0\n"
	     "6: 12 set g0 temperature 150\n"},
	    {STEPS "  - {at: 1s, gpu: all, set: {temperature: 9}}\n",
	     "5: 6 set g0 temperature 9\n"
	     "5: 6 set g1 temperature 9\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

static void a_ramp_is_a_step_for_each_value(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS RAMP("1s", "from: 50, to: 53, over: 1s"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "5: 10 set g0 temperature 52\n"
	     "5: 12 set g0 temperature 53\n"},
	    {STEPS RAMP("1s", "from: 53, to: 50, over: 1s"),
	     "5: 6 set g0 temperature 53\n"
	     "5: 8 set g0 temperature 52\n"
	     "5: 10 set g0 temperature 51\n"
	     "5: 12 set g0 temperature 50\n"},
	    {STEPS RAMP("1s", "from: 0, to: 0, over: 1s"),
	     "5: 6 set g0 temperature 0\n"},
	    {STEPS RAMP("1s", "from: 0, to: 150, over: 167ms"),
	     "5: 6 set g0 temperature 0\n"
	     "5: 7 set g0 temperature 150\n"},
	    {STEPS "  - at: 1s\n    gpu: 0-1\n    ramp:\n"
		   "      - {key: temperature, from: 1, to: 2, over: 167ms}\n"
		   "      - {key: power, from: 1W, to: 1W, over: 167ms}\n",
	     "5: 6 set g0 temperature 1\n"
	     "5: 6 set g1 temperature 1\n"
	     "5: 6 set g0 power 1000\n"
	     "5: 6 set g1 power 1000\n"
	     "5: 7 set g0 temperature 2\n"
	     "5: 7 set g1 temperature 2\n"},
	    /* The intermediate values need more than 64 bits. */
	    {STEPS GPU0("1s", "ramp: {key: energy, from: 0, to: "
			      "9000000000000000000, over: 0.5s}"),
	     "5: 6 set g0 energy 0\n"
	     "5: 7 set g0 energy 3000000000000000000\n"
	     "5: 8 set g0 energy 6000000000000000000\n"
	     "5: 9 set g0 energy 9000000000000000000\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

/* From second 1 to 2, 50 to 53: bins 6, 8, 10 and 12 have a step. */
static void what_comes_later_ends_a_ramp(void **state)
{
#define WARM RAMP("1s", "from: 50, to: 53, over: 1s")
	static const struct becomes cases[] = {
	    {STEPS WARM GPU0("1s", "set: {temperature: 9}"),
	     "6: 6 set g0 temperature 9\n"},
	    {STEPS WARM GPU0("1.5s", "set: {temperature: 9}"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "6: 9 set g0 temperature 9\n"},
	    {STEPS WARM GPU0("2s", "set: {temperature: 9}"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "5: 10 set g0 temperature 52\n"
	     "6: 12 set g0 temperature 9\n"},
	    {STEPS WARM GPU0("2.2s", "set: {temperature: 9}"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "5: 10 set g0 temperature 52\n"
	     "5: 12 set g0 temperature 53\n"
	     "6: 13 set g0 temperature 9\n"},
	    {STEPS WARM GPU0("1.5s", "clear: temperature"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "6: 9 set g0 temperature unset\n"},
	    /* Without "from" it starts from the value that the file left. */
	    {STEPS WARM RAMP("1.7s", "to: 50, over: 0.5s"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "6: 10 set g0 temperature 52\n"
	     "6: 12 set g0 temperature 51\n"
	     "6: 13 set g0 temperature 50\n"},
	    {STEPS WARM RAMP("9s", "to: 52, over: 167ms"),
	     "5: 6 set g0 temperature 50\n"
	     "5: 8 set g0 temperature 51\n"
	     "5: 10 set g0 temperature 52\n"
	     "5: 12 set g0 temperature 53\n"
	     "6: 54 set g0 temperature 53\n"
	     "6: 55 set g0 temperature 52\n"},
	    {STEPS GPU0("1s", "set: {temperature: 7}")
		 RAMP("2s", "to: 8, over: 167ms"),
	     "5: 6 set g0 temperature 7\n"
	     "6: 12 set g0 temperature 7\n"
	     "6: 13 set g0 temperature 8\n"},
	    /* A change of another GPU or of another value does not end it. */
	    {STEPS "  - {at: 1s, gpu: all, ramp: {key: temperature, from: 1, "
		   "to: 2, over: 167ms}}\n"
		   "  - {at: 1s, gpu: 0, set: {sm-clock: 300}}\n"
		   "  - {at: 1s, gpu: 1, set: {temperature: 9}}\n",
	     "5: 6 set g0 temperature 1\n"
	     "6: 6 set g0 sm-clock 300\n"
	     "7: 6 set g1 temperature 9\n"
	     "5: 7 set g0 temperature 2\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

/* The list of all values. */
static const char *names(void)
{
	static char list[4096];
	size_t n = 0;

	for (int i = 0; i < GKF_V_COUNT; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
				      i ? ", " : "", gkf_values[i].name);
	return list;
}

static void what_cannot_be_set_is_refused(void **state)
{
	static char none[4200], empty[4200];
	const struct refused cases[] = {
	    {STEPS "  - {at: 1s, set: {power: 1W}}\n",
	     ":5: set: gpu: is missing in this step"},
	    {STEPS GPU0("1s", "set: power"),
	     ":5: set: must be a mapping such as {temperature: 90}"},
	    {STEPS GPU0("1s", "set: {temprature: 9}"),
	     ":5: 'temprature' is not a value; did you mean 'temperature'?"},
	    {STEPS GPU0("1s", "set: {somethingelse: 9}"), none},
	    {STEPS GPU0("1s", "set: {temperature: 151}"),
	     ":5: temperature: '151' must be 0 to 150 C (GPU core)"},
	    {STEPS GPU0("1s", "set: {temperature: -1}"),
	     ":5: temperature: '-1' must be 0 to 150 C (GPU core)"},
	    {STEPS GPU0("1s", "set: {temperature: hot}"),
	     ":5: temperature: 'hot' must be 0 to 150 C (GPU core)"},
	    {STEPS GPU0("1s", "set: {temperature: [9]}"),
	     ":5: temperature: '' must be 0 to 150 C (GPU core)"},
	    {STEPS GPU0("1s", "set: {pstate: 16}"),
	     ":5: pstate: '16' must be 0 to 15 (performance state, 0 the "
	     "fastest)"},
	    {STEPS "  - {at: 1s, gpu: all, set: {fan: 9}}\n",
	     ":5: fan: GPU 0 (NVIDIA H100 80GB HBM3) has none"},
	    {STEPS "  - {at: 1s, gpu: 1, set: {memory-temperature: 9}}\n",
	     ":5: memory-temperature: GPU 1 (Tesla T4) has none"},
	    {STEPS "  - {at: 1s, gpu: all, set: {memory-temperature: 9}}\n",
	     ":5: memory-temperature: GPU 1 (Tesla T4) has none"},
	    {STEPS "  - {at: 1s, ramp: {}}\n",
	     ":5: ramp: gpu: is missing in this step"},
	    {STEPS GPU0("1s", "ramp: 5"),
	     ":5: ramp: must be a mapping, with one 'key: value' per line"},
	    {STEPS GPU0("1s", "ramp: {to: 1, over: 1s}"),
	     ":5: key: key is missing; a ramp must have it"},
	    {STEPS RAMP("1s", "over: 1s"),
	     ":5: to: key is missing; a ramp must have it"},
	    {STEPS RAMP("1s", "to: 1"),
	     ":5: over: key is missing; a ramp must have it"},
	    {STEPS GPU0("1s", "ramp: {key: [power], to: 1, over: 1s}"), empty},
	    {STEPS RAMP("1s", "from: 151, to: 1, over: 1s"),
	     ":5: temperature: '151' must be 0 to 150 C (GPU core)"},
	    {STEPS RAMP("1s", "from: 1, to: 151, over: 1s"),
	     ":5: temperature: '151' must be 0 to 150 C (GPU core)"},
	    {STEPS RAMP("1s", "from: 1, to: 2, over: 166ms"),
	     ":5: over: '166ms' must be a time of at least 167ms up to 366d, "
	     "such as 30s or 5m"},
#define NOT_SET(gpu)                                                           \
	":6: ramp: from: key is missing; temperature of GPU " gpu " is not "   \
	"set at that time, so it must say where the ramp begins"
	    {STEPS "  - {at: 1s, gpu: 1, set: {temperature: 9}}\n"
		   "  - {at: 1s, gpu: 0-1, ramp: {key: temperature, to: 9, "
		   "over: 1s}}\n",
	     NOT_SET("0")},
	    {STEPS "  - {at: 1s, gpu: 0, set: {temperature: 9}}\n"
		   "  - {at: 2s, gpu: 0, clear: temperature, ramp: {key: "
		   "temperature, to: 9, over: 1s}}\n",
	     NOT_SET("0")},
	};

	(void)state;
	snprintf(none, sizeof none,
		 ":5: 'somethingelse' is not a value; there are %s", names());
	snprintf(empty, sizeof empty, ":5: '' is not a value; there are %s",
		 names());
	expect_refused(cases, COUNT(cases));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_are_set_in_their_units),
	    cmocka_unit_test(a_ramp_is_a_step_for_each_value),
	    cmocka_unit_test(what_comes_later_ends_a_ramp),
	    cmocka_unit_test(what_cannot_be_set_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
