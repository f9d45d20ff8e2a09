/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.c - restores the terminal after a crash, using only async-signal-safe
 * functions.
 */
#include "tui/screen/crash.h"

#include "base/assert.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Signals that would end the program without restoring the terminal. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct {
	struct termios modes;
	bool has_modes;
	char text[256];
	size_t len;
	void *stack;
	struct sigaction bus; /* the previous action for SIGBUS */
} kept;

/*
 * Calls the previous handler of SIGBUS, and returns whether that handler has
 * dealt with the signal. The made-up machine's handler does so if the mapped
 * file was truncated. A handler that cannot deal with the signal sets SIG_DFL,
 * and the signal is raised again.
 */
static bool is_survived(int number, siginfo_t *info, void *context)
{
	static _Thread_local bool is_asked;
	struct sigaction now;

	/*
	 * Guards against an endless loop: the two handlers may have been
	 * installed in either order, and may call each other.
	 */
	if (is_asked || number != SIGBUS || info->si_code <= 0 ||
	    !(kept.bus.sa_flags & SA_SIGINFO))
		return false;
	is_asked = true;
	kept.bus.sa_sigaction(number, info, context);
	is_asked = false;
	return !sigaction(SIGBUS, NULL, &now) && now.sa_handler != SIG_DFL;
}

static void handle_crash(int number, siginfo_t *info, void *context)
{
	ssize_t n;

	if (is_survived(number, info, context))
		return;
	n = write(STDOUT_FILENO, kept.text, kept.len);
	(void)n;
	if (kept.has_modes)
		tcsetattr(STDOUT_FILENO, TCSANOW, &kept.modes);
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * Restores a signal's previous handler, unless another has been set meanwhile.
 */
static void release_signal(int number, const struct sigaction *to)
{
	struct sigaction now;

	if (!sigaction(number, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	    now.sa_sigaction == handle_crash)
		sigaction(number, to, NULL);
}

void tui_crash_catch(void)
{
	struct sigaction action = {
	    .sa_sigaction = handle_crash,
	    .sa_flags = (int)(SA_SIGINFO | SA_NODEFER | SA_ONSTACK)};
	stack_t stack = {.ss_size = (size_t)SIGSTKSZ};

	GK_ASSERT(!kept.stack);
	kept.has_modes = !tcgetattr(STDOUT_FILENO, &kept.modes);
	kept.len = 0;
	kept.stack = stack.ss_sp = malloc(stack.ss_size);
	if (stack.ss_sp)
		sigaltstack(&stack, NULL);
	sigaction(SIGBUS, NULL, &kept.bus);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		sigaction(deadly[i], &action, NULL);
}

static void add_crash_text(const char *text, size_t len)
{
	size_t room = sizeof kept.text - 1 - kept.len;

	len = len < room ? len : room;
	memcpy(kept.text + kept.len, text, len);
	kept.len += len;
}

void tui_crash_add(const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "$");

		add_crash_text(text, n);
		text += n;
		if (text[0] == '$' && text[1] == '<')
			text += strcspn(text, ">");
		else if (*text)
			add_crash_text(text, 1);
		text += *text != '\0';
	}
}

void tui_crash_release(void)
{
	static const struct sigaction none = {.sa_handler = SIG_DFL};
	stack_t no_stack = {.ss_flags = SS_DISABLE};

	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		release_signal(deadly[i],
			       deadly[i] == SIGBUS ? &kept.bus : &none);
	sigaltstack(&no_stack, NULL);
	free(kept.stack);
	kept.stack = NULL;
}
