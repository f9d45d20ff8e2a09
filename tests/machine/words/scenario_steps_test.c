/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_steps_test.c - checks the steps of scenario files: what each key
 * becomes, and what is refused.
 */
#include "machine/words/compiled.h"

static void notes_clears_and_resets(void **state)
{
	static const struct becomes cases[] = {
	    {HEAD "steps: []\n", ""},
	    {STEPS "  - {at: 1s}\n", ""},
	    {STEPS "  - {at: 1s, note: hello}\n", "5: 6 note g-1 0 0 hello\n"},
	    {STEPS "  - at: 0\n    note: |\n      a line\n",
	     "5: 0 note g-1 0 0 a line\n"},
	    {STEPS "  - {at: 60s, note: the end}\n",
	     "5: 360 note g-1 0 0 the end\n"},
	    {STEPS "  - {at: 0.5s, gpu: 1, reset: true}\n",
	     "5: 3 reset g1 0 0\n"},
	    {STEPS "  - {at: 1s, gpu: 0, reset: false}\n", ""},
	    {STEPS "  - {at: 1s, gpu: all, clear: lost}\n",
	     "5: 6 mend g0 0 2\n"
	     "5: 6 mend g1 0 2\n"},
	    {STEPS "  - {at: 1s, gpu: 0+1, clear: [hang, fallen]}\n",
	     "5: 6 mend g0 0 4\n"
	     "5: 6 mend g1 0 4\n"
	     "5: 6 mend g0 0 1\n"
	     "5: 6 mend g1 0 1\n"},
	    /* A value is unset where the file has set it. */
	    {STEPS "  - {at: 1s, gpu: 0, set: {temperature: 80}}\n"
		   "  - {at: 2s, gpu: 0-1, clear: temperature}\n"
		   "  - {at: 3s, gpu: 0-1, clear: temperature}\n",
	     "5: 6 set g0 temperature 80\n"
	     "6: 12 set g0 temperature unset\n"},
	    /* A name that is both a fault and a value. */
	    {STEPS "  - {at: 1s, gpu: 1, set: {power-brake: 1}}\n"
		   "  - {at: 2s, gpu: 0-1, clear: power-brake}\n",
	     "5: 6 set g1 power-brake 1\n"
	     "6: 12 mend g0 0 8192\n"
	     "6: 12 mend g1 0 8192\n"
	     "6: 12 set g1 power-brake unset\n"},
	    /* The first value, and the same value of another GPU. */
	    {STEPS "  - {at: 1s, gpu: 0-1, set: {utilization: 50}}\n"
		   "  - {at: 2s, gpu: 0, clear: utilization}\n"
		   "  - {at: 3s, gpu: 0, clear: all}\n",
	     "5: 6 set g0 utilization 50\n"
	     "5: 6 set g1 utilization 50\n"
	     "6: 12 set g0 utilization unset\n"
	     "7: 18 rule-drop g-1 -1 0 1 0 0 0\n"
	     "7: 18 mend g0 0 -1\n"},
	    {STEPS "  - {at: 1s, clear: driver-mismatch}\n",
	     "5: 6 machine g-1 driver-mismatch 0\n"},
	    {STEPS "  - {at: 1s, clear: nvmlDeviceGetCount_v2}\n",
	     "5: 6 rule-drop g-1 nvmlDeviceGetCount_v2 0 "
	     "ffffffffffffffff 0 0 0\n"},
	    {STEPS "  - {at: 1s, gpu: 0-1, set: {temperature: 80, power: 9W}}\n"
		   "  - {at: 2s, gpu: 1, clear: all}\n",
	     "5: 6 set g0 temperature 80\n"
	     "5: 6 set g1 temperature 80\n"
	     "5: 6 set g0 power 9000\n"
	     "5: 6 set g1 power 9000\n"
	     "6: 12 rule-drop g-1 -1 0 2 0 0 0\n"
	     "6: 12 mend g1 0 -1\n"
	     "6: 12 set g1 temperature unset\n"
	     "6: 12 set g1 power unset\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

static void faults_xids_and_memory_errors(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS "  - {at: 1s, gpu: 1, fail: thermal}\n",
	     "5: 6 fault g1 thermal 0\n"},
	    {STEPS "  - {at: 1s, gpu: 0, fail: [pcie=1x4, timeout=20ms, "
		   "ecc-uncorrectable, xid=31, driver-mismatch]}\n",
	     "5: 6 fault g0 pcie 260\n"
	     "5: 6 fault g0 timeout 20000000\n"
	     "5: 6 fault g0 ecc-uncorrectable 1\n"
	     "5: 6 xid g0 31 0\n"
	     "5: 6 machine g-1 driver-mismatch 1\n"},
	    {STEPS "  - {at: 1s, fail: init-unknown}\n",
	     "5: 6 machine g-1 init-unknown 1\n"},
	    {STEPS "  - {at: 1s, gpu: 0-1, xid: 79}\n", "5: 6 xid g0 79 0\n"
							"5: 6 xid g1 79 0\n"},
	    {STEPS "  - {at: 1s, gpu: 1, xid: [13, 0x1f]}\n",
	     "5: 6 xid g1 13 0\n"
	     "5: 6 xid g1 31 0\n"},
	    {STEPS "  - {at: 1s, gpu: 0, ecc: {corrected: 3}}\n",
	     "5: 6 ecc g0 2 3\n"},
	    {STEPS "  - {at: 1s, gpu: 0, ecc: {uncorrected: 1}}\n",
	     "5: 6 ecc g0 131074 1\n"},
	    {STEPS "  - at: 1s\n    gpu: 0\n"
		   "    ecc: [{uncorrected: 2, location: l2}, "
		   "{corrected: 1000000000, place: dram}]\n",
	     "5: 6 ecc g0 131073 2\n"
	     "5: 6 ecc g0 2 1000000000\n"},
	    {STEPS "  - at: 1s\n    gpu: 0\n    every: 2s\n    times: 3\n"
		   "    note: again\n    xid: 31\n",
	     "5: 6 note g-1 0 0 again\n"
	     "5: 6 xid g0 31 0\n"
	     "5: 18 note g-1 0 0 again\n"
	     "5: 18 xid g0 31 0\n"
	     "5: 30 note g-1 0 0 again\n"
	     "5: 30 xid g0 31 0\n"},
	    {STEPS "  - {at: 59s, every: 0.5s, times: 3, note: x}\n",
	     "5: 354 note g-1 0 0 x\n"
	     "5: 357 note g-1 0 0 x\n"
	     "5: 360 note g-1 0 0 x\n"},
	    {STEPS "  - at: 1s\n    gpu: 1\n    every: 167ms\n    times: 2\n"
		   "    fail: thermal\n    ecc: {corrected: 1}\n",
	     "5: 6 ecc g1 2 1\n"
	     "5: 6 fault g1 thermal 0\n"
	     "5: 7 ecc g1 2 1\n"
	     "5: 7 fault g1 thermal 0\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

static void rules_say_which_calls_fail(void **state)
{
#define NAMED       "function: nvmlDeviceGetName, "
#define RULE(more)  STEPS "  - at: 1s\n    rule: {" NAMED more "}\n"
#define RULED(more) "5: 6 rule g-1 nvmlDeviceGetName " more "\n"
#define EVERY_GPU   "ffffffffffffffff"
	static const struct becomes cases[] = {
	    {RULE("answer: UNKNOWN"), RULED("999 " EVERY_GPU " 0 0 1000000")},
	    {RULE("answer: NVML_ERROR_NO_PERMISSION"),
	     RULED("4 " EVERY_GPU " 0 0 1000000")},
	    {RULE("answer: hang"), RULED("-1 " EVERY_GPU " 0 0 1000000")},
	    {RULE("answer: TIMEOUT, after: 3, times: 2, probability: 0.25"),
	     RULED("10 " EVERY_GPU " 3 2 250000")},
	    {RULE("answer: TIMEOUT, after: 0, times: 9223372036854775807"),
	     RULED("10 " EVERY_GPU " 0 9223372036854775807 1000000")},
	    {RULE("answer: TIMEOUT, probability: 0"),
	     RULED("10 " EVERY_GPU " 0 0 0")},
	    {RULE("answer: TIMEOUT, probability: 1"),
	     RULED("10 " EVERY_GPU " 0 0 1000000")},
	    {RULE("answer: TIMEOUT, probability: 12.5%"),
	     RULED("10 " EVERY_GPU " 0 0 125000")},
	    {RULE("answer: TIMEOUT, probability: 100%"),
	     RULED("10 " EVERY_GPU " 0 0 1000000")},
	    {RULE("answer: TIMEOUT, probability: 0.0000006"),
	     RULED("10 " EVERY_GPU " 0 0 1")},
	    {RULE("answer: TIMEOUT, probability: 0.0000004"),
	     RULED("10 " EVERY_GPU " 0 0 0")},
	    {STEPS "  - at: 1s\n    gpu: 1\n    rule:\n"
		   "      - {function: nvmlInit_v2, answer: UNKNOWN}\n"
		   "      - {function: nvmlShutdown, answer: UNKNOWN}\n",
	     "5: 6 rule g-1 nvmlInit_v2 999 2 0 0 1000000\n"
	     "5: 6 rule g-1 nvmlShutdown 999 2 0 0 1000000\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

static void gpus_are_split(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS "  - {at: 1s, gpu: 0, mig: {}}\n", ""},
	    {STEPS "  - {at: 1s, gpu: 0, mig: {enable: true}}\n"
		   "  - {at: 2s, gpu: 0, mig: {enable: false}}\n",
	     "5: 6 mig-mode g0 0 1\n"
	     "6: 12 mig-mode g0 0 0\n"},
	    {STEPS "  - at: 1s\n    gpu: 0\n"
		   "    mig: {create: 3g.40gb+1g.10gb, enable: true, "
		   "destroy: all}\n"
		   "  - {at: 2s, gpu: 0, mig: {destroy: 1}}\n"
		   "  - {at: 3s, gpu: 0, mig: {destroy: 0}}\n",
	     "5: 6 mig-destroy g0 -1 0\n"
	     "5: 6 mig-mode g0 0 1\n"
	     "5: 6 mig-create g0 0 0 3g.40gb+1g.10gb\n"
	     "8: 12 mig-destroy g0 1 0\n"
	     "9: 18 mig-destroy g0 0 0\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

/* Whatever the order in the file. */
static void what_a_step_does_has_an_order(void **state)
{
	static const struct becomes cases[] = {
	    {STEPS "  - load: {start: a, spec: \"idle,mem=1GiB\"}\n"
		   "    rule: {function: nvmlInit_v2, answer: UNKNOWN}\n"
		   "    fail: thermal\n"
		   "    xid: 31\n"
		   "    ecc: {corrected: 1}\n"
		   "    ramp: {key: temperature, from: 1, to: 2, over: 167ms}\n"
		   "    set: {power: 9W}\n"
		   "    mig: {enable: false}\n"
		   "    reset: true\n"
		   "    clear: lost\n"
		   "    note: n\n"
		   "    gpu: 0\n"
		   "    at: 1s\n",
	     "5: a g0 m-1 1073741824 1073741824 1 6--1\n"
	     "5: 6 note g-1 0 0 n\n"
	     "5: 6 mend g0 0 2\n"
	     "5: 6 reset g0 0 0\n"
	     "5: 6 mig-mode g0 0 0\n"
	     "5: 6 set g0 power 9000\n"
	     "5: 6 set g0 temperature 1\n"
	     "5: 6 ecc g0 2 1\n"
	     "5: 6 xid g0 31 0\n"
	     "5: 6 fault g0 thermal 0\n"
	     "5: 6 rule g-1 nvmlInit_v2 999 1 0 0 1000000\n"
	     "5: 7 set g0 temperature 2\n"},
	};

	(void)state;
	expect_all(cases, COUNT(cases));
}

#define AT(more)   STEPS "  - {at: 1s, " more "}\n"
#define GPU0(more) STEPS "  - {at: 1s, gpu: 0, " more "}\n"
#define STEP_KEYS                                                              \
	"at, gpu, every, times, note, clear, reset, mig, set, ramp, ecc, "     \
	"xid, "                                                                \
	"fail, rule, load"

static void steps_that_are_none_are_refused(void **state)
{
#define NO_TIME(key, text)                                                     \
	key ": '" text "' must be a time up to 366d, such as 30s or 5m"
#define NO_PERIOD(key, text)                                                   \
	key ": '" text "' must be a time of at least 167ms up to 366d, such "  \
	    "as 30s or 5m"
	static const struct refused cases[] = {
	    {HEAD "steps: 3\n",
	     ":4: steps: must be a list, with one '- at: TIME' for each step"},
	    {STEPS "  - 7\n",
	     ":5: step: must be a mapping, with one 'key: value' per line"},
	    {STEPS "  - {gpu: 0}\n",
	     ":5: at: key is missing; a step must have it"},
	    {STEPS "  - {at: soon}\n", ":5: " NO_TIME("at", "soon")},
	    {STEPS "  - {at: [1s]}\n", ":5: " NO_TIME("at", "")},
	    {STEPS "  - {at: -1s}\n", ":5: " NO_TIME("at", "-1s")},
	    {STEPS "  - {at: 367d}\n", ":5: " NO_TIME("at", "367d")},
	    {STEPS "  - {at: 60.2s}\n",
	     ":5: at: '60.2s' is after the end; duration says when that is"},
	    {STEPS "  - {at: 2s}\n  - {at: 1.8s}\n",
	     ":6: at: '1.8s' is before the step above; steps must be in order "
	     "of time"},
	    {STEPS "  - {at: 1s, nota: x}\n",
	     ":5: unknown key 'nota'; did you mean 'note'?"},
	    {STEPS "  - {at: 1s, gp: x}\n",
	     ":5: unknown key 'gp' of a step; allowed are " STEP_KEYS},
	    {STEPS "  - {at: 1s, something: x}\n",
	     ":5: unknown key 'something' of a step; allowed are " STEP_KEYS},
	    {STEPS "  - at: 1s\n    note: a\n    note: b\n",
	     ":7: note: duplicate key, first in line 6; remove one of them"},
	    {AT("gpu: 7"),
	     ":5: gpu: no GPU 7; the machine has 2, counted from 0"},
	    {AT("gpu: [0]"), ":5: gpu: must be an index, a range 0-3, a list "
			     "0+2+5, or all"},
	    {AT("gpu: one"), ":5: gpu: 'one' is not a GPU; allowed are an "
			     "index, a range 0-3, a list 0+2+5, or all"},
	    {AT("every: 1s"), ":5: every: and times: go together"},
	    {STEPS "  - at: 1s\n    times: 2\n",
	     ":6: every: and times: go together"},
	    {AT("times: 2, every: 166ms"), ":5: " NO_PERIOD("every", "166ms")},
	    {AT("times: 2, every: 0"), ":5: " NO_PERIOD("every", "0")},
	    {AT("times: 2, every: 367d"), ":5: " NO_PERIOD("every", "367d")},
	    {AT("times: 0, every: 1s"),
	     ":5: times: must be an integer from 1 to 100000"},
	    {AT("times: 100001, every: 1s"),
	     ":5: times: must be an integer from 1 to 100000"},
	    {AT("times: 3, every: 1s, gpu: 0, set: {power: 3}"),
	     ":5: every: set cannot be repeated; allowed are note, ecc, xid, "
	     "fail"},
	    {AT("times: 3, every: 1s, gpu: 0, note: x, clear: lost"),
	     ":5: every: clear cannot be repeated; allowed are note, ecc, "
	     "xid, fail"},
	    {STEPS "  - at: 59s\n    every: 0.5s\n    note: x\n    times: 4\n",
	     ":8: times: the 4. time is after the end"},
	};

	(void)state;
	expect_refused(cases, COUNT(cases));
}

static void texts_and_words_are_checked(void **state)
{
	static const struct refused cases[] = {
	    {AT("note: 5"), ":5: note: must be a text"},
	    {AT("note: [a]"), ":5: note: must be a text"},
	    {AT("note: ''"), ":5: note: must be a text"},
	    {STEPS "  - at: 1s\n    note: |\n      one\n      two\n",
	     ":6: note: must be a text of 1 to 255 bytes, in one line"},
	    {STEPS "  - at: 1s\n    note: |+\n\n\n",
	     ":6: note: must be a text of 1 to 255 bytes, in one line"},
	    {GPU0("reset: yes"), ":5: reset: must be true or false"},
	    {GPU0("reset: [true]"), ":5: reset: must be true or false"},
	    {AT("reset: true"), ":5: reset: gpu: is missing in this step"},
	    {GPU0("mig: {enable: 1}"), ":5: enable: must be true or false"},
	    {GPU0("mig: {create: 5}"), ":5: create: must be a text"},
	    {GPU0("mig: {destroy: 7}"),
	     ":5: mig: destroy: 'all' or: must be an integer from 0 to 6"},
	    {GPU0("mig: {destroy: [0]}"),
	     ":5: mig: destroy: 'all' or: must be an integer from 0 to 6"},
	    {GPU0("mig: {destroy: every}"),
	     ":5: mig: destroy: 'all' or: must be an integer from 0 to 6"},
	    {GPU0("mig: {split: all}"),
	     ":5: unknown key 'split' of a mig; allowed are destroy, enable, "
	     "create"},
	    {GPU0("mig: all"),
	     ":5: mig: must be a mapping, with one 'key: value' per line"},
	    {AT("mig: {destroy: all}"),
	     ":5: mig: gpu: is missing in this step"},
	    {AT("mig: {enable: true}"),
	     ":5: mig: gpu: is missing in this step"},
	    {AT("mig: {create: 1g.10gb}"),
	     ":5: mig: gpu: is missing in this step"},
	};

	(void)state;
	expect_refused(cases, COUNT(cases));
}

/* The list of all that can fail. */
static const char *failures(void)
{
	static char list[2048];
	size_t n = 0;

	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ",
				      gkf_faults[i].name);
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s, ",
				      gkf_machine_faults[i].name);
	snprintf(list + n, sizeof list - n, "xid=N");
	return list;
}

static void what_cannot_fail_is_refused(void **state)
{
	static char none[4096];
	const struct refused cases[] = {
	    {GPU0("fail: loss"),
	     ":5: 'loss' is not a failure; did you mean 'lost'?"},
	    {GPU0("fail: driver-mismtch"),
	     ":5: 'driver-mismtch' is not a failure; did you mean "
	     "'driver-mismatch'?"},
	    {GPU0("fail: somethingelse"), none},
	    {GPU0("clear: somethingelse"), none},
	    {GPU0("fail: pcie=9x9"),
	     ":5: fail: pcie=9x9: must be a PCIe generation 1 to 6 and a "
	     "width 1 to 16, such as 1x4"},
	    {GPU0("fail: xid=31@1/0"),
	     ":5: fail: xid=31@1/0: must be an Xid of the whole GPU, such as "
	     "xid=31"},
	    {AT("fail: lost"), ":5: fail: gpu: is missing in this step"},
	    {AT("fail: xid=31"), ":5: fail: gpu: is missing in this step"},
	    {AT("clear: lost"), ":5: clear: gpu: is missing in this step"},
	    {AT("clear: all"), ":5: clear: gpu: is missing in this step"},
#define XID                                                                    \
	":5: xid: must be the number of an Xid that `gpukit fake ctl fail` "   \
	"knows, such as 79"
	    {GPU0("xid: 7777"), XID},
	    {GPU0("xid: 0"), XID},
	    {GPU0("xid: -31"), XID},
	    {GPU0("xid: 10000"), XID},
	    {GPU0("xid: 4294967327"), XID}, /* 31, cut to 32 bits */
	    {GPU0("xid: '31'"), XID},
	    {GPU0("xid: {31: 31}"), XID},
	    {AT("xid: 31"), ":5: xid: gpu: is missing in this step"},
	};

	(void)state;
	snprintf(none, sizeof none,
		 ":5: 'somethingelse' is not a failure; there are %s",
		 failures());
	expect_refused(cases, COUNT(cases));
}

static void memory_errors_and_rules_are_checked(void **state)
{
#define ECC                                                                    \
	":5: ecc: must be {corrected: COUNT} or {uncorrected: COUNT}, with "   \
	"location: dram, l2..."
#define CALL(more) AT("rule: {function: nvmlInit_v2, " more "}")
#define FUNCTION(text)                                                         \
	":5: function: '" text "' must be a name of NVML, as in "              \
	"nvmlDeviceGetPowerUsage"
#define ANSWER      ":5: answer: must be a code such as NVML_ERROR_UNKNOWN, or hang"
#define PROBABILITY ":5: probability: must be 0 to 1, or a percentage"
	static const struct refused cases[] = {
	    {GPU0("ecc: {}"), ECC},
	    {GPU0("ecc: {location: l2}"), ECC},
	    {GPU0("ecc: {corrected: 1, location: l2, place: l2}"), ECC},
	    {GPU0("ecc: {corrected: 1, uncorrected: 1}"), ECC},
	    {GPU0("ecc: {corrected: 0}"),
	     ":5: ecc: must be an integer from 1 to 1000000000"},
	    {GPU0("ecc: {uncorrected: 1000000001}"),
	     ":5: ecc: must be an integer from 1 to 1000000000"},
	    {GPU0("ecc: {corrected: 1, location: l9}"),
	     ":5: location: 'l9' must be one of l1, l2, dram, register-file, "
	     "texture, "
	     "shared, cbu, mcu, pcie, other"},
	    {GPU0("ecc: {corrected: 1, place: [l2]}"),
	     ":5: place: '' must be one of l1, l2, dram, register-file, "
	     "texture, "
	     "shared, cbu, mcu, pcie, other"},
	    {AT("ecc: {corrected: 1}"),
	     ":5: ecc: gpu: is missing in this step"},
	    {GPU0("ecc: 5"),
	     ":5: ecc: must be a mapping, with one 'key: value' per line"},
	    {AT("rule: {answer: UNKNOWN}"),
	     ":5: function: key is missing; a rule must have it"},
	    {AT("rule: {function: nvmlInit_v2}"),
	     ":5: answer: key is missing; a rule must have it"},
	    {AT("rule: {function: nvmlX, answer: UNKNOWN}"), FUNCTION("nvmlX")},
	    {AT("rule: {function: [a], answer: UNKNOWN}"), FUNCTION("")},
	    {CALL("answer: SUCCESS"), ANSWER},
	    {CALL("answer: NVML_SUCCESS"), ANSWER},
	    {CALL("answer: UNKNOW"), ANSWER},
	    {CALL("answer: [UNKNOWN]"), ANSWER},
	    {CALL("answer: UNKNOWN, after: -1"),
	     ":5: after: must be an integer from 0 to 9223372036854775807"},
	    {CALL("answer: UNKNOWN, times: x"),
	     ":5: times: must be an integer from 0 to 9223372036854775807"},
	    {CALL("answer: UNKNOWN, probability: 1.01"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: 101%"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: -0.01"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: 5x"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: 0.5x"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: 5%x"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: x"), PROBABILITY},
	    {CALL("answer: UNKNOWN, probability: [1]"), PROBABILITY},
	};

	(void)state;
	expect_refused(cases, COUNT(cases));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(notes_clears_and_resets),
	    cmocka_unit_test(faults_xids_and_memory_errors),
	    cmocka_unit_test(rules_say_which_calls_fail),
	    cmocka_unit_test(gpus_are_split),
	    cmocka_unit_test(what_a_step_does_has_an_order),
	    cmocka_unit_test(steps_that_are_none_are_refused),
	    cmocka_unit_test(texts_and_words_are_checked),
	    cmocka_unit_test(what_cannot_fail_is_refused),
	    cmocka_unit_test(memory_errors_and_rules_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
