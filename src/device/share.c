/* share.c - shares memory and events of this process; see share.h. */
#include "device/share_file.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mix.h"
#include "device/keeper.h"
#include "device/space_arena.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* One thread at a time changes rows. */
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

/* ---- the file ---- */

struct file_request {
	void *at;
	uint64_t size;
	int file;
};

/* On the keeper. A bound on the size of files would end the program. */
static void make_file(void *data)
{
	struct file_request *q = data;
	uint64_t size = q->size + SHARE_ROWS_SIZE;
	struct rlimit bound;
	int fd = -1;

	if (!getrlimit(RLIMIT_FSIZE, &bound) && bound.rlim_cur >= size)
		fd = memfd_create("gpukit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return;
	if (ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) ||
	    mmap(q->at, q->size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) != q->at)
		close(fd);
	else
		q->file = fd;
}

int share_file(void *at, uint64_t size)
{
	struct file_request q = {at, size, -1};

	return keeper_do(make_file, &q) ? q.file : -1;
}

static void close_file(void *data)
{
	close(*(int *)data);
}

void share_file_close(int file)
{
	keeper_do(close_file, &file);
}

int share_reopen(int file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/fd/%d",
		 (int)keeper_thread(), file);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* ---- rows; the lock is held ---- */

struct rows_request {
	int file;
	uint64_t offset;
	void *at;
	uint64_t inode;
};

static void map_rows(void *data)
{
	struct rows_request *q = data;
	struct stat st;

	if (fstat(q->file, &st))
		return;
	q->inode = st.st_ino;
	q->at = mmap(NULL, SHARE_ROWS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		     q->file, (off_t)q->offset);
}

static bool has_rows(struct arena *a)
{
	struct rows_request q = {a->file, a->size, MAP_FAILED, 0};

	if (a->rows)
		return true;
	if (a->file < 0 || !keeper_do(map_rows, &q) || q.at == MAP_FAILED)
		return false;
	madvise(q.at, SHARE_ROWS_SIZE, MADV_DONTFORK);
	a->rows = q.at;
	a->inode = q.inode;
	return true;
}

/* A word that nobody guesses, and that no row had before. */
static uint64_t new_id(void)
{
	uint64_t id;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = gkf_mix(gk_mono_ns() ^ space_id() << 32);
	return id | 1;
}

static int find_free_row(struct arena *a, uint32_t *ret_row)
{
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

static int fill_row(struct arena *a, enum gkf_share_kind kind, uint64_t base,
		    uint64_t size, uint64_t note, uint32_t *ret_row)
{
	struct share_row *row;
	uint32_t i;
	int r = has_rows(a) ? find_free_row(a, &i) : GK_ERR_NOT_SUPPORTED;
	if (!r) {
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

int gkf_share_new(unsigned device, enum gkf_share_kind kind, uint64_t base,
		  uint64_t size, uint64_t note, uint32_t *ret_row)
{
	struct arena *a = device_arena(device);
	int r;

	pthread_mutex_lock(&lock);
	r = a ? fill_row(a, kind, base, size, note, ret_row)
	      : GK_ERR_NOT_SUPPORTED;
	pthread_mutex_unlock(&lock);
	return r;
}

/* ---- pieces ---- */

/* Rows of pieces, by where they begin; others may write to the rows. */
struct share_piece {
	uint64_t offset;
	uint32_t row, kind;
};

static int find_shared_piece(const struct arena *a, uint64_t offset)
{
	for (uint32_t i = 0; i < a->piece_count; i++)
		if (a->piece[i].offset == offset)
			return (int)i;
	return -1;
}

/* Room for as many as there are rows; only what is used is there. */
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
	r = fill_row(a, kind, base, size, 0, ret_row);
	if (!r)
		a->piece[a->piece_count++] =
		    (struct share_piece){base - a->base, *ret_row, kind};
	return r;
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
	pthread_mutex_unlock(&lock);
}

void share_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}

void gkf_share_end(unsigned device, uint32_t row)
{
	atomic_store(&device_arena(device)->rows[row].id, 0);
}

void gkf_share_handle(unsigned device, uint32_t row,
		      struct gkf_shared *ret_handle)
{
	const struct arena *a = device_arena(device);
	struct gkf_identity self = gkf_self(a->machine);
	struct share_words words = {.magic = SHARE_MAGIC,
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
	return &device_arena(device)->rows[row].event;
}

/* ---- descriptors ---- */

/*
 * The kernel's lock lasts as long as the open file: as long as anybody has a
 * descriptor or a mapping of it.
 */
static struct flock lock_of_row(const struct arena *a, uint32_t row, short type)
{
	return (struct flock){.l_type = type,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)a->rows[row].offset,
			      .l_len = (off_t)a->rows[row].size};
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
	if (lseek(fd, at, SEEK_SET) != at ||
	    (range.l_len && fcntl(fd, F_OFD_SETLK, &range))) {
		close(fd);
		return GK_ERR_NOT_SUPPORTED;
	}
	*ret_fd = fd;
	return 0;
}

/* Where it cannot be looked at it is taken to be in use. */
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

/* ---- the end ---- */

struct range {
	uint64_t from, to;
};

static int by_begin(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/*
 * What is shared of an arena, in order; the caller frees it. Others may be
 * writing to the rows: each word is read once.
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
