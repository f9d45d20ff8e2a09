/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hosts.c - starts and ends the commands that send the hosts' snapshots, and
 * reads their output.
 */
#include "hosts/hosts.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "hosts/child.h"
#include "hosts/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX   64
#define WORD_MAX    4096
#define LINE_MOST   (16 << 20) /* maximum bytes of a snapshot */
#define JUNK_MOST   (64 << 10) /* maximum bytes before the first snapshot */
#define CHUNK       65536
#define CHUNKS      32 /* maximum number read from a host at once */
#define WHY_MAX     256
#define TICK_NS     (500 * GK_NS_PER_MS)
#define PATIENCE_NS (15 * GK_NS_PER_S)
/* The shortest and the longest interval at which web pages are polled. */
#define PAGE_LEAST_NS (100 * GK_NS_PER_MS)
#define PAGE_MOST_NS  (10 * GK_NS_PER_S)
/*
 * After a command has closed its output, it has this long to print an error on
 * stderr and to return a status.
 */
#define LAST_WORDS_NS GK_NS_PER_S
/*
 * A failed command is started again after 1 s. At each further failure this
 * delay is doubled, at most this many times, to about half a minute.
 */
#define AGAIN_MOST 5

struct host {
	const char *name;
	struct gk_child child;
	struct gk_buf line; /* the start of a line that is not complete yet */
	size_t junk;
	bool spoke;  /* whether the command has sent a snapshot */
	bool judged; /* `why` is known; the exit status must not replace it */
	char why[WHY_MAX];    /* see gk_host_state */
	char said[WHY_MAX];   /* last line that is not a snapshot */
	struct gk_buf errors; /* the start of an incomplete line of stderr */
	uint64_t begun_ns, heard_ns, away_ns, again_ns;
	uint64_t dropped_ns; /* when we decided to end the command */
	unsigned tries;
	struct gk_snapshot *fresh;
};

struct gk_hosts {
	struct gk_hosts_options options;
	int poll, timer;
	struct host list[];
};

/* ---- start ---- */

/* Returns the part of a URL after http:// or https://, or NULL. */
static const char *behind_scheme(const char *name)
{
	if (!strncmp(name, "http://", 7))
		return name + 7;
	return strncmp(name, "https://", 8) ? NULL : name + 8;
}

bool gk_hosts_is_name(const char *name)
{
	static const char signs[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-:@[]%+";

	if (behind_scheme(name))
		name = behind_scheme(name);
	return *name && *name != '-' && !name[strspn(name, signs)];
}

/*
 * Returns a word of the command in which each {} is replaced by the host's
 * name.
 */
static char *word_for(const char *word, const char *name)
{
	struct gk_buf out = {0};
	const char *at;

	while ((at = strstr(word, "{}"))) {
		gk_buf_add(&out, word, (size_t)(at - word));
		gk_buf_puts(&out, name);
		word = at + 2;
	}
	gk_buf_puts(&out, word);
	if (!out.failed)
		return out.data ? out.data : strdup("");
	gk_buf_free(&out);
	return NULL;
}

/* Frees all words, also behind the gap that a failed allocation leaves. */
static void free_words(char *words[WORDS_MAX])
{
	for (size_t i = 0; i < WORDS_MAX; i++)
		free(words[i]);
}

/*
 * Builds the command line, with gpukit's own arguments. The caller frees the
 * words.
 */
static bool make_words(const struct gk_hosts *hosts, const char *name,
		       char *words[WORDS_MAX])
{
	static const char *const asks[] = {"stat", "--json-lines", "--why"};
	uint64_t interval = hosts->options.interval_ns;
	bool url = behind_scheme(name);
	char seconds[48];
	size_t n = 0;

	if (url && interval < PAGE_LEAST_NS)
		interval = PAGE_LEAST_NS;
	if (url && interval > PAGE_MOST_NS)
		interval = PAGE_MOST_NS;
	for (const char *const *w = url ? hosts->options.follow
					: hosts->options.command;
	     *w; w++)
		if (n < WORDS_MAX - 8)
			words[n++] = word_for(*w, name);
	for (size_t i = 0; !url && i < sizeof asks / sizeof *asks; i++)
		words[n++] = strdup(asks[i]);
	snprintf(seconds, sizeof seconds, "--interval=%llu.%03u",
		 (unsigned long long)(interval / GK_NS_PER_S),
		 (unsigned)(interval % GK_NS_PER_S / GK_NS_PER_MS));
	words[n++] = strdup(seconds);
	words[n] = NULL;
	for (size_t i = 0; i < n; i++)
		if (!words[i])
			return false;
	return true;
}

static void be_away(struct host *h, const char *why)
{
	uint64_t now = gk_mono_ns();

	gk_str_clean(h->why, sizeof h->why, why, strlen(why));
	if (!h->away_ns)
		h->away_ns = now;
	h->again_ns = now + (GK_NS_PER_S << h->tries);
	if (h->tries < AGAIN_MOST)
		h->tries++;
}

static void watch_descriptor(const struct gk_hosts *hosts, int fd, size_t at)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = at};

	epoll_ctl(hosts->poll, EPOLL_CTL_ADD, fd, &event);
}

static void start_host(struct gk_hosts *hosts, size_t at)
{
	struct host *h = &hosts->list[at];
	char *words[WORDS_MAX] = {NULL}, why[WHY_MAX];
	int r = ENOMEM;

	h->again_ns = 0;
	h->spoke = h->judged = false;
	h->junk = h->line.len = h->errors.len = 0;
	*h->said = '\0';
	h->begun_ns = gk_mono_ns();
	if (make_words(hosts, h->name, words))
		r = gk_child_start(words, &h->child);
	snprintf(why, sizeof why, "%s: %s", words[0] ? words[0] : "",
		 strerror(r));
	free_words(words);
	if (r) {
		be_away(h, why);
		return;
	}
	watch_descriptor(hosts, h->child.out, at);
	watch_descriptor(hosts, h->child.err, at);
}

/* ---- its end ---- */

/*
 * Begins to end the command. If why is NULL, the reason is derived from its
 * stderr and exit status when it has ended.
 */
static void drop_host(struct host *h, const char *why)
{
	h->judged = why;
	h->dropped_ns = gk_mono_ns();
	if (why)
		be_away(h, why);
	close(h->child.out);
	h->child.out = -1;
	gk_buf_free(&h->line);
}

static void keep_said(struct host *h, const char *line, size_t len)
{
	if (len)
		gk_str_clean(h->said, sizeof h->said, line, len);
}

/* Reads stderr and keeps its last line as a possible reason. */
static void read_errors(struct host *h)
{
	char chunk[4096];
	ssize_t n = -1;

	while (h->child.err >= 0 &&
	       (n = read(h->child.err, chunk, sizeof chunk)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i] != '\n' && chunk[i] != '\r') {
				if (h->errors.len < WHY_MAX)
					gk_buf_putc(&h->errors, chunk[i]);
				continue;
			}
			keep_said(h, h->errors.data, h->errors.len);
			h->errors.len = 0;
		}
	if (h->child.err >= 0 && n == 0) {
		close(h->child.err);
		h->child.err = -1;
	}
}

/*
 * The exit status with which a shell reports that it cannot find the program.
 */
#define NOT_FOUND 127

/*
 * Sets the reason to the command's last line or, if there is none, to its
 * status.
 */
static void judge_by_status(struct host *h, int status)
{
	char why[WHY_MAX];

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND &&
	    strstr(h->said, "gpukit"))
		snprintf(why, sizeof why,
			 "gpukit is not in its PATH: %.160s (set "
			 "its path with --remote-command)",
			 h->said);
	else if (*h->said)
		gk_str_copy(why, sizeof why, h->said);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof why, "the command was killed: %s",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof why, "the command ended with status %d",
			 WEXITSTATUS(status));
	be_away(h, why);
}

/* Ends a command that was dropped, after giving it time to explain itself. */
static void end_child(struct host *h)
{
	bool waits = !h->judged && gk_mono_ns() - h->dropped_ns < LAST_WORDS_NS;
	int status = 0;

	if (waits ? !gk_child_has_ended(&h->child, &status)
		  : !gk_child_end(&h->child, &status))
		return;
	read_errors(h);
	keep_said(h, h->errors.data, h->errors.len);
	gk_child_close(&h->child);
	if (!h->judged)
		judge_by_status(h, status);
}

/* ---- the output of a command ---- */

static void quote_nonsense(const char *line, size_t len, char dst[WHY_MAX])
{
	char text[80];

	gk_str_clean(text, sizeof text, line, len);
	snprintf(dst, WHY_MAX, "unexpected output: '%s'", text);
}

/*
 * Lines before the first snapshot, such as a shell's greeting, are ignored.
 * Later lines that are not snapshots end the command.
 */
static void take_other_line(struct host *h, const char *line, size_t len)
{
	char why[WHY_MAX];

	h->junk += len + 1;
	if (!h->spoke && h->junk < JUNK_MOST) {
		quote_nonsense(line, len, h->said);
		return;
	}
	quote_nonsense(line, len, why);
	drop_host(h, why);
}

static void take_line(struct host *h, const char *line, size_t len)
{
	struct gk_snapshot *snap;
	char why[WHY_MAX];
	int r;

	if (!len || *line != '{') {
		take_other_line(h, line, len);
		return;
	}
	r = gk_decode_text(line, len, gk_mono_ns(), &snap);
	if (r) {
		quote_nonsense(line, len, why);
		drop_host(h, r == GK_ERR_CORRUPT ? why
			     : r == GK_ERR_VERSION
				 ? "its gpukit has another version, with "
				   "other keys in its JSON"
				 : gk_strerror(r));
		return;
	}
	gk_snapshot_free(h->fresh);
	h->fresh = snap;
	h->spoke = true;
	h->heard_ns = snap->mono_ns;
	h->away_ns = 0;
	h->tries = 0;
	*h->why = '\0';
}

static void take_chunk(struct host *h, const char *chunk, size_t len)
{
	const char *newline;

	while (h->child.out >= 0 && (newline = memchr(chunk, '\n', len))) {
		size_t part = (size_t)(newline - chunk);

		gk_buf_add(&h->line, chunk, part);
		chunk += part + 1;
		len -= part + 1;
		if (!h->line.failed)
			take_line(h, h->line.data, h->line.len);
		h->line.len = 0;
		h->line.failed = false;
	}
	if (h->child.out < 0)
		return;
	gk_buf_add(&h->line, chunk, len);
	if (h->line.failed || h->line.len > LINE_MOST)
		drop_host(h, "it sent a line that is too long for a snapshot");
}

static void read_output(struct host *h)
{
	char chunk[CHUNK];

	read_errors(h);
	for (int i = 0; i < CHUNKS && h->child.out >= 0; i++) {
		ssize_t n = read(h->child.out, chunk, sizeof chunk);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			drop_host(h, NULL);
		else
			take_chunk(h, chunk, (size_t)n);
	}
}

/* ---- time ---- */

static void look_after(struct gk_hosts *hosts, size_t at)
{
	struct host *h = &hosts->list[at];
	uint64_t now = gk_mono_ns();
	uint64_t last = h->spoke ? h->heard_ns : h->begun_ns;
	uint64_t patience = PATIENCE_NS + 2 * hosts->options.interval_ns;
	char why[WHY_MAX];

	if (h->child.pid && h->child.out >= 0 && now - last > patience) {
		snprintf(why, sizeof why, "it has sent nothing for %u s%s%s",
			 (unsigned)((now - last) / GK_NS_PER_S),
			 *h->said ? "; before: " : "", h->said);
		drop_host(h, why);
	}
	if (h->child.pid && h->child.out < 0)
		end_child(h);
	if (!h->child.pid && now >= h->again_ns)
		start_host(hosts, at);
}

/* ---- all hosts ---- */

static int begin_poll(struct gk_hosts *hosts)
{
	struct itimerspec every = {{0, TICK_NS}, {0, 1}};

	hosts->poll = epoll_create1(EPOLL_CLOEXEC);
	hosts->timer =
	    timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (hosts->poll < 0 || hosts->timer < 0 ||
	    timerfd_settime(hosts->timer, 0, &every, NULL) < 0)
		return gk_err_from_errno(errno);
	watch_descriptor(hosts, hosts->timer, SIZE_MAX);
	return 0;
}

int gk_hosts_new(const struct gk_hosts_options *options,
		 struct gk_hosts **ret_hosts)
{
	struct gk_hosts *hosts =
	    calloc(1, sizeof *hosts + options->count * sizeof *hosts->list);
	int r;

	if (!hosts)
		return GK_ERR_NOMEM;
	hosts->options = *options;
	hosts->poll = hosts->timer = -1;
	/* ssh must never prompt, since there is no terminal. */
	setenv("SSH_ASKPASS_REQUIRE", "never", 1);
	for (size_t i = 0; i < options->count; i++)
		hosts->list[i] = (struct host){.name = options->names[i],
					       .child = GK_CHILD_NONE};
	r = begin_poll(hosts);
	if (r) {
		gk_hosts_free(hosts);
		return r;
	}
	for (size_t i = 0; i < options->count; i++)
		start_host(hosts, i);
	*ret_hosts = hosts;
	return 0;
}

static bool all_ended(struct gk_hosts *hosts)
{
	bool all = true;
	int status;

	for (size_t i = 0; i < hosts->options.count; i++) {
		struct gk_child *child = &hosts->list[i].child;

		gk_child_close(child);
		all &= !child->pid || gk_child_end(child, &status);
	}
	return all;
}

void gk_hosts_free(struct gk_hosts *hosts)
{
	static const struct timespec moment = {0, 5 * GK_NS_PER_MS};

	if (!hosts)
		return;
	while (!all_ended(hosts))
		nanosleep(&moment, NULL);
	for (size_t i = 0; i < hosts->options.count; i++) {
		gk_snapshot_free(hosts->list[i].fresh);
		gk_buf_free(&hosts->list[i].line);
		gk_buf_free(&hosts->list[i].errors);
	}
	if (hosts->poll >= 0)
		close(hosts->poll);
	if (hosts->timer >= 0)
		close(hosts->timer);
	free(hosts);
}

size_t gk_hosts_count(const struct gk_hosts *hosts)
{
	return hosts->options.count;
}

int gk_hosts_fd(const struct gk_hosts *hosts)
{
	return hosts->poll;
}

void gk_hosts_turn(struct gk_hosts *hosts)
{
	uint64_t times;

	if (read(hosts->timer, &times, sizeof times) < 0 && errno != EAGAIN)
		return;
	for (size_t i = 0; i < hosts->options.count; i++) {
		if (hosts->list[i].child.pid)
			read_output(&hosts->list[i]);
		look_after(hosts, i);
	}
}

struct gk_host_state gk_hosts_state(const struct gk_hosts *hosts, size_t at)
{
	const struct host *h = &hosts->list[at];
	const char *rest = behind_scheme(h->name);

	GK_ASSERT(at < gk_hosts_count(hosts));
	return (struct gk_host_state){.name = rest ? rest : h->name,
				      .why = h->why,
				      .heard_ns = h->heard_ns,
				      .away_ns = h->away_ns,
				      .again_ns = h->again_ns};
}

struct gk_snapshot *gk_hosts_take(struct gk_hosts *hosts, size_t at)
{
	struct gk_snapshot *snap;

	GK_ASSERT(at < gk_hosts_count(hosts));
	snap = hosts->list[at].fresh;
	hosts->list[at].fresh = NULL;
	return snap;
}
