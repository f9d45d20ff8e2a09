/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - reads the GPUs for a verb that serves, whatever happens to the
 * driver: waits until there is a driver, and reopens it when all GPUs are gone.
 */
#include "cli/serve/serve.h"

#include "base/array.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/open.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Seconds between attempts to open a driver that is missing. */
#define LOOK_EVERY 5

/*
 * How long one wait for an attempt to open the driver lasts; signals are
 * handled between two waits. An attempt that takes longer continues, and its
 * result is looked for every second. Only after HUNG_AFTER looks is the driver
 * reported to hang: it may have to load the kernel driver first.
 */
#define ATTEMPT_NS (500 * GK_NS_PER_MS)
#define HUNG_AFTER 10

/*
 * Seconds to wait before reopening a driver that was closed. The thread that
 * waits for events may stay inside the driver for up to one second more.
 */
#define REST 2

/*
 * How long all GPUs may fail to answer before the driver is opened again:
 * SHUT_NS if NVML says that there is no driver any more, otherwise GONE_NS. The
 * latter is longer, because reopening the driver forgets the Xids. A lost GPU
 * counts as an answer: its return is noticed without reopening the driver,
 * which would forget the GPU's name.
 */
#define SHUT_NS (5 * GK_NS_PER_S)
#define GONE_NS (60 * GK_NS_PER_S)

/*
 * NVML's errors that mean that there is no driver any more: not initialised,
 * not loaded, or another version than the library.
 */
static const int shut_errors[] = {1, 9, 18};

/* ---- waiting for a driver ---- */

/*
 * Reports why there is no driver. Prints the reason on stderr only if it has
 * changed.
 */
static void tell_why(const struct gk_serve_machine *m, int err, int nvml,
		     char told[GK_CLI_WHY_MAX])
{
	char why[GK_CLI_WHY_MAX];

	gk_cli_why(why, m->verb, m->options, err, nvml);
	if (strcmp(why, told))
		gk_serve_failure(m->verb, "%s", why);
	strcpy(told, why);
	m->away(m->owner, why);
}

/*
 * Tries to open the driver. *hung counts the attempts in a row that have not
 * been answered. Returns 0 or a gk_err.
 */
static int try_driver(struct gk_serve_machine *m, unsigned *hung,
		      char told[GK_CLI_WHY_MAX])
{
	int nvml = 0;
	int err = gk_open_within(m->options, ATTEMPT_NS, &nvml, &m->gk);

	m->stuck = err == GK_ERR_TIMEOUT;
	*hung = m->stuck ? *hung + 1 : 0;
	if (m->stuck && *hung < HUNG_AFTER)
		m->away(m->owner, "the NVIDIA driver is being opened");
	else if (err)
		tell_why(m, err, nvml, told);
	return err;
}

/*
 * Tries to open the driver after `rest` seconds, and then every LOOK_EVERY
 * seconds. Returns false if a signal arrives first.
 */
static bool await_driver(struct gk_serve_machine *m, unsigned rest)
{
	const struct itimerspec second = {{1, 0}, {1, 0}};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	bool waits = timer >= 0 && !timerfd_settime(timer, 0, &second, NULL);
	char told[GK_CLI_WHY_MAX] = "";
	unsigned hung = 0;
	uint64_t passed;
	int err = GK_ERR_IO;

	do {
		if (rest) {
			rest--;
		} else {
			err = try_driver(m, &hung, told);
			rest = m->stuck ? 0 : LOOK_EVERY - 1;
		}
		if (m->tick)
			m->tick(m->owner);
	} while (err && waits && gk_interrupt_wait(timer, POLLIN) &&
		 read(timer, &passed, sizeof passed) > 0);
	if (timer >= 0)
		close(timer);
	return !err;
}

/* ---- frames ---- */

static bool is_shut(const struct gk_device *d)
{
	for (size_t i = 0; i < COUNT(shut_errors); i++)
		if (d->health == GK_HEALTH_ERROR &&
		    d->nvml_error == shut_errors[i])
			return true;
	return false;
}

/*
 * Returns how long the GPUs may stay in their present state before the driver
 * is opened again; 0: for ever, because the driver answers. GPUs that hang are
 * ignored. If one GPU has an error of shut_errors, the driver is gone for all.
 */
static uint64_t patience_of(const struct gk_snapshot *snap)
{
	bool shut = false, error = !snap->device_count;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->health == GK_HEALTH_OK || d->health == GK_HEALTH_LOST)
			return 0;
		error |= d->health == GK_HEALTH_ERROR;
		shut |= is_shut(d);
	}
	return shut ? SHUT_NS : error ? GONE_NS : 0;
}

/*
 * Whether the driver must be opened again. *since_ns is the time since which no
 * GPU has answered; 0 if a GPU answers.
 */
static bool is_over(const struct gk_snapshot *snap, uint64_t *since_ns)
{
	uint64_t patience = patience_of(snap);

	if (!patience)
		*since_ns = 0;
	else if (!*since_ns)
		*since_ns = snap->mono_ns;
	return patience && snap->mono_ns - *since_ns >= patience;
}

/*
 * Passes frames on until the driver must be opened again, which sets *ret_over,
 * or until a signal arrives. Returns a gk_exit, after a message unless it is 0.
 */
static int pass_frames(struct gk_serve_machine *m, bool *ret_over)
{
	int fd = gk_watch_fd(m->gk);
	uint64_t since_ns = 0;

	*ret_over = false;
	while (!*ret_over && gk_interrupt_wait(fd, POLLIN)) {
		struct gk_snapshot *snap;
		int err = gk_watch_next(m->gk, &snap);

		if (err == GK_ERR_TIMEOUT)
			continue;
		if (err)
			return gk_serve_failure(m->verb,
						"cannot read the GPUs: %s",
						gk_strerror(err));
		*ret_over = is_over(snap, &since_ns);
		m->put(m->owner, snap);
	}
	return GK_EXIT_OK;
}

int gk_serve_machine(struct gk_serve_machine *m)
{
	unsigned rest = 0;
	bool over = true;
	int status = GK_EXIT_OK;

	while (over && await_driver(m, rest)) {
		int err = gk_watch_begin(m->gk, m->interval_ns);

		if (err)
			return gk_serve_failure(m->verb,
						"cannot read the GPUs: %s",
						gk_strerror(err));
		status = pass_frames(m, &over);
		if (!over)
			break;
		m->abandoned |= gk_close(m->gk) == GK_ERR_TIMEOUT;
		m->gk = NULL;
		rest = REST;
	}
	return status;
}

int gk_serve_machine_end(struct gk_serve_machine *m, int status)
{
	if (m->gk)
		status = gk_cli_close(m->gk, status);
	m->gk = NULL;
	if (!m->stuck && !m->abandoned)
		return status;
	fflush(NULL);
	_exit(status);
}
