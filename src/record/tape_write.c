/* tape_write.c - turns snapshots into blocks of a tape. */
#include "record/tape.h"

#include "record/tape_block.h"
#include "record/tape_fields.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A key block costs as much as some others; replay goes back to one. */
#define BLOCKS_PER_KEY 64

/* Fast enough for 10 ms; what comes again is found anyway. */
#define LEVEL 1

/*
 * How far back the stream looks, 2^n bytes: what a snapshot has comes again in
 * the next, a snapshot's length later. The memory of a writer grows with it:
 * half a MiB and more.
 */
#define WINDOW_MIN 16
#define WINDOW_MAX 19

struct gk_tape_writer {
	ZSTD_CStream *stream;
	unsigned until_key; /* blocks; 0: the next must be one */
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

/* ---- plain bytes ---- */

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

static void put_snapshot(struct gk_buf *out, const struct gk_snapshot *snap)
{
	put_record_fields(out, GK_TAPE_SNAPSHOT, snap);
	gk_tape_put(out, snap->device_count);
	for (size_t i = 0; i < snap->device_count; i++)
		put_device(out, &snap->devices[i]);
	gk_tape_put(out, snap->process_count);
	for (size_t i = 0; i < snap->process_count; i++)
		put_record_fields(out, GK_TAPE_PROCESS, &snap->processes[i]);
	put_topology(out, snap->topology);
}

/* ---- compressed ---- */

/* The stream so far, up to a point where a reader can stop. */
static int compress(struct gk_tape_writer *w, struct gk_buf *out)
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

static void write_head(const struct gk_tape_writer *w, uint64_t wall_ns,
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
}

/* The stream anew, its window two snapshots long. */
static void begin_stream(struct gk_tape_writer *w)
{
	int window = WINDOW_MIN;

	while (window < WINDOW_MAX && w->raw.len * 2 > (size_t)1 << window)
		window++;
	ZSTD_CCtx_reset(w->stream, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(w->stream, ZSTD_c_windowLog, window);
}

int gk_tape_add(struct gk_tape_writer *w, const struct gk_snapshot *snap,
		bool anew, struct gk_buf *out)
{
	unsigned left = anew ? 0 : w->until_key;
	bool key = !left;
	size_t at = out->len;
	int r;

	w->raw.len = 0;
	if (key)
		put_schema(&w->raw);
	put_snapshot(&w->raw, snap);
	if (key)
		begin_stream(w);
	gk_buf_pad(out, 0, GK_TAPE_HEAD_LEN);
	w->until_key = 0; /* should this fail */
	if (w->raw.failed || w->raw.len > GK_TAPE_BLOCK_MAX)
		return GK_ERR_NOMEM;
	r = compress(w, out);
	if (r)
		return r;
	write_head(w, snap->wall_ns, key, out, at);
	w->until_key = key ? BLOCKS_PER_KEY - 1 : left - 1;
	return 0;
}
