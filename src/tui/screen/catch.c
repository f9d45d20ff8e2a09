/* SPDX-License-Identifier: Apache-2.0 */
/* catch.c - makes signals readable from a descriptor. */
#include "tui/screen/catch.h"

#include <pthread.h>
#include <sys/signalfd.h>

int tui_catch_signals(sigset_t *ret_before)
{
	static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				      SIGTSTP, SIGCONT, SIGWINCH};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaddset(&set, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &set, ret_before);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
