/* Queues: order, waits for each other, priorities, failures, exit and fork. */
#include "fake/fixture.h"

#include "base/clock.h"
#include "base/err.h"
#include "fake/busy.h"
#include "fake/charge.h"
#include "fake/queue.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>

static struct fixture fx;
static unsigned slot;

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	assert_int_equal(gkf_charge_attach(fx.m, 0, GKF_NO_INSTANCE, &slot), 0);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	gkf_detach(fx.m, slot);
	fixture_close(&fx);
	return 0;
}

/* What the tests push: counts that it ran and that it was let go of. */
struct probe {
	struct gkf_task task;
	int (*act)(struct probe *probe);
	void *data;
	uint64_t value;
};

static _Atomic unsigned ran, dropped, failures;
static _Atomic int failed_with;

static int run_probe(struct gkf_task *task)
{
	struct probe *probe = (struct probe *)task;
	int result = probe->act ? probe->act(probe) : 0;

	if (result != GKF_TASK_AGAIN)
		atomic_fetch_add(&ran, 1);
	return result;
}

static void drop_probe(struct gkf_task *task)
{
	(void)task;
	atomic_fetch_add(&dropped, 1);
}

static void note_failure(void *owner, int result)
{
	assert_ptr_equal(owner, &fx);
	atomic_fetch_add(&failures, 1);
	atomic_store(&failed_with, result);
}

static struct gkf_queue *new_queue(int priority)
{
	struct gkf_queue_ask ask = {.machine = fx.m,
				    .device = 0,
				    .slot = slot,
				    .priority = priority,
				    .owner = &fx,
				    .failed = note_failure};
	struct gkf_queue *queue;

	assert_int_equal(gkf_queue_new(&ask, &queue), 0);
	return queue;
}

static struct gkf_task *probe_of(unsigned work, int (*act)(struct probe *),
				 void *data, uint64_t value)
{
	struct probe *probe = gkf_task_new(sizeof *probe);

	assert_non_null(probe);
	probe->task.run = run_probe;
	probe->task.drop = drop_probe;
	probe->task.work = work;
	probe->act = act;
	probe->data = data;
	probe->value = value;
	return &probe->task;
}

static void push(struct gkf_queue *queue, unsigned work,
		 int (*act)(struct probe *), void *data, uint64_t value)
{
	gkf_queue_push(queue, probe_of(work, act, data, value));
}

static void finish(struct gkf_queue *queue)
{
	gkf_ticket_wait(gkf_queue_ticket(queue));
}

/* A task that stays until the test lets it go, and says when it is there. */
struct gate {
	sem_t inside, open;
};

static void gate_init(struct gate *gate)
{
	sem_init(&gate->inside, 0, 0);
	sem_init(&gate->open, 0, 0);
}

static void await(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

static int stay(struct probe *probe)
{
	struct gate *gate = probe->data;

	sem_post(&gate->inside);
	await(&gate->open);
	return 0;
}

static unsigned count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Those that do the work of GPU 0, by their names. */
static unsigned count_executors(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm",
			 entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof name, file))
			n += !strcmp(name, "gpukit-gpu0\n");
		if (file)
			fclose(file);
	}
	closedir(dir);
	return n;
}

/* ---- order ---- */

static int note_order(struct probe *probe)
{
	uint64_t *last = probe->data;

	if (probe->value != *last + 1)
		return 999;
	*last = probe->value;
	return 0;
}

static void a_queue_does_one_task_after_the_other(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	uint64_t last = 0;

	(void)state;
	atomic_store(&dropped, 0);
	for (uint64_t i = 1; i <= 100000; i++)
		push(queue, GKF_WORK_NONE, note_order, &last, i);
	finish(queue);
	assert_int_equal(last, 100000);
	assert_int_equal(atomic_load(&dropped), 100000);
	gkf_queue_release(queue, false);
}

static void who_waits_finds_it_done(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_ticket first, second;
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_true(gkf_ticket_done(gkf_queue_ticket(queue)));
	assert_true(gkf_ticket_done((struct gkf_ticket){0}));
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	first = gkf_queue_ticket(queue);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	second = gkf_queue_ticket(queue);
	assert_false(gkf_ticket_done(first));
	assert_false(gkf_ticket_spin(first, 1000));
	sem_post(&gate.open);
	gkf_ticket_wait(first);
	assert_true(gkf_ticket_done(first));
	assert_false(gkf_ticket_done(second));
	sem_post(&gate.open);
	gkf_ticket_wait(second);
	gkf_queue_release(queue, false);
	assert_true(gkf_ticket_done(first) && gkf_ticket_done(second));
}

/* Each of them waits for all the others to have begun. */
static int meet(struct probe *probe)
{
	pthread_barrier_wait(probe->data);
	return 0;
}

static void queues_run_beside_each_other(void **state)
{
	enum { TOGETHER = 16 };
	struct gkf_queue *queue[TOGETHER];
	pthread_barrier_t barrier;

	(void)state;
	pthread_barrier_init(&barrier, NULL, TOGETHER);
	for (int i = 0; i < TOGETHER; i++) {
		queue[i] = new_queue(0);
		push(queue[i], GKF_WORK_HOST, meet, &barrier, 0);
	}
	for (int i = 0; i < TOGETHER; i++) {
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
	pthread_barrier_destroy(&barrier);
}

static void thousands_of_queues_have_few_threads(void **state)
{
	enum { QUEUES = 4000, TASKS = 25 };
	static struct gkf_queue *queue[QUEUES];
	static uint64_t last[QUEUES];

	(void)state;
	memset(last, 0, sizeof last);
	for (int i = 0; i < QUEUES; i++)
		queue[i] = new_queue(i % 3);
	for (uint64_t t = 1; t <= TASKS; t++) {
		for (int i = 0; i < QUEUES; i++)
			push(queue[i], GKF_WORK_NONE, note_order, &last[i], t);
	}
	for (int i = 0; i < QUEUES; i++) {
		finish(queue[i]);
		assert_int_equal(last[i], TASKS);
		gkf_queue_release(queue[i], false);
	}
	assert_in_range(count_executors(), 1, 64);
}

/* ---- the calling thread does it ---- */

static int whose(struct probe *probe)
{
	*(pthread_t *)probe->data = pthread_self();
	return 0;
}

static void an_idle_queue_is_served_by_who_waits(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	pthread_t thread;

	(void)state;
	assert_int_equal(
	    gkf_queue_run(queue, probe_of(GKF_WORK_NONE, whose, &thread, 0)),
	    0);
	assert_true(pthread_equal(thread, pthread_self()));
	push(queue, GKF_WORK_NONE, whose, &thread, 0);
	finish(queue);
	assert_false(pthread_equal(thread, pthread_self()));
	gkf_queue_release(queue, false);
}

static int fail_with(struct probe *probe)
{
	return (int)probe->value;
}

static void what_is_run_behind_others_keeps_its_place(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	uint64_t last = 0;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		push(queue, GKF_WORK_NONE, note_order, &last, 2 * i - 1);
		assert_int_equal(
		    gkf_queue_run(queue, probe_of(GKF_WORK_NONE, note_order,
						  &last, 2 * i)),
		    0);
		assert_int_equal(last, 2 * i);
	}
	gkf_queue_release(queue, false);
}

/* ---- waits ---- */

static void what_comes_later_waits_for_the_other_queue(void **state)
{
	struct gkf_queue *a = new_queue(0), *b = new_queue(0);
	struct gate gate;
	uint64_t last = 0;

	(void)state;
	gate_init(&gate);
	push(a, GKF_WORK_HOST, stay, &gate, 0);
	push(a, GKF_WORK_NONE, note_order, &last, 2);
	push(b, GKF_WORK_NONE, note_order, &last, 1);
	finish(b);
	gkf_queue_after(b, gkf_queue_ticket(a));
	push(b, GKF_WORK_NONE, note_order, &last, 3);
	assert_false(gkf_ticket_spin(gkf_queue_ticket(b), 100000));
	sem_post(&gate.open);
	finish(b);
	assert_int_equal(last, 3);
	gkf_queue_release(a, false);
	gkf_queue_release(b, false);
}

/* More of them than there can ever be threads. */
static void queues_that_wait_hold_no_threads(void **state)
{
	enum { QUEUES = 500 };
	struct gkf_queue *first = new_queue(0), *queue[QUEUES], *before = first;
	struct gate gate;
	uint64_t last = 0;

	(void)state;
	gate_init(&gate);
	push(first, GKF_WORK_HOST, stay, &gate, 0);
	for (int i = 0; i < QUEUES; i++) {
		queue[i] = new_queue(0);
		gkf_queue_after(queue[i], gkf_queue_ticket(before));
		push(queue[i], GKF_WORK_NONE, note_order, &last,
		     (uint64_t)i + 1);
		before = queue[i];
	}
	assert_int_equal(last, 0);
	sem_post(&gate.open);
	finish(before);
	assert_int_equal(last, QUEUES);
	for (int i = 0; i < QUEUES; i++)
		gkf_queue_release(queue[i], false);
	gkf_queue_release(first, false);
}

static int is_set(struct probe *probe)
{
	return atomic_load((_Atomic int *)probe->data) ? 0 : GKF_TASK_AGAIN;
}

static int set(struct probe *probe)
{
	atomic_store((_Atomic int *)probe->data, 1);
	return 0;
}

static void tasks_that_wait_for_a_word_hold_no_threads(void **state)
{
	enum { QUEUES = 300 };
	struct gkf_queue *queue[QUEUES], *writer = new_queue(0);
	_Atomic int word[2] = {0, 0};

	(void)state;
	for (int i = 0; i < QUEUES; i++) {
		queue[i] = new_queue(0);
		push(queue[i], GKF_WORK_NONE, is_set, &word[i % 2], 0);
	}
	assert_false(gkf_ticket_spin(gkf_queue_ticket(queue[0]), 3000000));
	push(writer, GKF_WORK_NONE, set, &word[0], 0);
	finish(queue[0]);
	assert_false(gkf_ticket_done(gkf_queue_ticket(queue[1])));
	/* By the host, of which nobody is told. */
	atomic_store(&word[1], 1);
	for (int i = 0; i < QUEUES; i++) {
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
	gkf_queue_release(writer, false);
}

/* ---- priorities ---- */

static _Atomic unsigned started;

static int note_start(struct probe *probe)
{
	*(unsigned *)probe->data = atomic_fetch_add(&started, 1);
	return 0;
}

static void the_more_urgent_goes_first(void **state)
{
	enum { LOW = 50, THREADS_MAX = 256 };
	struct gkf_queue *holder[THREADS_MAX], *low[LOW], *high;
	unsigned when_low[LOW], when_high, held = 0;
	struct gate gate;
	cpu_set_t set;

	(void)state;
	gate_init(&gate);
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	held = (unsigned)CPU_COUNT(&set) < 2 ? 2 : (unsigned)CPU_COUNT(&set);
	if (held > 64)
		held = 64;
	/* Threads that were started for tests before this one, too. */
	if (count_executors() > held)
		held = count_executors();
	for (unsigned i = 0; i < held; i++) {
		holder[i] = new_queue(0);
		push(holder[i], GKF_WORK_NONE, stay, &gate, 0);
	}
	for (unsigned i = 0; i < held; i++)
		await(&gate.inside);
	atomic_store(&started, 0);
	for (int i = 0; i < LOW; i++) {
		low[i] = new_queue(0);
		push(low[i], GKF_WORK_NONE, note_start, &when_low[i], 0);
	}
	high = new_queue(-5);
	push(high, GKF_WORK_NONE, note_start, &when_high, 0);
	sem_post(&gate.open);
	finish(high);
	assert_int_equal(when_high, 0);
	for (unsigned i = 1; i < held; i++)
		sem_post(&gate.open);
	for (int i = 0; i < LOW; i++) {
		finish(low[i]);
		gkf_queue_release(low[i], false);
	}
	for (unsigned i = 0; i < held; i++)
		gkf_queue_release(holder[i], false);
	gkf_queue_release(high, false);
}

/* ---- failures ---- */

static void after_a_failure_the_rest_is_dropped(void **state)
{
	struct gkf_queue *queue = new_queue(0), *other = new_queue(0);
	struct gate gate;

	(void)state;
	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	await(&gate.inside);
	atomic_store(&ran, 0);
	atomic_store(&dropped, 0);
	atomic_store(&failures, 0);
	push(queue, GKF_WORK_NONE, fail_with, NULL, 700);
	for (int i = 0; i < 10; i++)
		push(queue, GKF_WORK_NONE, NULL, NULL, 0);
	gkf_queue_after(other, gkf_queue_ticket(queue));
	push(other, GKF_WORK_NONE, NULL, NULL, 0);
	sem_post(&gate.open);
	finish(queue);
	finish(other);
	assert_int_equal(atomic_load(&ran), 3); /* stay, fail, other's */
	assert_int_equal(atomic_load(&dropped), 13);
	assert_int_equal(atomic_load(&failures), 1);
	assert_int_equal(atomic_load(&failed_with), 700);
	assert_int_equal(
	    gkf_queue_run(queue, probe_of(GKF_WORK_NONE, NULL, NULL, 0)), 700);
	gkf_queue_release(queue, false);
	gkf_queue_release(other, false);
}

static int until_stopped(struct probe *probe)
{
	sem_post(probe->data);
	while (!gkf_task_stopped())
		sched_yield();
	return 0;
}

static void a_stopped_queue_stops_its_kernel(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	int result = 0;
	struct gkf_task *task;
	sem_t inside;

	(void)state;
	sem_init(&inside, 0, 0);
	assert_false(gkf_task_stopped());
	task = probe_of(GKF_WORK_KERNEL, until_stopped, &inside, 0);
	task->ret_result = &result;
	gkf_queue_push(queue, task);
	push(queue, GKF_WORK_NONE, NULL, NULL, 0);
	await(&inside);
	gkf_queue_stop(queue, 719);
	finish(queue);
	assert_int_equal(result, 719);
	gkf_queue_release(queue, false);
}

/* Running, waiting for another, waiting for a word: none of them hangs. */
static void a_queue_is_thrown_away_whatever_it_does(void **state)
{
	struct gkf_queue *kernel = new_queue(0), *after = new_queue(0);
	struct gkf_queue *word = new_queue(0), *holder = new_queue(0);
	struct gkf_ticket ticket[3];
	_Atomic int never = 0;
	struct gate gate;
	sem_t inside;

	(void)state;
	gate_init(&gate);
	sem_init(&inside, 0, 0);
	push(holder, GKF_WORK_HOST, stay, &gate, 0);
	push(kernel, GKF_WORK_KERNEL, until_stopped, &inside, 0);
	gkf_queue_after(after, gkf_queue_ticket(holder));
	push(after, GKF_WORK_NONE, NULL, NULL, 0);
	push(word, GKF_WORK_NONE, is_set, &never, 0);
	await(&inside);
	ticket[0] = gkf_queue_ticket(kernel);
	ticket[1] = gkf_queue_ticket(after);
	ticket[2] = gkf_queue_ticket(word);
	assert_false(gkf_ticket_spin(ticket[2], 100000));
	gkf_queue_release(kernel, true);
	gkf_queue_release(after, true);
	gkf_queue_release(word, true);
	for (int i = 0; i < 3; i++)
		gkf_ticket_wait(ticket[i]);
	sem_post(&gate.open);
	finish(holder);
	gkf_queue_release(holder, false);
}

static void a_released_queue_still_does_its_work(void **state)
{
	struct gkf_queue *queue = new_queue(0), *again;
	struct gkf_ticket ticket;
	struct gate gate;
	uint64_t last = 0;

	(void)state;
	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	for (uint64_t i = 1; i <= 100; i++)
		push(queue, GKF_WORK_NONE, note_order, &last, i);
	ticket = gkf_queue_ticket(queue);
	gkf_queue_release(queue, false);
	assert_false(gkf_ticket_done(ticket));
	sem_post(&gate.open);
	gkf_ticket_wait(ticket);
	assert_int_equal(last, 100);
	/* Its memory serves again; the old ticket stays done. */
	again = new_queue(0);
	push(again, GKF_WORK_HOST, stay, &gate, 0);
	assert_true(gkf_ticket_done(ticket));
	assert_false(gkf_ticket_done(gkf_queue_ticket(again)));
	sem_post(&gate.open);
	finish(again);
	gkf_queue_release(again, false);
}

/* ---- threads ---- */

static int look_around(struct probe *probe)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	*(int *)probe->data = sigismember(&blocked, SIGINT) &&
			      sigismember(&blocked, SIGTERM) &&
			      sigismember(&blocked, SIGUSR1);
	return 0;
}

static void executors_take_no_signals(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	int blocked = 0;

	(void)state;
	push(queue, GKF_WORK_HOST, look_around, &blocked, 0);
	finish(queue);
	assert_true(blocked);
	gkf_queue_release(queue, false);
}

#if defined(__x86_64__)
static int read_mxcsr(struct probe *probe)
{
	*(unsigned *)probe->data = __builtin_ia32_stmxcsr() & ~0x3fu;
	return 0;
}

static int spoil_mxcsr(struct probe *probe)
{
	(void)probe;
	__builtin_ia32_ldmxcsr(0xffc0); /* flush, to zero */
	return 0;
}

static void kernels_have_the_default_floating_point(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	unsigned mode = 0, before = __builtin_ia32_stmxcsr();

	(void)state;
	push(queue, GKF_WORK_HOST, spoil_mxcsr, NULL, 0);
	push(queue, GKF_WORK_KERNEL, read_mxcsr, &mode, 0);
	finish(queue);
	assert_int_equal(mode, 0x1f80);
	__builtin_ia32_ldmxcsr(0x9fc0);
	mode = 0;
	gkf_queue_run(queue, probe_of(GKF_WORK_KERNEL, read_mxcsr, &mode, 0));
	assert_int_equal(__builtin_ia32_stmxcsr() & ~0x3fu, 0x9fc0);
	__builtin_ia32_ldmxcsr(before);
	assert_int_equal(mode, 0x1f80);
	gkf_queue_release(queue, false);
}
#endif

static uint64_t cpu_ns(void)
{
	return gk_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Work that waits for another queue costs no time either. */
static void idle_queues_cost_no_cpu(void **state)
{
	struct gkf_queue *queue = new_queue(0), *other = new_queue(0);
	struct gate gate;
	uint64_t before;

	(void)state;
	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	gkf_queue_after(other, gkf_queue_ticket(queue));
	await(&gate.inside);
	gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
	before = cpu_ns();
	gk_sleep_until(gk_mono_ns() + 200 * GK_NS_PER_MS);
	assert_in_range(cpu_ns() - before, 0, GK_NS_PER_MS);
	sem_post(&gate.open);
	finish(other);
	gkf_queue_release(queue, false);
	gkf_queue_release(other, false);
}

/* ---- what it is to the device ---- */

static bool is_busy(void)
{
	return atomic_load(&fx.file->busy[slot].since_ns) &&
	       atomic_load(&fx.file->device[0].turn[0].holder);
}

static void kernels_run_in_a_turn_and_are_busy_time(void **state)
{
	struct gkf_queue *queue[2] = {new_queue(0), new_queue(0)};
	sem_t inside;

	(void)state;
	sem_init(&inside, 0, 0);
	assert_false(is_busy());
	for (int i = 0; i < 2; i++) {
		push(queue[i], GKF_WORK_KERNEL, until_stopped, &inside, 0);
		await(&inside);
	}
	assert_true(is_busy());
	gkf_queue_stop(queue[0], 1);
	finish(queue[0]);
	assert_true(is_busy());
	gkf_queue_stop(queue[1], 1);
	finish(queue[1]);
	assert_int_equal(atomic_load(&fx.file->busy[slot].since_ns), 0);
	for (int i = 0; i < 2; i++)
		gkf_queue_release(queue[i], false);
}

static void copies_are_traffic(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_task *task = probe_of(GKF_WORK_COPY_IN, NULL, NULL, 0);
	uint64_t first = gkf_machine_bin(fx.m), moved = 0;
	struct gkf_done done;

	(void)state;
	task->bytes = 123456789;
	gkf_queue_run(queue, task);
	while (gkf_machine_bin(fx.m) < first + 2)
		gk_sleep_until(gk_mono_ns() + 10 * GK_NS_PER_MS);
	for (uint64_t bin = first; bin < first + 2; bin++) {
		gkf_busy_read(fx.m, slot, bin, &done);
		moved += done.moved[GKF_IN];
		assert_int_equal(done.moved[GKF_OUT], 0);
	}
	assert_int_equal(moved, 123456789);
	gkf_queue_release(queue, false);
}

/* ---- exit and fork ---- */

/* The status of a child that does something, and how long it took. */
static int child(void (*act)(void), uint64_t *ret_ns)
{
	uint64_t begin = gk_mono_ns();
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		gkf_queue_forget();
		act();
		_exit(111);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*ret_ns = gk_mono_ns() - begin;
	return status;
}

static sem_t child_inside;

static void exit_amid_work(void)
{
	static _Atomic int never;
	struct gkf_queue *kernel = new_queue(0), *word = new_queue(0);

	sem_init(&child_inside, 0, 0);
	push(kernel, GKF_WORK_KERNEL, until_stopped, &child_inside, 0);
	push(kernel, GKF_WORK_NONE, NULL, NULL, 0);
	push(word, GKF_WORK_NONE, is_set, &never, 0);
	await(&child_inside);
	exit(17);
}

static void a_process_exits_amid_work(void **state)
{
	uint64_t ns;
	int status = child(exit_amid_work, &ns);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 17);
	assert_in_range(ns, 0, 400 * GK_NS_PER_MS);
}

static void exit_amid_a_host_function(void)
{
	struct gkf_queue *queue = new_queue(0);
	static struct gate gate;

	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	await(&gate.inside);
	exit(18);
}

static void a_host_function_does_not_hold_up_the_exit(void **state)
{
	uint64_t ns;
	int status = child(exit_amid_a_host_function, &ns);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 18);
	assert_in_range(ns, 0, 2 * GK_NS_PER_S);
}

static int exit_from_task(struct probe *probe)
{
	(void)probe;
	exit(19);
}

static void exit_within(void)
{
	struct gkf_queue *queue = new_queue(0);

	push(queue, GKF_WORK_HOST, exit_from_task, NULL, 0);
	for (;;)
		pause();
}

static void a_host_function_may_exit(void **state)
{
	uint64_t ns;
	int status = child(exit_within, &ns);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 19);
	assert_in_range(ns, 0, 400 * GK_NS_PER_MS);
}

/* The thread sanitizer knows no new threads in the child of a threaded one. */
#ifdef __SANITIZE_THREAD__
#define DO_IN_CHILD gkf_queue_run
#else
#define DO_IN_CHILD gkf_queue_push
#endif

static void use_after_fork(void)
{
	struct gkf_queue *queue;
	uint64_t last = 0;

	if (count_threads() != 1)
		_exit(1);
	queue = new_queue(0);
	if (count_threads() != 1)
		_exit(2);
	for (uint64_t i = 1; i <= 1000; i++)
		DO_IN_CHILD(queue,
			    probe_of(GKF_WORK_NONE, note_order, &last, i));
	finish(queue);
	_exit(last == 1000 ? 0 : 3);
}

static _Atomic bool storming;

static void *storm(void *data)
{
	struct gkf_queue *queue = data;

	while (atomic_load(&storming)) {
		for (int i = 0; i < 10; i++)
			push(queue, GKF_WORK_NONE, NULL, NULL, 0);
		finish(queue);
	}
	return NULL;
}

/* Whatever locks the other threads of the parent had at that moment. */
static void a_forked_child_starts_clean(void **state)
{
	struct gkf_queue *queue[2] = {new_queue(0), new_queue(0)};
	pthread_t thread[2];
	uint64_t ns;

	(void)state;
	atomic_store(&storming, true);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, storm, queue[i]);
	for (int i = 0; i < 50; i++)
		assert_int_equal(child(use_after_fork, &ns), 0);
	atomic_store(&storming, false);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
}

/* ---- everything at once ---- */

enum { HANDS = 4, OWN = 6, ROUNDS = 3000 };

struct hand {
	pthread_t thread;
	unsigned seed;
	struct gkf_queue *queue[OWN];
	uint64_t last[OWN], pushed[OWN];
	struct gkf_ticket seen[OWN]; /* for the others, under its lock */
	pthread_mutex_t lock;
};
static struct hand hands[HANDS];

static struct gkf_ticket ticket_of_another(struct hand *hand)
{
	struct hand *other = &hands[(unsigned)rand_r(&hand->seed) % HANDS];
	struct gkf_ticket ticket;

	pthread_mutex_lock(&other->lock);
	ticket = other->seen[(unsigned)rand_r(&hand->seed) % OWN];
	pthread_mutex_unlock(&other->lock);
	return ticket;
}

static void do_something(struct hand *hand)
{
	unsigned i = (unsigned)rand_r(&hand->seed) % OWN;
	unsigned what = (unsigned)rand_r(&hand->seed) % 16;
	struct gkf_queue *queue = hand->queue[i];
	unsigned work = what % 3 ? GKF_WORK_NONE : GKF_WORK_HOST;

	if (what == 0) {
		finish(queue);
		assert_int_equal(hand->last[i], hand->pushed[i]);
	} else if (what < 5) {
		gkf_queue_after(queue, ticket_of_another(hand));
	} else if (what == 5) {
		assert_int_equal(
		    gkf_queue_run(queue,
				  probe_of(work, note_order, &hand->last[i],
					   ++hand->pushed[i])),
		    0);
	} else if (what == 6) {
		gkf_queue_release(queue, false);
		gkf_ticket_wait(hand->seen[i]);
		hand->queue[i] = new_queue((int)i - 3);
	} else {
		push(queue, work, note_order, &hand->last[i],
		     ++hand->pushed[i]);
	}
	pthread_mutex_lock(&hand->lock);
	hand->seen[i] = gkf_queue_ticket(hand->queue[i]);
	pthread_mutex_unlock(&hand->lock);
}

static void *work(void *data)
{
	struct hand *hand = data;

	for (int i = 0; i < ROUNDS; i++)
		do_something(hand);
	return NULL;
}

static void many_hands_keep_every_order(void **state)
{
	(void)state;
	for (unsigned h = 0; h < HANDS; h++) {
		hands[h].seed = h;
		pthread_mutex_init(&hands[h].lock, NULL);
		for (int i = 0; i < OWN; i++)
			hands[h].queue[i] = new_queue(i - 3);
	}
	for (int h = 0; h < HANDS; h++)
		pthread_create(&hands[h].thread, NULL, work, &hands[h]);
	for (int h = 0; h < HANDS; h++)
		pthread_join(hands[h].thread, NULL);
	for (int h = 0; h < HANDS; h++) {
		for (int i = 0; i < OWN; i++) {
			finish(hands[h].queue[i]);
			assert_int_equal(hands[h].last[i], hands[h].pushed[i]);
			gkf_queue_release(hands[h].queue[i], false);
		}
	}
}

static void no_thread_before_there_is_work(void **state)
{
	struct gkf_queue *queue;
	unsigned before = count_threads();

	(void)state;
	queue = new_queue(0);
	assert_int_equal(count_threads(), before);
	gkf_queue_run(queue, probe_of(GKF_WORK_NONE, NULL, NULL, 0));
	assert_int_equal(count_threads(), before);
	push(queue, GKF_WORK_NONE, NULL, NULL, 0);
	finish(queue);
	assert_int_equal(count_executors(), 1);
	gkf_queue_release(queue, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_thread_before_there_is_work),
		cmocka_unit_test(a_queue_does_one_task_after_the_other),
		cmocka_unit_test(who_waits_finds_it_done),
		cmocka_unit_test(an_idle_queue_is_served_by_who_waits),
		cmocka_unit_test(what_is_run_behind_others_keeps_its_place),
		cmocka_unit_test(what_comes_later_waits_for_the_other_queue),
		cmocka_unit_test(queues_that_wait_hold_no_threads),
		cmocka_unit_test(tasks_that_wait_for_a_word_hold_no_threads),
		cmocka_unit_test(the_more_urgent_goes_first),
		cmocka_unit_test(queues_run_beside_each_other),
		cmocka_unit_test(thousands_of_queues_have_few_threads),
		cmocka_unit_test(after_a_failure_the_rest_is_dropped),
		cmocka_unit_test(a_stopped_queue_stops_its_kernel),
		cmocka_unit_test(a_queue_is_thrown_away_whatever_it_does),
		cmocka_unit_test(a_released_queue_still_does_its_work),
		cmocka_unit_test(executors_take_no_signals),
#if defined(__x86_64__)
		cmocka_unit_test(kernels_have_the_default_floating_point),
#endif
		cmocka_unit_test(idle_queues_cost_no_cpu),
		cmocka_unit_test(kernels_run_in_a_turn_and_are_busy_time),
		cmocka_unit_test(copies_are_traffic),
		cmocka_unit_test(a_process_exits_amid_work),
		cmocka_unit_test(a_host_function_does_not_hold_up_the_exit),
		cmocka_unit_test(a_host_function_may_exit),
		cmocka_unit_test(a_forked_child_starts_clean),
		cmocka_unit_test(many_hands_keep_every_order),
	};

	return cmocka_run_group_tests(tests, open_one, close_it);
}
