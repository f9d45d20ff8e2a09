/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_process.c - starts processes that stand for recorded ones. They attach
 * to the machine's GPUs and hold memory there as the recording says.
 */
#include "cli/fake/launch/replay_process.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/model/mig/mig.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 1000

/* ---- the player's side ---- */

/*
 * Returns the recorded arguments, or the process's name if there are none.
 * NULL: out of memory.
 */
static char **make_arguments(const struct gk_process *p)
{
	size_t count = 0, len = p->args_len;
	char **argv, *copy;

	for (size_t i = 0; i < len; i++)
		count += !p->args[i];
	argv = calloc(count + 3, sizeof *argv);
	copy = calloc(1, len + 2);
	if (!argv || !copy)
		return NULL;
	if (!len || !*p->args) {
		argv[0] = (char *)(uintptr_t)p->name;
		return argv;
	}
	memcpy(copy, p->args, len);
	count = 0;
	for (size_t i = 0; i < len; i += strlen(copy + i) + 1)
		argv[count++] = copy + i;
	return argv;
}

static void __attribute__((noreturn))
become_recorded(const struct gk_process *p, pid_t player, int fd)
{
	char **argv = make_arguments(p), text[128];
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!argv || getppid() != player)
		_exit(GK_EXIT_FAILURE);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	fcntl(fd, F_SETFD, 0);
	snprintf(text, sizeof text, "%d:%s", fd, p->name);
	setenv(FAKE_REPLAY_PROCESS, text, 1);
	execv("/proc/self/exe", argv);
	_exit(GK_EXIT_FAILURE);
}

int fake_replay_process_start(const struct gk_process *p,
			      struct fake_replay_process *ret_process)
{
	pid_t player = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return gk_err_from_errno(errno);
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return gk_err_from_errno(errno);
	}
	if (!pid)
		become_recorded(p, player, ends[1]);
	close(ends[1]);
	*ret_process = (struct fake_replay_process){.recorded = p->pid,
						    .start = p->start_ticks,
						    .pid = pid,
						    .fd = ends[0]};
	return 0;
}

void fake_replay_process_tell(struct fake_replay_process *s)
{
	struct pollfd answer = {.fd = s->fd, .events = POLLIN};
	char byte;

	GK_ASSERT(s->order.count <= FAKE_REPLAY_PROCESS_TARGETS);
	if (send(s->fd, &s->order, sizeof s->order, MSG_NOSIGNAL) < 0)
		return;
	if (poll(&answer, 1, ANSWER_MS) > 0)
		(void)!recv(s->fd, &byte, 1, 0);
}

void fake_replay_process_end(struct fake_replay_process *s)
{
	close(s->fd);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- the process that stands for a recorded one ---- */

#define TARGETS (GKF_DEVICES_MAX * (GKF_MIG_MAX + 1))

/* The process's attachment to one GPU or MIG device. */
struct hold {
	bool on;
	unsigned slot;
	uint32_t types;
	uint64_t bytes;
};

/*
 * Converts a recorded utilization to a share of the time in which kernels ran,
 * in permille. Rounds up, because the model rounds down.
 */
static uint32_t share_of_busy(uint32_t percent, uint32_t sm)
{
	return (percent * 1000 + sm - 1) / sm;
}

/* Makes a wave of constant utilization. */
static struct gkf_wave steady_wave(const struct fake_replay_process_target *p)
{
	return (struct gkf_wave){
	    .kind = GKF_WAVE_STEADY,
	    .util_permille = p->sm * 10,
	    .mem_permille = p->sm ? share_of_busy(p->mem, p->sm) : 0,
	    .encoder_permille =
		p->sm ? share_of_busy(p->enc, p->sm) : p->enc * 10,
	    .decoder_permille =
		p->sm ? share_of_busy(p->dec, p->sm) : p->dec * 10,
	};
}

/*
 * Detaches from a device. If that fails (a stopped process may hold the
 * machine's lock), the next order tries again.
 */
static void leave_device(struct gkf_machine *m, struct hold *h)
{
	int r = h->on ? gkf_detach(m, h->slot) : 0;

	if (!r || r == GK_ERR_NOT_FOUND)
		*h = (struct hold){0};
}

static void resize_held(struct gkf_machine *m, struct hold *h, uint64_t bytes)
{
	int r = bytes > h->bytes
		    ? gkf_books_charge(m, h->slot, bytes - h->bytes)
		    : gkf_books_refund(m, h->slot, h->bytes - bytes);

	if (!r)
		h->bytes = bytes;
}

static int attach_recorded(struct gkf_machine *m,
			   const struct fake_replay_process_target *p,
			   const struct gkf_wave *wave, unsigned *ret_slot)
{
	struct gkf_mig_ci ci;
	int r;

	if (!p->mig)
		return gkf_attach(m, p->gpu, p->types, wave, ret_slot);
	r = gkf_mig_by_index(m, p->gpu, p->mig - 1, &ci);
	return r ? r
		 : gkf_attach_instance(m, p->gpu, GKF_INSTANCE(ci.gi, ci.id),
				       p->types, wave, ret_slot);
}

static void follow_order(struct gkf_machine *m,
			 const struct fake_replay_process_target *p,
			 struct hold *h)
{
	struct gkf_wave wave = steady_wave(p);

	if (h->on && h->types != p->types)
		leave_device(m, h);
	if (!h->on) {
		if (attach_recorded(m, p, &wave, &h->slot))
			return;
		h->on = true;
		h->types = p->types;
	} else {
		gkf_tune(m, h->slot, &wave);
	}
	resize_held(m, h, p->bytes);
}

static unsigned number_of_target(const struct fake_replay_process_target *p)
{
	return p->gpu * (GKF_MIG_MAX + 1) + p->mig;
}

static void obey_order(struct gkf_machine *m,
		       const struct fake_replay_process_order *order,
		       struct hold *holds)
{
	bool named[TARGETS] = {0};

	for (uint32_t i = 0; i < order->count; i++)
		named[number_of_target(&order->targets[i])] = true;
	for (unsigned i = 0; i < TARGETS; i++)
		if (!named[i])
			leave_device(m, &holds[i]);
	for (uint32_t i = 0; i < order->count; i++)
		follow_order(m, &order->targets[i],
			     &holds[number_of_target(&order->targets[i])]);
}

static bool is_order_sound(const struct fake_replay_process_order *order,
			   ssize_t len)
{
	if (len != sizeof *order || order->count > FAKE_REPLAY_PROCESS_TARGETS)
		return false;
	for (uint32_t i = 0; i < order->count; i++)
		if (order->targets[i].gpu >= GKF_DEVICES_MAX ||
		    order->targets[i].mig > GKF_MIG_MAX)
			return false;
	return true;
}

int fake_replay_process_main(void)
{
	static struct hold holds[TARGETS];
	char text[128];
	struct fake_replay_process_order order;
	struct gkf_machine *m;
	char *name;
	int fd;

	gk_str_copy(text, sizeof text, getenv(FAKE_REPLAY_PROCESS));
	unsetenv(FAKE_REPLAY_PROCESS);
	fd = (int)strtol(text, &name, 10);
	if (*name == ':')
		prctl(PR_SET_NAME, name + 1);
	if (gkf_machine_open(NULL, &m))
		return GK_EXIT_FAILURE;
	while (is_order_sound(&order, recv(fd, &order, sizeof order, 0))) {
		obey_order(m, &order, holds);
		(void)!send(fd, "", 1, MSG_NOSIGNAL);
	}
	for (unsigned i = 0; i < TARGETS; i++)
		leave_device(m, &holds[i]);
	gkf_machine_close(m);
	return GK_EXIT_OK;
}
