/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.h - matches an instruction's modifiers with a pattern of op.def.
 *
 * A pattern lists modifiers in order, separated by spaces. Each is a set of
 * names joined by "|", a class of modifiers.def such as "$round", or "$type"
 * for any type. A trailing "?" makes it optional; a trailing "*" lets it occur
 * any number of times.
 */
#ifndef GKF_PTX_MATCH_H
#define GKF_PTX_MATCH_H

#include <stdbool.h>
#include <stdint.h>

enum gkf_round {
	GKF_ROUND_NEAREST,
	GKF_ROUND_ZERO,
	GKF_ROUND_DOWN,
	GKF_ROUND_UP,
};
enum gkf_bool { GKF_BOOL_NONE, GKF_BOOL_AND, GKF_BOOL_OR, GKF_BOOL_XOR };

/* The modifiers' values, by the class that matched them; 0 if none did. */
struct gkf_modifiers {
	uint8_t round, integral, space, bool_, vector, sem, scope, hint;
	uint8_t has_round, has_integral;
	uint8_t type[3]; /* enum gkf_ptx_type, one for each $type */
	uint8_t types;
};

/*
 * Sorts modifiers into the order that patterns have; NVIDIA's assembler accepts
 * most of them in any order. The sort is stable. Returns false if the text is
 * too long.
 */
#define GKF_MODIFIERS_MAX 160
bool gkf_match_order(const char *modifiers, char ret[GKF_MODIFIERS_MAX]);

/*
 * Whether an instruction's modifiers, such as ".rn.f32" of "add.rn.f32", match
 * the pattern.
 */
bool gkf_match(const char *pattern, const char *modifiers,
	       struct gkf_modifiers *ret);

#endif
