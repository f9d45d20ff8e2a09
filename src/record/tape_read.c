/* SPDX-License-Identifier: Apache-2.0 */
/* tape_read.c - finds and reads the blocks of a tape. */
#include "record/tape.h"

#include "base/err.h"
#include "record/tape_block.h"
#include "record/tape_decode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define NOWHERE ((size_t)-1)

/* A block in the list. With one block per second there are 86,400 per day. */
struct block {
	uint64_t at : 63, key : 1;
	/* wall-clock time, adjusted so that it never decreases */
	uint64_t time_ns;
};

/*
 * The maximum number of blocks in the list: it then takes 128 MiB, and covers
 * three months of one block per second.
 */
#define BLOCKS_MAX ((size_t)8 << 20)

/*
 * The maximum number of blocks between two key blocks. Writers begin a key
 * block every 64 blocks.
 */
#define KEY_FAR 1024

struct gk_tape {
	int fd;
	uint64_t size, damaged;
	struct block *blocks;
	size_t count, cap;
	size_t key;       /* index of the last key block in the list */
	uint64_t wall_ns; /* recorded time of the last block in the list */
	/* block with which the stream continues, or NOWHERE */
	size_t next;
	size_t bad; /* the block last found to be damaged, or NOWHERE */
	ZSTD_DStream *stream;
	struct gk_tape_schema *schema;
	unsigned char *stored, *raw;
	size_t stored_cap, raw_cap;
};

/* ---- finding blocks ---- */

static bool read_at(int fd, uint64_t at, void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)to + done, len - done,
				  (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/*
 * Reads the head of a block. Fails unless the whole block is within the file.
 */
static bool head_at(int fd, uint64_t size, uint64_t at,
		    struct gk_tape_head *ret_head)
{
	unsigned char bytes[GK_TAPE_HEAD_LEN];

	return at + sizeof bytes <= size &&
	       read_at(fd, at, bytes, sizeof bytes) &&
	       gk_tape_head_read(bytes, ret_head) &&
	       at + sizeof bytes + ret_head->stored <= size;
}

static uint64_t end_of_block(uint64_t at, const struct gk_tape_head *head)
{
	return at + GK_TAPE_HEAD_LEN + head->stored;
}

/*
 * Returns the first key block whose head is completely within these bytes, or
 * NULL.
 */
static const unsigned char *key_in(const unsigned char *bytes, size_t len,
				   uint64_t at, uint64_t size)
{
	const unsigned char *p = bytes, *end = bytes + len;
	struct gk_tape_head head;

	while ((p = memmem(p, (size_t)(end - p), "GKTB", 4)) &&
	       end - p >= GK_TAPE_HEAD_LEN) {
		if (gk_tape_head_read(p, &head) && head.flags & GK_TAPE_KEY &&
		    end_of_block(at + (uint64_t)(p - bytes), &head) <= size)
			return p;
		p++;
	}
	return NULL;
}

/* Returns the offset of the next key block at or after `at`, or `size` if there
 * is none. */
static uint64_t find_key(int fd, uint64_t size, uint64_t at)
{
	unsigned char bytes[65536];

	while (at + GK_TAPE_HEAD_LEN <= size) {
		size_t len = size - at < sizeof bytes ? (size_t)(size - at)
						      : sizeof bytes;
		const unsigned char *found;

		if (!read_at(fd, at, bytes, len))
			break;
		found = key_in(bytes, len, at, size);
		if (found)
			return at + (uint64_t)(found - bytes);
		at += len - GK_TAPE_HEAD_LEN + 1;
	}
	return size;
}

uint64_t gk_tape_whole(int fd, uint64_t size)
{
	uint64_t at = GK_TAPE_HEADER_LEN, key;
	struct gk_tape_head head;

	while (at < size) {
		if (head_at(fd, size, at, &head)) {
			at = end_of_block(at, &head);
			continue;
		}
		/*
		 * If damage is followed by a key block, continue there;
		 * otherwise this is the end of the tape.
		 */
		key = find_key(fd, size, at + 1);
		if (key == size)
			break;
		at = key;
	}
	return at;
}

/*
 * Returns a block's time. If the clock was set back, adds the difference to
 * this time and to all later ones; otherwise replay would show all snapshots of
 * that span at once.
 */
static uint64_t time_of(const struct gk_tape *t,
			const struct gk_tape_head *head)
{
	const struct block *last = t->count ? &t->blocks[t->count - 1] : NULL;
	uint64_t step, time;

	if (!last)
		return head->wall_ns;
	step = head->wall_ns > t->wall_ns ? head->wall_ns - t->wall_ns : 0;
	time = last->time_ns + step;
	return time < last->time_ns ? last->time_ns : time;
}

static int list_block(struct gk_tape *t, uint64_t at,
		      const struct gk_tape_head *head)
{
	uint64_t time = time_of(t, head);

	if (t->count == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 256;
		struct block *more = realloc(t->blocks, cap * sizeof *more);

		if (!more)
			return GK_ERR_NOMEM;
		t->blocks = more;
		t->cap = cap;
	}
	if (head->flags & GK_TAPE_KEY)
		t->key = t->count;
	t->wall_ns = head->wall_ns;
	t->blocks[t->count++] =
	    (struct block){at, (head->flags & GK_TAPE_KEY) != 0, time};
	return 0;
}

/* Whether a block is a key block, or close enough behind the last one. */
static bool is_near_key(const struct gk_tape *t,
			const struct gk_tape_head *head)
{
	return head->flags & GK_TAPE_KEY || t->count - t->key < KEY_FAR;
}

/*
 * Lists all blocks. A block other than a key block is readable only if its
 * predecessor is. Blocks that do not fit into the list count as damaged.
 */
static int list_blocks(struct gk_tape *t)
{
	uint64_t at = GK_TAPE_HEADER_LEN, key;
	struct gk_tape_head head;
	bool broken = true;
	int r = 0;

	while (!r && at < t->size) {
		if (t->count == BLOCKS_MAX) {
			t->damaged += t->size - at;
			break;
		}
		if (head_at(t->fd, t->size, at, &head) &&
		    (!broken || head.flags & GK_TAPE_KEY) &&
		    is_near_key(t, &head)) {
			r = list_block(t, at, &head);
			at = end_of_block(at, &head);
			broken = false;
			continue;
		}
		key = find_key(t->fd, t->size, at + 1);
		t->damaged += key - at;
		at = key;
		broken = true;
	}
	return r ? r : t->count ? 0 : GK_ERR_CORRUPT;
}

/* ---- opening ---- */

static int check_header(const struct gk_tape *t)
{
	unsigned char header[GK_TAPE_HEADER_LEN];

	if (!read_at(t->fd, 0, header, sizeof header) ||
	    memcmp(header, GK_TAPE_HEADER, 8) != 0)
		return GK_ERR_INVALID;
	return memcmp(header, GK_TAPE_HEADER, sizeof header) != 0
		   ? GK_ERR_VERSION
		   : 0;
}

static int open_tape_file(struct gk_tape *t, const char *path)
{
	struct stat st;
	int r;

	/* O_NONBLOCK: opening would block if the name were that of a FIFO. */
	t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (t->fd < 0 || fstat(t->fd, &st) < 0)
		return gk_err_from_errno(errno);
	if (!S_ISREG(st.st_mode))
		return GK_ERR_INVALID;
	t->size = (uint64_t)st.st_size;
	r = check_header(t);
	return r ? r : list_blocks(t);
}

int gk_tape_open(const char *path, struct gk_tape **ret_tape)
{
	struct gk_tape *t = calloc(1, sizeof *t);
	int r = GK_ERR_NOMEM;

	if (!t)
		return GK_ERR_NOMEM;
	t->fd = -1;
	t->next = t->bad = NOWHERE;
	t->stream = ZSTD_createDStream();
	t->schema = gk_tape_schema_new();
	if (t->stream && t->schema &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(t->stream, ZSTD_d_windowLogMax,
						 GK_TAPE_WINDOW_MAX)))
		r = open_tape_file(t, path);
	if (r) {
		gk_tape_close(t);
		return r;
	}
	*ret_tape = t;
	return 0;
}

void gk_tape_close(struct gk_tape *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		close(t->fd);
	ZSTD_freeDStream(t->stream);
	gk_tape_schema_free(t->schema);
	free(t->blocks);
	free(t->stored);
	free(t->raw);
	free(t);
}

const char *gk_tape_strerror(int err)
{
	return err == GK_ERR_INVALID
		   ? "not a recording of `gpukit record --snapshots`"
	       : err == GK_ERR_VERSION ? "made by a later gpukit"
	       : err == GK_ERR_CORRUPT ? "no complete snapshot in it"
				       : gk_strerror(err);
}

size_t gk_tape_count(const struct gk_tape *t)
{
	return t->count;
}

uint64_t gk_tape_damaged(const struct gk_tape *t)
{
	return t->damaged;
}

uint64_t gk_tape_time(const struct gk_tape *t, size_t at)
{
	return at < t->count ? t->blocks[at].time_ns : 0;
}

size_t gk_tape_find(const struct gk_tape *t, uint64_t time_ns)
{
	size_t from = 0, to = t->count;

	while (to - from > 1) {
		size_t middle = from + (to - from) / 2;

		if (t->blocks[middle].time_ns <= time_ns)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* ---- reading ---- */

static bool reserve_buffer(unsigned char **bytes, size_t *cap, size_t len)
{
	unsigned char *more;

	if (len < *cap)
		return true;
	more = realloc(*bytes, len + 1);
	if (!more)
		return false;
	*bytes = more;
	*cap = len + 1;
	return true;
}

static int unpack_block(struct gk_tape *t, const struct gk_tape_head *head)
{
	ZSTD_inBuffer in = {t->stored, head->stored, 0};
	ZSTD_outBuffer out = {t->raw, head->raw, 0};

	while (in.pos < in.size) {
		size_t before = in.pos + out.pos;
		size_t r = ZSTD_decompressStream(t->stream, &out, &in);

		if (ZSTD_isError(r) || in.pos + out.pos == before)
			return GK_ERR_CORRUPT;
	}
	return out.pos == out.size ? 0 : GK_ERR_CORRUPT;
}

/* Unpacks a block. This requires unpacking all blocks from its key block on. */
static int load_block(struct gk_tape *t, size_t at,
		      struct gk_tape_cursor *ret_cursor)
{
	const struct block *block = &t->blocks[at];
	struct gk_tape_cursor cursor;
	struct gk_tape_head head;
	int r;

	t->next = NOWHERE;
	if (!head_at(t->fd, t->size, block->at, &head))
		return GK_ERR_CORRUPT;
	if (!reserve_buffer(&t->stored, &t->stored_cap, head.stored) ||
	    !reserve_buffer(&t->raw, &t->raw_cap, head.raw))
		return GK_ERR_NOMEM;
	if (!read_at(t->fd, block->at + GK_TAPE_HEAD_LEN, t->stored,
		     head.stored) ||
	    gk_crc32c(t->stored, head.stored) != head.check)
		return GK_ERR_CORRUPT;
	if (block->key)
		ZSTD_DCtx_reset(t->stream, ZSTD_reset_session_only);
	r = unpack_block(t, &head);
	cursor = (struct gk_tape_cursor){t->raw, t->raw + head.raw, false};
	if (!r && block->key)
		r = gk_tape_schema_read(t->schema, &cursor);
	if (r)
		return r;
	t->next = at + 1;
	*ret_cursor = cursor;
	return 0;
}

int gk_tape_read(struct gk_tape *t, size_t at, struct gk_snapshot **ret_snap)
{
	struct gk_tape_cursor cursor;
	size_t from = at;
	int r = 0;

	if (at >= t->count)
		return GK_ERR_RANGE;
	while (from && from != t->next && from != t->bad &&
	       !t->blocks[from].key)
		from--;
	if (from == t->bad)
		return GK_ERR_CORRUPT;
	for (; !r && from <= at; from++) {
		r = load_block(t, from, &cursor);
		if (r == GK_ERR_CORRUPT)
			t->bad = from;
	}
	return r ? r : gk_tape_decode(t->schema, &cursor, ret_snap);
}
