/*
 * rule_text.h - the answers that rules give, by their names: return codes of
 * NVML, and "hang".
 */
#ifndef GKF_RULE_TEXT_H
#define GKF_RULE_TEXT_H

#include <stdbool.h>

/*
 * The answer of a name; the NVML_ERROR_ before it may be left out. False: it is
 * none, as NVML_SUCCESS, which is no failure.
 */
bool gkf_rule_answer(const char *text, int *ret_answer);

/* The name of an answer: "NVML_ERROR_UNKNOWN", "hang"; "?": unknown. */
const char *gkf_rule_answer_name(int answer);

#endif
