/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - keeps frames in memory as tapes. Two tapes are used in turn. */
#include "cli/top/keep.h"

#include "base/array.h"
#include "base/calls.h"
#include "base/clock.h"
#include "base/str.h"
#include "record/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAMES    300 /* maximum number of frames per tape */
#define BYTES_MAX (2U << 20)
#define BETWEEN   (950 * GK_NS_PER_MS) /* shortest time between two frames */

struct top_keep {
	struct tui_keep frames;
	struct gk_tape_writer *writer;
	struct gk_buf block;
	struct tape {
		int fd; /* -1: none */
		unsigned count;
		size_t bytes;
	} tapes[2];
	unsigned current;
	bool
	    anew; /* the next block must be readable without the earlier ones */
	uint64_t next_ns;
};

static bool write_whole(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* Drops the older tape and starts a new one. */
static bool turn_tape(struct top_keep *k)
{
	struct tape *t = &k->tapes[k->current ^= 1];

	if (t->fd >= 0)
		close(t->fd);
	*t = (struct tape){.fd = gk_memfd("gpukit-frames", MFD_CLOEXEC)};
	k->anew = true;
	return t->fd >= 0 &&
	       write_whole(t->fd, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
}

/* Does not keep the topology, because it does not change. */
static void keep_frame(void *data, const struct gk_snapshot *snap)
{
	struct top_keep *k = data;
	struct gk_snapshot bare = *snap;
	struct tape *t = &k->tapes[k->current];

	if (snap->mono_ns < k->next_ns)
		return;
	k->next_ns = snap->mono_ns + BETWEEN;
	if ((t->fd < 0 || t->count >= FRAMES || t->bytes >= BYTES_MAX) &&
	    !turn_tape(k))
		return;
	t = &k->tapes[k->current];
	bare.topology = NULL;
	k->block.len = 0;
	if (gk_tape_add(k->writer, &bare, k->anew, &k->block) ||
	    !write_whole(t->fd, k->block.data, k->block.len)) {
		k->anew = true;
		return;
	}
	k->anew = false;
	t->count++;
	t->bytes += k->block.len;
}

static int read_frame(int fd, uint64_t wall_ns, struct gk_snapshot **ret_snap)
{
	char path[64];
	struct gk_tape *tape;
	size_t at;
	int r;

	if (fd < 0)
		return GK_ERR_NOT_FOUND;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	r = gk_tape_open(path, &tape);
	if (r)
		return r;
	at = gk_tape_find(tape, wall_ns);
	r = gk_tape_time(tape, at) > wall_ns ? GK_ERR_NOT_FOUND
					     : gk_tape_read(tape, at, ret_snap);
	gk_tape_close(tape);
	return r;
}

static int find_frame(void *data, uint64_t wall_ns,
		      struct gk_snapshot **ret_snap)
{
	const struct top_keep *k = data;
	int r = read_frame(k->tapes[k->current].fd, wall_ns, ret_snap);

	return r ? read_frame(k->tapes[!k->current].fd, wall_ns, ret_snap) : 0;
}

struct top_keep *top_keep_new(void)
{
	struct top_keep *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->frames =
	    (struct tui_keep){.data = k, .add = keep_frame, .at = find_frame};
	k->tapes[0].fd = k->tapes[1].fd = -1;
	k->writer = gk_tape_writer_new();
	if (k->writer)
		return k;
	free(k);
	return NULL;
}

const struct tui_keep *top_keep_frames(const struct top_keep *keep)
{
	return keep ? &keep->frames : NULL;
}

void top_keep_free(struct top_keep *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < COUNT(k->tapes); i++)
		if (k->tapes[i].fd >= 0)
			close(k->tapes[i].fd);
	gk_tape_writer_free(k->writer);
	gk_buf_free(&k->block);
	free(k);
}
