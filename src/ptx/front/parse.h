/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.h - the state of the PTX parser, shared by its files.
 *
 * Only the first error is kept. After an error every token is GKF_PTX_END, so
 * loops over tokens terminate without checking for errors.
 */
#ifndef GKF_PTX_PARSE_H
#define GKF_PTX_PARSE_H

#include "ptx/front/lex.h"
#include "ptx/front/module.h"

/* What a name can stand for. */
enum gkf_symbol_kind {
	GKF_SYMBOL_VARIABLE,
	GKF_SYMBOL_FUNCTION,
	GKF_SYMBOL_RANGE, /* registers, as %r in .reg .b32 %r<9> */
	GKF_SYMBOL_LABEL,
};

/* The value of a constant expression. */
struct gkf_ptx_number {
	uint8_t kind; /* GKF_PTX_INTEGER, _SINGLE or _DOUBLE */
	bool is_unsigned;
	uint64_t value; /* the bits of a float or double */
};

struct gkf_symbol {
	struct gkf_symbol *next;  /* next symbol in the same bucket */
	struct gkf_symbol *older; /* the symbol declared before this one */
	const char *name;
	uint8_t kind, type, vector;
	uint32_t scope;
	/* index of the variable, function, register or instruction */
	uint32_t index;
	uint64_t count; /* registers in a range; 0: one register of this name */
};

/* A use of a label, which may be defined later. */
struct gkf_label_use {
	uint32_t operand, scope, line;
	const char *name;
};

struct gkf_ptx_name {
	struct gkf_ptx_name *next;
	uint32_t hash;
	char text[];
};

/*
 * A block { }: the enclosing block, and the symbol that was the newest when
 * this block began.
 */
struct gkf_ptx_scope {
	uint32_t parent;
	struct gkf_symbol *before;
};

#define GKF_PTX_BUCKETS 4096 /* initial number of buckets; a power of two */
#define GKF_PTX_DEPTH   256  /* the maximum depth of nested { } */

/* An array that grows in the scratch arena and is reused across functions. */
#define GKF_GROWING(type, name)                                                \
	type *name;                                                            \
	size_t name##_count, name##_room

struct gkf_ptx_parser {
	struct gkf_ptx_lexer lexer;
	/* the current token, which is not consumed yet */
	struct gkf_ptx_token token;
	struct gkf_ptx_module *module;
	struct gkf_arena *arena; /* the module's arena */
	struct gkf_arena scratch;
	unsigned max_version;
	int error; /* gk_err */
	char *message;
	/* Two hash tables: the texts of names, and the symbols by name. */
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
	bool managed; /* .attribute(.managed) precedes the space */
	bool calls;   /* parsing a call, whose operands may be lists */
};

/*
 * Appends an uninitialised element to the array p->name; NULL: out of memory.
 */
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
/* Like gkf_parse_grow(), but allocates from the module's arena. */
void *gkf_parse_room(struct gkf_ptx_parser *p, const void *array, size_t count,
		     size_t *room, size_t element);

/* Copies an array into the module's arena, without unused capacity. */
const void *gkf_parse_keep(struct gkf_ptx_parser *p, const void *array,
			   size_t count, size_t element);

void gkf_parse_fail(struct gkf_ptx_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gkf_parse_fail_at(struct gkf_ptx_parser *p, uint32_t line,
		       const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void gkf_parse_no_memory(struct gkf_ptx_parser *p);

/* Advances to the next token; returns the token that was current before. */
struct gkf_ptx_token gkf_parse_take(struct gkf_ptx_parser *p);
struct gkf_ptx_token gkf_parse_peek(const struct gkf_ptx_parser *p);
bool gkf_parse_is(const struct gkf_ptx_parser *p, char sign);
bool gkf_parse_is_word(const struct gkf_ptx_parser *p, const char *word);
bool gkf_parse_try(struct gkf_ptx_parser *p, char sign);
bool gkf_parse_try_word(struct gkf_ptx_parser *p, const char *word);
void gkf_parse_expect(struct gkf_ptx_parser *p, char sign);
/* Fails with a message that names the current token and what was expected. */
void gkf_parse_unexpected(struct gkf_ptx_parser *p, const char *wanted);

/* Parses an integer literal of at most `max`; returns 0 after an error. */
uint64_t gkf_parse_number(struct gkf_ptx_parser *p, uint64_t max);

/*
 * Parse constant expressions (expression.c). gkf_parse_signed() and
 * gkf_parse_size() fail unless the value is an integer.
 */
struct gkf_ptx_number gkf_parse_constant(struct gkf_ptx_parser *p);
int64_t gkf_parse_signed(struct gkf_ptx_parser *p);
uint64_t gkf_parse_size(struct gkf_ptx_parser *p, uint64_t max);
/* Parses "+ 4", "- 4" or nothing, after a name. */
int64_t gkf_parse_offset(struct gkf_ptx_parser *p);

/* Returns a copy of the text; equal texts get the same pointer. */
const char *gkf_parse_intern(struct gkf_ptx_parser *p, const char *text,
			     size_t length);
/* Parses a name; returns "" after an error. */
const char *gkf_parse_name(struct gkf_ptx_parser *p);

/* Symbols (symbols.c). gkf_symbols_begin() returns false when out of memory. */
bool gkf_symbols_begin(struct gkf_ptx_parser *p);
struct gkf_symbol *gkf_symbol_add(struct gkf_ptx_parser *p,
				  enum gkf_symbol_kind kind, const char *name);
struct gkf_symbol *gkf_symbol_find(const struct gkf_ptx_parser *p,
				   const char *name);
/*
 * Returns the index of a named register in the function, or -1 if it is not a
 * register. For a vector, it is the index of the first element.
 */
int64_t gkf_symbol_register(struct gkf_ptx_parser *p, const char *name);
void gkf_scope_enter(struct gkf_ptx_parser *p);
void gkf_scope_leave(struct gkf_ptx_parser *p);
void gkf_label_add(struct gkf_ptx_parser *p, const char *name);
void gkf_label_use(struct gkf_ptx_parser *p, uint32_t operand,
		   const char *name);

/* Parses a list of variables in one state space, up to ';' (parse_data.c). */
void gkf_parse_variables(struct gkf_ptx_parser *p, enum gkf_ptx_space space,
			 enum gkf_ptx_linkage linkage);
/* Parses a parameter; returns the index of its variable. */
uint32_t gkf_parse_parameter(struct gkf_ptx_parser *p);
/* Gives a variable its offset in the function's local memory. */
void gkf_parse_place(struct gkf_ptx_parser *p, struct gkf_ptx_function *f,
		     uint32_t variable);
enum gkf_ptx_type gkf_parse_type(struct gkf_ptx_parser *p);

/* Parses the body of p->function, starting at '{' (parse_body.c). */
void gkf_parse_body(struct gkf_ptx_parser *p);
/* Stores the parsed body in f, once its labels have been resolved. */
void gkf_parse_keep_body(struct gkf_ptx_parser *p, struct gkf_ptx_function *f);

/* Parses any number of .attribute(...); returns whether one is .managed. */
bool gkf_parse_attributes(struct gkf_ptx_parser *p);

/*
 * Adds the register or, for a vector, the registers of s. Returns the last one,
 * or NULL when out of memory.
 */
struct gkf_ptx_register *gkf_symbol_registers(struct gkf_ptx_parser *p,
					      struct gkf_symbol *s);

/*
 * Skips a directive that we ignore. Returns false if the current token is not
 * one. Defined in parse_skip.c.
 */
bool gkf_parse_skip(struct gkf_ptx_parser *p);

/*
 * Returns the space that the current token names, or GKF_PTX_GENERIC (type.c).
 */
enum gkf_ptx_space gkf_parse_space(const struct gkf_ptx_parser *p);

#endif
