/*
 * module.h - a PTX module as its text says it: variables, functions, and every
 * instruction with its modifiers and operands, known to the executor or not.
 *
 * All of it lies in the module's arena and is never changed after reading, so
 * any number of threads may look at it.
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

/* The type of a name without its dot; GKF_PTX_TYPES when there is none. */
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

/* A place of an initialiser that holds an address, known when loaded. */
struct gkf_ptx_fixup {
	const char *symbol;
	uint32_t variable; /* of the module, or GKF_PTX_NO_VARIABLE */
	uint64_t offset;   /* in the variable */
	int64_t addend;
	uint8_t bytes; /* that are written */
	uint8_t shift; /* of the address, in bits, before it is written */
};

struct gkf_ptx_variable {
	const char *name;
	uint64_t size;   /* bytes; 0 for an array of no stated length */
	uint64_t offset; /* of a kernel's parameter: in the launch's buffer; of
			    other .param and of .local: in local_size */
	uint32_t align;
	uint32_t line;
	uint8_t space;   /* enum gkf_ptx_space */
	uint8_t type;    /* enum gkf_ptx_type, of an element */
	uint8_t vector;  /* elements in a vector, 1 for a scalar */
	uint8_t linkage; /* enum gkf_ptx_linkage */
	bool managed;
	bool is_array;
	bool is_kernel_param;
	const uint8_t *data; /* first data_size bytes; the rest is 0 */
	uint64_t data_size;
	const struct gkf_ptx_fixup *fixups;
	uint32_t fixup_count;
};

enum gkf_ptx_operand_kind {
	GKF_PTX_OP_REG,       /* index: register of the function */
	GKF_PTX_OP_INT,       /* value */
	GKF_PTX_OP_F32,       /* value: the 32 bits */
	GKF_PTX_OP_F64,       /* value: the 64 bits */
	GKF_PTX_OP_VARIABLE,  /* index: variable of the module; + value */
	GKF_PTX_OP_FUNCTION,  /* index: function of the module */
	GKF_PTX_OP_LABEL,     /* index: instruction of the function */
	GKF_PTX_OP_SPECIAL,   /* name: "%tid.x" */
	GKF_PTX_OP_SINK,      /* "_" */
	GKF_PTX_OP_PAIR,      /* p|q: index, count: operands */
	GKF_PTX_OP_VECTOR,    /* {a, b}: index, count: operands */
	GKF_PTX_OP_LIST,      /* (a, b): index, count: operands */
	GKF_PTX_OP_ADDRESS,   /* [a + value]: index: the operand a */
	GKF_PTX_OP_ADDRESSES, /* [a, b]: index, count: operands */
	GKF_PTX_OP_ELEMENT,   /* v[r + 3]: index: the operands v, r with value
				 3; v[3]: v + 3 * value alone, count is 1;
				 value: bytes of an element */
	GKF_PTX_OP_MINUS,     /* -a: index: the operand a, no number */
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

/* Any number but a register's. */
#define GKF_PTX_NO_GUARD UINT32_MAX

struct gkf_ptx_instruction {
	const char *name; /* "ld.global.f32", one pointer for equal names */
	uint32_t line;
	uint32_t guard; /* predicate register, or GKF_PTX_NO_GUARD */
	uint32_t first; /* operand */
	uint16_t count;
	bool guard_negated;
};

struct gkf_ptx_register {
	const char *name; /* a vector's, for each of its elements */
	uint8_t type;     /* enum gkf_ptx_type */
	uint8_t elements; /* in its vector, of the first one; else 0 */
};

struct gkf_ptx_function {
	const char *name;
	bool is_entry, has_body;
	uint8_t linkage; /* enum gkf_ptx_linkage */
	uint32_t line;
	const uint32_t *params, *returns; /* variables of the module */
	uint32_t param_count, return_count;
	uint32_t param_size; /* bytes of a kernel's parameters */
	uint32_t local_size; /* bytes a thread: .local, and .param but for a
				kernel's own */
	uint32_t reqntid[3], maxntid[3]; /* 0: not said */
	uint32_t cluster[3];             /* blocks; 0: not said */
	uint32_t minnctapersm, maxnreg;
	const struct gkf_ptx_instruction *code;
	uint32_t code_count;
	const struct gkf_ptx_operand *operands;
	uint32_t operand_count;
	const struct gkf_ptx_register *registers; /* those that are used */
	uint32_t register_count;
};

struct gkf_ptx_module {
	struct gkf_arena arena;
	unsigned version; /* 90 for ".version 9.0" */
	unsigned target;  /* 75 for "sm_75" */
	char target_kind; /* 'a' or 'f' of "sm_90a", "sm_100f"; else 0 */
	unsigned address_size;
	const struct gkf_ptx_variable *variables; /* module's and functions' */
	uint32_t variable_count;
	const struct gkf_ptx_function *functions;
	uint32_t function_count;
	struct gkf_ptx_module **parts; /* that it was linked of */
	unsigned part_count;
};

/* Longest message of the reader, with its NUL. */
#define GKF_PTX_MESSAGE_MAX 256

/*
 * Reads a module. text has size bytes, and need not end with a NUL; one that
 * comes earlier ends it. The result is the caller's, freed by
 * gkf_ptx_module_free(). GK_ERR_CORRUPT with a line in message ("line 3: ...")
 * when it is not PTX, GK_ERR_VERSION when .version is above max_version.
 */
GKF_API int gkf_ptx_module_read(const char *text, size_t size,
				unsigned max_version,
				char message[GKF_PTX_MESSAGE_MAX],
				struct gkf_ptx_module **ret_module);
GKF_API void gkf_ptx_module_free(struct gkf_ptx_module *module);

/* Is it for a device of that compute capability, 80 for 8.0? */
GKF_API bool gkf_ptx_module_fits(const struct gkf_ptx_module *module,
				 unsigned capability);

/*
 * Makes one module of several: names that are extern in one are those that
 * another defines. The result owns its parts; after a failure they are still
 * the caller's. GK_ERR_CORRUPT with a message: a variable is nowhere.
 */
GKF_API int gkf_ptx_module_link(struct gkf_ptx_module *const *parts,
				unsigned count,
				char message[GKF_PTX_MESSAGE_MAX],
				struct gkf_ptx_module **ret_module);

/* NULL when the module has none of that name. */
GKF_API const struct gkf_ptx_function *
gkf_ptx_function_find(const struct gkf_ptx_module *module, const char *name);

#endif
