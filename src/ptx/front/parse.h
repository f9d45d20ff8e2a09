/*
 * parse.h - what the files of the PTX reader share: the state of one reading.
 *
 * A first error is kept, and from then on every token is the end: loops end
 * without asking.
 */
#ifndef GKF_PTX_PARSE_H
#define GKF_PTX_PARSE_H

#include "ptx/front/lex.h"
#include "ptx/front/module.h"

/* The meaning of a name at the place where it is read. */
enum gkf_symbol_kind {
	GKF_SYMBOL_VARIABLE,
	GKF_SYMBOL_FUNCTION,
	GKF_SYMBOL_RANGE, /* registers: %r of .reg .b32 %r<9> */
	GKF_SYMBOL_LABEL,
};

/* The value of a constant expression. */
struct gkf_ptx_number {
	uint8_t kind; /* GKF_PTX_INTEGER, _SINGLE or _DOUBLE */
	bool is_unsigned;
	uint64_t value; /* a fraction's bits */
};

struct gkf_symbol {
	struct gkf_symbol *next;  /* of the same hash */
	struct gkf_symbol *older; /* declared before */
	const char *name;
	uint8_t kind, type, vector;
	uint32_t scope;
	uint32_t index; /* variable, function; a label's instruction */
	uint64_t count; /* of a range; 0: the name is the register itself */
};

/* A label that is used, perhaps before it stands there. */
struct gkf_label_use {
	uint32_t operand, scope, line;
	const char *name;
};

struct gkf_ptx_name {
	struct gkf_ptx_name *next;
	uint32_t hash;
	char text[];
};

/* A block of { }: the one around it, and the newest symbol when it began. */
struct gkf_ptx_scope {
	uint32_t parent;
	struct gkf_symbol *before;
};

#define GKF_PTX_BUCKETS 4096 /* at first; a power of two */
#define GKF_PTX_DEPTH   256  /* of nested { } */

/* An array that grows in the scratch arena, for what is read next, too. */
#define GKF_GROWING(type, name)                                                \
	type *name;                                                            \
	size_t name##_count, name##_room

struct gkf_ptx_parser {
	struct gkf_ptx_lexer lexer;
	struct gkf_ptx_token token; /* not yet taken */
	struct gkf_ptx_module *module;
	struct gkf_arena *arena; /* the module's */
	struct gkf_arena scratch;
	unsigned max_version;
	int error; /* gk_err */
	char *message;
	/* Names and what they stand for, by their hash. */
	struct gkf_ptx_name **names;
	struct gkf_symbol **buckets, *newest;
	uint32_t bucket_count, name_count;
	GKF_GROWING(struct gkf_ptx_variable, variables);
	GKF_GROWING(struct gkf_ptx_function, functions);
	/* The next fields belong to the function being read. */
	struct gkf_ptx_function *function;
	GKF_GROWING(struct gkf_ptx_instruction, code);
	GKF_GROWING(struct gkf_ptx_operand, operands);
	GKF_GROWING(struct gkf_ptx_register, registers);
	GKF_GROWING(struct gkf_label_use, uses);
	GKF_GROWING(struct gkf_ptx_scope, scopes);
	uint32_t scope;
	unsigned depth;
	bool managed; /* said before the space of a variable */
	bool calls;   /* of an instruction: its operands may be lists */
};

/* A place for one more element of p->name, counted; NULL: out of memory. */
#define GKF_APPEND(p, name)                                                    \
	({                                                                     \
		__typeof__((p)->name) grown_ =                                 \
		    gkf_parse_grow((p), (p)->name, (p)->name##_count,          \
				   &(p)->name##_room, sizeof *(p)->name);      \
                                                                               \
		if (grown_)                                                    \
			(p)->name = grown_;                                    \
		grown_ ? &grown_[(p)->name##_count++] : NULL;                  \
	})
void *gkf_parse_grow(struct gkf_ptx_parser *p, const void *array, size_t count,
		     size_t *room, size_t element);
/* The same in the module's arena. */
void *gkf_parse_room(struct gkf_ptx_parser *p, const void *array, size_t count,
		     size_t *room, size_t element);

/* A copy of what has grown, as long as it is, in the module's arena. */
const void *gkf_parse_keep(struct gkf_ptx_parser *p, const void *array,
			   size_t count, size_t element);

void gkf_parse_fail(struct gkf_ptx_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gkf_parse_fail_at(struct gkf_ptx_parser *p, uint32_t line,
		       const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gkf_parse_no_memory(struct gkf_ptx_parser *p);

/* Goes on to the next token; answers the one that was taken. */
struct gkf_ptx_token gkf_parse_take(struct gkf_ptx_parser *p);
struct gkf_ptx_token gkf_parse_peek(const struct gkf_ptx_parser *p);
bool gkf_parse_is(const struct gkf_ptx_parser *p, char sign);
bool gkf_parse_is_word(const struct gkf_ptx_parser *p, const char *word);
bool gkf_parse_try(struct gkf_ptx_parser *p, char sign);
bool gkf_parse_try_word(struct gkf_ptx_parser *p, const char *word);
void gkf_parse_expect(struct gkf_ptx_parser *p, char sign);
/* Fails: the token is not what is wanted. */
void gkf_parse_unexpected(struct gkf_ptx_parser *p, const char *wanted);

/* A name, taken; "" after an error. */
const char *gkf_parse_name(struct gkf_ptx_parser *p);

/* A plain number that fits, taken. */
uint64_t gkf_parse_number(struct gkf_ptx_parser *p, uint64_t max);

/* Constant expressions; expression.c. The latter ones want an integer. */
struct gkf_ptx_number gkf_parse_constant(struct gkf_ptx_parser *p);
int64_t gkf_parse_signed(struct gkf_ptx_parser *p);
uint64_t gkf_parse_size(struct gkf_ptx_parser *p, uint64_t max);
/* "+ 4", "- 4" or nothing, behind a name. */
int64_t gkf_parse_offset(struct gkf_ptx_parser *p);

/* One pointer for equal texts. */
const char *gkf_parse_intern(struct gkf_ptx_parser *p, const char *text,
			     size_t length);

/* Symbols; symbols.c. False: no memory. */
bool gkf_symbols_begin(struct gkf_ptx_parser *p);
struct gkf_symbol *gkf_symbol_add(struct gkf_ptx_parser *p,
				  enum gkf_symbol_kind kind, const char *name);
struct gkf_symbol *gkf_symbol_find(const struct gkf_ptx_parser *p,
				   const char *name);
/*
 * The register of a name: its index in the function; -1: there is none. Of a
 * vector: the first of its elements.
 */
int64_t gkf_symbol_register(struct gkf_ptx_parser *p, const char *name);
void gkf_scope_enter(struct gkf_ptx_parser *p);
void gkf_scope_leave(struct gkf_ptx_parser *p);
void gkf_label_add(struct gkf_ptx_parser *p, const char *name);
void gkf_label_use(struct gkf_ptx_parser *p, uint32_t operand,
		   const char *name);

/* Declarations; parse_data.c. A list of variables of a space, up to ';'. */
void gkf_parse_variables(struct gkf_ptx_parser *p, enum gkf_ptx_space space,
			 enum gkf_ptx_linkage linkage);
/* One of the list of parameters; answers its index. */
uint32_t gkf_parse_parameter(struct gkf_ptx_parser *p);
/* Gives a variable its place in the memory of a thread. */
void gkf_parse_place(struct gkf_ptx_parser *p, struct gkf_ptx_function *f,
		     uint32_t variable);
enum gkf_ptx_type gkf_parse_type(struct gkf_ptx_parser *p);

/* The body of p->function, from '{' on; parse_body.c. */
void gkf_parse_body(struct gkf_ptx_parser *p);
/* Keeps the body that was read; its labels are settled by then. */
void gkf_parse_keep_body(struct gkf_ptx_parser *p, struct gkf_ptx_function *f);

/* .attribute(...), any number of them; true when one says .managed. */
bool gkf_parse_attributes(struct gkf_ptx_parser *p);

/* Registers for a declared name; NULL: out of memory. */
struct gkf_ptx_register *gkf_symbol_registers(struct gkf_ptx_parser *p,
					      struct gkf_symbol *s);

/* Directives that say nothing to us: true when one was skipped. */
bool gkf_parse_skip(struct gkf_ptx_parser *p);

/* The space that a directive names; GKF_PTX_GENERIC: none. */
enum gkf_ptx_space gkf_parse_space(const struct gkf_ptx_parser *p);

#endif
