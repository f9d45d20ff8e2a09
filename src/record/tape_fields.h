/*
 * tape_fields.h - what a tape keeps of each struct of a snapshot, and how
 * single values lie there. Fields are known by name, so that a tape of
 * another gpukit, with more or fewer of them, can be read.
 */
#ifndef GK_RECORD_TAPE_FIELDS_H
#define GK_RECORD_TAPE_FIELDS_H

#include "base/str.h"
#include "core/arena.h"

#include <gpukit/gpukit.h>

/* The structs, in the order of the schema. */
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

/* How a field is stored in memory; the letter is its type on a tape. */
enum gk_tape_storage {
	GK_STORED_U32,    /* 'u' */
	GK_STORED_U64,    /* 'u' */
	GK_STORED_I32,    /* 'i' */
	GK_STORED_CHAR,   /* 'u' */
	GK_STORED_WHY,    /* 'a': an enum gk_absence */
	GK_STORED_VALUE,  /* 'v': a struct gk_value */
	GK_STORED_ARRAY,  /* 's': a char array of size */
	GK_STORED_STRING, /* 's': a const char *, in an arena */
	GK_STORED_BYTES,  /* 's': the same, its length at size */
	GK_STORED_TEXT,   /* 't': a struct gk_text */
	GK_STORED_COUNT
};

struct gk_tape_field {
	const char *name;
	enum gk_tape_storage storage;
	size_t at, size;
};

struct gk_tape_fields {
	const struct gk_tape_field *rows;
	size_t count;
};

extern const struct gk_tape_fields gk_tape_fields[GK_TAPE_KINDS];

/* The letter of a storage. */
char gk_tape_type(enum gk_tape_storage storage);

/* Integers: seven bits a byte, the lowest first, 0x80 while more follow. */
void gk_tape_put(struct gk_buf *out, uint64_t value);
/* Texts: their length, then their bytes. */
void gk_tape_put_text(struct gk_buf *out, const char *text, size_t len);

/* Adds one field of a struct. */
void gk_tape_put_field(struct gk_buf *out, const struct gk_tape_field *field,
		       const void *of);

/*
 * The rest that is to be read. A value that does not fit sets bad and reads as
 * 0.
 */
struct gk_tape_cursor {
	const unsigned char *at, *end;
	bool bad;
};

/* An integer; 0 and bad when none is left. */
uint64_t gk_tape_get(struct gk_tape_cursor *cursor);
/* A text that lies in the tape's bytes: it is not NUL-terminated. */
const char *gk_tape_get_text(struct gk_tape_cursor *cursor, size_t *ret_len);

/* The absences of a tape, as this program knows them. */
struct gk_tape_absences {
	enum gk_absence of[256];
	size_t count;
};

/* Reads one field; NULL or of another type: passes over it. */
void gk_tape_get_field(struct gk_tape_cursor *cursor, char type,
		       const struct gk_tape_absences *absences,
		       struct gk_arena *arena,
		       const struct gk_tape_field *field, void *to);

/* Makes every field of a struct unknown. */
void gk_tape_blank(enum gk_tape_kind kind, void *of);

#endif
