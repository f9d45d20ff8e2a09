/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_open.c - opens memory and events that other processes share; see
 * share.h.
 */
#include "device/share_file.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/pidstat.h"
#include "machine/store/board.h"
#include "machine/store/process/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * How often a waiting thread checks whether the other process is still alive.
 */
#define LOOK_NS (50 * GK_NS_PER_MS)

/* ---- checking ---- */

static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_nlink &&
	       st->st_uid == geteuid() &&
	       (uint64_t)st->st_size >= SHARE_ROWS_SIZE &&
	       !(st->st_size % (off_t)sizeof(struct share_row));
}

/*
 * Checks that a file is one of ours and cannot be truncated, and finds its
 * rows.
 */
static int check_file(int fd, uint64_t *ret_rows)
{
	struct stat st;
	int seals;

	if (fstat(fd, &st) || !is_ours(&st))
		return GK_ERR_CORRUPT;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return GK_ERR_CORRUPT;
	*ret_rows = (uint64_t)st.st_size - SHARE_ROWS_SIZE;
	return 0;
}

static int check_row(struct gkf_machine *m, const struct share_row *row,
		     enum gkf_share_kind kind, uint64_t rows,
		     struct gkf_share_about *ret_about)
{
	if (row->kind != kind || row->device >= gkf_device_count(m) ||
	    row->board != share_board(m, (unsigned)row->device) ||
	    row->size > rows || row->offset > rows - row->size)
		return GK_ERR_CORRUPT;
	*ret_about = (struct gkf_share_about){.kind = kind,
					      .device = (unsigned)row->device,
					      .offset = row->offset,
					      .size = row->size,
					      .note = row->note};
	return 0;
}

/* Copies a row; GK_ERR_NOT_FOUND if it is unused. */
static int read_row(int fd, uint64_t at, struct share_row *ret_row)
{
	if (pread(fd, ret_row, sizeof(*ret_row), (off_t)at) != sizeof(*ret_row))
		return GK_ERR_CORRUPT;
	return atomic_load(&ret_row->id) ? 0 : GK_ERR_NOT_FOUND;
}

/*
 * Checks the file before opening it, because it may be any file of this user.
 */
static int open_file(const struct share_words *w)
{
	struct stat st;
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%u", (int)w->pid,
		 (int)w->thread, w->file);
	if (stat(path, &st))
		return GK_ERR_NOT_FOUND;
	if (!is_ours(&st) || st.st_ino != w->inode)
		return GK_ERR_NOT_FOUND;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return fd;
	return errno == EMFILE || errno == ENFILE ? GK_ERR_TOO_MANY
						  : GK_ERR_NOT_FOUND;
}

static int check_words(struct gkf_machine *m, const struct share_words *w,
		       enum gkf_share_kind kind)
{
	struct gkf_identity self = gkf_self(m);

	if (w->magic != SHARE_MAGIC || w->kind != (uint32_t)kind ||
	    w->check != share_check(w) || w->row >= SHARE_ROWS || w->pid <= 0 ||
	    w->thread <= 0 || w->pid_ns != self.pid_ns)
		return GK_ERR_CORRUPT;
	return w->pid == self.pid && w->start == self.start ? GK_ERR_IN_USE : 0;
}

static int look_into(struct gkf_machine *m, int fd, const struct share_words *w,
		     struct gkf_share_about *ret_about)
{
	struct share_row row;
	uint64_t rows;
	int r = check_file(fd, &rows);

	if (!r)
		r = read_row(fd, rows + w->row * sizeof(row), &row);
	if (!r && atomic_load(&row.id) != w->id)
		r = GK_ERR_NOT_FOUND;
	return r ? r
		 : check_row(m, &row, (enum gkf_share_kind)w->kind, rows,
			     ret_about);
}

/*
 * Takes the lock described at lock_of_row(), which shows the owner that the
 * memory is in use.
 */
static int lock_memory(int fd, const struct gkf_share_about *about)
{
	struct flock range = {.l_type = F_RDLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)about->offset,
			      .l_len = (off_t)about->size};

	return about->kind != GKF_SHARE_MEMORY || !about->size ||
		       !fcntl(fd, F_OFD_SETLK, &range)
		   ? 0
		   : GK_ERR_NOT_SUPPORTED;
}

int gkf_share_open(struct gkf_machine *m, const struct gkf_shared *handle,
		   enum gkf_share_kind kind, int *ret_fd,
		   struct gkf_share_about *ret_about)
{
	struct share_words words;
	int r, fd;

	memcpy(&words, handle, sizeof(words));
	r = check_words(m, &words, kind);
	if (r)
		return r;
	fd = open_file(&words);
	if (fd < 0)
		return fd;
	r = look_into(m, fd, &words, ret_about);
	if (!r)
		r = lock_memory(fd, ret_about);
	if (r)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

int gkf_share_received(struct gkf_machine *m, int fd, enum gkf_share_kind kind,
		       struct gkf_share_about *ret_about)
{
	off_t at = fd < 0 ? -1 : lseek(fd, 0, SEEK_CUR);
	struct share_row row;
	uint64_t rows;
	int r = at < 0 ? GK_ERR_CORRUPT : check_file(fd, &rows);

	if (!r && ((uint64_t)at < rows || ((uint64_t)at - rows) % sizeof(row)))
		r = GK_ERR_CORRUPT;
	if (!r)
		r = read_row(fd, (uint64_t)at, &row);
	return r ? r : check_row(m, &row, kind, rows, ret_about);
}

void *gkf_share_all(int fd, uint64_t *ret_size)
{
	uint64_t rows, size;
	void *all;

	if (check_file(fd, &rows))
		return NULL;
	size = rows + SHARE_ROWS_SIZE;
	all = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (all == MAP_FAILED)
		return NULL;
	madvise(all, size, MADV_DONTFORK);
	madvise(all, size, MADV_DONTDUMP);
	*ret_size = size;
	return all;
}

/* Copies a row word by word, because other processes may be writing to it. */
static void copy_row(struct share_row *ret_row, const void *from)
{
	uint64_t words[sizeof(*ret_row) / sizeof(uint64_t)];

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = __atomic_load_n((const uint64_t *)from + i,
					   __ATOMIC_ACQUIRE);
	memcpy(ret_row, words, sizeof(words));
}

int gkf_share_find(struct gkf_machine *m, const void *all, uint64_t size,
		   const struct gkf_shared *handle, enum gkf_share_kind kind,
		   struct gkf_share_about *ret_about)
{
	uint64_t rows = size - SHARE_ROWS_SIZE;
	struct share_words words;
	struct share_row row;
	int r;

	memcpy(&words, handle, sizeof(words));
	r = check_words(m, &words, kind);
	if (r)
		return r;
	copy_row(&row,
		 (const unsigned char *)all + rows + words.row * sizeof(row));
	if (atomic_load(&row.id) != words.id)
		return GK_ERR_NOT_FOUND;
	return check_row(m, &row, kind, rows, ret_about);
}

uint64_t gkf_share_id(const struct gkf_shared *handle)
{
	struct share_words words;

	memcpy(&words, handle, sizeof(words));
	return words.id;
}

/* ---- memory that gkf_space_map() maps later ---- */

static uint64_t page_below(uint64_t n)
{
	return n & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

void *gkf_share_source(int fd, const struct gkf_share_about *about)
{
	uint64_t from = page_below(about->offset);
	unsigned char *at = mmap(NULL, about->offset + about->size - from,
				 PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_NORESERVE, fd, (off_t)from);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, about->offset + about->size - from, MADV_DONTFORK);
	madvise(at, about->offset + about->size - from, MADV_DONTDUMP);
	return at + (about->offset - from);
}

void gkf_share_source_end(void *source, const struct gkf_share_about *about)
{
	uint64_t before = about->offset - page_below(about->offset);

	munmap((unsigned char *)source - before, before + about->size);
}

/* ---- events ---- */

struct gkf_share_event *gkf_share_event_at(int fd, const struct gkf_shared *h)
{
	struct share_words words;
	uint64_t rows, at;
	unsigned char *page;

	memcpy(&words, h, sizeof(words));
	if (check_file(fd, &rows) || words.row >= SHARE_ROWS)
		return NULL;
	at = rows + words.row * sizeof(struct share_row);
	page =
	    mmap(NULL, at + sizeof(struct share_row) - page_below(at),
		 PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)page_below(at));
	if (page == MAP_FAILED)
		return NULL;
	page += at - page_below(at);
	return &((struct share_row *)(void *)page)->event;
}

/* An event is within one page, because no row crosses a page boundary. */
void gkf_share_event_close(struct gkf_share_event *e)
{
	uint64_t page = page_below((uintptr_t)e);

	munmap((void *)(uintptr_t)page, (size_t)sysconf(_SC_PAGESIZE));
}

static struct gkf_share_record *record_at(struct gkf_share_event *e,
					  uint64_t number)
{
	return &e->record[number % GKF_SHARE_RECORDS];
}

/*
 * Returns pid and start time of this process in one word, which can be stored
 * atomically.
 */
static uint64_t word_of_self(const struct gkf_machine *m)
{
	struct gkf_identity self = gkf_self(m);

	return (uint64_t)(uint32_t)self.pid << 32 | (uint32_t)self.start;
}

bool gkf_share_may_reach(struct gkf_share_event *e, uint64_t number)
{
	return number <= GKF_SHARE_RECORDS ||
	       gkf_share_reached(e, number - GKF_SHARE_RECORDS);
}

/*
 * Whether this process may use a record's slot. A slot must not contain
 * unreached records of two processes, because `who` can name only one of them.
 */
static bool is_place_free(const struct gkf_machine *m,
			  struct gkf_share_event *e, uint64_t number,
			  uint64_t who)
{
	if (gkf_share_may_reach(e, number) ||
	    atomic_load(&record_at(e, number)->who) == who)
		return true;
	if (!gkf_share_abandoned(m, e, number - GKF_SHARE_RECORDS))
		return false;
	gkf_share_reach(e, number - GKF_SHARE_RECORDS);
	return true;
}

/*
 * Stores `who` before creating the record, and again afterwards, in case
 * another process stored its own in between.
 */
int gkf_share_record(const struct gkf_machine *m, struct gkf_share_event *e,
		     uint64_t *ret_number)
{
	uint64_t who = word_of_self(m), last = atomic_load(&e->recorded);

	do {
		if (!is_place_free(m, e, last + 1, who))
			return GK_ERR_TOO_MANY;
		atomic_store(&record_at(e, last + 1)->who, who);
	} while (!atomic_compare_exchange_weak(&e->recorded, &last, last + 1));
	atomic_store(&record_at(e, last + 1)->who, who);
	*ret_number = last + 1;
	return 0;
}

void gkf_share_reach(struct gkf_share_event *e, uint64_t number)
{
	struct gkf_share_record *record = record_at(e, number);
	uint64_t reached = atomic_load(&record->reached);

	while (reached < number && !atomic_compare_exchange_weak(
				       &record->reached, &reached, number))
		;
	atomic_fetch_add(&e->word, 1);
	gk_futex_wake(GK_FUTEX_SHARED, &e->word, INT_MAX);
}

/* All users of an event are in the same pid namespace. */
bool gkf_share_abandoned(const struct gkf_machine *m, struct gkf_share_event *e,
			 uint64_t number)
{
	uint64_t word = atomic_load(&record_at(e, number)->who);
	struct gkf_identity who = {.pid = (int32_t)(word >> 32),
				   .pid_ns = gkf_own_namespace(m),
				   .start = (uint32_t)word};
	struct gk_pidstat st;

	if (!gk_pidstat_of(who.pid, &st) && (uint32_t)st.start == who.start)
		who.start = st.start;
	return !gkf_alive(who.pid_ns, &who);
}

bool gkf_share_reached(struct gkf_share_event *e, uint64_t number)
{
	return atomic_load(&record_at(e, number)->reached) >= number;
}

bool gkf_share_wait(const struct gkf_machine *m, struct gkf_share_event *e,
		    uint64_t number)
{
	uint64_t end = gk_mono_ns() + LOOK_NS, now;
	uint32_t word;

	for (;;) {
		word = atomic_load(&e->word);
		if (gkf_share_reached(e, number))
			return true;
		now = gk_mono_ns();
		if (now >= end)
			return gkf_share_abandoned(m, e, number);
		gk_futex_wait(GK_FUTEX_SHARED, &e->word, word, end - now);
	}
}
