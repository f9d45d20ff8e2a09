/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - a parsed PTX module: its variables, its functions, and every
 * instruction with its modifiers and operands, even those that we cannot
 * execute.
 *
 * Everything is in the module's arena and never changes once the module has
 * been read, so any number of threads may use it.
 */
#ifndef GKF_PTX_MODULE_H
#define GKF_PTX_MODULE_H

#include "base/export.h"
#include "ptx/front/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gkf_ptx_kind {
	GKF_PTX_BITS,
	GKF_PTX_UNSIGNED,
	GKF_PTX_SIGNED,
	GKF_PTX_FLOAT,
	GKF_PTX_PREDICATE,
	GKF_PTX_OPAQUE, /* textures, samplers, surfaces */
};

enum gkf_ptx_type {
#define TYPE(name, bytes, kind) GKF_PTX_T_##name,
#include "ptx/types.def"
#undef TYPE
	GKF_PTX_TYPES
};

struct gkf_ptx_type_facts {
	const char *name;
	uint8_t bytes;
	uint8_t kind; /* enum gkf_ptx_kind */
};
extern const struct gkf_ptx_type_facts gkf_ptx_types[GKF_PTX_TYPES];

/*
 * Returns the type of that name, such as "u32", or GKF_PTX_TYPES if there is
 * none.
 */
enum gkf_ptx_type gkf_ptx_type(const char *name, size_t length);

enum gkf_ptx_space {
	GKF_PTX_GENERIC,
	GKF_PTX_REG,
	GKF_PTX_PARAM,
	GKF_PTX_LOCAL,
	GKF_PTX_SHARED,
	GKF_PTX_GLOBAL,
	GKF_PTX_CONST,
};

enum gkf_ptx_linkage {
	GKF_PTX_INTERNAL,
	GKF_PTX_VISIBLE,
	GKF_PTX_EXTERN,
	GKF_PTX_WEAK,
	GKF_PTX_COMMON,
};

#define GKF_PTX_NO_VARIABLE UINT32_MAX

/* A part of an initialiser into which loading the module writes an address. */
struct gkf_ptx_fixup {
	const char *symbol;
	uint32_t variable; /* index of a variable, or GKF_PTX_NO_VARIABLE */
	uint64_t offset;   /* offset in the initialised variable */
	int64_t addend;
	uint8_t bytes; /* number of bytes to write */
	uint8_t shift; /* bits by which the address is shifted right */
};

struct gkf_ptx_variable {
	const char *name;
	uint64_t size; /* bytes; 0: an array of unknown length */
	/*
	 * For a kernel parameter, the offset in the launch's buffer; for other
	 * .param variables and for .local variables, the offset in the
	 * function's local memory.
	 */
	uint64_t offset;
	uint32_t align;
	uint32_t line;
	uint8_t space;   /* enum gkf_ptx_space */
	uint8_t type;    /* enum gkf_ptx_type, of an element */
	uint8_t vector;  /* elements in a vector; 1: a scalar */
	uint8_t linkage; /* enum gkf_ptx_linkage */
	bool managed;
	bool is_array;
	bool is_kernel_param;
	/* the first `data_size` bytes of the initial value; all others are 0 */
	const uint8_t *data;
	uint64_t data_size;
	const struct gkf_ptx_fixup *fixups;
	uint32_t fixup_count;
};

enum gkf_ptx_operand_kind {
	GKF_PTX_OP_REG, /* index: a register of the function */
	GKF_PTX_OP_INT, /* value: the number */
	GKF_PTX_OP_F32, /* value: the 32 bits */
	GKF_PTX_OP_F64, /* value: the 64 bits */
	/* index: a variable of the module; value: offset */
	GKF_PTX_OP_VARIABLE,
	GKF_PTX_OP_FUNCTION,  /* index: a function of the module */
	GKF_PTX_OP_LABEL,     /* index: an instruction of the function */
	GKF_PTX_OP_SPECIAL,   /* name: "%tid.x" */
	GKF_PTX_OP_SINK,      /* "_" */
	GKF_PTX_OP_PAIR,      /* p|q: `count` operands from `index` on */
	GKF_PTX_OP_VECTOR,    /* {a, b}: `count` operands from `index` on */
	GKF_PTX_OP_LIST,      /* (a, b): `count` operands from `index` on */
	GKF_PTX_OP_ADDRESS,   /* [a + value]; index: the operand a */
	GKF_PTX_OP_ADDRESSES, /* [a, b]: `count` operands from `index` on */
	/*
	 * v[r + 3]: the operands from `index` on are v and r, and the value of
	 * r is 3. v[3]: the only operand is v, and its value includes the
	 * offset of element 3. `value` is the size of an element in bytes.
	 */
	GKF_PTX_OP_ELEMENT,
	/* -a, where a is not a number; index: the operand a */
	GKF_PTX_OP_MINUS,
};

struct gkf_ptx_operand {
	uint8_t kind; /* enum gkf_ptx_operand_kind */
	bool negated; /* !p */
	uint16_t count;
	uint32_t index;
	union {
		int64_t value;
		const char *name;
	};
};

/* The guard of an instruction that has no guard. */
#define GKF_PTX_NO_GUARD UINT32_MAX

struct gkf_ptx_instruction {
	const char *name; /* "ld.global.f32"; equal names have equal pointers */
	uint32_t line;
	uint32_t guard; /* predicate register, or GKF_PTX_NO_GUARD */
	uint32_t first; /* index of its first operand */
	uint16_t count; /* number of operands */
	bool guard_negated;
};

struct gkf_ptx_register {
	const char *name; /* the elements of a vector all have its name */
	uint8_t type;     /* enum gkf_ptx_type */
	uint8_t elements; /* length, in a vector's first element; else 0 */
};

struct gkf_ptx_function {
	const char *name;
	bool is_entry, has_body;
	uint8_t linkage; /* enum gkf_ptx_linkage */
	uint32_t line;
	const uint32_t *params, *returns; /* variables of the module */
	uint32_t param_count, return_count;
	uint32_t param_size; /* bytes of a kernel's parameters */
	/*
	 * bytes per thread for .local variables and for all .param variables
	 * except a kernel's parameters
	 */
	uint32_t local_size;
	uint32_t reqntid[3], maxntid[3]; /* 0: not given */
	uint32_t cluster[3];             /* in blocks; 0: not given */
	uint32_t minnctapersm, maxnreg;
	const struct gkf_ptx_instruction *code;
	uint32_t code_count;
	const struct gkf_ptx_operand *operands;
	uint32_t operand_count;
	const struct gkf_ptx_register *registers; /* only those that are used */
	uint32_t register_count;
};

struct gkf_ptx_module {
	struct gkf_arena arena;
	unsigned version; /* 90 for ".version 9.0" */
	unsigned target;  /* 75 for "sm_75" */
	char target_kind; /* 'a' of "sm_90a", 'f' of "sm_100f"; else 0 */
	unsigned address_size;
	/* includes the variables of functions */
	const struct gkf_ptx_variable *variables;
	uint32_t variable_count;
	const struct gkf_ptx_function *functions;
	uint32_t function_count;
	/* the linked modules; this module owns them */
	struct gkf_ptx_module **parts;
	unsigned part_count;
};

/* Size of the buffer for the parser's message, with the NUL. */
#define GKF_PTX_MESSAGE_MAX 256

/*
 * Parses a module from text, which ends after `size` bytes or at an earlier
 * NUL. The caller owns the result and frees it with gkf_ptx_module_free().
 * Returns GK_ERR_CORRUPT if the text is not valid PTX (`message` gives the line
 * and the reason), GK_ERR_VERSION if its .version is above max_version, or
 * GK_ERR_NOMEM.
 */
GKF_API int gkf_ptx_module_read(const char *text, size_t size,
				unsigned max_version,
				char message[GKF_PTX_MESSAGE_MAX],
				struct gkf_ptx_module **ret_module);
GKF_API void gkf_ptx_module_free(struct gkf_ptx_module *module);

/* Whether a device can run the module; `capability` is 80 for 8.0. */
GKF_API bool gkf_ptx_module_fits(const struct gkf_ptx_module *module,
				 unsigned capability);

/*
 * Links several modules into one, in which the extern names of one module refer
 * to the definitions in another. On success the result owns the parts; on
 * failure the caller still does. Returns GK_ERR_CORRUPT if no part defines some
 * variable (`message` names it), or GK_ERR_NOMEM.
 */
GKF_API int gkf_ptx_module_link(struct gkf_ptx_module *const *parts,
				unsigned count,
				char message[GKF_PTX_MESSAGE_MAX],
				struct gkf_ptx_module **ret_module);

/* Returns NULL if the module has no function of that name. */
GKF_API const struct gkf_ptx_function *
gkf_ptx_function_find(const struct gkf_ptx_module *module, const char *name);

#endif
