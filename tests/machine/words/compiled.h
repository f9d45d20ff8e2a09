/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compiled.h - compiles scenarios given as text and prints a line for each step
 * and load, so that a test can state the whole result of a file.
 */
#ifndef TESTS_WORDS_COMPILED_H
#define TESTS_WORDS_COMPILED_H

#include "machine/file/scenario_state.h"
#include "machine/words/scenario_load.h"
#include "unit.h"

#include "base/err.h"
#include "base/str.h"
#include "machine/file/fault_state.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/trouble/fault.h"
#include "machine/words/scenario_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROFILES TEST_DATA "/../../profiles"

/* Most of the texts begin with these four lines. GPU 0 can be split. */
#define HEAD                                                                   \
	"description: d\n"                                                     \
	"gpus: h100:1,t4:1\n"                                                  \
	"duration: 60s\n"
#define STEPS HEAD "steps:\n"

#define MESSAGE_MAX 4096

/*
 * Compiles a text. On failure the message is ":LINE: ...", without the name of
 * the file, and the result is untouched.
 */
static inline int compile_with(const char *yaml,
			       const struct gkf_scenario_options *options,
			       struct gkf_scenario *ret, char *message)
{
	int fd = memfd_create("scenario", MFD_CLOEXEC), err;
	size_t len = strlen(yaml);
	struct gkf_scenario before;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, yaml, len), (ssize_t)len);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	memset(ret, 0x5a, sizeof *ret);
	before = *ret;
	*message = '\0';
	err = gkf_scenario_compile(path, options, ret, message, MESSAGE_MAX);
	close(fd);
	if (!err) {
		assert_string_equal(message, "");
		return 0;
	}
	assert_memory_equal(ret, &before, sizeof before);
	assert_int_equal(strncmp(message, path, strlen(path)), 0);
	memmove(message, message + strlen(path),
		strlen(message + strlen(path)) + 1);
	return err;
}

static inline void compile(const char *yaml, struct gkf_scenario *ret)
{
	static const struct gkf_scenario_options options = {.profiles =
								PROFILES};
	char message[MESSAGE_MAX];

	if (compile_with(yaml, &options, ret, message))
		fail_msg("%s\n%s", message, yaml);
}

static inline const char *number_name(const struct gkf_step *step, char *text,
				      size_t cap)
{
	switch (step->kind) {
	case GKF_STEP_SET:
		return gkf_values[step->number].name;
	case GKF_STEP_FAULT:
		return gkf_faults[step->number].name;
	case GKF_STEP_MACHINE_FAULT:
		return gkf_machine_faults[step->number].name;
	case GKF_STEP_RULE:
	case GKF_STEP_RULE_DROP:
		if (gkf_rule_function(step->number))
			return gkf_rule_function(step->number);
		break;
	default:
		break;
	}
	snprintf(text, cap, "%d", (int)step->number);
	return text;
}

/* "LINE: BIN KIND gGPU NUMBER ARGUMENT TEXT": g-1 is none. */
static inline void print_step(const struct gkf_scenario *s, unsigned i,
			      struct gk_buf *out)
{
	static const char *const kinds[GKF_STEP_KINDS] = {
	    "note",     "set",        "fault",       "mend",  "xid",
	    "ecc",      "reset",      "machine",     "rule",  "rule-drop",
	    "mig-mode", "mig-create", "mig-destroy", "place", "memory"};
	const struct gkf_step *step = &s->steps[i];
	char number[16];

	gk_buf_printf(out, "%u: %llu %s g%d %s ", s->lines[i],
		      (unsigned long long)step->bin, kinds[step->kind],
		      (int)step->device,
		      number_name(step, number, sizeof number));
	if (step->argument == GKF_UNSET)
		gk_buf_puts(out, "unset");
	else
		gk_buf_printf(out, "%lld", (long long)step->argument);
	if (step->kind == GKF_STEP_NOTE || step->kind == GKF_STEP_RULE ||
	    step->kind == GKF_STEP_RULE_DROP ||
	    step->kind == GKF_STEP_MIG_CREATE)
		gk_buf_printf(out, " %s", s->texts.data + step->text);
	gk_buf_puts(out, "\n");
}

/* "LINE: NAME gGPU mMIG BYTES MOST NUMBER START-STOP": m-1, STOP -1: none. */
static inline void print_load(const struct gkf_scenario_load *l,
			      struct gk_buf *out)
{
	gk_buf_printf(out, "%u: %s g%u m%d %llu %llu %u %llu-%lld\n", l->line,
		      l->name, l->device, (int)l->mig,
		      (unsigned long long)l->bytes, (unsigned long long)l->most,
		      l->wave.load, (unsigned long long)l->wave.start_bin,
		      l->wave.stop_bin == GKF_SCENARIO_FOREVER
			  ? -1LL
			  : (long long)l->wave.stop_bin);
}

/* The result of a text: its loads, then its steps. */
struct becomes {
	const char *yaml, *lines;
};

static inline void expect_all(const struct becomes *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gk_buf out = {0};
		struct gkf_scenario s;

		compile(cases[i].yaml, &s);
		for (unsigned k = 0; k < s.load_count; k++)
			print_load(&s.loads[k], &out);
		for (unsigned k = 0; k < s.step_count; k++)
			print_step(&s, k, &out);
		if (strcmp(out.data ? out.data : "", cases[i].lines))
			fail_msg("%s\nbecame\n%s\nnot\n%s", cases[i].yaml,
				 out.data ? out.data : "", cases[i].lines);
		gk_buf_free(&out);
		gkf_scenario_free(&s);
	}
}

/* The whole message about a wrong text: ":LINE: ...". */
struct refused {
	const char *yaml, *message;
};

static inline void expect_refused(const struct refused *cases, size_t count)
{
	static const struct gkf_scenario_options options = {.profiles =
								PROFILES};
	char message[MESSAGE_MAX];
	struct gkf_scenario s;

	for (size_t i = 0; i < count; i++) {
		int err = compile_with(cases[i].yaml, &options, &s, message);

		if (!err)
			fail_msg("not refused:\n%s", cases[i].yaml);
		if (strcmp(message, cases[i].message))
			fail_msg("%s\nis refused by\n%s\nnot by\n%s",
				 cases[i].yaml, message, cases[i].message);
		assert_int_equal(err, GK_ERR_INVALID);
	}
}

#endif
