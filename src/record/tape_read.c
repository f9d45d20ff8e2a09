/* tape_read.c - finds the blocks of a tape and reads them. */
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

/* A block that is there; those that cannot be decoded are not listed. */
struct block {
	uint64_t at;
	uint64_t time_ns; /* wall time that never goes back */
	struct gk_tape_head head;
};

struct gk_tape {
	int fd;
	uint64_t size, damaged;
	struct block *blocks;
	size_t count, cap;
	size_t next; /* block that the stream continues with, or NOWHERE */
	size_t bad;  /* the last that was found damaged, or NOWHERE */
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

/* The head of a block that lies whole in the file. */
static bool head_at(int fd, uint64_t size, uint64_t at,
		    struct gk_tape_head *ret_head)
{
	unsigned char bytes[GK_TAPE_HEAD_LEN];

	return at + sizeof bytes <= size &&
	       read_at(fd, at, bytes, sizeof bytes) &&
	       gk_tape_head_read(bytes, ret_head) &&
	       at + sizeof bytes + ret_head->stored <= size;
}

static uint64_t after(uint64_t at, const struct gk_tape_head *head)
{
	return at + GK_TAPE_HEAD_LEN + head->stored;
}

/* Where the next key block begins, from at on; size if there is none. */
static uint64_t find_key(int fd, uint64_t size, uint64_t at)
{
	unsigned char bytes[4096];
	struct gk_tape_head head;

	while (at + GK_TAPE_HEAD_LEN <= size) {
		size_t len = size - at < sizeof bytes ? (size_t)(size - at)
						      : sizeof bytes;
		const unsigned char *found;

		if (!read_at(fd, at, bytes, len))
			break;
		found = memmem(bytes, len, "GKTB", 4);
		if (!found) {
			at += len > 3 ? len - 3 : len;
			continue;
		}
		at += (uint64_t)(found - bytes);
		if (head_at(fd, size, at, &head) && head.flags & GK_TAPE_KEY)
			return at;
		at++;
	}
	return size;
}

uint64_t gk_tape_whole(int fd, uint64_t size)
{
	uint64_t at = GK_TAPE_HEADER_LEN;
	struct gk_tape_head head;

	while (at < size) {
		if (head_at(fd, size, at, &head)) {
			at = after(at, &head);
			continue;
		}
		/* Damage in the middle stays; a torn end goes. */
		if (find_key(fd, size, at + 1) == size)
			break;
		at = find_key(fd, size, at + 1);
	}
	return at;
}

/*
 * When the clock was set back, what follows is as much later as it was set
 * back: or an hour of snapshots would be over at once.
 */
static uint64_t time_of(const struct gk_tape *t,
			const struct gk_tape_head *head)
{
	const struct block *last = t->count ? &t->blocks[t->count - 1] : NULL;
	uint64_t step, time;

	if (!last)
		return head->wall_ns;
	step = head->wall_ns > last->head.wall_ns
		   ? head->wall_ns - last->head.wall_ns
		   : 0;
	time = last->time_ns + step;
	return time < last->time_ns ? last->time_ns : time;
}

static int add_block(struct gk_tape *t, uint64_t at,
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
	t->blocks[t->count++] = (struct block){at, time, *head};
	return 0;
}

/* Lists what is there; a block that is no key needs the one before it. */
static int list_blocks(struct gk_tape *t)
{
	uint64_t at = GK_TAPE_HEADER_LEN, key;
	struct gk_tape_head head;
	bool broken = true;
	int r = 0;

	while (!r && at < t->size) {
		if (head_at(t->fd, t->size, at, &head) &&
		    (!broken || head.flags & GK_TAPE_KEY)) {
			r = add_block(t, at, &head);
			at = after(at, &head);
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

	t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
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
	if (t->stream && t->schema)
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
	return err == GK_ERR_INVALID   ? "it is no recording of `gpukit record "
					 "--snapshots`"
	       : err == GK_ERR_VERSION ? "a later gpukit made it"
	       : err == GK_ERR_CORRUPT ? "it holds no whole snapshot"
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

/* The plain bytes of a block; those before it are done since their key. */
static int load_block(struct gk_tape *t, size_t at,
		      struct gk_tape_cursor *ret_cursor)
{
	const struct block *block = &t->blocks[at];
	const struct gk_tape_head *head = &block->head;
	struct gk_tape_cursor cursor;
	int r;

	t->next = NOWHERE;
	if (!reserve_buffer(&t->stored, &t->stored_cap, head->stored) ||
	    !reserve_buffer(&t->raw, &t->raw_cap, head->raw))
		return GK_ERR_NOMEM;
	if (!read_at(t->fd, block->at + GK_TAPE_HEAD_LEN, t->stored,
		     head->stored) ||
	    gk_crc32c(t->stored, head->stored) != head->check)
		return GK_ERR_CORRUPT;
	if (head->flags & GK_TAPE_KEY)
		ZSTD_DCtx_reset(t->stream, ZSTD_reset_session_only);
	r = unpack_block(t, head);
	cursor = (struct gk_tape_cursor){t->raw, t->raw + head->raw, false};
	if (!r && head->flags & GK_TAPE_KEY)
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
	       !(t->blocks[from].head.flags & GK_TAPE_KEY))
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
