/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - rules that make single functions of NVML fail. */
#ifndef GKF_RULE_H
#define GKF_RULE_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/* A requested rule; see struct gkf_rule. */
struct gkf_rule_spec {
	uint64_t gpus;
	unsigned function;
	int answer;
	uint64_t after, times, seed;
	unsigned per_million;
};

/* Adds a rule; replaces a rule for the same function and GPUs. */
int gkf_rule_add(struct gkf_machine *m, const struct gkf_rule_spec *spec);

/*
 * Removes GPUs from the rules of a function (-1: of all functions); a rule
 * without any GPU is removed.
 */
int gkf_rules_drop(struct gkf_machine *m, int function, uint64_t gpus);

/* The rule at index, below GKF_RULES_MAX; false: there is none. */
bool gkf_rule_read(struct gkf_machine *m, unsigned index,
		   struct gkf_rule_spec *ret_spec, uint64_t *ret_calls,
		   uint64_t *ret_failed);

/*
 * Whether a call fails. Counts the call in every rule that matches. device: the
 * device that the call is about, or -1. *ret_answer: the answer of the first
 * rule that makes the call fail.
 */
GKF_API bool gkf_rule_applies(struct gkf_machine *m, unsigned function,
			      int device, int *ret_answer);

/* Whether a rule would make a call fail now; counts nothing. */
GKF_API bool gkf_rule_holds(struct gkf_machine *m, unsigned function,
			    int device, int *ret_answer);

#endif
