/* crash.c - see crash.h. Only what may be called in a signal handler. */
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
} kept;

static void crashed(int number)
{
	ssize_t n = write(STDOUT_FILENO, kept.text, kept.len);

	(void)n;
	if (kept.has_modes)
		tcsetattr(STDOUT_FILENO, TCSANOW, &kept.modes);
	signal(number, SIG_DFL);
	raise(number);
}

static void handle(bool on)
{
	struct sigaction action = {
	    .sa_handler = on ? crashed : SIG_DFL,
	    .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK)};

	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		sigaction(deadly[i], &action, NULL);
}

void tui_crash_catch(void)
{
	stack_t stack = {.ss_size = (size_t)SIGSTKSZ};

	kept.has_modes = !tcgetattr(STDOUT_FILENO, &kept.modes);
	kept.len = 0;
	kept.stack = stack.ss_sp = malloc(stack.ss_size);
	if (stack.ss_sp)
		sigaltstack(&stack, NULL);
	handle(true);
}

static void add(const char *text, size_t len)
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

		add(text, n);
		text += n;
		if (text[0] == '$' && text[1] == '<')
			text += strcspn(text, ">");
		else if (*text)
			add(text, 1);
		text += *text != '\0';
	}
}

void tui_crash_release(void)
{
	stack_t none = {.ss_flags = SS_DISABLE};

	handle(false);
	sigaltstack(&none, NULL);
	free(kept.stack);
	kept.stack = NULL;
}
