/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c - runs an option that changes GPUs, and reports the result for each
 * GPU.
 */
#include "cli/smi/set.h"
#include "base/array.h"
#include "cli/smi/direct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

enum setter {
#define SETTER(id, ...) SET_##id,
#define LONG_SETTER     SETTER
#include "cli/smi/setters.def"
#undef SETTER
#undef LONG_SETTER
	SET_ANY_SETTER,
};

enum { REBOOTS = 1, FORGETS = 2 };

const struct smi_setter smi_setters[] = {
#define SETTER(id, brief, full, kind, choices, now, set, ...)                  \
	{brief, full, SMI_##kind, choices, now, set, __VA_ARGS__},
#define LONG_SETTER(id, full, ...) SETTER(id, NULL, full, __VA_ARGS__)
#include "cli/smi/setters.def"
#undef SETTER
#undef LONG_SETTER
    {0},
};

/*
 * The outcomes of an attempt. UNMATCHED and those after it are warnings; DENIED
 * and those after it are failures.
 */
enum outcome {
	DONE,
	ALREADY,
	BUSY,      /* done, but in effect only when all processes have ended */
	PENDING,   /* done, but in effect only after a reset */
	UNMATCHED, /* there is no such combination of values */
	UNSUPPORTED,
	DENIED,
	INVALID,
	FAILED,
	OUTCOMES,
};

enum { ANY = -1 };

static const struct saying {
	enum setter setter;
	enum outcome outcome;
	int value; /* value that was set, or ANY */
	unsigned since;
	const char *text;
} sayings[] = {
#define SAY(id, ...) {SET_##id, __VA_ARGS__},
#include "cli/smi/set_words.def"
#undef SAY
};

/*
 * Returns the text of the last row that matches. Rows of ANY_SETTER come first
 * in the table, so that other rows override them.
 */
static const char *find_text(enum setter setter, enum outcome outcome,
			     unsigned value, unsigned major)
{
	const char *text = "";

	for (size_t i = 0; i < COUNT(sayings); i++) {
		const struct saying *s = &sayings[i];

		if ((s->setter == setter || s->setter == SET_ANY_SETTER) &&
		    s->outcome == outcome && s->since <= major &&
		    (s->value == ANY || (unsigned)s->value == value))
			text = s->text;
	}
	return text;
}

/* ---- arguments ---- */

/* Returns the number of a word in a list, or -1. */
static int find_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (int i = 0; *list;) {
		size_t n = strcspn(list, ",/");

		if (n == len && !strncasecmp(list, word, n))
			return i;
		i += list[n] == ',';
		list += n + (list[n] != '\0');
	}
	return -1;
}

static bool copy_word(const char *list, int number, char ret_word[SMI_SET_WORD])
{
	for (; number > 0 && *list; number--)
		list += strcspn(list, ",") + (strchr(list, ',') != NULL);
	snprintf(ret_word, SMI_SET_WORD, "%.*s", (int)strcspn(list, ",/"),
		 list);
	return *ret_word;
}

static bool parse_unsigned(const char *text, unsigned *ret_value)
{
	uint64_t v;

	if (!smi_parse_number(text, UINT32_MAX, &v))
		return false;
	*ret_value = (unsigned)v;
	return true;
}

static bool parse_choice(const char *list, const char *arg,
			 struct smi_setting *s)
{
	int found = find_word(list, arg);

	if (found >= 0)
		s->a = (unsigned)found;
	else if (!parse_unsigned(arg, &s->a) || s->a > 15)
		return false;
	return copy_word(list, (int)s->a, s->word[0]);
}

static bool parse_number(const char *arg, struct smi_setting *s)
{
	if (!parse_unsigned(arg, &s->a))
		return false;
	snprintf(s->word[0], sizeof s->word[0], "%u", s->a);
	return true;
}

static bool parse_text(const char *arg, struct smi_setting *s)
{
	return *arg && snprintf(s->word[0], sizeof s->word[0], "%s", arg) <
			   SMI_SET_WORD;
}

/*
 * Parses a clock: a number or, if `words` is set, one of the words for which
 * NVML has special numbers.
 */
static bool parse_clock(const char *text, bool words, unsigned *ret_mhz)
{
	if (words && !strcasecmp(text, "tdp"))
		*ret_mhz = NVML_CLOCK_LIMIT_ID_TDP;
	else if (words && !strcasecmp(text, "unlimited"))
		*ret_mhz = NVML_CLOCK_LIMIT_ID_UNLIMITED;
	else
		return parse_unsigned(text, ret_mhz);
	return true;
}

/* Parses "A,B". If `one` is set, "A" alone means "A,A". */
static bool parse_clocks(const char *arg, bool one, struct smi_setting *s)
{
	const char *comma = strchr(arg, ',');
	size_t len = comma ? (size_t)(comma - arg) : strlen(arg);

	if ((!comma && !one) || strlen(arg) >= sizeof s->word[0])
		return false;
	snprintf(s->word[0], sizeof s->word[0], "%.*s", (int)len, arg);
	snprintf(s->word[1], sizeof s->word[1], "%s", comma ? comma + 1 : arg);
	return parse_clock(s->word[0], one, &s->a) &&
	       parse_clock(s->word[1], one, &s->b);
}

static bool parse_watts(const char *arg, struct smi_setting *s)
{
	size_t whole = strspn(arg, "0123456789");
	size_t rest =
	    arg[whole] == '.' ? strspn(arg + whole + 1, "0123456789") : 0;
	double watts = strtod(arg, NULL);

	/* strtod() would also accept 0x12c, 3e2 and "inf". */
	if (!(whole + rest) || arg[whole + rest + (arg[whole] == '.')] ||
	    watts >= 1e6)
		return false;
	s->a = (unsigned)(watts * 1000 + 0.5);
	snprintf(s->word[0], sizeof s->word[0], "%.2f", watts);
	return true;
}

bool smi_parse_setting(const struct smi_setter *setter, const char *arg,
		       struct smi_setting *ret_setting)
{
	switch (setter->kind) {
	case SMI_CHOICE:
		return parse_choice(setter->choices, arg, ret_setting);
	case SMI_NUMBER:
		return parse_number(arg, ret_setting);
	case SMI_TEXT:
		return parse_text(arg, ret_setting);
	case SMI_WATTS:
		return parse_watts(arg, ret_setting);
	case SMI_PAIR:
		return parse_clocks(arg, false, ret_setting);
	case SMI_CLOCKS:
		return parse_clocks(arg, true, ret_setting);
	case SMI_NOTHING:
		return !arg;
	}
	return false;
}

/* ---- one GPU ---- */

/* All other return codes mean FAILED. */
static const struct {
	nvmlReturn_t answer;
	enum outcome outcome;
} outcomes[] = {
    {NVML_SUCCESS, DONE},
    {NVML_ERROR_NOT_SUPPORTED, UNSUPPORTED},
    {NVML_ERROR_DEPRECATED, UNSUPPORTED},
    {NVML_ERROR_FUNCTION_NOT_FOUND, UNSUPPORTED},
    {NVML_ERROR_NO_PERMISSION, DENIED},
    {NVML_ERROR_INVALID_ARGUMENT, INVALID},
    {NVML_ERROR_FREQ_NOT_SUPPORTED, UNMATCHED},
};

static enum outcome outcome_of(nvmlReturn_t answer, nvmlReturn_t pending)
{
	if (!answer && pending)
		return pending == NVML_ERROR_IN_USE ? BUSY : PENDING;
	for (size_t i = 0; i < COUNT(outcomes); i++)
		if (outcomes[i].answer == answer)
			return outcomes[i].outcome;
	return FAILED;
}

struct attempt {
	const struct smi_gpus *gpus;
	const struct smi_setter *setter;
	struct smi_setting setting;
	nvmlReturn_t answer;
	enum outcome outcome;
};

static void try_setting(struct attempt *a, const struct smi_gpu *gpu)
{
	unsigned now;

	a->answer = NVML_SUCCESS;
	if (a->setter->now && !a->setter->now(a->gpus, gpu, &now) &&
	    now == a->setting.a) {
		a->outcome = ALREADY;
		return;
	}
	a->answer = a->setter->set(a->gpus, gpu, &a->setting);
	a->outcome = outcome_of(a->answer, a->setting.pending);
}

/*
 * Returns the text for an error. If the driver lacks the function, it is "Not
 * Supported", too.
 */
static const char *error_word(const struct attempt *a)
{
	nvmlReturn_t why = a->setting.pending ? a->setting.pending : a->answer;

	return smi_error_text(a->gpus, a->outcome == UNSUPPORTED
					   ? NVML_ERROR_NOT_SUPPORTED
					   : why);
}

static void say(const struct attempt *a, const struct smi_gpu *gpu)
{
	const char *text = find_text((enum setter)(a->setter - smi_setters),
				     a->outcome, a->setting.a, a->gpus->major);

	for (; *text; text++) {
		if (*text != '%') {
			putchar(*text);
			continue;
		}
		text++;
		if (*text == 'g')
			fputs(gpu->bus_id, stdout);
		else if (*text == 'e')
			fputs(error_word(a), stdout);
		else if (*text == 'n')
			fputs(a->setter->name, stdout);
		else
			fputs(a->setting.word[*text - '1'], stdout);
	}
}

/* ---- changing all GPUs ---- */

static bool is_persistent(const struct smi_gpus *gpus,
			  const struct smi_gpu *gpu)
{
	unsigned on = 0;

	return !smi_get_persistence(gpus, gpu, &on) && on;
}

static void warn_forgotten(const struct smi_gpu *gpu)
{
	printf("\nWarning: persistence mode is disabled on device %s. See the "
	       "Known Issues section of the nvidia-smi(1) man page for more "
	       "information. Run with [--help | -h] switch to get more "
	       "information on how to enable persistence mode.\n",
	       gpu->bus_id);
}

static int warning_status(const struct smi *smi, nvmlReturn_t answer)
{
	puts("Treating as warning and moving on.");
	return smi->eow ? smi_status_of(answer) : SMI_OK;
}

/* Which changes were made, for the lines printed at the end. */
struct changes {
	bool any;
	bool *forgotten; /* indexed by position among the chosen GPUs: the
			  * driver will forget the change */
};

static int set_each(const struct smi *smi, struct attempt *a,
		    struct changes *changes)
{
	int status = SMI_OK;

	for (size_t i = 0; i < a->gpus->count; i++) {
		const struct smi_gpu *gpu = &a->gpus->at[i];

		a->setting = smi->setting;
		try_setting(a, gpu);
		say(a, gpu);
		if (a->outcome >= DENIED)
			return smi_terminate(smi_status_of(a->answer));
		if (a->outcome >= UNMATCHED)
			status =
			    warning_status(smi, a->outcome == UNSUPPORTED
						    ? NVML_ERROR_NOT_SUPPORTED
						    : a->answer);
		changes->any |= a->outcome == DONE;
		changes->forgotten[i] = a->outcome == DONE &&
					a->setter->flags & FORGETS &&
					!is_persistent(a->gpus, gpu);
	}
	for (size_t i = 0; i < a->gpus->count; i++)
		if (changes->forgotten[i])
			warn_forgotten(&a->gpus->at[i]);
	smi_all_done();
	if (changes->any && a->setter->flags & REBOOTS)
		puts("Reboot required.");
	return status;
}

static int set_gpus(const struct smi *smi, const struct smi_gpus *gpus,
		    const void *arg)
{
	struct attempt a = {.gpus = gpus, .setter = smi->setter};
	struct changes changes = {.forgotten =
				      calloc(gpus->count, sizeof(bool))};
	int status =
	    changes.forgotten ? set_each(smi, &a, &changes) : SMI_FAILED;

	(void)arg;
	free(changes.forgotten);
	return status;
}

int smi_set(const struct smi *smi)
{
	return smi_with_gpus(smi, set_gpus, NULL);
}
