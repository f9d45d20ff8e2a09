/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - matches modifiers with patterns, and sorts modifiers. */
#include "ptx/front/match.h"
#include "ptx/front/module.h"

#include <string.h>

/* A part of a string. */
struct piece {
	const char *at;
	size_t length;
};

static bool is_same_piece(struct piece p, const char *text)
{
	return strlen(text) == p.length && !memcmp(p.at, text, p.length);
}

static const struct {
	const char *class, *name;
	uint8_t value;
} modifiers[] = {
#define MODIFIER(class, name, value) {#class, #name, value},
#include "ptx/modifiers.def"
#undef MODIFIER
};

/*
 * Returns the member that stores the value of a class's modifier. No code reads
 * the members for sem, scope and hint.
 */
static uint8_t *place_of_class(struct gkf_modifiers *m, struct piece class)
{
	if (is_same_piece(class, "round"))
		return m->has_round = 1, &m->round;
	if (is_same_piece(class, "integral"))
		return m->has_integral = 1, &m->integral;
	if (is_same_piece(class, "space"))
		return &m->space;
	if (is_same_piece(class, "bool"))
		return &m->bool_;
	if (is_same_piece(class, "vector"))
		return &m->vector;
	return &m->hint;
}

static bool take_class(struct piece class, struct piece word,
		       struct gkf_modifiers *m)
{
	if (is_same_piece(class, "type")) {
		enum gkf_ptx_type type = gkf_ptx_type(word.at, word.length);

		if (type == GKF_PTX_TYPES || m->types == 3)
			return false;
		m->type[m->types++] = (uint8_t)type;
		return true;
	}
	for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
		if (is_same_piece(class, modifiers[i].class) &&
		    is_same_piece(word, modifiers[i].name)) {
			*place_of_class(m, class) = modifiers[i].value;
			return true;
		}
	return false;
}

static bool take_word(struct piece term, struct piece word,
		      struct gkf_modifiers *m)
{
	if (term.at[0] == '$')
		return take_class((struct piece){term.at + 1, term.length - 1},
				  word, m);
	while (term.length) {
		const char *bar = memchr(term.at, '|', term.length);
		size_t n = bar ? (size_t)(bar - term.at) : term.length;

		if (n == word.length && !memcmp(term.at, word.at, n))
			return true;
		n += bar != NULL;
		term.at += n;
		term.length -= n;
	}
	return false;
}

/* The order in which classes appear in patterns; other words have RANK_WORD. */
static const struct {
	const char *class;
	uint8_t rank;
} ranks[] = {
    {"sem", 0},      {"scope", 1}, {"space", 2},   {"hint", 3},
    {"sync", 4},     {"bool", 6},  {"round", 7},   {"ftz", 8},
    {"integral", 7}, {"sat", 9},   {"vector", 10},
};
#define RANK_WORD 5
#define RANK_TYPE 11

static uint8_t rank_of_class(struct piece class)
{
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
		if (is_same_piece(class, ranks[i].class))
			return ranks[i].rank;
	return RANK_WORD;
}

static uint8_t rank_of(struct piece word)
{
	if (gkf_ptx_type(word.at, word.length) != GKF_PTX_TYPES)
		return RANK_TYPE;
	for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
		if (is_same_piece(word, modifiers[i].name))
			return rank_of_class((struct piece){
			    modifiers[i].class, strlen(modifiers[i].class)});
	return rank_of_class(word); /* sync, ftz and sat have their own ranks */
}

bool gkf_match_order(const char *text, char ret[GKF_MODIFIERS_MAX])
{
	size_t length = 0;

	if (strlen(text) >= GKF_MODIFIERS_MAX)
		return false;
	for (uint8_t rank = 0; rank <= RANK_TYPE; rank++) {
		struct piece word = {text, 0};

		for (; *word.at; word.at += word.length) {
			word.length = strcspn(++word.at, ".");
			if (rank_of(word) != rank)
				continue;
			ret[length++] = '.';
			memcpy(ret + length, word.at, word.length);
			length += word.length;
		}
	}
	ret[length] = '\0';
	return true;
}

/*
 * Matches greedily, without backtracking: the first term that fits a word takes
 * it.
 */
bool gkf_match(const char *pattern, const char *text, struct gkf_modifiers *ret)
{
	struct gkf_modifiers m = {0};
	bool mandatory = false;

	while (*pattern || *text) {
		struct piece term = {pattern, strcspn(pattern, " ")};
		struct piece word = {text + 1,
				     *text ? strcspn(text + 1, ".") : 0};
		char last = term.length ? term.at[term.length - 1] : '\0';

		mandatory = last != '?' && last != '*';
		if (!term.length)
			return false;
		if (!mandatory)
			term.length--;
		if (*text && take_word(term, word, &m)) {
			text = word.at + word.length;
			if (last == '*')
				continue;
		} else if (mandatory) {
			return false;
		}
		pattern += strcspn(pattern, " ");
		pattern += *pattern == ' ';
	}
	*ret = m;
	return true;
}
