/*
 * match.h - which form of the table (op.def) an instruction is of.
 *
 * A pattern is the modifiers in order, between spaces: names joined by "|",
 * or a class of modifiers.def as "$round", or any "$type"; "?" behind one
 * makes it optional, "*" lets it stand any number of times.
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

/* The modifiers that the classes of a pattern took; 0 where none stood. */
struct gkf_modifiers {
	uint8_t round, integral, space, bool_, vector, sem, scope, hint;
	uint8_t has_round, has_integral;
	uint8_t type[3]; /* enum gkf_ptx_type, of each $type */
	uint8_t types;
};

/*
 * Modifiers in the order that patterns have them: the assembler takes most of
 * them in any. Of equal rank they stay as they are. False: too long.
 */
#define GKF_MODIFIERS_MAX 160
bool gkf_match_order(const char *modifiers, char ret[GKF_MODIFIERS_MAX]);

/* Does "add.rn.f32", without its first word, fit the pattern? */
bool gkf_match(const char *pattern, const char *modifiers,
	       struct gkf_modifiers *ret);

#endif
