/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c - owns the tables of names and symbols, with their scopes. */
#include "base/assert.h"
#include "ptx/front/parse.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_text(const char *text, size_t length)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619U;
	return h ^ h >> 15;
}

static struct gkf_symbol **bucket_of(const struct gkf_ptx_parser *p,
				     const char *name, size_t length)
{
	return &p->buckets[hash_text(name, length) & (p->bucket_count - 1)];
}

/* Allocates empty tables with the given number of buckets. */
static bool make_tables(struct gkf_ptx_parser *p, uint32_t count)
{
	struct gkf_ptx_name **names =
	    gkf_arena_get(&p->scratch, count * sizeof *names);
	struct gkf_symbol **buckets =
	    gkf_arena_get(&p->scratch, count * sizeof *buckets);

	if (!names || !buckets) {
		gkf_parse_no_memory(p);
		return false;
	}
	p->names = names;
	p->buckets = buckets;
	p->bucket_count = count;
	return true;
}

bool gkf_symbols_begin(struct gkf_ptx_parser *p)
{
	return make_tables(p, GKF_PTX_BUCKETS);
}

static void move_names(struct gkf_ptx_parser *p, struct gkf_ptx_name *n)
{
	while (n) {
		struct gkf_ptx_name *next = n->next;
		struct gkf_ptx_name **bucket =
		    &p->names[n->hash & (p->bucket_count - 1)];

		n->next = *bucket;
		*bucket = n;
		n = next;
	}
}

/* Keeps symbols of equal names in order, newest first. */
static void move_symbols(struct gkf_ptx_parser *p, struct gkf_symbol *s)
{
	struct gkf_symbol *reversed = NULL, **bucket, *next;

	for (; s; s = next) {
		next = s->next;
		s->next = reversed;
		reversed = s;
	}
	for (; reversed; reversed = next) {
		next = reversed->next;
		bucket = bucket_of(p, reversed->name, strlen(reversed->name));
		reversed->next = *bucket;
		*bucket = reversed;
	}
}

static void grow_buckets(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_name **names = p->names;
	struct gkf_symbol **buckets = p->buckets;
	uint32_t count = p->bucket_count;

	if (p->name_count < count || count > UINT32_MAX / 8 ||
	    !make_tables(p, count * 4))
		return;
	for (uint32_t i = 0; i < count; i++) {
		move_names(p, names[i]);
		move_symbols(p, buckets[i]);
	}
}

const char *gkf_parse_intern(struct gkf_ptx_parser *p, const char *text,
			     size_t length)
{
	uint32_t h = hash_text(text, length);
	struct gkf_ptx_name **bucket, *n;

	n = p->names[h & (p->bucket_count - 1)];
	for (; n; n = n->next)
		if (n->hash == h && !strncmp(n->text, text, length) &&
		    !n->text[length])
			return n->text;
	n = gkf_arena_get(p->arena, sizeof *n + length + 1);
	if (!n) {
		gkf_parse_no_memory(p);
		return "";
	}
	grow_buckets(p);
	memcpy(n->text, text, length);
	bucket = &p->names[h & (p->bucket_count - 1)];
	n->hash = h;
	n->next = *bucket;
	*bucket = n;
	p->name_count++;
	return n->text;
}

const char *gkf_parse_name(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_token t;

	if (p->token.kind != GKF_PTX_WORD) {
		gkf_parse_unexpected(p, "a name");
		return "";
	}
	t = gkf_parse_take(p);
	return gkf_parse_intern(p, t.text, t.length);
}

/* Returns the first symbol of that name in the bucket's list, starting at s. */
static struct gkf_symbol *find_from(struct gkf_symbol *s, const char *name,
				    size_t length)
{
	while (s && (strncmp(s->name, name, length) || s->name[length]))
		s = s->next;
	return s;
}

static struct gkf_symbol *find_symbol(const struct gkf_ptx_parser *p,
				      const char *name, size_t length)
{
	return find_from(*bucket_of(p, name, length), name, length);
}

struct gkf_symbol *gkf_symbol_find(const struct gkf_ptx_parser *p,
				   const char *name)
{
	return find_symbol(p, name, strlen(name));
}

struct gkf_symbol *gkf_symbol_add(struct gkf_ptx_parser *p,
				  enum gkf_symbol_kind kind, const char *name)
{
	struct gkf_symbol **bucket = bucket_of(p, name, strlen(name));
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

/* Adds a register of a range; called when the register is first used. */
static int64_t make_register(struct gkf_ptx_parser *p,
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
	bucket = bucket_of(p, name, strlen(name));
	s->next = *bucket;
	s->older = p->newest;
	*bucket = p->newest = s;
	return s->index;
}

#define DIGITS_MAX 10 /* digits in UINT32_MAX */

/*
 * Returns the innermost range to which a register belongs, as "%r12" belongs to
 * "%r".
 */
static const struct gkf_symbol *range_of(const struct gkf_ptx_parser *p,
					 const char *name)
{
	size_t length = strlen(name), cut = length;

	while (cut > 1 && length - cut < DIGITS_MAX && name[cut - 1] >= '0' &&
	       name[cut - 1] <= '9') {
		const struct gkf_symbol *s = find_symbol(p, name, --cut);

		if (name[cut] == '0' && cut + 1 < length)
			continue;
		for (; s; s = find_from(s->next, name, cut))
			if (s->kind == GKF_SYMBOL_RANGE && s->count &&
			    strtoull(name + cut, NULL, 10) < s->count)
				return s;
	}
	return NULL;
}

int64_t gkf_symbol_register(struct gkf_ptx_parser *p, const char *name)
{
	const struct gkf_symbol *s = gkf_symbol_find(p, name), *range = NULL;

	/*
	 * A range hides `s` only if it was declared in an inner scope, and
	 * there is none if `s` was declared in the current scope.
	 */
	if (!s || s->scope != p->scope)
		range = range_of(p, name);
	if (s && (!range || range->scope <= s->scope))
		return s->kind == GKF_SYMBOL_RANGE && !s->count
			   ? (int64_t)s->index
			   : -1;
	return range ? make_register(p, range, name) : -1;
}

void gkf_scope_enter(struct gkf_ptx_parser *p)
{
	struct gkf_ptx_scope *scope;

	if (++p->depth > GKF_PTX_DEPTH) {
		gkf_parse_fail(p, "too many nested blocks");
		return;
	}
	scope = GKF_APPEND(p, scopes);
	if (scope)
		*scope = (struct gkf_ptx_scope){p->scope, p->newest};
	p->scope = (uint32_t)p->scopes_count;
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

	GK_ASSERT(operand < p->operands_count);
	if (use)
		*use = (struct gkf_label_use){operand, p->scope, p->token.line,
					      name};
}

/*
 * Resolves the uses of labels in the current scope; they are the newest
 * elements of p->uses. If the scope does not define a label, its uses move to
 * the enclosing scope.
 */
static void settle_labels(struct gkf_ptx_parser *p)
{
	uint32_t parent = p->scope ? p->scopes[p->scope - 1].parent : 0;
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

/*
 * Removes the current scope's symbols; those of outer scopes stay in the list.
 */
void gkf_scope_leave(struct gkf_ptx_parser *p)
{
	struct gkf_symbol **at = &p->newest, *before = NULL;

	GK_ASSERT(p->depth);
	settle_labels(p);
	if (p->scope)
		before = p->scopes[p->scope - 1].before;
	while (*at && *at != before) {
		struct gkf_symbol *s = *at, **link;

		if (s->scope != p->scope) {
			at = &s->older;
			continue;
		}
		link = bucket_of(p, s->name, strlen(s->name));
		while (*link != s)
			link = &(*link)->next;
		*link = s->next;
		*at = s->older;
	}
	p->depth--;
	p->scope = p->scope ? p->scopes[p->scope - 1].parent : 0;
}
