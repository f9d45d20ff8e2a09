/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec_test.c - checks GPUs and loads in words: what each means, and the
 * messages for the rest.
 */
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "unit.h"

#include "base/err.h"
#include "base/units.h"
#include "machine/file/profile.h"
#include "machine/words/spec.h"

#include <stdio.h>
#include <string.h>

#define PROFILES TEST_DATA "/../../profiles"

/* ---- GPUs ---- */

static struct gkf_profile profiles[GKF_DEVICES_MAX];

/* "NAME, NAME" of the GPUs of a text, or the message about it. */
static const char *gpus_of(const char *text)
{
	static char told[GKF_SPEC_MESSAGE_MAX];
	char message[GKF_SPEC_MESSAGE_MAX];
	unsigned count = 77;
	FILE *f;

	if (gkf_spec_gpus("--gpus", PROFILES, text, profiles, &count,
			  message)) {
		assert_int_equal(count, 77);
		return strcpy(told, message);
	}
	f = fmemopen(told, sizeof told, "w");
	assert_non_null(f);
	for (unsigned i = 0; i < count; i++)
		fprintf(f, "%s%s", i ? ", " : "", profiles[i].id);
	fclose(f);
	return told;
}

static void gpus_are_models_with_counts(void **state)
{
	static const char *const cases[][2] = {
	    {"none", ""},
	    {"t4", "t4"},
	    {"t4:1", "t4"},
	    {"h100:2,t4,l4:3", "h100-80gb-hbm3, h100-80gb-hbm3, t4, l4, l4, "
			       "l4"},
	    {PROFILES "/l4.yaml:2", "l4, l4"},
	    {"t4:0", "--gpus: 't4:0': the count must be 1 to 64, as in "
		     "h100:4; for no GPU at all: --gpus none"},
	    {"l4,t4:-1", "--gpus: 't4:-1': the count must be 1 to 64, as in "
			 "h100:4; for no GPU at all: --gpus none"},
	    {"t4:x", "--gpus: 't4:x': the count must be 1 to 64, as in "
		     "h100:4; for no GPU at all: --gpus none"},
	    {"t4:", "--gpus: 't4:': the count must be 1 to 64, as in "
		    "h100:4; for no GPU at all: --gpus none"},
	    {"t4:65", "--gpus: a machine has at most 64 GPUs"},
	    {"t4:63,l4:2", "--gpus: a machine has at most 64 GPUs"},
	    {"t4:4294967297", "--gpus: a machine has at most 64 GPUs"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(gpus_of(cases[i][0]), cases[i][1]);
}

static void a_machine_has_up_to_64_gpus(void **state)
{
	char message[GKF_SPEC_MESSAGE_MAX];
	unsigned count = 0;

	(void)state;
	assert_int_equal(gkf_spec_gpus("--gpus", PROFILES, "t4:63,l4", profiles,
				       &count, message),
			 0);
	assert_int_equal(count, 64);
	assert_string_equal(profiles[62].id, "t4");
	assert_string_equal(profiles[63].id, "l4");
}

static void a_model_that_is_not_there_is_told_with_those_that_are(void **state)
{
	char expected[GKF_SPEC_MESSAGE_MAX];
	struct gk_buf ids = {0};

	(void)state;
	gkf_profile_list(PROFILES, &ids);
	snprintf(expected, sizeof expected,
		 "no profile 'h9' in " PROFILES "; there are %s, or give the "
		 "path of a .yaml file",
		 ids.data);
	assert_string_equal(gpus_of("t4,h9:2"), expected);
	gk_buf_free(&ids);
}

/* ---- lists ---- */

#define NO_GPU(text)                                                           \
	"'" text "' is not a GPU; allowed are an index, a range 0-3, a list "  \
	"0+2+5, or all"

static void lists_of_gpus_are_masks(void **state)
{
	static const struct {
		const char *text;
		unsigned count;
		uint64_t mask;
		const char *message; /* NULL: the mask is valid */
	} cases[] = {
	    {"0", 1, 0x1, NULL},
	    {"3", 4, 0x8, NULL},
	    {"0-3", 4, 0xf, NULL},
	    {"2-2", 4, 0x4, NULL},
	    {"0+2+5", 8, 0x25, NULL},
	    {"0,2-3", 8, 0xd, NULL},
	    {"1+1", 8, 0x2, NULL},
	    {"63", 64, 1ULL << 63, NULL},
	    {"0-63", 64, ~0ULL, NULL},
	    {"all", 64, ~0ULL, NULL},
	    {"all", 63, ~0ULL >> 1, NULL},
	    {"all", 1, 0x1, NULL},
	    {"all", 0, 0, NULL},
	    {"4", 4, 0, "no GPU 4; the machine has 4, counted from 0"},
	    {"2-4", 4, 0, "no GPU 4; the machine has 4, counted from 0"},
	    {"0", 0, 0, "no GPU 0; the machine has 0"},
	    {"0+9+x", 4, 0, "no GPU 9; the machine has 4, counted from 0"},
	    {"", 4, 0, NO_GPU("")},
	    {"x", 4, 0, NO_GPU("x")},
	    {"0+", 4, 0, NO_GPU("")},
	    {"-1", 4, 0, NO_GPU("-1")},
	    {"1-", 4, 0, NO_GPU("1-")},
	    {"2-1", 4, 0, NO_GPU("2-1")},
	    {"1-x", 4, 0, NO_GPU("1-x")},
	    {"ALL", 4, 0, NO_GPU("ALL")},
	};
	char message[GKF_SPEC_MESSAGE_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t mask = 0x5a;
		int err = gkf_spec_list(cases[i].text, cases[i].count, &mask,
					message);

		assert_int_equal(err, cases[i].message ? GK_ERR_INVALID : 0);
		assert_true(mask == (err ? 0x5a : cases[i].mask));
		if (err)
			assert_string_equal(message, cases[i].message);
	}
}

/* ---- loads ---- */

/* Prints all of a load in a line. */
static void print_load(const struct gkf_load_spec *l, char *text, size_t cap)
{
	static const char *const kinds[] = {
	    [GKF_WAVE_IDLE] = "idle",
	    [GKF_WAVE_TRAIN] = "train",
	    [GKF_WAVE_INFER] = "infer",
	};
	int n =
	    snprintf(text, cap,
		     "%s gpus %llx n %u mem %llu util %u membw %u enc %u "
		     "dec %u jpg %u ofa %u period %llu",
		     kinds[l->kind], (unsigned long long)l->gpus, l->n,
		     (unsigned long long)l->mem, l->util, l->membw, l->enc,
		     l->dec, l->jpg, l->ofa, (unsigned long long)l->period_ns);

	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		if (l->mig[i])
			n += snprintf(text + n, cap - (size_t)n, " mig %u %x",
				      i, l->mig[i]);
}

static void loads_are_what_they_are_called(void **state)
{
#define TRAIN                                                                  \
	"mem 0 util 95 membw 55 enc 0 dec 0 jpg 0 ofa 0 period 30000000000"
#define INFER                                                                  \
	"mem 0 util 45 membw 35 enc 0 dec 0 jpg 0 ofa 0 period 20000000000"
#define AT_ALL "util 0 membw 0 enc 0 dec 0 jpg 0 ofa 0 period 0"
	static const char *const cases[][2] = {
	    {"train", "train gpus f n 1 " TRAIN},
	    {"train:all", "train gpus f n 1 " TRAIN},
	    {"infer:1", "infer gpus 2 n 1 " INFER},
	    {"idle:0+3", "idle gpus 9 n 1 mem 0 " AT_ALL},
	    {"idle,mem=1,n=64", "idle gpus f n 64 mem 1 " AT_ALL},
	    {"train:2,util=1,membw=2,enc=3,dec=4,jpg=5,ofa=6,n=7,mem=8KiB,"
	     "period=9s",
	     "train gpus 4 n 7 mem 8192 util 1 membw 2 enc 3 dec 4 jpg 5 ofa 6 "
	     "period 9000000000"},
	    {"train:2,util=100,membw=100,enc=100,dec=100,jpg=100,ofa=100,n=1,"
	     "mem=60GiB,period=1ms",
	     "train gpus 4 n 1 mem 64424509440 util 100 membw 100 enc 100 dec "
	     "100 jpg 100 ofa 100 period 1000000"},
	    {"train:2,util=0,membw=0",
	     "train gpus 4 n 1 mem 0 util 0 membw 0 enc 0 dec 0 jpg 0 ofa 0 "
	     "period 30000000000"},
	    {"infer:0:1", "infer gpus 0 n 1 " INFER " mig 0 2"},
	    {"infer:0:0-2", "infer gpus 0 n 1 " INFER " mig 0 7"},
	    {"infer:1-2:6", "infer gpus 0 n 1 " INFER " mig 1 40 mig 2 40"},
	    {"infer:3:0+3:2+0-1", "infer gpus 3 n 1 " INFER " mig 3 5"},
	};
	char text[512], message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec load;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
		    gkf_spec_load("--load", cases[i][0], 4, &load, message), 0);
		print_load(&load, text, sizeof text);
		assert_string_equal(text, cases[i][1]);
	}
}

#define PERCENT(word)                                                          \
	{word "=101", word "=101: must be 0 to 100 percent"},                  \
	    {word "=-1", word "=-1: must be 0 to 100 percent"},                \
	{                                                                      \
		word, word "=: must be 0 to 100 percent"                       \
	}

/* Loads of four GPUs, whatever stands behind "train:0,". */
static void settings_have_their_ranges(void **state)
{
	static const char *const cases[][2] = {
	    PERCENT("util"),
	    PERCENT("membw"),
	    PERCENT("enc"),
	    PERCENT("dec"),
	    PERCENT("jpg"),
	    PERCENT("ofa"),
	    {"n=0", "n=0: must be 1 to 64 processes per GPU"},
	    {"n=65", "n=65: must be 1 to 64 processes per GPU"},
	    {"n=x", "n=x: must be 1 to 64 processes per GPU"},
	    {"n", "n=: must be 1 to 64 processes per GPU"},
	    {"mem=0", "mem=0: must be a size such as 60GiB or 512MiB"},
	    {"mem=1s", "mem=1s: must be a size such as 60GiB or 512MiB"},
	    {"mem", "mem=: must be a size such as 60GiB or 512MiB"},
	    {"period=999us", "period=999us: must be a time of at least 1ms, "
			     "such as 30s"},
	    {"period=1GiB", "period=1GiB: must be a time of at least 1ms, such "
			    "as 30s"},
	    {"utl=3", "'utl' is not a setting; allowed are mem, util, period, "
		      "n, membw, enc, dec, jpg, ofa"},
	    {"", "'' is not a setting; allowed are mem, util, period, n, "
		 "membw, enc, dec, jpg, ofa"},
	    {"n=2,n=65,n=66", "n=65: must be 1 to 64 processes per GPU"},
	};
	char spec[64], expected[512], message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec load, before;

	(void)state;
	memset(&load, 0x5a, sizeof load);
	before = load;
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(spec, sizeof spec, "train:0,%s", cases[i][0]);
		snprintf(expected, sizeof expected, "--load %s: %s", spec,
			 cases[i][1]);
		assert_int_equal(
		    gkf_spec_load("--load", spec, 4, &load, message),
		    GK_ERR_INVALID);
		assert_string_equal(message, expected);
		assert_memory_equal(&load, &before, sizeof load);
	}
}

static void what_is_no_load_is_told(void **state)
{
	static const char *const cases[][2] = {
	    {"trane:0",
	     "load: trane:0: 'trane' is not a kind of load; allowed are train, "
	     "infer, idle, as in train:0-3,mem=60GiB,util=90"},
	    {"", "load: : '' is not a kind of load; allowed are train, infer, "
		 "idle, as in train:0-3,mem=60GiB,util=90"},
	    {"idle:0,util=3", "load: idle:0,util=3: 'util' does not apply to "
			      "an idle process; allowed are mem, n"},
	    {"idle:0,period=3s",
	     "load: idle:0,period=3s: 'period' does not apply to an idle "
	     "process; allowed are mem, n"},
	    {"idle:0,ofa=3", "load: idle:0,ofa=3: 'ofa' does not apply to an "
			     "idle process; allowed are mem, n"},
	    {"train:4", "load: train:4: no GPU 4; the machine has 4, counted "
			"from 0"},
	    {"train:", "load: train:: " NO_GPU("")},
	    {"train:0:1+9", "load: train:0:1+9: no GPU 9; the machine has 4, "
			    "counted from 0"},
#define MIG(text)                                                              \
	{"train:" text, "load: train:" text ": '" text                         \
			"' is not a MIG device; allowed are a GPU and an "     \
			"index, as in 0:1, or a range of these, 0:0-2"}
	    MIG("0:7"),
	    MIG("4:0"),
	    MIG("0-4:1"),
	    MIG("0:2-7"),
	    MIG("0:"),
	    MIG(":1"),
	    MIG("0:1:2"),
#undef MIG
	};
	char message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec load;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
		    gkf_spec_load("load:", cases[i][0], 4, &load, message),
		    GK_ERR_INVALID);
		assert_string_equal(message, cases[i][1]);
	}
}

/* Without mem=, a load takes its share of 1000 MiB; contexts take 100. */
static void a_load_takes_a_share_of_its_gpu(void **state)
{
	static const struct {
		const char *spec;
		uint64_t bytes;
	} cases[] = {
	    {"train", 600 * (uint64_t)MIB},
	    {"train,n=2", 300 * (uint64_t)MIB},
	    {"train,n=6", 100 * (uint64_t)MIB},
	    {"train,n=7", 100 * (uint64_t)MIB},
	    {"infer", 300 * (uint64_t)MIB},
	    {"infer,n=2", 150 * (uint64_t)MIB},
	    {"infer,n=4", 100 * (uint64_t)MIB},
	    {"idle", 100 * (uint64_t)MIB},
	    {"idle,n=2", 100 * (uint64_t)MIB},
	    {"train,mem=1", 1},
	    {"idle,mem=2GiB", 2 * (uint64_t)GIB},
	};
	const struct gkf_profile profile = {.context_mib = 100};
	char message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec load;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
		    gkf_spec_load("--load", cases[i].spec, 1, &load, message),
		    0);
		assert_int_equal(gkf_spec_bytes(&load, 1000, &profile),
				 cases[i].bytes);
	}
}

static void a_wave_does_what_its_load_says(void **state)
{
	char message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec load;
	struct gkf_wave wave;

	(void)state;
	assert_int_equal(gkf_spec_load("--load",
				       "infer,util=1,membw=2,enc=3,dec=4,"
				       "jpg=5,ofa=6,period=7s",
				       1, &load, message),
			 0);
	wave = gkf_spec_wave(&load, 99);
	assert_int_equal(wave.kind, GKF_WAVE_INFER);
	assert_int_equal(wave.util_permille, 10);
	assert_int_equal(wave.mem_permille, 20);
	assert_int_equal(wave.encoder_permille, 30);
	assert_int_equal(wave.decoder_permille, 40);
	assert_int_equal(wave.jpeg_permille, 50);
	assert_int_equal(wave.ofa_permille, 60);
	assert_int_equal(wave.seed, 99);
	assert_int_equal(wave.period_ns, 7000000000);
	assert_int_equal(wave.load, 0);
	assert_int_equal(wave.start_bin, 0);
	assert_int_equal(wave.stop_bin, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gpus_are_models_with_counts),
	    cmocka_unit_test(a_machine_has_up_to_64_gpus),
	    cmocka_unit_test(
		a_model_that_is_not_there_is_told_with_those_that_are),
	    cmocka_unit_test(lists_of_gpus_are_masks),
	    cmocka_unit_test(loads_are_what_they_are_called),
	    cmocka_unit_test(settings_have_their_ranges),
	    cmocka_unit_test(what_is_no_load_is_told),
	    cmocka_unit_test(a_load_takes_a_share_of_its_gpu),
	    cmocka_unit_test(a_wave_does_what_its_load_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
