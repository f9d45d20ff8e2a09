/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.c - parses the subcommands that call the driver directly. */
#include "cli/smi/direct.h"
#include "cli/smi/names.h"
#include "cli/smi/tell.h"

#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

/* `none` in verbs.def stands for offset 0, that is, for no member. */
_Static_assert(offsetof(struct smi, none) == 0, "no member is at 0");

#define END_OF_OPTIONS                                                         \
	{                                                                      \
		0                                                              \
	}                                                                      \
	}                                                                      \
	;

#define OPTIONS_OF(name)                                                       \
	static const struct smi_verb_option name##_options[] = {
#define OPTION(brief, full, kind, member, run, ...)                            \
	{brief, full, SMI_##kind, offsetof(struct smi, member), run},
#include "cli/smi/verbs.def"
#undef OPTIONS_OF
#undef OPTION

#define OPTIONS_OF(name) const struct gk_option_line smi_##name##_lines[] = {
#define OPTION(brief, full, kind, member, run, arg, help)                      \
	{brief ", " full arg, help},
#include "cli/smi/verbs.def"
#undef OPTIONS_OF
#undef OPTION

const struct smi_verb smi_verbs[] = {
    {"mig", mig_options, smi_mig_lines, NULL},
    {"nvlink", nvlink_options, smi_nvlink_lines, NULL},
    {"drain", drain_options, smi_drain_lines, NULL},
    {"conf-compute", cc_options, smi_cc_lines, NULL},
    {"encodersessions", session_options, smi_session_lines,
     smi_encoder_sessions},
    {"fbcsessions", session_options, smi_session_lines, smi_fbc_sessions},
    {0},
};

/* ---- parsing ---- */

static const struct smi_verb_option *
find_option(const struct smi_verb *verb, const char *word, const char **ret_arg)
{
	for (const struct smi_verb_option *o = verb->options; o->full; o++)
		if (smi_is_option(word, o->brief, ret_arg) ||
		    smi_is_option(word, o->full, ret_arg))
			return o;
	return NULL;
}

/* Stores the value of an option, and chooses its function if it has one. */
static int apply_option(struct smi *smi, const struct smi_verb_option *option,
			const char *arg)
{
	char *member = (char *)smi + option->member;

	if (option->run && smi->direct)
		return smi_refuse_arguments();
	if (option->run)
		smi->direct = option->run;
	if (option->kind == SMI_SETS)
		*(bool *)member = true;
	else if (option->member)
		memcpy(member, &arg, sizeof arg);
	return 0;
}

/* Whether the next word belongs to the option, as its argument. */
static bool takes_next(const struct smi_verb_option *option, const char *next)
{
	if (option->kind == SMI_TAKES)
		return next;
	return option->kind == SMI_MAY && next && *next != '-';
}

/* Whether a word in a list of profiles is too long. */
static bool is_odd_list(const char *list)
{
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len >= SMI_PROFILE_WORD)
			return true;
	}
	return false;
}

/*
 * Whether options are invalid: a list that must consist of numbers contains
 * something else, or an option does not apply to the chosen action.
 */
static bool is_odd(const struct smi *smi)
{
	const char *const lists[] = {smi->gis, smi->cis, smi->link};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (lists[i] && !smi_is_numbers(lists[i]))
			return true;
	return (smi->profiles &&
		(!*smi->profiles || is_odd_list(smi->profiles))) ||
	       (smi->with_cis && smi->direct != smi_mig_create_gis) ||
	       (smi->cis && smi->direct != smi_mig_destroy_cis);
}

int smi_parse_verb(struct smi *smi, const struct smi_verb *verb, char **words)
{
	int status = 0;

	for (; !status && *words; words++) {
		const char *word = *words, *arg = NULL;
		const struct smi_verb_option *option =
		    find_option(verb, word, &arg);

		if (!option || (arg && option->kind <= SMI_SETS))
			return smi_refuse_unknown(word);
		if (!arg && takes_next(option, words[1]))
			arg = *++words;
		if (!arg && option->kind == SMI_TAKES)
			return smi_refuse_missing(word);
		status = apply_option(smi, option, arg);
	}
	smi->mode = SMI_DIRECT;
	if (!smi->direct)
		smi->direct = verb->run;
	if (!status && (!smi->direct || is_odd(smi)))
		return smi_refuse_arguments();
	return status;
}
