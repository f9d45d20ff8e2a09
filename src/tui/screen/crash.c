/*
 * crash.c - restores the terminal in a crash, by functions that a signal
 * handler may call.
 */
#include "tui/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Signals that would leave the terminal as it is. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct {
	struct termios modes;
	bool has_modes;
	char text[256];
	size_t len;
	void *stack;
	struct sigaction bus; /* who handled SIGBUS before */
} kept;

/*
 * The made-up machine survives a file that was truncated under it: if not, it
 * puts the default in the place of this handler, and the signal comes again.
 */
static bool is_survived(int number, siginfo_t *info, void *context)
{
	static _Thread_local bool is_asked;
	struct sigaction now;

	/* Each may have been set before the other. */
	if (is_asked || number != SIGBUS || info->si_code <= 0 ||
	    !(kept.bus.sa_flags & SA_SIGINFO))
		return false;
	is_asked = true;
	kept.bus.sa_sigaction(number, info, context);
	is_asked = false;
	return !sigaction(SIGBUS, NULL, &now) && now.sa_handler != SIG_DFL;
}

static void crashed(int number, siginfo_t *info, void *context)
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

static void catch (void)
{
	struct sigaction action = {
	    .sa_sigaction = crashed,
	    .sa_flags = (int)(SA_SIGINFO | SA_NODEFER | SA_ONSTACK)};

	sigaction(SIGBUS, NULL, &kept.bus);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		sigaction(deadly[i], &action, NULL);
}

/* Who has set a handler meanwhile keeps it. */
static void release_signal(int number, const struct sigaction *to)
{
	struct sigaction now;

	if (!sigaction(number, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	    now.sa_sigaction == crashed)
		sigaction(number, to, NULL);
}

static void release_all(void)
{
	static const struct sigaction none = {.sa_handler = SIG_DFL};

	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		release_signal(deadly[i],
			       deadly[i] == SIGBUS ? &kept.bus : &none);
}

void tui_crash_catch(void)
{
	stack_t stack = {.ss_size = (size_t)SIGSTKSZ};

	kept.has_modes = !tcgetattr(STDOUT_FILENO, &kept.modes);
	kept.len = 0;
	kept.stack = stack.ss_sp = malloc(stack.ss_size);
	if (stack.ss_sp)
		sigaltstack(&stack, NULL);
	catch ();
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
	stack_t none = {.ss_flags = SS_DISABLE};

	release_all();
	sigaltstack(&none, NULL);
	free(kept.stack);
	kept.stack = NULL;
}
