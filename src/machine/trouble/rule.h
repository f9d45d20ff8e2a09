/* rule.h - rules by which single functions of NVML fail. */
#ifndef GKF_RULE_H
#define GKF_RULE_H

#include "base/export.h"

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/* A rule as somebody asks for it; see struct gkf_rule. */
struct gkf_rule_spec {
	uint64_t gpus;
	unsigned function;
	int answer;
	uint64_t after, times, seed;
	unsigned per_million;
};

/* Takes the place of a rule for the same function and GPUs. */
int gkf_rule_add(struct gkf_machine *m, const struct gkf_rule_spec *spec);

/*
 * Takes these GPUs out of the rules of a function (-1: of all); a rule that is
 * about no GPU any more is gone.
 */
int gkf_rules_drop(struct gkf_machine *m, int function, uint64_t gpus);

/* The rule at place index, below GKF_RULES_MAX; false: there is none. */
bool gkf_rule_read(struct gkf_machine *m, unsigned index,
		   struct gkf_rule_spec *ret_spec, uint64_t *ret_calls,
		   uint64_t *ret_failed);

/*
 * Whether this call fails: counts it with every rule that it meets.
 * device: of the call, or -1. ret_answer: of the first rule that says so.
 */
GKF_API bool gkf_rule_applies(struct gkf_machine *m, unsigned function,
			      int device, int *ret_answer);

/* Tells what a rule says to such a call now; nothing is counted. */
GKF_API bool gkf_rule_holds(struct gkf_machine *m, unsigned function,
			    int device, int *ret_answer);

#endif
