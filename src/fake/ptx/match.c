/* match.c - patterns of modifiers. */
#include "fake/ptx/match.h"
#include "fake/ptx/module.h"

#include <string.h>

/* A stretch of text; what comes next begins behind it. */
struct piece {
	const char *at;
	size_t length;
};

static bool same(struct piece p, const char *text)
{
	return strlen(text) == p.length && !memcmp(p.at, text, p.length);
}

static const struct {
	const char *class, *name;
	uint8_t value;
} modifiers[] = {
#define MODIFIER(class, name, value) {#class, #name, value},
#include "fake/ptx/modifiers.def"
#undef MODIFIER
};

/* Where the value of a class goes. */
static uint8_t *place(struct gkf_modifiers *m, struct piece class)
{
	if (same(class, "round"))
		return m->has_round = 1, &m->round;
	if (same(class, "integral"))
		return m->has_integral = 1, &m->integral;
	if (same(class, "space"))
		return &m->space;
	if (same(class, "bool"))
		return &m->bool_;
	if (same(class, "vector"))
		return &m->vector;
	return &m->hint;
}

static bool take_class(struct piece class, struct piece word,
		       struct gkf_modifiers *m)
{
	if (same(class, "type")) {
		enum gkf_ptx_type type = gkf_ptx_type(word.at, word.length);

		if (type == GKF_PTX_TYPES || m->types == 3)
			return false;
		m->type[m->types++] = (uint8_t)type;
		return true;
	}
	for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
		if (same(class, modifiers[i].class) &&
		    same(word, modifiers[i].name)) {
			*place(m, class) = modifiers[i].value;
			return true;
		}
	return false;
}

static bool take(struct piece term, struct piece word, struct gkf_modifiers *m)
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

/* Greedy: of optional terms the first that fits takes a word. */
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
		if (*text && take(term, word, &m)) {
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
