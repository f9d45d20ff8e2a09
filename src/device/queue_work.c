/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_work.c - runs a task and accounts for its cost to the device: kernels
 * run when it is this process's turn and count as busy time, copies count as
 * traffic. Kernels get the floating-point mode of a new thread.
 */
#include "base/clock.h"
#include "device/queue_private.h"
#include "machine/file/work_state.h"
#include "machine/store/process/busy.h"
#include "machine/store/process/total.h"
#include "machine/store/process/turn.h"

/* How often a slowed copy checks whether it must end. */
#define DAWDLE_NS (5 * GK_NS_PER_MS)

static GKF_THREAD_WORD struct gkf_running *here;

#if defined(__x86_64__)
typedef unsigned floating;
static floating floating_default(void)
{
	unsigned old = __builtin_ia32_stmxcsr();

	/* all exceptions masked, round to nearest */
	__builtin_ia32_ldmxcsr(0x1f80);
	return old;
}
static void floating_set(floating old)
{
	__builtin_ia32_ldmxcsr(old);
}
#elif defined(__aarch64__)
typedef uint64_t floating;
static void floating_set(floating old)
{
	__asm__ volatile("msr fpcr, %0" : : "r"(old));
}
static floating floating_default(void)
{
	uint64_t old;

	__asm__ volatile("mrs %0, fpcr" : "=r"(old));
	floating_set(0);
	return old;
}
#endif

void gkf_work_plain_floating(void)
{
	floating_default();
}

/* ---- a turn that is kept for the next kernel of any queue ---- */

/*
 * Count the running kernels, guarded by `turn`, so that the busy time of
 * overlapping kernels counts once.
 */
static void count_in(struct gkf_executors *executors, struct gkf_machine *m,
		     unsigned slot)
{
	if (!executors->kernels++)
		gkf_busy_begin(m, slot);
}

static void count_out(struct gkf_executors *executors, struct gkf_machine *m,
		      unsigned slot)
{
	if (!--executors->kernels)
		gkf_busy_end(m, slot);
}

static bool keeps_turn(const struct gkf_executors *executors)
{
	return atomic_load_explicit(&executors->keeps, memory_order_relaxed);
}

void gkf_work_release(struct gkf_executors *executors)
{
	struct gkf_machine *machine;

	pthread_mutex_lock(&executors->turn);
	machine = executors->kept_machine;
	if (keeps_turn(executors)) {
		if (!executors->kept_rests)
			count_out(executors, machine, executors->kept_slot);
		gkf_turn_give(machine, executors->kept_slot);
		atomic_store(&executors->keeps, false);
	}
	pthread_mutex_unlock(&executors->turn);
}

/*
 * Only executors keep a turn, because they give it back when they find nothing
 * to do.
 */
static bool keep_turn(struct gkf_running *place)
{
	const struct gkf_queue_ask *ask = &place->queue->ask;
	struct gkf_executors *executors = place->queue->executors;
	bool kept;

	if (!gkf_is_executor())
		return false;
	pthread_mutex_lock(&executors->turn);
	kept = !keeps_turn(executors);
	if (kept) {
		executors->kept_machine = ask->machine;
		executors->kept_slot = ask->slot;
		executors->kept_rests = false;
		atomic_store(&executors->keeps, true);
		atomic_store(&place->has_turn, false);
	}
	pthread_mutex_unlock(&executors->turn);
	return kept;
}

/* Takes over a kept turn or, if its time slice is over, gives it back. */
static bool adopt_turn(struct gkf_running *place)
{
	const struct gkf_queue_ask *ask = &place->queue->ask;
	struct gkf_executors *executors = place->queue->executors;
	bool adopted;

	if (!keeps_turn(executors))
		return false;
	pthread_mutex_lock(&executors->turn);
	adopted = keeps_turn(executors) &&
		  executors->kept_machine == ask->machine &&
		  executors->kept_slot == ask->slot &&
		  !gkf_turn_due(ask->machine, ask->slot);
	if (adopted) {
		if (executors->kept_rests)
			count_in(executors, ask->machine, ask->slot);
		atomic_store(&executors->keeps, false);
		atomic_store(&place->has_turn, true);
	}
	pthread_mutex_unlock(&executors->turn);
	if (!adopted)
		gkf_work_release(executors);
	return adopted;
}

/*
 * Short work other than kernels does not end a kept turn. During copies a kept
 * turn stops counting as busy time, because many copies may follow without
 * another kernel.
 */
static void look_at_kept(struct gkf_executors *executors, unsigned work,
			 bool is_long)
{
	bool over;

	if (__builtin_expect(!keeps_turn(executors), 1))
		return;
	pthread_mutex_lock(&executors->turn);
	over = is_long ||
	       (keeps_turn(executors) &&
		gkf_turn_due(executors->kept_machine, executors->kept_slot));
	if (!over && keeps_turn(executors) && work != GKF_WORK_NONE &&
	    !executors->kept_rests) {
		executors->kept_rests = true;
		count_out(executors, executors->kept_machine,
			  executors->kept_slot);
	}
	pthread_mutex_unlock(&executors->turn);
	if (over)
		gkf_work_release(executors);
}

/* ---- turns of kernels ---- */

/*
 * Waits for this process's turn. Within a turn, the busy time begins with the
 * first kernel of this process and ends with the last. Returns false if the
 * kernel was stopped meanwhile. If the slot does not belong to this process
 * (any more), there is no turn to wait for.
 */
static bool take_turn(struct gkf_running *place)
{
	struct gkf_queue *queue = place->queue;
	struct gkf_executors *executors = queue->executors;
	int r;

	if (adopt_turn(place))
		return true;
	r = gkf_turn_take(queue->ask.machine, queue->ask.slot, &queue->stop);
	if (r)
		return !atomic_load(&queue->stop);
	pthread_mutex_lock(&executors->turn);
	count_in(executors, queue->ask.machine, queue->ask.slot);
	pthread_mutex_unlock(&executors->turn);
	atomic_store(&place->has_turn, true);
	return true;
}

static void give_back(struct gkf_queue *queue)
{
	struct gkf_executors *executors = queue->executors;

	pthread_mutex_lock(&executors->turn);
	count_out(executors, queue->ask.machine, queue->ask.slot);
	pthread_mutex_unlock(&executors->turn);
	gkf_turn_give(queue->ask.machine, queue->ask.slot);
}

static void give_turn(struct gkf_running *place)
{
	if (atomic_exchange(&place->has_turn, false))
		give_back(place->queue);
}

static bool is_due(const struct gkf_running *place)
{
	const struct gkf_queue_ask *ask = &place->queue->ask;

	return atomic_load_explicit(&place->has_turn, memory_order_relaxed) &&
	       gkf_turn_due(ask->machine, ask->slot);
}

/*
 * All threads of a kernel notice the end of the time slice: one yields the
 * turn, the others wait here.
 */
static void yield_turn(struct gkf_running *place)
{
	pthread_mutex_lock(&place->yielding);
	if (is_due(place)) {
		give_turn(place);
		take_turn(place);
	}
	pthread_mutex_unlock(&place->yielding);
}

bool gkf_task_stopped(void)
{
	if (!here)
		return false;
	if (__builtin_expect(is_due(here), 0))
		yield_turn(here);
	return atomic_load_explicit(&here->queue->stop, memory_order_relaxed) ||
	       gkf_queue_struck(here->queue);
}

/*
 * A turn taken here is never kept, because only an executor notices that no
 * work follows. If there is no turn to wait for (see take_turn()), the work
 * counts as busy time all the same.
 */
void gkf_queue_take_turn(struct gkf_queue *queue)
{
	struct gkf_executors *executors = queue->executors;
	const struct gkf_queue_ask *ask = &queue->ask;

	gkf_turn_take(ask->machine, ask->slot, NULL);
	pthread_mutex_lock(&executors->turn);
	count_in(executors, ask->machine, ask->slot);
	pthread_mutex_unlock(&executors->turn);
	gkf_total_launched(ask->machine, ask->slot);
}

void gkf_queue_give_turn(struct gkf_queue *queue)
{
	give_back(queue);
}

/*
 * Giving the turn back after each short kernel would make the next kernel wait
 * while other processes use their slices. So the turn is kept for the next
 * kernel of any queue, until the time slice is over.
 */
static void end_turn(struct gkf_running *place, int result)
{
	if (!atomic_load(&place->has_turn))
		return;
	if (result || is_due(place) || atomic_load(&place->queue->stop) ||
	    !keep_turn(place))
		give_turn(place);
}

static int run_kernel(struct gkf_running *place, struct gkf_task *task)
{
	struct gkf_queue *queue = place->queue;
	floating old = floating_default();
	int result = 0;

	if (take_turn(place)) {
		gkf_total_launched(queue->ask.machine, queue->ask.slot);
		result = task->run(task);
	}
	end_turn(place, result);
	floating_set(old);
	/* A stopped task has not done its work. */
	if (!result && atomic_load(&queue->stop))
		result = atomic_load(&queue->result);
	/*
	 * A kernel stopped because its device failed returns the device's
	 * error.
	 */
	if ((!result || result == GKF_RESULT_ENDED) && gkf_queue_struck(queue))
		result = gkf_queue_struck(queue);
	return result;
}

static void count_copy(const struct gkf_queue *queue,
		       const struct gkf_task *task)
{
	static const enum gkf_direction direction[] = {
	    [GKF_WORK_COPY_IN] = GKF_IN,
	    [GKF_WORK_COPY_OUT] = GKF_OUT,
	    [GKF_WORK_COPY_DEVICE] = GKF_DEVICE,
	};

	if (task->bytes)
		gkf_busy_moved(queue->ask.machine, queue->ask.slot,
			       direction[task->work], task->bytes);
}

static uint64_t slowness_of(const struct gkf_queue *queue)
{
	return queue->ask.slowness ? queue->ask.slowness(queue->ask.owner) : 1;
}

/*
 * Waits until the copy has taken as long as it would on the slowed device, the
 * queue is stopped, or the device works at full speed again.
 */
static void delay_copy(const struct gkf_queue *queue, uint64_t began_ns)
{
	uint64_t now = gk_mono_ns(), took = now - began_ns, end;

	while ((end = began_ns + took * slowness_of(queue)) > now &&
	       !atomic_load(&queue->stop) && !gkf_queue_struck(queue)) {
		gk_sleep_until(end - now < DAWDLE_NS ? end : now + DAWDLE_NS);
		now = gk_mono_ns();
	}
}

static int run_copy(const struct gkf_queue *queue, struct gkf_task *task)
{
	bool slow = slowness_of(queue) > 1;
	uint64_t began = slow ? gk_mono_ns() : 0;
	int result = task->run(task);

	if (__builtin_expect(slow, 0))
		delay_copy(queue, began);
	count_copy(queue, task);
	return result;
}

static int run_by_kind(struct gkf_running *place, struct gkf_task *task)
{
	switch ((enum gkf_work)task->work) {
	case GKF_WORK_KERNEL:
		return run_kernel(place, task);
	case GKF_WORK_COPY_IN:
	case GKF_WORK_COPY_OUT:
	case GKF_WORK_COPY_DEVICE:
		return run_copy(place->queue, task);
	case GKF_WORK_NONE:
	case GKF_WORK_HOST:
		break;
	}
	return task->run(task);
}

/* Whether a task is long: it gets a thread besides those for short tasks. */
static bool takes_long(const struct gkf_task *task)
{
	return task->work == GKF_WORK_KERNEL || task->work == GKF_WORK_HOST ||
	       task->bytes >= 1 << 20;
}

int gkf_work_run(struct gkf_queue *queue, struct gkf_task *task)
{
	struct gkf_running place = {.queue = queue,
				    .outer = here,
				    .yielding = PTHREAD_MUTEX_INITIALIZER};
	bool is_long = takes_long(task), serves = gkf_is_executor();
	int result;

	if (is_long && !gkf_executors_begin_long(queue, task))
		return GKF_TASK_LATER;
	if (task->work != GKF_WORK_KERNEL)
		look_at_kept(queue->executors, task->work, is_long);
	here = &place;
	result = run_by_kind(&place, task);
	here = place.outer;
	if (is_long)
		gkf_executors_end_long(queue->executors, task);
	return serves && !gkf_is_executor() ? GKF_TASK_FORKED : result;
}

void gkf_work_forget(void)
{
	here = NULL;
}
