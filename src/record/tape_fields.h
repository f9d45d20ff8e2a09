/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_fields.h - the fields of a snapshot's structs that are stored on tapes,
 * and the encoding of their values. A tape names its fields, so that tapes of
 * another gpukit version, with more or fewer fields, can be read.
 */
#ifndef GK_RECORD_TAPE_FIELDS_H
#define GK_RECORD_TAPE_FIELDS_H

#include "base/str.h"
#include "core/arena.h"
#include "core/read/gate.h"

#include <gpukit/gpukit.h>

/* The structs, in the order in which the schema lists them. */
enum gk_tape_kind {
	GK_TAPE_SNAPSHOT,
	GK_TAPE_DEVICE,
	GK_TAPE_DETAIL,
	GK_TAPE_LINK,
	GK_TAPE_PROCESS,
	GK_TAPE_PLACE,
	GK_TAPE_PEER,
	GK_TAPE_KINDS
};

/* How a field is stored in memory; the letter is its type on the tape. */
enum gk_tape_storage {
	GK_STORED_U32,    /* 'u' */
	GK_STORED_U64,    /* 'u' */
	GK_STORED_I32,    /* 'i' */
	GK_STORED_CHAR,   /* 'u' */
	GK_STORED_WHY,    /* 'a': an enum gk_absence */
	GK_STORED_VALUE,  /* 'v': a struct gk_value */
	GK_STORED_ARRAY,  /* 's': a char array of `size` bytes */
	GK_STORED_STRING, /* 's': a const char *, in an arena */
	GK_STORED_BYTES,  /* 's': a const char *, with its length at `size` */
	GK_STORED_TEXT,   /* 't': a struct gk_text */
	GK_STORED_XIDS,   /* 's': a const struct gk_xids *, as integers */
	GK_STORED_COUNT
};

/*
 * Values are checked when they are read. A gk_value out of its range becomes
 * absent; another number out of its bound is replaced by the bound's default.
 * Fields without a bound are checked when the whole struct has been read.
 */
struct gk_tape_field {
	const char *name;
	enum gk_tape_storage storage;
	size_t at, size;
	const struct gk_range *range;     /* only for GK_STORED_VALUE */
	const struct gk_bound_row *bound; /* bound of integers; may be NULL */
};

struct gk_tape_fields {
	const struct gk_tape_field *rows;
	size_t count;
};

extern const struct gk_tape_fields gk_tape_fields[GK_TAPE_KINDS];

/* Returns the letter that stands for a kind of storage on a tape. */
char gk_tape_type(enum gk_tape_storage storage);

/*
 * Writes an integer in groups of seven bits, the lowest group first. All bytes
 * but the last one have the bit 0x80 set.
 */
void gk_tape_put(struct gk_buf *out, uint64_t value);
/* Writes a text: its length, then its bytes. */
void gk_tape_put_text(struct gk_buf *out, const char *text, size_t len);

/* Writes one field of a struct. */
void gk_tape_put_field(struct gk_buf *out, const struct gk_tape_field *field,
		       const void *of);

/*
 * The bytes that remain to be read. Reading beyond their end, or an invalid
 * value, sets `bad` and returns 0.
 */
struct gk_tape_cursor {
	const unsigned char *at, *end;
	bool bad;
};

/* Reads an integer. If no bytes are left, sets `bad` and returns 0. */
uint64_t gk_tape_get(struct gk_tape_cursor *cursor);
/* Reads a text. The result points into the bytes of the tape and has no NUL. */
const char *gk_tape_get_text(struct gk_tape_cursor *cursor, size_t *ret_len);

/* Maps the absences in a tape's list to those of this gpukit. */
struct gk_tape_absences {
	enum gk_absence of[256];
	size_t count;
};

/*
 * Reads one field, or skips it if `field` is NULL or has another type. Returns
 * the number of bytes used in the arena.
 */
size_t gk_tape_get_field(struct gk_tape_cursor *cursor, char type,
			 const struct gk_tape_absences *absences,
			 struct gk_arena *arena,
			 const struct gk_tape_field *field, void *to);

/* Sets all fields of a struct to unknown. */
void gk_tape_blank(enum gk_tape_kind kind, void *of);

#endif
