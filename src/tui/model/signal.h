/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.h - sends signals to processes of a snapshot and sets their nice
 * values. A pidfd is opened before the start time of a process is checked, so a
 * process that has since been given the same pid is never signalled.
 */
#ifndef GK_TUI_SIGNAL_H
#define GK_TUI_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tui;

/* The identity of a process. */
struct tui_tag {
	pid_t pid;
	uint64_t start_ticks; /* start time since boot; 0: unknown */
};

enum tui_sent {
	SENT_DONE,
	SENT_GONE,    /* the process has ended; its pid may have been reused */
	SENT_ZOMBIE,  /* the process has ended; its parent has not waited for
		       * it */
	SENT_REFUSED, /* the kernel refused the operation */
	SENT_UNKNOWN, /* the identity of the process cannot be verified */
	SENT_NEVER,   /* the kernel is older than 5.3 and has no pidfds */
	SENT_FAILED,
	SENT_COUNT
};

/* Returns a short text, such as "no permission". */
const char *tui_sent_text(enum tui_sent sent);

/* Sends a signal. proc is a descriptor of /proc. */
enum tui_sent tui_signal_send(int proc, const struct tui_tag *who, int number);

/* Sets the nice value of all threads of a process, from -20 to 19. */
enum tui_sent tui_signal_renice(int proc, const struct tui_tag *who, int nice);

/*
 * Adds to a list of processes all their descendants that it lacks, and sorts
 * children before their parents; the caller's own process comes last. *who was
 * allocated with malloc() and may be moved. Returns 0 or a gk_err; on failure
 * *who is unchanged.
 */
int tui_signal_family(int proc, struct tui_tag **who, size_t *count);

/*
 * The processes that a dialog is about, and whether it includes their
 * descendants.
 */
struct tui_signal {
	struct tui_tag *who;
	size_t count;
	bool tree;
};

/*
 * Open a dialog about the tagged processes or, if there are none, the selected
 * one.
 */
void tui_ask_interrupt(struct tui *t);
void tui_ask_terminate(struct tui *t);
void tui_ask_kill(struct tui *t);
void tui_ask_tree(struct tui *t);
void tui_ask_renice(struct tui *t);

/* Whether these functions would open a dialog now. */
bool tui_can_signal(const struct tui *t);

/* Frees t->signal.who. */
void tui_signal_free(struct tui *t);

#endif
