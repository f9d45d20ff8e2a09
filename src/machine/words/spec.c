/* SPDX-License-Identifier: Apache-2.0 */
/* spec.c - parses lists of GPUs and loads; see spec.h. */
#include "machine/words/spec.h"
#include "base/err.h"
#include "base/str.h"
#include "base/units.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/wave_state.h"
#include "machine/words/profile_yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int __attribute__((format(printf, 2, 3)))
wrong(char *message, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, GKF_SPEC_MESSAGE_MAX, format, args);
	va_end(args);
	return GK_ERR_INVALID;
}

/* Parses N of "MODEL[:N]" and cuts it off. */
static int parse_count(char *item, const char *key, unsigned *ret_count,
		       char *message)
{
	char *colon = strrchr(item, ':');
	int64_t n;

	*ret_count = 1;
	if (!colon)
		return 0;
	if (gk_parse_int(colon + 1, &n) || n < 1)
		return wrong(message,
			     "%s: '%s': the count must be 1 to %d, as in "
			     "h100:4; for no GPU at all: %s none",
			     key, item, GKF_DEVICES_MAX, key);
	*colon = '\0';
	*ret_count = n > GKF_DEVICES_MAX ? GKF_DEVICES_MAX + 1 : (unsigned)n;
	return 0;
}

static int add_gpu_model(char *item, const char *key, const char *dir,
			 struct gkf_profile *profiles, unsigned *count,
			 char *message)
{
	struct gkf_profile profile;
	unsigned n;
	int err = parse_count(item, key, &n, message);

	if (!err)
		err = gkf_profile_load(dir, item, &profile, message,
				       GKF_SPEC_MESSAGE_MAX);
	if (err)
		return err;
	if (*count + n > GKF_DEVICES_MAX)
		return wrong(message, "%s: a machine has at most %d GPUs", key,
			     GKF_DEVICES_MAX);
	while (n--)
		profiles[(*count)++] = profile;
	return 0;
}

int gkf_spec_gpus(const char *key, const char *dir, const char *text,
		  struct gkf_profile *ret_profiles, unsigned *ret_count,
		  char *ret_message)
{
	char *copy, *item, *rest;
	unsigned count = 0;
	int err = 0;

	if (!strcmp(text, "none")) {
		*ret_count = 0;
		return 0;
	}
	copy = rest = strdup(text);
	if (!copy)
		return wrong(ret_message, "out of memory");
	while (!err && (item = strsep(&rest, ",")))
		err = add_gpu_model(item, key, dir, ret_profiles, &count,
				    ret_message);
	free(copy);
	if (!err)
		*ret_count = count;
	return err;
}

/* Parses "3" or "0-3". */
static int parse_range(char *item, unsigned count, uint64_t *mask,
		       char *message)
{
	char *dash = strchr(item, '-');
	int64_t first, last;
	bool is_range;

	if (dash)
		*dash = '\0';
	is_range = !gk_parse_int(item, &first) &&
		   !gk_parse_int(dash ? dash + 1 : item, &last) &&
		   last >= first;
	if (dash)
		*dash = '-';
	if (!is_range)
		return wrong(message,
			     "'%s' is not a GPU; allowed are an index, a range "
			     "0-3, a list 0+2+5, or all",
			     item);
	if (last >= count)
		return wrong(message, "no GPU %lld; the machine has %u%s",
			     (long long)last, count,
			     count ? ", counted from 0" : "");
	for (int64_t i = first; i <= last; i++)
		*mask |= 1ULL << i;
	return 0;
}

int gkf_spec_list(const char *text, unsigned count, uint64_t *ret_mask,
		  char *ret_message)
{
	char *copy, *item, *rest;
	uint64_t mask = 0;
	int err = 0;

	if (!strcmp(text, "all")) {
		*ret_mask = count ? ~0ULL >> (64 - count) : 0;
		return 0;
	}
	copy = rest = strdup(text);
	if (!copy)
		return wrong(ret_message, "out of memory");
	while (!err && (item = strsep(&rest, "+,")))
		err = parse_range(item, count, &mask, ret_message);
	free(copy);
	if (!err)
		*ret_mask = mask;
	return err;
}

/* Parses the MIG devices of a GPU: "0:1" or "0:0-2". */
static int parse_mig(char *item, unsigned count, struct gkf_load_spec *load,
		     char *message)
{
	char *colon = strchr(item, ':');
	uint64_t gpus = 0, indices = 0;
	int err;

	*colon = '\0';
	err = parse_range(item, count, &gpus, message);
	if (!err)
		err = parse_range(colon + 1, GKF_MIG_MAX, &indices, message);
	if (err)
		return wrong(
		    message,
		    "'%s:%s' is not a MIG device; allowed are a GPU and an "
		    "index, as in 0:1, or a range of these, 0:0-2",
		    item, colon + 1);
	for (unsigned i = 0; i < count; i++)
		if (gpus >> i & 1)
			load->mig[i] |= (uint8_t)indices;
	return 0;
}

/* Parses whole GPUs as in gkf_spec_list(), and MIG devices. */
static int parse_places(char *text, unsigned count, struct gkf_load_spec *load,
			char *message)
{
	char *item, *rest = text;
	int err = 0;

	if (!strchr(text, ':'))
		return gkf_spec_list(text, count, &load->gpus, message);
	while (!err && (item = strsep(&rest, "+")))
		err = strchr(item, ':')
			  ? parse_mig(item, count, load, message)
			  : parse_range(item, count, &load->gpus, message);
	return err;
}

/* The kinds of load and their defaults. */
static const struct {
	const char *name;
	struct gkf_load_spec load;
} kinds[] = {
    {"train",
     {.kind = GKF_WAVE_TRAIN,
      .n = 1,
      .util = 95,
      .membw = 55,
      .period_ns = 30000000000}},
    {"infer",
     {.kind = GKF_WAVE_INFER,
      .n = 1,
      .util = 45,
      .membw = 35,
      .period_ns = 20000000000}},
    {"idle", {.kind = GKF_WAVE_IDLE, .n = 1}},
};

#define KIND_NAMES "train, infer, idle"

enum option_kind { SIZE, TIME, NUMBER };

static const struct option {
	const char *key;
	enum option_kind kind;
	size_t offset;
	int64_t min, max;
	bool when_idle; /* may be given for a process that does no work */
	const char *allowed;
} options[] = {
#define AT(member) offsetof(struct gkf_load_spec, member)
    {"mem", SIZE, AT(mem), 1, INT64_MAX, true,
     "a size such as 60GiB or 512MiB"},
    {"util", NUMBER, AT(util), 0, 100, false, "0 to 100 percent"},
    {"period", TIME, AT(period_ns), 1000000, INT64_MAX, false,
     "a time of at least 1ms, such as 30s"},
    {"n", NUMBER, AT(n), 1, 64, true, "1 to 64 processes per GPU"},
    {"membw", NUMBER, AT(membw), 0, 100, false, "0 to 100 percent"},
    {"enc", NUMBER, AT(enc), 0, 100, false, "0 to 100 percent"},
    {"dec", NUMBER, AT(dec), 0, 100, false, "0 to 100 percent"},
    {"jpg", NUMBER, AT(jpg), 0, 100, false, "0 to 100 percent"},
    {"ofa", NUMBER, AT(ofa), 0, 100, false, "0 to 100 percent"},
#undef AT
};

#define OPTION_NAMES "mem, util, period, n, membw, enc, dec, jpg, ofa"

static int parse_value(const struct option *option, const char *value,
		       struct gkf_load_spec *load)
{
	char *place = (char *)load + option->offset;
	uint64_t number = 0;
	int64_t integer;
	int err;

	if (option->kind == NUMBER) {
		err = gk_parse_int(value, &integer);
		if (!err && (integer < option->min || integer > option->max))
			err = GK_ERR_RANGE;
		if (!err)
			*(unsigned *)(void *)place = (unsigned)integer;
		return err;
	}
	err = option->kind == SIZE ? gk_parse_size(value, &number)
				   : gk_parse_duration(value, &number);
	if (!err && number < (uint64_t)option->min)
		err = GK_ERR_RANGE;
	if (!err)
		memcpy(place, &number, sizeof number);
	return err;
}

static int parse_option(char *item, struct gkf_load_spec *load, char *message)
{
	char *value = strchr(item, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (strcmp(options[i].key, item))
			continue;
		if (load->kind == GKF_WAVE_IDLE && !options[i].when_idle)
			return wrong(message,
				     "'%s' does not apply to an idle process; "
				     "allowed are mem, n",
				     item);
		if (!value || parse_value(&options[i], value, load))
			return wrong(message, "%s=%s: must be %s", item,
				     value ? value : "", options[i].allowed);
		return 0;
	}
	return wrong(message,
		     "'%s' is not a setting; allowed are " OPTION_NAMES, item);
}

static int parse_load_kind(const char *name, struct gkf_load_spec *load,
			   char *message)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		*load = kinds[i].load;
		return 0;
	}
	return wrong(message,
		     "'%s' is not a kind of load; allowed are " KIND_NAMES
		     ", as in train:0-3,mem=60GiB,util=90",
		     name);
}

static int parse_load(char *text, unsigned count, struct gkf_load_spec *load,
		      char *message)
{
	char *rest = text, *head = strsep(&rest, ","), *item;
	char *gpus = strchr(head, ':');
	int err;

	if (gpus)
		*gpus++ = '\0';
	err = parse_load_kind(head, load, message);
	if (!err)
		err = gpus ? parse_places(gpus, count, load, message)
			   : gkf_spec_list("all", count, &load->gpus, message);
	while (!err && (item = strsep(&rest, ",")))
		err = parse_option(item, load, message);
	return err;
}

int gkf_spec_load(const char *key, const char *spec, unsigned count,
		  struct gkf_load_spec *ret, char *ret_message)
{
	char *copy = strdup(spec), detail[GKF_SPEC_MESSAGE_MAX - 256];
	char message[GKF_SPEC_MESSAGE_MAX];
	struct gkf_load_spec load;
	int err;

	if (!copy)
		return wrong(ret_message, "out of memory");
	err = parse_load(copy, count, &load, message);
	free(copy);
	if (!err) {
		*ret = load;
		return 0;
	}
	gk_str_copy(detail, sizeof detail, message);
	snprintf(ret_message, GKF_SPEC_MESSAGE_MAX, "%s %.200s: %s", key, spec,
		 detail);
	return err;
}

/*
 * How much of the GPU's memory a load without mem= takes, divided among its n
 * processes.
 */
enum { TRAIN_PERCENT = 60, INFER_PERCENT = 30 };

uint64_t gkf_spec_bytes(const struct gkf_load_spec *load, uint64_t room_mib,
			const struct gkf_profile *profile)
{
	uint64_t context = (uint64_t)profile->context_mib;
	uint64_t mib = context;

	if (load->mem)
		return load->mem;
	if (load->kind == GKF_WAVE_TRAIN)
		mib = room_mib * TRAIN_PERCENT / 100 / load->n;
	else if (load->kind == GKF_WAVE_INFER)
		mib = room_mib * INFER_PERCENT / 100 / load->n;
	return (mib > context ? mib : context) * MIB;
}

struct gkf_wave gkf_spec_wave(const struct gkf_load_spec *load, uint32_t seed)
{
	return (struct gkf_wave){
	    .kind = load->kind,
	    .util_permille = load->util * 10,
	    .mem_permille = load->membw * 10,
	    .encoder_permille = load->enc * 10,
	    .decoder_permille = load->dec * 10,
	    .jpeg_permille = load->jpg * 10,
	    .ofa_permille = load->ofa * 10,
	    .seed = seed,
	    .gpus = (uint32_t)__builtin_popcountll(load->gpus),
	    .period_ns = load->period_ns,
	};
}
