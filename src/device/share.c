/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - shares memory and events of this process, and owns their rows. */
#include "base/calls.h"
#include "device/share_file.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mix.h"
#include "device/keeper.h"
#include "device/space_arena.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/lent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Guards changes of rows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t share_check(const struct share_words *words)
{
	uint64_t word[sizeof(*words) / sizeof(uint64_t)], sum = 0;

	memcpy(word, words, sizeof(word));
	for (unsigned i = 0; i < sizeof(word) / sizeof(*word) - 1; i++)
		sum = gkf_mix(sum ^ word[i]);
	return sum;
}

uint64_t share_board(const struct gkf_machine *m, unsigned device)
{
	const char *uuid = gkf_board(m, device)->uuid;
	uint64_t sum = device + 1;

	for (; *uuid; uuid++)
		sum = gkf_mix(sum ^ (unsigned char)*uuid);
	return sum;
}

/* ---- rows ---- */

struct rows_request {
	int file;
	uint64_t offset;
	void *at;
	uint64_t inode, device;
};

/* Runs on the keeper thread, for a thread that holds `lock`. */
static void map_rows(void *data)
{
	struct rows_request *q = data;
	struct stat st;

	if (fstat(q->file, &st))
		return;
	q->inode = st.st_ino;
	q->device = st.st_dev;
	q->at = mmap(NULL, SHARE_ROWS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		     q->file, (off_t)q->offset);
}

/* Returns a word that cannot be guessed and that no row has had before. */
static uint64_t new_id(void)
{
	uint64_t id;

	if (gk_random(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = gkf_mix(gk_mono_ns() ^ space_id() << 32);
	return id | 1;
}

/* ---- writing rows; the caller holds `lock` ---- */

static bool has_rows(struct arena *a)
{
	struct rows_request q = {
	    .file = a->file, .offset = a->size, .at = MAP_FAILED};

	GK_ASSERT(gk_lock_held(&lock));
	if (a->rows)
		return true;
	if (a->file < 0 || !keeper_do(map_rows, &q) || q.at == MAP_FAILED)
		return false;
	madvise(q.at, SHARE_ROWS_SIZE, MADV_DONTFORK);
	a->rows = q.at;
	a->inode = q.inode;
	a->host_device = q.device;
	return true;
}

/*
 * Records the file that contains this process's shared memory. If this process
 * dies, other processes use the file to find the users of that memory.
 */
static void tell_books(const struct arena *a)
{
	struct gkf_lending lending = {
	    .device = a->host_device, .inode = a->inode, .pooled = a->pooled};

	GK_ASSERT(gk_lock_held(&lock));
	if (a->machine)
		gkf_lend(a->machine, a->slot, &lending);
}

static int find_free_row(struct arena *a, uint32_t *ret_row)
{
	GK_ASSERT(gk_lock_held(&lock));
	for (uint32_t n = 0; n < SHARE_ROWS; n++) {
		uint32_t i = (a->next_row + n) % SHARE_ROWS;

		if (!atomic_load(&a->rows[i].id)) {
			a->next_row = i + 1;
			*ret_row = i;
			return 0;
		}
	}
	return GK_ERR_TOO_MANY;
}

static int fill_share_row(struct arena *a, enum gkf_share_kind kind,
			  uint64_t base, uint64_t size, uint64_t note,
			  uint32_t *ret_row)
{
	struct share_row *row;
	uint32_t i;
	int r = has_rows(a) ? find_free_row(a, &i) : GK_ERR_NOT_SUPPORTED;

	GK_ASSERT(gk_lock_held(&lock));
	if (!r) {
		tell_books(a);
		row = &a->rows[i];
		row->kind = kind;
		row->offset = base ? base - a->base : 0;
		row->size = size;
		row->note = note;
		row->device = a->device;
		row->board = share_board(a->machine, a->device);
		memset(&row->event, 0, sizeof(row->event));
		atomic_store(&row->id, new_id());
		*ret_row = i;
	}
	return r;
}

/* ---- entry points ---- */

int gkf_share_new(unsigned device, enum gkf_share_kind kind, uint64_t base,
		  uint64_t size, uint64_t note, uint32_t *ret_row)
{
	struct arena *a = device_arena(device);
	int r;

	pthread_mutex_lock(&lock);
	r = a ? fill_share_row(a, kind, base, size, note, ret_row)
	      : GK_ERR_NOT_SUPPORTED;
	pthread_mutex_unlock(&lock);
	return r;
}

/* ---- pieces ---- */

/*
 * A shared piece and its row. The struct is kept outside the rows, because
 * other processes can write to the rows.
 */
struct share_piece {
	uint64_t offset, size;
	uint32_t row, kind;
};

static int find_shared_piece(const struct arena *a, uint64_t offset)
{
	for (uint32_t i = 0; i < a->piece_count; i++)
		if (a->piece[i].offset == offset)
			return (int)i;
	return -1;
}

/* Allocates one entry per row; only touched pages use memory. */
static bool make_piece_room(struct arena *a)
{
	void *piece;

	if (a->piece)
		return true;
	piece =
	    mmap(NULL, SHARE_ROWS * sizeof(*a->piece), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (piece != MAP_FAILED)
		a->piece = piece;
	return a->piece;
}

static int share_piece(struct arena *a, enum gkf_share_kind kind, uint64_t base,
		       uint64_t size, uint32_t *ret_row)
{
	int i = find_shared_piece(a, base - a->base);
	int r;

	if (i >= 0) {
		*ret_row = a->piece[i].row;
		return a->piece[i].kind == kind ? 0 : GK_ERR_INVALID;
	}
	if (!make_piece_room(a))
		return GK_ERR_NOMEM;
	r = fill_share_row(a, kind, base, size, 0, ret_row);
	if (r)
		return r;
	a->piece[a->piece_count++] =
	    (struct share_piece){base - a->base, size, *ret_row, kind};
	if (kind == GKF_SHARE_POINTER) {
		a->pooled += size;
		tell_books(a);
	}
	return 0;
}

int gkf_share_piece(unsigned device, enum gkf_share_kind kind, uint64_t base,
		    uint64_t size, uint32_t *ret_row)
{
	struct arena *a = device_arena(device);
	int r;

	pthread_mutex_lock(&lock);
	r = a ? share_piece(a, kind, base, size, ret_row)
	      : GK_ERR_NOT_SUPPORTED;
	pthread_mutex_unlock(&lock);
	return r;
}

void share_drop(struct arena *a, uint64_t offset)
{
	int i;

	if (!atomic_load_explicit(&a->piece_count, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	i = find_shared_piece(a, offset);
	if (i >= 0) {
		if (a->piece[i].kind == GKF_SHARE_POINTER) {
			a->pooled -= a->piece[i].size;
			tell_books(a);
		}
		atomic_store(&a->rows[a->piece[i].row].id, 0);
		a->piece[i] = a->piece[--a->piece_count];
	}
	pthread_mutex_unlock(&lock);
}

void share_drop_all(struct arena *a)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; a->rows && i < SHARE_ROWS; i++)
		if (atomic_load(&a->rows[i].id))
			atomic_store(&a->rows[i].id, 0);
	a->piece_count = 0;
	a->pooled = 0;
	pthread_mutex_unlock(&lock);
}

void share_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

void gkf_share_end(unsigned device, uint32_t row)
{
	GK_ASSERT(row < SHARE_ROWS);
	atomic_store(&device_arena(device)->rows[row].id, 0);
}

void gkf_share_handle(unsigned device, uint32_t row,
		      struct gkf_shared *ret_handle)
{
	const struct arena *a = device_arena(device);
	struct gkf_identity self = gkf_self(a->machine);
	struct share_words words;

	GK_ASSERT(row < SHARE_ROWS);
	words = (struct share_words){.magic = SHARE_MAGIC,
				     .kind = (uint32_t)a->rows[row].kind,
				     .pid = self.pid,
				     .thread = keeper_thread(),
				     .start = self.start,
				     .pid_ns = self.pid_ns,
				     .inode = a->inode,
				     .id = atomic_load(&a->rows[row].id),
				     .file = (uint32_t)a->file,
				     .row = row};
	words.check = share_check(&words);
	memcpy(ret_handle, &words, sizeof(words));
}

struct gkf_share_event *gkf_share_event_of(unsigned device, uint32_t row)
{
	GK_ASSERT(row < SHARE_ROWS);
	return &device_arena(device)->rows[row].event;
}

/* ---- descriptors ---- */

/*
 * Describes the lock on a row's range of the file. The kernel keeps the lock
 * until every descriptor and mapping of the open file is gone. A pool has no
 * bytes of its own, so its row locks the byte at GKF_LENT_POOLS + row.
 */
static struct flock lock_of_row(const struct arena *a, uint32_t row, short type)
{
	uint64_t size;

	GK_ASSERT(row < SHARE_ROWS);
	size = a->rows[row].size;
	return (struct flock){.l_type = type,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)(size ? a->rows[row].offset
						      : GKF_LENT_POOLS + row),
			      .l_len = (off_t)(size ? size : 1)};
}

int gkf_share_descriptor(unsigned device, uint32_t row, int *ret_fd)
{
	const struct arena *a = device_arena(device);
	struct flock range = lock_of_row(a, row, F_RDLCK);
	off_t at = (off_t)(a->size + row * sizeof(struct share_row));
	int fd = share_reopen(a->file);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE
			   ? GK_ERR_TOO_MANY
			   : GK_ERR_NOT_SUPPORTED;
	if (lseek(fd, at, SEEK_SET) != at || fcntl(fd, F_OFD_SETLK, &range)) {
		close(fd);
		return GK_ERR_NOT_SUPPORTED;
	}
	*ret_fd = fd;
	return 0;
}

/* Also returns true if it cannot be determined whether the memory is in use. */
bool gkf_share_in_use(unsigned device, uint32_t row)
{
	const struct arena *a = device_arena(device);
	struct flock range = lock_of_row(a, row, F_WRLCK);
	int fd = share_reopen(a->file);
	bool used =
	    fd < 0 || fcntl(fd, F_OFD_GETLK, &range) || range.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	return used;
}

/* ---- process exit ---- */

struct range {
	uint64_t from, to;
};

static int by_begin(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/*
 * Returns the shared ranges of an arena, sorted; the caller frees them. Other
 * processes may be writing to the rows, so each word is read only once.
 */
static struct range *ranges_of(const struct arena *a, size_t *ret_count)
{
	struct range *range = calloc(SHARE_ROWS, sizeof(*range));
	size_t n = 0;

	for (uint32_t i = 0; range && i < SHARE_ROWS; i++) {
		const struct share_row *row = &a->rows[i];
		uint64_t from, size;

		if (!atomic_load(&row->id))
			continue;
		from = __atomic_load_n(&row->offset, __ATOMIC_RELAXED);
		size = __atomic_load_n(&row->size, __ATOMIC_RELAXED);
		if (size && size <= a->size && from <= a->size - size)
			range[n++] = (struct range){from, from + size};
	}
	if (range)
		qsort(range, n, sizeof(*range), by_begin);
	*ret_count = n;
	return range;
}

static void give_back(const struct arena *a, uint64_t from, uint64_t to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	from = (from + page - 1) & ~(page - 1);
	to &= ~(page - 1);
	if (from < to)
		madvise(a->view + from, to - from, MADV_REMOVE);
}

static void leave_arena(const struct arena *a)
{
	uint64_t at = 0;
	size_t count;
	struct range *range = ranges_of(a, &count);

	for (size_t i = 0; range && i < count; i++) {
		give_back(a, at, range[i].from);
		at = at > range[i].to ? at : range[i].to;
	}
	if (range)
		give_back(a, at, a->size);
	free(range);
}

void gkf_share_leave(void)
{
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		if (device_arena(i) && device_arena(i)->rows)
			leave_arena(device_arena(i));
}
