/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_ask.c - asks the user which signal to send to processes or which nice
 * value to set, and reports the outcome.
 */
#include "base/err.h"
#include "base/pidstat.h"
#include "tui/views/view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct tui_button buttons[] = {
    {"SIGTERM", 3, 3}, {"SIGKILL", 3, 3}, {"SIGINT", 3, 3}, {"Cancel", 0, 0}};
static const int numbers[] = {SIGTERM, SIGKILL, SIGINT};

enum { BUTTON_TERM, BUTTON_KILL, BUTTON_INT, BUTTON_CANCEL };

static int open_proc(void)
{
	return open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void tui_signal_free(struct tui *t)
{
	free(t->signal.who);
	t->signal = (struct tui_signal){0};
}

/* ---- the processes to signal ---- */

bool tui_can_signal(const struct tui *t)
{
	return !t->options.readonly && !tui_time_is_past(t) &&
	       (t->tag_count || tui_process(t));
}

/*
 * Sets t->signal to the tagged processes, or else to the selected one. If there
 * is none, returns false after a message that says why.
 */
static bool take_targets(struct tui *t)
{
	const struct gk_process *p = tui_process(t);
	struct tui_tag one = {p ? p->pid : 0, p ? p->start_ticks : 0};
	const struct tui_tag *from = t->tag_count ? t->tags : &one;
	size_t count = t->tag_count ? t->tag_count : 1;

	tui_signal_free(t);
	if (t->options.readonly) {
		tui_say(t, t->options.hosts
			       ? "The processes of another machine cannot be "
				 "signalled; q quits"
			       : "Read only: processes cannot be signalled; q "
				 "quits");
		return false;
	}
	if (tui_time_is_past(t)) {
		tui_say(t, "Processes of the past cannot be signalled; 0 goes "
			   "back to now");
		return false;
	}
	if (!tui_can_signal(t)) {
		tui_say(t, "Select or tag a process first");
		return false;
	}
	t->signal.who = calloc(count, sizeof *from);
	if (!t->signal.who)
		return false;
	memcpy(t->signal.who, from, count * sizeof *from);
	t->signal.count = count;
	return true;
}

static const struct gk_process *find_tagged(const struct tui *t,
					    const struct tui_tag *who)
{
	for (size_t i = 0; t->snap && i < t->snap->process_count; i++) {
		const struct gk_process *p = &t->snap->processes[i];

		if (p->pid == who->pid && p->start_ticks == who->start_ticks)
			return p;
	}
	return NULL;
}

/* Writes "4242 python3", with the name from the snapshot or from /proc. */
static void name_process(const struct tui *t, int proc,
			 const struct tui_tag *who, char *dst, size_t cap)
{
	const struct gk_process *p = find_tagged(t, who);
	struct gk_pidstat st;
	char comm[GK_NAME_MAX] = "";

	if (p)
		gk_str_copy(comm, sizeof comm, p->name);
	else if (!gk_pidstat_read(proc, who->pid, &st) &&
		 st.start == who->start_ticks)
		gk_str_clean(comm, sizeof comm, st.comm, strlen(st.comm));
	snprintf(dst, cap, "%d%s%s", (int)who->pid, *comm ? " " : "", comm);
}

/* Adds a line such as "15699 ana: python3 train.py". */
static void add_process_line(const struct tui *t, int proc,
			     const struct tui_tag *who, struct gk_buf *out)
{
	const struct gk_process *p = find_tagged(t, who);
	char text[2 * GK_NAME_MAX];

	if (p && *p->command) {
		gk_buf_printf(out, "%d %s: %s\n", (int)p->pid, p->user,
			      p->command);
		return;
	}
	name_process(t, proc, who, text, sizeof text);
	gk_buf_printf(out, "%s\n", text);
}

static void add_question(const struct tui *t, struct gk_buf *out)
{
	const struct tui_signal *s = &t->signal;
	const struct gk_process *p = find_tagged(t, s->who);

	if (s->tree)
		gk_buf_puts(out, "Send signal to the whole tree?\n");
	else if (s->count > 1)
		gk_buf_puts(out, "Send signal to the following processes?\n");
	else
		gk_buf_printf(out, "Send signal to process %d%s%s%s?\n",
			      (int)s->who->pid, p ? "(" : "", p ? p->user : "",
			      p ? ")" : "");
}

/* ---- reporting the outcome ---- */

struct outcome {
	size_t done;
	char failures[sizeof((struct tui *)0)->message];
};

static void add_failure(struct outcome *o, const char *who, enum tui_sent sent)
{
	size_t len = strlen(o->failures);

	snprintf(o->failures + len, sizeof o->failures - len, "%s%s: %s",
		 len ? "; " : "", who, tui_sent_text(sent));
}

/*
 * Keeps the processes tagged for which the signal or nice value failed, so that
 * the user can try again.
 */
static void keep_refused(struct tui *t, size_t failed)
{
	struct tui_signal *s = &t->signal;

	if (!failed)
		memset(&t->selected, 0, sizeof t->selected);
	if (!failed)
		t->tag_count = 0;
	else if (failed <= t->tag_count) {
		memcpy(t->tags, s->who, failed * sizeof *s->who);
		t->tag_count = failed;
	}
}

static void tell_outcome(struct tui *t, const char *what, const char *who,
			 const struct outcome *o)
{
	size_t count = t->signal.count;

	if (count > 1)
		tui_say(t, "%s: %zu of %zu%s%s", what, o->done, count,
			*o->failures ? "; " : "", o->failures);
	else if (o->done)
		tui_say(t, "%s: %s", who, what);
	else
		tui_say(t, "%s", o->failures);
}

/* Calls act() for each process, and reports the outcome. */
static void do_all(struct tui *t, const char *what,
		   enum tui_sent (*act)(int, const struct tui_tag *, int),
		   int argument)
{
	struct tui_signal *s = &t->signal;
	struct outcome o = {0};
	char who[2 * GK_NAME_MAX] = "";
	int proc = open_proc();
	size_t failed = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct tui_tag tag = s->who[i];
		enum tui_sent sent;

		name_process(t, proc, &tag, who, sizeof who);
		sent = act(proc, &tag, argument);
		o.done += sent == SENT_DONE;
		if (sent != SENT_DONE)
			add_failure(&o, who, sent);
		if (sent != SENT_DONE && sent != SENT_GONE &&
		    sent != SENT_ZOMBIE)
			s->who[failed++] = tag;
	}
	close(proc);
	tell_outcome(t, what, who, &o);
	keep_refused(t, failed);
}

/* ---- signals ---- */

static void send_signal(struct tui *t, int button)
{
	struct tui_signal *s = &t->signal;
	char what[32];
	int proc;

	if (button != BUTTON_CANCEL) {
		proc = open_proc();
		if (s->tree) /* includes children started meanwhile */
			tui_signal_family(proc, &s->who, &s->count);
		close(proc);
		snprintf(what, sizeof what, "%s sent", buttons[button].label);
		do_all(t, what, tui_signal_send, numbers[button]);
	}
	tui_signal_free(t);
}

static const struct tui_dialog_kind kind = {
    .buttons = buttons,
    .count = sizeof buttons / sizeof *buttons,
    .cancel = BUTTON_CANCEL,
    .chosen = send_signal,
};

static void ask_again(struct tui *t, int button)
{
	const struct tui_signal *s = &t->signal;
	struct gk_buf text = {0};
	int proc = open_proc();

	add_question(t, &text);
	for (size_t i = 0; i < s->count; i++)
		add_process_line(t, proc, &s->who[i], &text);
	tui_dialog_open(t, &kind, &text, button);
	close(proc);
}

static void ask_signal(struct tui *t, int button)
{
	if (take_targets(t))
		ask_again(t, button);
}

/*
 * If there is no process to interrupt, says how to quit, because people press
 * Ctrl-C for that.
 */
void tui_ask_interrupt(struct tui *t)
{
	if (!t->options.readonly && !tui_can_signal(t))
		tui_say(t, "q quits; Ctrl-C interrupts the selected process");
	else
		ask_signal(t, BUTTON_INT);
}

void tui_ask_terminate(struct tui *t)
{
	ask_signal(t, BUTTON_TERM);
}

void tui_ask_kill(struct tui *t)
{
	ask_signal(t, BUTTON_KILL);
}

void tui_ask_tree(struct tui *t)
{
	struct tui_signal *s = &t->signal;
	int proc, r;

	if (!take_targets(t))
		return;
	proc = open_proc();
	s->tree = true;
	r = tui_signal_family(proc, &s->who, &s->count);
	close(proc);
	if (r)
		tui_say(t, "/proc: %s", gk_strerror(r));
	else
		ask_again(t, BUTTON_TERM);
}

/* ---- priorities ---- */

static bool renice_all(struct tui *t, const char *text)
{
	char what[48];
	int64_t nice;

	if (gk_parse_int(text, &nice) || nice < -20 || nice > 19) {
		tui_prompt_note(t, "must be from -20 (first) to 19 (last)");
		return false;
	}
	snprintf(what, sizeof what, "nice value is %d", (int)nice);
	do_all(t, what, tui_signal_renice, (int)nice);
	tui_signal_free(t);
	return true;
}

static const struct tui_prompt_kind renice_prompt = {
    .past = PROMPT_RENICE, .entered = renice_all, .cancelled = tui_signal_free};

void tui_ask_renice(struct tui *t)
{
	const struct tui_signal *s = &t->signal;
	char label[sizeof t->prompt.label], who[48];
	int proc, now;

	if (!take_targets(t))
		return;
	if (s->count > 1) {
		snprintf(label, sizeof label,
			 "Nice value of %zu processes: ", s->count);
	} else {
		proc = open_proc();
		name_process(t, proc, s->who, who, sizeof who);
		close(proc);
		errno = 0;
		now = getpriority(PRIO_PROCESS, (id_t)s->who->pid);
		snprintf(label, sizeof label,
			 errno ? "Nice value of %s: "
			       : "Nice value of %s (now %d): ",
			 who, now);
	}
	tui_prompt_open(t, &renice_prompt, label, "");
}
