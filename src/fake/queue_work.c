/*
 * queue_work.c - running one task, and what that costs the device: kernels run
 * in this process's turn and are its busy time, copies are traffic. A kernel
 * finds floating point as a fresh thread has it.
 */
#include "fake/busy.h"
#include "fake/queue_private.h"
#include "fake/turn.h"

static GKF_THREAD_WORD struct gkf_place *here;

#if defined(__x86_64__)
typedef unsigned floating;
static floating floating_default(void)
{
	unsigned old = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(0x1f80); /* all masked, to nearest */
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

/*
 * Busy time begins with the first kernel of the process that has the turn and
 * ends with the last. False: the kernel was told to stop while it waited. A
 * slot that is not this process's (any more) has no turns to wait for.
 */
static bool take_turn(struct gkf_place *place)
{
	struct gkf_queue *queue = place->queue;
	struct gkf_pool *pool = queue->pool;
	int r =
	    gkf_turn_take(queue->ask.machine, queue->ask.slot, &queue->stop);

	if (r)
		return !atomic_load(&queue->stop);
	pthread_mutex_lock(&pool->turn);
	if (!pool->kernels++)
		gkf_busy_begin(queue->ask.machine, queue->ask.slot);
	pthread_mutex_unlock(&pool->turn);
	atomic_store(&place->has_turn, true);
	return true;
}

static void give_back(struct gkf_queue *queue)
{
	struct gkf_pool *pool = queue->pool;

	pthread_mutex_lock(&pool->turn);
	if (!--pool->kernels)
		gkf_busy_end(queue->ask.machine, queue->ask.slot);
	pthread_mutex_unlock(&pool->turn);
	gkf_turn_give(queue->ask.machine, queue->ask.slot);
}

static void give_turn(struct gkf_place *place)
{
	if (atomic_exchange(&place->has_turn, false))
		give_back(place->queue);
}

void gkf_work_leave(struct gkf_queue *queue)
{
	if (!queue->has_turn)
		return;
	queue->has_turn = false;
	give_back(queue);
}

static bool is_due(const struct gkf_place *place)
{
	const struct gkf_queue_ask *ask = &place->queue->ask;

	return atomic_load_explicit(&place->has_turn, memory_order_relaxed) &&
	       gkf_turn_due(ask->machine, ask->slot);
}

/* The other threads of the kernel find the turn due, too, and wait here. */
static void yield_turn(struct gkf_place *place)
{
	pthread_mutex_lock(&place->yielding);
	if (is_due(place)) {
		give_turn(place);
		take_turn(place);
	}
	pthread_mutex_unlock(&place->yielding);
}

struct gkf_place *gkf_task_place(void)
{
	return here;
}

bool gkf_place_stopped(struct gkf_place *place)
{
	if (__builtin_expect(is_due(place), 0))
		yield_turn(place);
	return atomic_load_explicit(&place->queue->stop, memory_order_relaxed);
}

bool gkf_task_stopped(void)
{
	return here && gkf_place_stopped(here);
}

/* The turn that the kernel before left, or one to wait for. */
static bool begin_turn(struct gkf_place *place)
{
	if (!place->queue->has_turn)
		return take_turn(place);
	place->queue->has_turn = false;
	atomic_store(&place->has_turn, true);
	return true;
}

/* Copies that take no longer than it takes to give the turn away. */
#define INSTANT_BYTES (64 * 1024)

static bool is_instant(const struct gkf_task *task)
{
	switch ((enum gkf_work)task->work) {
	case GKF_WORK_MARK:
		return true;
	case GKF_WORK_COPY_IN:
	case GKF_WORK_COPY_OUT:
	case GKF_WORK_COPY_DEVICE:
		return task->bytes <= INSTANT_BYTES;
	case GKF_WORK_NONE:
	case GKF_WORK_KERNEL:
	case GKF_WORK_HOST:
		break;
	}
	return false;
}

/* Is the next thing in the queue that takes time another kernel? */
static bool kernel_follows(struct gkf_queue *queue, const struct gkf_task *task)
{
	const struct gkf_task *next;
	bool follows;

	pthread_mutex_lock(&queue->lock);
	for (next = task->next; next && is_instant(next); next = next->next)
		;
	follows = next && next->work == GKF_WORK_KERNEL;
	pthread_mutex_unlock(&queue->lock);
	return follows;
}

/*
 * Whoever gave up the turn after each short kernel would wait for a whole
 * slice of the others each time. So it is left to a kernel that comes next in
 * the queue, as long as the slice lasts.
 */
static void end_turn(struct gkf_place *place, const struct gkf_task *task,
		     int result)
{
	struct gkf_queue *queue = place->queue;

	if (result || !kernel_follows(queue, task) || is_due(place) ||
	    atomic_load(&queue->stop))
		give_turn(place);
	else
		queue->has_turn = atomic_exchange(&place->has_turn, false);
}

static int run_kernel(struct gkf_place *place, struct gkf_task *task)
{
	struct gkf_queue *queue = place->queue;
	floating old = floating_default();
	int result = 0;

	if (begin_turn(place))
		result = task->run(task);
	end_turn(place, task, result);
	floating_set(old);
	/* What stopped early has not done its work. */
	if (!result && atomic_load(&queue->stop))
		result = atomic_load(&queue->result);
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

static int run_by_kind(struct gkf_place *place, struct gkf_task *task)
{
	int result;

	switch ((enum gkf_work)task->work) {
	case GKF_WORK_KERNEL:
		return run_kernel(place, task);
	case GKF_WORK_COPY_IN:
	case GKF_WORK_COPY_OUT:
	case GKF_WORK_COPY_DEVICE:
		result = task->run(task);
		count_copy(place->queue, task);
		return result;
	case GKF_WORK_NONE:
	case GKF_WORK_MARK:
	case GKF_WORK_HOST:
		break;
	}
	return task->run(task);
}

/* Other tasks of the device are not kept waiting by these. */
static bool takes_long(const struct gkf_task *task)
{
	return task->work == GKF_WORK_KERNEL || task->work == GKF_WORK_HOST ||
	       task->bytes >= 1 << 20;
}

int gkf_work_run(struct gkf_queue *queue, struct gkf_task *task)
{
	struct gkf_place place = {.queue = queue,
				  .outer = here,
				  .yielding = PTHREAD_MUTEX_INITIALIZER};
	bool is_long = takes_long(task), serves = gkf_is_executor();
	int result;

	if (is_long && !gkf_pool_begin_long(queue, task))
		return GKF_TASK_LATER;
	here = &place;
	result = run_by_kind(&place, task);
	here = place.outer;
	if (is_long)
		gkf_pool_end_long(queue->pool, task);
	return serves && !gkf_is_executor() ? GKF_TASK_FORKED : result;
}

void gkf_work_forget(void)
{
	here = NULL;
}
