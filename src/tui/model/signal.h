/*
 * signal.h - signals and priorities for processes that were seen earlier. A
 * process is who it was: its pid and its start time are verified with a
 * pidfd in hand, so a pid that has been given to another process is never hit.
 */
#ifndef GK_TUI_SIGNAL_H
#define GK_TUI_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tui;

/* A process: an identity, whatever /proc says. */
struct tui_tag {
	pid_t pid;
	uint64_t start_ticks; /* since boot; 0: unknown */
};

enum tui_sent {
	SENT_DONE,
	SENT_GONE,    /* it has ended, whoever has its pid now */
	SENT_ZOMBIE,  /* it has ended, its parent does not know yet */
	SENT_REFUSED, /* by the kernel */
	SENT_UNKNOWN, /* who it is cannot be verified */
	SENT_NEVER,   /* the kernel has no pidfd (before 5.3) */
	SENT_FAILED,
	SENT_COUNT
};

/* A short text: "no permission". */
const char *tui_sent_text(enum tui_sent sent);

/* Sends a signal; proc is an open /proc. */
enum tui_sent tui_signal_send(int proc, const struct tui_tag *who, int number);

/* Gives all threads of a process a nice value, -20 to 19. */
enum tui_sent tui_signal_renice(int proc, const struct tui_tag *who, int nice);

/*
 * Adds all descendants of the processes that are not among them, in an order
 * where children come before their parents; the caller's own process comes
 * last. *who is from malloc(), and may move. 0 or a gk_err, *who unchanged.
 */
int tui_signal_family(int proc, struct tui_tag **who, size_t *count);

/* The question to the user: the processes, and whether with their trees. */
struct tui_signal {
	struct tui_tag *who;
	size_t count;
	bool tree;
};

/* Do the keys: open dialogs about tagged processes, or else the selected one.
 */
void tui_ask_interrupt(struct tui *t);
void tui_ask_terminate(struct tui *t);
void tui_ask_kill(struct tui *t);
void tui_ask_tree(struct tui *t);
void tui_ask_renice(struct tui *t);

/* Whether one of these keys would do something now. */
bool tui_can_signal(const struct tui *t);

/* Frees the processes that are asked about. */
void tui_signal_free(struct tui *t);

#endif
