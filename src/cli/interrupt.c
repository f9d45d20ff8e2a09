/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.c - turns signals into a flag and a readable descriptor, so that a
 * signal that arrives between a test of the flag and a poll is not missed. The
 * state is global because signal handlers belong to the process.
 */
#include "cli/interrupt.h"
#include "base/err.h"

#include <pthread.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct {
	volatile sig_atomic_t came;
	int fd;
} state = {.fd = -1};

static void on_signal(int number)
{
	int keep = errno;
	eventfd_t one = 1;

	(void)number;
	state.came = 1;
	(void)!write(state.fd, &one, sizeof one);
	errno = keep;
}

static void mask_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(how, &set, NULL);
}

int gk_interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	state.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (state.fd < 0)
		return gk_err_from_errno(errno);
	mask_signals(SIG_BLOCK);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

void gk_interrupt_ready(void)
{
	mask_signals(SIG_UNBLOCK);
}

bool gk_interrupt_wait(int fd, short events)
{
	struct pollfd polled[] = {
	    {.fd = fd, .events = events},
	    {.fd = state.fd, .events = POLLIN},
	};

	while (!state.came) {
		if (poll(polled, 2, -1) > 0 && !polled[1].revents)
			return true;
	}
	return false;
}
