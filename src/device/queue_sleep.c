/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_sleep.c - makes threads wait for tickets and wakes them, with futexes.
 */
#include "base/clock.h"
#include "device/queue_private.h"

#include <limits.h>

bool gkf_ticket_done(struct gkf_ticket ticket)
{
	return !ticket.queue ||
	       atomic_load_explicit(&ticket.queue->done,
				    memory_order_acquire) >= ticket.number;
}

/*
 * If no thread could be started, the waiting thread does the work. Returns
 * whether it did.
 */
static bool help_executors(struct gkf_executors *executors)
{
	if (atomic_load(&executors->threads))
		return false;
	gkf_executors_look(executors);
	gkf_executors_help(executors);
	return true;
}

bool gkf_ticket_spin(struct gkf_ticket ticket, uint64_t ns)
{
	uint64_t end = ns ? gk_mono_ns() + ns : 0;

	if (!gkf_ticket_done(ticket))
		help_executors(ticket.queue->executors);
	while (!gkf_ticket_done(ticket)) {
		if (!ns || gk_mono_ns() >= end)
			return false;
		for (int i = 0; i < 16; i++)
			gk_cpu_pause();
	}
	return true;
}

/* Requests to be woken when the queue has done the task with this number. */
static void ask_for(struct gkf_queue *queue, uint64_t number)
{
	uint64_t lowest = atomic_load(&queue->wake_at);

	while (number < lowest &&
	       !atomic_compare_exchange_weak(&queue->wake_at, &lowest, number))
		;
}

/*
 * Finishing a task resets all requests, then changes the word and wakes the
 * threads. So a thread that reads the word before making its request cannot
 * miss the wake.
 */
void gkf_ticket_sleep(struct gkf_ticket ticket)
{
	struct gkf_queue *queue = ticket.queue;
	bool alone;
	uint32_t word;

	while (!gkf_ticket_done(ticket)) {
		alone = help_executors(queue->executors);
		word = atomic_load(&queue->wake_word);
		ask_for(queue, ticket.number);
		if (gkf_ticket_done(ticket))
			break;
		gk_futex_wait(GK_FUTEX_PRIVATE, &queue->wake_word, word,
			      alone ? GK_NS_PER_MS : UINT64_MAX);
	}
}

void gkf_ticket_wait(struct gkf_ticket ticket)
{
	if (!atomic_load(&gkf_room.ending))
		gkf_ticket_sleep(ticket);
}

void gkf_wake_waiters(struct gkf_queue *queue, uint64_t done)
{
	if (done < atomic_load(&queue->wake_at))
		return;
	atomic_store(&queue->wake_at, UINT64_MAX);
	atomic_fetch_add(&queue->wake_word, 1);
	gk_futex_wake(GK_FUTEX_PRIVATE, &queue->wake_word, INT_MAX);
}
