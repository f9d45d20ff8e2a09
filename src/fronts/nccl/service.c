/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.c - owns a thread that lives as long as the process. It holds the
 * robust locks by which other processes see that this process is alive, and
 * opens memory of other processes, which kernels may not.
 */
#include "base/assert.h"
#include "base/calls.h"
#include "fronts/nccl/front.h"

#include <signal.h>
#include <sys/random.h>

struct request {
	struct request *next;
	void (*function)(void *);
	void *argument;
	bool done;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t came, went;
	struct request *first;
	bool runs;
	uint64_t process;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER,
	     .came = PTHREAD_COND_INITIALIZER,
	     .went = PTHREAD_COND_INITIALIZER};

static void *serve_requests(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "gpukit-nccl");
	pthread_mutex_lock(&service.lock);
	for (;;) {
		struct request *r = service.first;

		if (!r) {
			pthread_cond_wait(&service.came, &service.lock);
			continue;
		}
		service.first = r->next;
		pthread_mutex_unlock(&service.lock);
		r->function(r->argument);
		pthread_mutex_lock(&service.lock);
		r->done = true;
		pthread_cond_broadcast(&service.went);
	}
	return NULL;
}

/* Called in a forked child, which does not have this thread and needs another
 * process number. */
static void forget_thread(void)
{
	pthread_mutex_init(&service.lock, NULL);
	pthread_cond_init(&service.came, NULL);
	pthread_cond_init(&service.went, NULL);
	service.first = NULL;
	service.runs = false;
	service.process = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_thread);
}

/* The caller holds service.lock. */
static bool ensure_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sigset_t all, old;
	pthread_t thread;

	GK_ASSERT(gk_lock_held(&service.lock));
	if (service.runs)
		return true;
	pthread_once(&once, watch_forks);
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	service.runs = !pthread_create(&thread, NULL, serve_requests, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (service.runs)
		pthread_detach(thread);
	return service.runs;
}

bool service_call(void (*function)(void *), void *argument)
{
	struct request r = {.function = function, .argument = argument};
	struct request **at = &service.first;

	pthread_mutex_lock(&service.lock);
	if (!ensure_thread()) {
		pthread_mutex_unlock(&service.lock);
		return false;
	}
	while (*at)
		at = &(*at)->next;
	*at = &r;
	pthread_cond_signal(&service.came);
	while (!r.done)
		pthread_cond_wait(&service.went, &service.lock);
	pthread_mutex_unlock(&service.lock);
	return true;
}

uint64_t service_process(void)
{
	uint64_t process;

	pthread_mutex_lock(&service.lock);
	while (!service.process)
		if (gk_random(&service.process, sizeof service.process, 0) < 0)
			service.process = (uint64_t)(uintptr_t)&process;
	process = service.process;
	pthread_mutex_unlock(&service.lock);
	return process;
}
