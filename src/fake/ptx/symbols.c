/* symbols.c - names of a PTX text: what they stand for, and where. */
#include "fake/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *text, size_t length)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619U;
	return (h ^ h >> 15) % GKF_PTX_BUCKETS;
}

const char *gkf_parse_intern(struct gkf_ptx_parser *p, const char *text,
			     size_t length)
{
	struct gkf_ptx_name **bucket = &p->names[hash(text, length)], *n;

	for (n = *bucket; n; n = n->next)
		if (!strncmp(n->text, text, length) && !n->text[length])
			return n->text;
	n = gkf_arena_get(p->arena, sizeof *n + length + 1);
	if (!n) {
		gkf_parse_no_memory(p);
		return "";
	}
	memcpy(n->text, text, length);
	n->next = *bucket;
	*bucket = n;
	return n->text;
}

static struct gkf_symbol *find(const struct gkf_ptx_parser *p, const char *name,
			       size_t length)
{
	struct gkf_symbol *s = p->buckets[hash(name, length)];

	while (s && (strncmp(s->name, name, length) || s->name[length]))
		s = s->next;
	return s;
}

struct gkf_symbol *gkf_symbol_find(const struct gkf_ptx_parser *p,
				   const char *name)
{
	return find(p, name, strlen(name));
}

struct gkf_symbol *gkf_symbol_add(struct gkf_ptx_parser *p,
				  enum gkf_symbol_kind kind, const char *name)
{
	struct gkf_symbol **bucket = &p->buckets[hash(name, strlen(name))];
	struct gkf_symbol *s = gkf_symbol_find(p, name);

	if (s && s->scope == p->scope) {
		gkf_parse_fail(p, "\"%.80s\" is declared twice", name);
		return NULL;
	}
	s = gkf_arena_get(&p->scratch, sizeof *s);
	if (!s) {
		gkf_parse_no_memory(p);
		return NULL;
	}
	*s = (struct gkf_symbol){.next = *bucket,
				 .older = p->newest,
				 .name = name,
				 .kind = (uint8_t)kind,
				 .scope = p->scope};
	*bucket = p->newest = s;
	return s;
}

struct gkf_ptx_register *gkf_symbol_registers(struct gkf_ptx_parser *p,
					      struct gkf_symbol *s)
{
	struct gkf_ptx_register *r = NULL;
	unsigned elements = s->vector ? s->vector : 1;

	s->index = (uint32_t)p->registers_count;
	for (unsigned i = 0; i < elements; i++) {
		r = GKF_APPEND(p, registers);
		if (!r)
			return NULL;
		*r = (struct gkf_ptx_register){s->name, s->type,
					       i ? 0 : s->vector};
	}
	return r;
}

/* A register comes into being when it is first used. */
static int64_t materialise(struct gkf_ptx_parser *p,
			   const struct gkf_symbol *range, const char *name)
{
	struct gkf_symbol *s, **bucket;

	s = gkf_arena_get(&p->scratch, sizeof *s);
	if (!s) {
		gkf_parse_no_memory(p);
		return -1;
	}
	*s = (struct gkf_symbol){.name = name,
				 .kind = GKF_SYMBOL_RANGE,
				 .type = range->type,
				 .vector = range->vector,
				 .scope = range->scope};
	if (!gkf_symbol_registers(p, s))
		return -1;
	bucket = &p->buckets[hash(name, strlen(name))];
	s->next = *bucket;
	s->older = p->newest;
	*bucket = p->newest = s;
	return s->index;
}

/* The range of "%r" that "%r12" is one of. */
static const struct gkf_symbol *range_of(const struct gkf_ptx_parser *p,
					 const char *name)
{
	size_t length = strlen(name), cut = length;

	while (cut > 1 && name[cut - 1] >= '0' && name[cut - 1] <= '9') {
		const struct gkf_symbol *s = find(p, name, --cut);

		if (name[cut] == '0' && cut + 1 < length)
			continue;
		if (s && s->kind == GKF_SYMBOL_RANGE && s->count &&
		    strtoull(name + cut, NULL, 10) < s->count)
			return s;
	}
	return NULL;
}

int64_t gkf_symbol_register(struct gkf_ptx_parser *p, const char *name)
{
	const struct gkf_symbol *s = gkf_symbol_find(p, name);
	const struct gkf_symbol *range = range_of(p, name);

	if (s && (!range || range->scope <= s->scope))
		return s->kind == GKF_SYMBOL_RANGE && !s->count
			   ? (int64_t)s->index
			   : -1;
	return range ? materialise(p, range, name) : -1;
}

void gkf_scope_enter(struct gkf_ptx_parser *p)
{
	uint32_t *parent;

	if (++p->depth > GKF_PTX_DEPTH) {
		gkf_parse_fail(p, "too many nested blocks");
		return;
	}
	parent = GKF_APPEND(p, parents);
	if (parent)
		*parent = p->scope;
	p->scope = (uint32_t)p->parents_count;
}

void gkf_label_add(struct gkf_ptx_parser *p, const char *name)
{
	struct gkf_symbol *s = gkf_symbol_add(p, GKF_SYMBOL_LABEL, name);

	if (s)
		s->index = (uint32_t)p->code_count;
}

void gkf_label_use(struct gkf_ptx_parser *p, uint32_t operand, const char *name)
{
	struct gkf_label_use *use = GKF_APPEND(p, uses);

	if (use)
		*use = (struct gkf_label_use){operand, p->scope, p->token.line,
					      name};
}

/*
 * The uses of the scope, which are the last ones: to its labels, or on to the
 * scope around it.
 */
static void settle_labels(struct gkf_ptx_parser *p)
{
	uint32_t parent = p->scope ? p->parents[p->scope - 1] : 0;
	size_t first = p->uses_count, kept;

	while (first && p->uses[first - 1].scope == p->scope)
		first--;
	kept = first;
	for (size_t i = first; i < p->uses_count; i++) {
		struct gkf_label_use use = p->uses[i];
		const struct gkf_symbol *s = gkf_symbol_find(p, use.name);

		if (s && s->kind == GKF_SYMBOL_LABEL && s->scope == p->scope) {
			p->operands[use.operand].kind = GKF_PTX_OP_LABEL;
			p->operands[use.operand].index = s->index;
			continue;
		}
		if (!parent)
			gkf_parse_fail_at(
			    p, use.line, "\"%.80s\" is not declared", use.name);
		use.scope = parent;
		p->uses[kept++] = use;
	}
	p->uses_count = kept;
}

/* Symbols of the scope are forgotten, those of outer ones stay in place. */
void gkf_scope_leave(struct gkf_ptx_parser *p)
{
	struct gkf_symbol **at = &p->newest;

	settle_labels(p);
	while (*at && (*at)->scope) {
		struct gkf_symbol *s = *at, **link;

		if (s->scope != p->scope) {
			at = &s->older;
			continue;
		}
		link = &p->buckets[hash(s->name, strlen(s->name))];
		while (*link != s)
			link = &(*link)->next;
		*link = s->next;
		*at = s->older;
	}
	p->depth--;
	p->scope = p->scope ? p->parents[p->scope - 1] : 0;
}
