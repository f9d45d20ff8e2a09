/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_text.h - names of the answers of rules: NVML's return codes, and "hang".
 */
#ifndef GKF_RULE_TEXT_H
#define GKF_RULE_TEXT_H

#include <stdbool.h>

/*
 * Finds the answer for a name; the prefix NVML_ERROR_ may be omitted. False:
 * there is none, also for NVML_SUCCESS, which is no failure.
 */
bool gkf_rule_answer(const char *text, int *ret_answer);

/* The name of an answer: "NVML_ERROR_UNKNOWN", "hang"; "?": unknown. */
const char *gkf_rule_answer_name(int answer);

#endif
