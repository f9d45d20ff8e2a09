/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - opens, writes and rotates the file of a recording. */
#include "record/file.h"

#include "base/assert.h"
#include "base/calls.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "record/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEW_FLAGS                                                              \
	(O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC)
#define TRIES 100

/* The longest wait for another recorder that is writing a line. */
#define LOOKS   100
#define LOOK_NS (10 * GK_NS_PER_MS)
#define SUFFIX  24 /* ".1234567.12.tmp" */

/*
 * How long the reader of a stream may still read after the recorder has been
 * told to end.
 */
#define GRACE_MS 1000
#define OPEN_MS  20 /* interval between two checks for a reader */

/* ---- errors ---- */

static int __attribute__((format(printf, 3, 4)))
tell_trouble(struct gk_record_file *f, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->trouble, sizeof f->trouble, format, args);
	va_end(args);
	return err;
}

static int tell_file_error(struct gk_record_file *f, const char *what,
			   int error)
{
	return tell_trouble(f, gk_err_from_errno(error), "cannot %s %s: %s",
			    what, f->path, strerror(error));
}

static int tell_refused(struct gk_record_file *f, int err, const char *why)
{
	return tell_trouble(f, err, "cannot open %s: %s", f->path, why);
}

/* ---- writing ---- */

/* The arguments of a write. Both the process and its child of vfork() use
 * them. */
struct piece {
	int fd;
	bool regular;
	const char *bytes;
	size_t len;
	uint64_t before; /* size of the file before the write */
	volatile int error;
};

/* Makes nothing but system calls, because it may run in the child of
 * vfork(). */
static void put_piece(struct piece *p)
{
	size_t done = 0;
	struct stat st;

	while (done < p->len) {
		ssize_t n = write(p->fd, p->bytes + done, p->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			p->error = n < 0 ? errno : EIO;
			break;
		}
		done += (size_t)n;
	}
	/*
	 * Undoes a partial write, unless another process has appended to the
	 * file since.
	 */
	if (p->error && done && p->regular && !fstat(p->fd, &st) &&
	    (uint64_t)st.st_size == p->before + done)
		(void)!ftruncate(p->fd, (off_t)p->before);
}

/*
 * Writes in a child of vfork(), so that the write is completed even if the
 * recorder is killed. Before it copies a page, the kernel checks for SIGKILL; a
 * write across a page boundary could be cut off there. A signal that kills the
 * recorder does not reach the child.
 */
static void put_surely(struct piece *p)
{
	pid_t child = vfork();

	if (child == 0) {
		/*
		 * A signal to our process group must not reach the child
		 * either.
		 */
		setsid();
		put_piece(p);
		_exit(0);
	}
	if (child < 0)
		put_piece(p);
	else
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
}

static bool is_stopped_after(const struct gk_record_file *f, int ms)
{
	int stop = f->options.stop;
	struct pollfd end = {.fd = stop > 0 ? stop : -1, .events = POLLIN};

	return poll(&end, 1, ms) > 0;
}

/*
 * Waits until the stream accepts data or fails. Returns false if nobody reads
 * from it and the recorder has been told to end.
 */
static bool await_room(const struct gk_record_file *f)
{
	int stop = f->options.stop;
	struct pollfd fds[] = {
	    {.fd = f->fd, .events = POLLOUT},
	    {.fd = stop > 0 ? stop : -1, .events = POLLIN},
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[0].revents || poll(fds, 1, GRACE_MS) > 0;
}

/* A pipe that is reported as writable has space for PIPE_BUF bytes. */
static void put_stream(struct gk_record_file *f, struct piece *p)
{
	struct piece part = *p;

	while (!part.error && p->len) {
		if (!await_room(f)) {
			p->error = EPIPE;
			return;
		}
		part.len = p->len < PIPE_BUF ? p->len : PIPE_BUF;
		put_piece(&part);
		part.bytes += part.len;
		p->len -= part.len;
	}
	p->error = part.error;
}

static bool in_one_page(const struct piece *p)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return p->before / page == (p->before + p->len - 1) / page;
}

int gk_record_file_write(struct gk_record_file *f, const char *bytes,
			 size_t len)
{
	struct piece p = {f->fd, f->regular, bytes, len, 0, 0};
	struct stat st;

	GK_ASSERT(f->fd >= 0);
	if (!len)
		return 0;
	if (fstat(f->fd, &st) < 0)
		return tell_file_error(f, "look at", errno);
	if (f->regular && !st.st_nlink)
		return tell_trouble(f, GK_ERR_NOT_FOUND,
				    "%s or its directory was removed; "
				    "nothing more is recorded",
				    f->path);
	p.before = (uint64_t)st.st_size;
	if (!f->regular)
		put_stream(f, &p);
	else if (in_one_page(&p))
		put_piece(&p);
	else
		put_surely(&p);
	f->ended = p.error == EPIPE;
	return p.error ? tell_file_error(f, "write to", p.error) : 0;
}

/* ---- opening ---- */

static int begin_file(struct gk_record_file *f)
{
	f->begun_ns = gk_mono_ns();
	f->old_ns = 0;
	return gk_record_file_write(f, f->options.header,
				    f->options.header_len);
}

/*
 * Locks a binary file. Recorders can append rows to the same file, but not
 * binary data.
 */
static int claim_file(struct gk_record_file *f)
{
	if (!f->options.binary || !flock(f->fd, LOCK_EX | LOCK_NB) ||
	    errno != EWOULDBLOCK)
		return 0;
	return tell_trouble(f, GK_ERR_IN_USE,
			    "another process is recording to %s", f->path);
}

/* Creates a new file under a temporary name in the same directory. */
static int open_beside(struct gk_record_file *f, char *beside, size_t cap)
{
	int fd = -1;

	for (unsigned i = 0; fd < 0 && i < TRIES; i++) {
		snprintf(beside, cap, "%s.%d.%u.tmp", f->spot.name,
			 (int)getpid(), i);
		fd = openat(f->spot.dir, beside, NEW_FLAGS, f->options.mode);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

/* Checks that nobody has meanwhile put another file under the name. */
static int look_at_name(struct gk_record_file *f)
{
	char why[sizeof f->trouble];
	int r = gk_spot_look(&f->spot, why, sizeof why);

	return r ? tell_refused(f, r, why) : 0;
}

/* Renames the new file over the old one once its header is on disk. */
static int put_in_place(struct gk_record_file *f, const char *beside)
{
	int dir = f->spot.dir, r;

	if (fsync(f->fd) < 0 && errno != EINVAL)
		return tell_file_error(f, "write to", errno);
	r = look_at_name(f);
	if (r)
		return r;
	return renameat(dir, beside, dir, f->spot.name) < 0
		   ? tell_file_error(f, "create", errno)
		   : 0;
}

static int replace_file(struct gk_record_file *f)
{
	char beside[NAME_MAX + SUFFIX];
	int r;

	f->fd = open_beside(f, beside, sizeof beside);
	if (f->fd < 0)
		return tell_file_error(f, "create", errno);
	f->regular = true;
	r = fchmod(f->fd, f->options.mode) < 0
		? tell_file_error(f, "create", errno)
		: claim_file(f);
	if (!r)
		r = begin_file(f);
	if (!r)
		r = put_in_place(f, beside);
	if (r)
		unlinkat(f->spot.dir, beside, 0);
	return r;
}

static bool same_header(const struct gk_record_file *f)
{
	char bytes[4096];
	size_t done = 0, len = f->options.header_len;

	while (done < len) {
		size_t part =
		    len - done < sizeof bytes ? len - done : sizeof bytes;
		ssize_t n = pread(f->fd, bytes, part, (off_t)done);

		if (n <= 0 ||
		    memcmp(bytes, f->options.header + done, (size_t)n))
			return false;
		done += (size_t)n;
	}
	return true;
}

/*
 * Whether the last line is complete. If not, waits for another recorder to
 * complete it.
 */
static bool line_ends(const struct gk_record_file *f)
{
	struct stat st;
	char last = 0;

	for (int i = 0; i < LOOKS; i++) {
		if (fstat(f->fd, &st) < 0 ||
		    pread(f->fd, &last, 1, st.st_size - 1) != 1 || last == '\n')
			return true;
		gk_sleep_until(gk_mono_ns() + LOOK_NS);
	}
	return false;
}

/*
 * Repairs an incomplete last line, left by a system crash or by an editor.
 */
static int mend_end(struct gk_record_file *f, uint64_t size)
{
	uint64_t end = f->options.whole ? f->options.whole(f->fd, size) : size;

	if (end < size && ftruncate(f->fd, (off_t)end) < 0)
		return tell_file_error(f, "cut", errno);
	if (f->options.binary || line_ends(f))
		return 0;
	return gk_record_file_write(f, "\n", 1);
}

/* Returns the age of the file in ns, or 0 if the file system does not record
 * it. */
static uint64_t age_of(int fd)
{
	uint64_t now = gk_wall_ns(), born;
	struct statx st;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 ||
	    !(st.stx_mask & STATX_BTIME) || st.stx_btime.tv_sec < 0)
		return 0;
	born =
	    (uint64_t)st.stx_btime.tv_sec * GK_NS_PER_S + st.stx_btime.tv_nsec;
	return now > born ? now - born : 0;
}

static int continue_file(struct gk_record_file *f)
{
	struct stat st;
	int r = claim_file(f);

	if (r)
		return r;
	if (fstat(f->fd, &st) < 0)
		return tell_file_error(f, "look at", errno);
	if (st.st_size && !same_header(f))
		return tell_trouble(f, GK_ERR_INVALID,
				    "%s has another header; give another "
				    "--output, or leave out --append to "
				    "replace it",
				    f->path);
	if (f->options.mode_told && fchmod(f->fd, f->options.mode) < 0)
		return tell_file_error(f, "set the mode of", errno);
	if (!st.st_size)
		return begin_file(f);
	f->begun_ns = gk_mono_ns();
	f->old_ns = age_of(f->fd);
	return mend_end(f, (uint64_t)st.st_size);
}

static int append_piece(struct gk_record_file *f)
{
	int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
	struct stat st;
	int r = look_at_name(f);

	if (r)
		return r;
	f->fd = openat(f->spot.dir, f->spot.name, flags | O_NOFOLLOW,
		       f->options.mode);
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return tell_file_error(f, "open", errno);
	f->regular = S_ISREG(st.st_mode);
	return f->regular ? continue_file(f) : begin_file(f);
}

/* Opens a special file. If it is a FIFO, waits for a reader. */
static int open_special(struct gk_record_file *f)
{
	const struct gk_spot *spot = &f->spot;
	int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY |
		    (spot->magic ? 0 : O_NOFOLLOW);
	int r;

	while ((f->fd = openat(spot->dir, spot->name, flags)) < 0) {
		if (errno != ENXIO || !S_ISFIFO(spot->st.st_mode))
			return tell_file_error(f, "open", errno);
		r = look_at_name(f);
		if (r)
			return r;
		f->ended = is_stopped_after(f, OPEN_MS);
		if (f->ended)
			return tell_trouble(f, GK_ERR_TIMEOUT,
					    "%s has no reader", f->path);
	}
	return fcntl(f->fd, F_SETFL, 0) < 0 ? tell_file_error(f, "open", errno)
					    : 0;
}

/* Opens standard output or a special file. Such a file cannot be replaced. */
static int open_stream(struct gk_record_file *f)
{
	int r = 0;

	if (strcmp(f->options.path, "-") != 0)
		r = open_special(f);
	else if ((f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) < 0)
		r = tell_file_error(f, "open", errno);
	return r ? r : begin_file(f);
}

/*
 * Resolves the path. If it is a symbolic link, the target of the link will be
 * replaced, not the link.
 */
static int resolve_link(struct gk_record_file *f, bool *ret_stream)
{
	bool standard = !strcmp(f->options.path, "-");
	const char *path = standard ? "standard output" : f->options.path;
	char why[sizeof f->trouble];
	int r;

	*ret_stream = standard;
	f->spot.dir = -1;
	gk_str_copy(f->path, sizeof f->path, path);
	if (standard)
		return 0;
	r = gk_spot_find(path, &f->spot, why, sizeof why);
	if (r)
		return tell_refused(f, r, why);
	*ret_stream =
	    f->spot.magic || (f->spot.there && !S_ISREG(f->spot.st.st_mode));
	return 0;
}

int gk_record_file_open(struct gk_record_file *f,
			const struct gk_record_file_options *options)
{
	bool stream = false;
	int r;

	*f = (struct gk_record_file){.options = *options, .fd = -1};
	r = resolve_link(f, &stream);
	if (!r)
		r = stream            ? open_stream(f)
		    : options->append ? append_piece(f)
				      : replace_file(f);
	if (r) {
		if (f->fd >= 0)
			close(f->fd);
		f->fd = -1;
		gk_spot_close(&f->spot);
	}
	return r;
}

/* ---- rotation ---- */

bool gk_record_file_full(const struct gk_record_file *f, size_t len)
{
	const struct gk_record_file_options *o = &f->options;
	struct stat st;

	if (!f->regular || fstat(f->fd, &st) < 0 ||
	    (uint64_t)st.st_size <= o->header_len)
		return false;
	if (o->rotate_ns &&
	    gk_mono_ns() - f->begun_ns + f->old_ns >= o->rotate_ns)
		return true;
	return o->rotate_bytes && (uint64_t)st.st_size + len > o->rotate_bytes;
}

/* Whether the path now leads to another file. */
static bool is_other(const struct gk_record_file *f)
{
	struct stat ours, st;

	return !fstat(f->fd, &ours) && ours.st_nlink &&
	       !fstatat(f->spot.dir, f->spot.name, &st, AT_SYMLINK_NOFOLLOW) &&
	       (st.st_ino != ours.st_ino || st.st_dev != ours.st_dev);
}

static int close_file(struct gk_record_file *f)
{
	int r = 0;

	if (f->fd >= 0 && close(f->fd) < 0 && errno != EINTR)
		r = tell_file_error(f, "write to", errno);
	f->fd = -1;
	return r;
}

int gk_record_file_rotate(struct gk_record_file *f)
{
	bool stream;
	int r;

	GK_ASSERT(f->regular);
	gk_spot_close(&f->spot);
	r = resolve_link(f, &stream); /* the directory may have moved */
	if (r)
		return r;
	if (is_other(f)) {
		r = close_file(f);
		return r ? r : append_piece(f);
	}
	if (gk_aside(f->spot.dir, f->spot.name, &f->number) < 0)
		return tell_file_error(f, "put aside", errno);
	r = close_file(f);
	return r ? r : replace_file(f);
}

int gk_record_file_close(struct gk_record_file *f)
{
	gk_spot_close(&f->spot);
	return close_file(f);
}
