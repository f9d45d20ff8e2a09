/* SPDX-License-Identifier: Apache-2.0 */
/* tape_write.c - encodes snapshots as blocks of a tape. */
#include "record/tape.h"

#include "core/snapshot.h"
#include "record/tape_block.h"
#include "record/tape_fields.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/*
 * Blocks from one key block to the next. A key block is as large as several
 * others, but replay can seek only to key blocks.
 */
#define BLOCKS_PER_KEY 64

/*
 * The zstd level: fast enough to record every 10 ms, but still finds the
 * repetitions between snapshots.
 */
#define LEVEL 1

/*
 * The smallest window of zstd, 2^n bytes. A snapshot mostly repeats the
 * previous one, so the window must be larger than one snapshot. The writer's
 * memory grows with the window, from half a MiB up.
 */
#define WINDOW_MIN 16

struct gk_tape_writer {
	ZSTD_CStream *stream;
	unsigned until_key; /* number of blocks to write before the next key
			     * block */
	struct gk_buf raw;
};

struct gk_tape_writer *gk_tape_writer_new(void)
{
	struct gk_tape_writer *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->stream = ZSTD_createCStream();
	if (w->stream && !ZSTD_isError(ZSTD_CCtx_setParameter(
			     w->stream, ZSTD_c_compressionLevel, LEVEL)))
		return w;
	gk_tape_writer_free(w);
	return NULL;
}

void gk_tape_writer_free(struct gk_tape_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCStream(w->stream);
	gk_buf_free(&w->raw);
	free(w);
}

/* ---- encoding ---- */

static void put_name(struct gk_buf *out, const char *name)
{
	gk_tape_put_text(out, name, strlen(name));
}

static void put_schema(struct gk_buf *out)
{
	gk_tape_put(out, GK_TAPE_KINDS);
	for (int kind = 0; kind < GK_TAPE_KINDS; kind++) {
		const struct gk_tape_fields *fields = &gk_tape_fields[kind];

		gk_tape_put(out, fields->count);
		for (size_t i = 0; i < fields->count; i++) {
			gk_buf_putc(out, gk_tape_type(fields->rows[i].storage));
			put_name(out, fields->rows[i].name);
		}
	}
	gk_tape_put(out, GK_ABSENCE_COUNT);
	for (int i = 0; i < GK_ABSENCE_COUNT; i++)
		put_name(out, gk_absence_text((enum gk_absence)i));
}

static void put_record_fields(struct gk_buf *out, enum gk_tape_kind kind,
			      const void *of)
{
	const struct gk_tape_fields *fields = &gk_tape_fields[kind];

	for (size_t i = 0; i < fields->count; i++)
		gk_tape_put_field(out, &fields->rows[i], of);
}

static void put_device(struct gk_buf *out, const struct gk_device *device)
{
	const struct gk_detail *detail = device->detail;

	put_record_fields(out, GK_TAPE_DEVICE, device);
	gk_tape_put(out, detail != NULL);
	if (!detail)
		return;
	put_record_fields(out, GK_TAPE_DETAIL, detail);
	gk_tape_put(out, detail->link_count);
	for (unsigned i = 0; i < detail->link_count; i++)
		put_record_fields(out, GK_TAPE_LINK, &detail->links[i]);
}

static void put_topology(struct gk_buf *out, const struct gk_topology *topology)
{
	size_t count = topology ? topology->count : 0;

	gk_tape_put(out, topology != NULL);
	if (!topology)
		return;
	gk_tape_put(out, count);
	for (size_t i = 0; i < count; i++)
		put_record_fields(out, GK_TAPE_PLACE, &topology->places[i]);
	for (size_t i = 0; i < count * count; i++)
		put_record_fields(out, GK_TAPE_PEER, &topology->peers[i]);
}

/* bare: leave out command lines, the largest part of a process. */
static void put_process(struct gk_buf *out, const struct gk_process *process,
			bool bare)
{
	struct gk_process p = *process;

	if (bare) {
		p.command = p.args = "";
		p.args_len = 0;
	}
	put_record_fields(out, GK_TAPE_PROCESS, &p);
}

static void put_snapshot(struct gk_buf *out, const struct gk_snapshot *snap,
			 bool bare)
{
	put_record_fields(out, GK_TAPE_SNAPSHOT, snap);
	gk_tape_put(out, snap->device_count);
	for (size_t i = 0; i < snap->device_count; i++)
		put_device(out, &snap->devices[i]);
	gk_tape_put(out, snap->process_count);
	for (size_t i = 0; i < snap->process_count; i++)
		put_process(out, &snap->processes[i], bare);
	put_topology(out, snap->topology);
}

/* ---- compression ---- */

/* Compresses data and flushes the compressor, so that this block can be
 * unpacked without the next one. */
static int compress_block(struct gk_tape_writer *w, struct gk_buf *out)
{
	ZSTD_inBuffer in = {w->raw.data, w->raw.len, 0};
	char room[16384];
	size_t left;

	do {
		ZSTD_outBuffer to = {room, sizeof room, 0};

		left = ZSTD_compressStream2(w->stream, &to, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return GK_ERR_NOMEM;
		gk_buf_add(out, room, to.pos);
	} while (left || in.pos < in.size);
	return out->failed ? GK_ERR_NOMEM : 0;
}

/* Returns GK_ERR_TOO_MANY if readers would refuse a block of this size. */
static int write_head(const struct gk_tape_writer *w, uint64_t wall_ns,
		      bool key, struct gk_buf *out, size_t at)
{
	char *stored = out->data + at + GK_TAPE_HEAD_LEN;
	struct gk_tape_head head = {
	    .flags = key ? GK_TAPE_KEY : 0,
	    .stored = (uint32_t)(out->len - at - GK_TAPE_HEAD_LEN),
	    .raw = (uint32_t)w->raw.len,
	    .wall_ns = wall_ns,
	};

	head.check = gk_crc32c(stored, head.stored);
	gk_tape_head_write(&head, (unsigned char *)out->data + at);
	return gk_tape_head_fits(&head) ? 0 : GK_ERR_TOO_MANY;
}

/* Begins a new stream, with a window that spans two snapshots. */
static void begin_stream(struct gk_tape_writer *w)
{
	int window = WINDOW_MIN;

	while (window < GK_TAPE_WINDOW_MAX && w->raw.len * 2 > (size_t)1
								   << window)
		window++;
	ZSTD_CCtx_reset(w->stream, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(w->stream, ZSTD_c_windowLog, window);
}

/* Adds one block. Returns GK_ERR_TOO_MANY if readers would refuse its size. */
static int add_block(struct gk_tape_writer *w, const struct gk_snapshot *snap,
		     bool key, bool bare, struct gk_buf *out)
{
	unsigned left = w->until_key;
	size_t at = out->len;
	int r;

	w->raw.len = 0;
	if (key)
		put_schema(&w->raw);
	put_snapshot(&w->raw, snap, bare);
	if (key)
		begin_stream(w);
	gk_buf_pad(out, 0, GK_TAPE_HEAD_LEN);
	w->until_key = 0; /* stays 0 if this function fails */
	if (w->raw.failed)
		return GK_ERR_NOMEM;
	if (w->raw.len > GK_TAPE_BLOCK_MAX)
		return GK_ERR_TOO_MANY;
	r = compress_block(w, out);
	if (!r)
		r = write_head(w, snap->wall_ns, key, out, at);
	if (!r)
		w->until_key = key ? BLOCKS_PER_KEY - 1 : left - 1;
	return r;
}

int gk_tape_add(struct gk_tape_writer *w, const struct gk_snapshot *snap,
		bool anew, struct gk_buf *out)
{
	size_t at = out->len;
	int r;

	if (snap->process_count > GK_SNAPSHOT_PROCESSES ||
	    snap->device_count > GK_SNAPSHOT_DEVICES)
		return GK_ERR_TOO_MANY;
	r = add_block(w, snap, anew || !w->until_key, false, out);
	if (r != GK_ERR_TOO_MANY)
		return r;
	out->len = at;
	return add_block(w, snap, true, true, out);
}
