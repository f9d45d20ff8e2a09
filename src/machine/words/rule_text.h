/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_text.h - names for what a rule makes a function return: NVML's error
 * codes, and "hang".
 */
#ifndef GKF_RULE_TEXT_H
#define GKF_RULE_TEXT_H

#include <stdbool.h>

/*
 * Finds the return code with a name, such as "NVML_ERROR_UNKNOWN" or "UNKNOWN";
 * GKF_RULE_HANGS for "hang". False: no error has this name.
 */
bool gkf_rule_answer(const char *text, int *ret_answer);

/*
 * The name of a return code: "NVML_ERROR_UNKNOWN"; "hang" for GKF_RULE_HANGS;
 * "?" if the code is unknown.
 */
const char *gkf_rule_answer_name(int answer);

#endif
