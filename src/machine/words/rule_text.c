/* SPDX-License-Identifier: Apache-2.0 */
/* rule_text.c - owns the table of the return codes that rules can give. */
#include "machine/words/rule_text.h"
#include "abi/nvml/nvml_abi.h"
#include "machine/file/fault_state.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	int value;
} answers[] = {
#define NVML_RETURN(name, value, text) {#name, value},
#include "abi/nvml/nvml_return.def"
#undef NVML_RETURN
    {"hang", GKF_RULE_HANGS},
};
#define ANSWERS (sizeof answers / sizeof *answers)

static bool is_name_of(const char *text, const char *name)
{
	static const char prefix[] = "NVML_ERROR_";
	size_t len = sizeof prefix - 1;

	return !strcmp(name, text) ||
	       (!strncmp(name, prefix, len) && !strcmp(name + len, text));
}

bool gkf_rule_answer(const char *text, int *ret_answer)
{
	for (size_t i = 0; i < ANSWERS; i++) {
		if (!answers[i].value || !is_name_of(text, answers[i].name))
			continue;
		*ret_answer = answers[i].value;
		return true;
	}
	return false;
}

const char *gkf_rule_answer_name(int answer)
{
	for (size_t i = 0; i < ANSWERS; i++)
		if (answers[i].value == answer)
			return answers[i].name;
	return "?";
}
