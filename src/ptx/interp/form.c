/* SPDX-License-Identifier: Apache-2.0 */
/* form.c - owns the tables of executed forms, and searches them. */
#include "ptx/interp/op.h"

#include <string.h>

/* A type's letter in signatures; see struct gkf_form_text. */
#define L_u16 "h"
#define L_s16 "h"
#define L_u32 "w"
#define L_s32 "w"
#define L_u64 "l"
#define L_s64 "l"
#define L_f32 "f"
#define L_f64 "d"

#define ATOMIC "$sem? $scope? $space? $hint* "
#define OP1(id, opcode, pattern, D, A, value)                                  \
	ROW(id, opcode, pattern, L_##D "=" L_##A)
#define OP2(id, opcode, pattern, D, A, B, value)                               \
	ROW(id, opcode, pattern, L_##D "=" L_##A L_##B)
#define OP3(id, opcode, pattern, D, A, B, C, value)                            \
	ROW(id, opcode, pattern, L_##D "=" L_##A L_##B L_##C)
#define OP4(id, opcode, pattern, R, A, B, C, D, value)                         \
	ROW(id, opcode, pattern, L_##R "=" L_##A L_##B L_##C L_##D)
#define OP2P(id, opcode, pattern, T, value)                                    \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T "p")
#define FUSE(id, opcode, pattern) ROW(id, opcode, pattern, "f=fff")
#define ROUND1(id, opcode, pattern, T, value)                                  \
	ROW(id, opcode, pattern, L_##T "=" L_##T)
#define ROUND2(id, opcode, pattern, T, value)                                  \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T)
#define ROUND3(id, opcode, pattern, T, value)                                  \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T L_##T)
#define CARRY2(id, opcode, pattern, T, W, writes, sum)                         \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T)
#define CARRY3(id, opcode, pattern, T, W, writes, sum)                         \
	ROW(id, opcode, pattern, L_##T "=" L_##T L_##T L_##T)
#define PREDICATES(opcode, value) ROW(opcode##_pred, opcode, "pred", "p=pp")
#define ROW(id, opcode, pattern, signature)                                    \
	FORM(#opcode, pattern, signature, gkf_op_##id, gkf_decode_signature)
#define TEST(id, pattern, T, test)                                             \
	FORM("setp", pattern, L_##T L_##T, gkf_op_setp_##id, gkf_decode_test)
#define ATOM(id, name, types, T, value)                                        \
	FORM("atom", ATOMIC name " " types, L_##T, gkf_op_atom_##id,           \
	     gkf_decode_atom)                                                  \
	FORM("red", ATOMIC name " " types, L_##T, gkf_op_atom_##id,            \
	     gkf_decode_red)
#define HAND(opcode, pattern, decode, run)                                     \
	FORM(#opcode, pattern, "", run, decode)

#define FORM(opcode, pattern, signature, run, decode) {run, decode},
static const struct gkf_form forms[] = {
#include "ptx/op.def"
};
#undef FORM
#define FORM(opcode, pattern, signature, run, decode)                          \
	{opcode, signature, pattern},
static const struct gkf_form_text texts[] = {
#include "ptx/op.def"
};

static const struct gkf_form *find_form(const char *opcode, size_t length,
					const char *modifiers,
					const struct gkf_form_text **ret_text,
					struct gkf_modifiers *ret_modifiers)
{
	for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct gkf_form_text *text = &texts[i];

		if (strlen(text->opcode) != length ||
		    memcmp(text->opcode, opcode, length) != 0 ||
		    !gkf_match(text->pattern, modifiers, ret_modifiers))
			continue;
		*ret_text = text;
		return &forms[i];
	}
	return NULL;
}

const struct gkf_form *gkf_form_find(const char *name,
				     const struct gkf_form_text **ret_text,
				     struct gkf_modifiers *ret_modifiers)
{
	size_t length = strcspn(name + 1, ".") + 1;
	const struct gkf_form *f =
	    find_form(name, length, name + length, ret_text, ret_modifiers);
	char ordered[GKF_MODIFIERS_MAX];

	if (!f && gkf_match_order(name + length, ordered))
		f = find_form(name, length, ordered, ret_text, ret_modifiers);
	return f;
}
