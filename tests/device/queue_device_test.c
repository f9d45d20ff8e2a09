/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_device_test.c - checks the threads of queues, and what their work is to
 * the device.
 */
#include "device/queue.h"
#include "device/queue_probe.h"
#include "machine/asleep.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/work_state.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/process/turn.h"

#include <sys/resource.h>

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

static long wakes_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

/*
 * Work that waits for another queue costs no time either. A thread that spins
 * would not sleep, one that polls each millisecond would wake 200 times; a
 * sanitizer's own thread wakes now and then.
 */
static void idle_queues_cost_no_cpu(void **state)
{
	struct gkf_queue *queue = new_queue(0), *other = new_queue(0);
	struct gate gate;
	long before, wakes;

	(void)state;
	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	gkf_queue_after(other, gkf_queue_ticket(queue));
	await(&gate.inside);
	await_others_asleep();
	before = wakes_so_far();
	gk_sleep_until(gk_mono_ns() + 200 * GK_NS_PER_MS);
	wakes = wakes_so_far() - before;
	await_others_asleep();
	sem_post(&gate.open);
	finish(other);
	assert_in_range(wakes, 0, 40);
	gkf_queue_release(queue, false);
	gkf_queue_release(other, false);
}

static _Atomic unsigned looks;

static int look_at(struct probe *probe)
{
	atomic_fetch_add(&looks, 1);
	return is_set(probe);
}

/* They are polled, but at most once a millisecond. */
static void waiting_for_a_word_costs_little(void **state)
{
	enum { QUEUES = 50 };
	struct gkf_queue *queue[QUEUES];
	_Atomic int word = 0;
	uint64_t begin, ms;
	unsigned seen;

	(void)state;
	for (int i = 0; i < QUEUES; i++) {
		queue[i] = new_queue(0);
		push(queue[i], GKF_WORK_NONE, look_at, &word, 0);
	}
	gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
	begin = gk_mono_ns();
	atomic_store(&looks, 0);
	gk_sleep_until(begin + 200 * GK_NS_PER_MS);
	seen = atomic_load(&looks);
	ms = (gk_mono_ns() - begin) / GK_NS_PER_MS;
	atomic_store(&word, 1);
	for (int i = 0; i < QUEUES; i++) {
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
	assert_in_range(seen, 1, QUEUES * (ms + 20));
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

/* A kernel that runs until it is stopped, and checks for that all the time. */
struct spread {
	sem_t inside;
};

static int run_spread(struct probe *probe)
{
	struct spread *spread = probe->data;

	sem_post(&spread->inside);
	while (!gkf_task_stopped())
		sched_yield();
	return 0;
}

/* Ten turns of another process, while our kernel would run for ever. */
static int take_turns(void)
{
	struct gkf_machine *m;
	unsigned mine;

	if (gkf_machine_open(NULL, &m) ||
	    gkf_books_attach(m, 0, GKF_NO_INSTANCE, &mine))
		return 1;
	for (int i = 0; i < 10; i++) {
		if (gkf_turn_take(m, mine, NULL))
			return 2;
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
		gkf_turn_give(m, mine);
	}
	return gkf_detach(m, mine) ? 3 : 0;
}

static void a_long_kernel_gives_others_their_turn(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct spread spread;
	bool is_done;
	int status;
	pid_t pid;

	(void)state;
	assert_false(gkf_task_stopped());
	sem_init(&spread.inside, 0, 0);
	push(queue, GKF_WORK_KERNEL, run_spread, &spread, 0);
	await(&spread.inside);
	pid = fork();
	if (!pid)
		_exit(take_turns());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	is_done = gkf_ticket_done(gkf_queue_ticket(queue));
	gkf_queue_stop(queue, 1); /* first: the tests after this need the GPU */
	finish(queue);
	gkf_queue_release(queue, false);
	assert_int_equal(status, 0);
	assert_false(is_done);
}

/* Permille of the completed bins from `first` on. */
static uint32_t busy_since(struct gkf_machine *m, unsigned of, uint64_t first)
{
	uint64_t end = gkf_machine_bin(m);
	uint32_t sum = 0;

	for (uint64_t bin = first; bin < end; bin++) {
		struct gkf_done done;

		gkf_busy_read(m, of, bin, &done);
		sum += done.busy_permille;
	}
	return sum;
}

static int run_300_us(struct probe *probe)
{
	uint64_t end = gk_mono_ns() + 300 * GK_NS_PER_US;

	(void)probe;
	while (gk_mono_ns() < end)
		;
	return 0;
}

static int spin_until_stopped(struct probe *probe)
{
	sem_post(probe->data);
	while (!gkf_task_stopped())
		;
	return 0;
}

static bool is_half(struct gkf_machine *m, unsigned one, unsigned other)
{
	uint64_t first = gkf_machine_bin(m) + 1;
	uint32_t part, both;

	while (gkf_machine_bin(m) < first + 4)
		gk_sleep_until(gk_mono_ns() + 10 * GK_NS_PER_MS);
	part = busy_since(m, one, first);
	both = part + busy_since(m, other, first);
	return part >= both * 40 / 100 && part <= both * 60 / 100;
}

/*
 * Short kernels, one after the other, in a process beside ours. Looks several
 * times: on a loaded host it is chance who gets a CPU.
 */
static int run_short_ones(void)
{
	unsigned theirs = slot;
	struct gkf_queue *queue;

	gkf_queue_forget();
	if (gkf_machine_open(NULL, &fx.m) ||
	    gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot))
		return 1;
	queue = new_queue(0);
	for (int i = 0; i < 20000; i++)
		push(queue, GKF_WORK_KERNEL, run_300_us, NULL, 0);
	for (int i = 0; i < 8; i++) {
		if (is_half(fx.m, slot, theirs))
			return 0;
	}
	return 2;
}

static void short_kernels_get_half_of_the_device(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	sem_t inside;
	int status;
	pid_t pid;

	(void)state;
	sem_init(&inside, 0, 0);
	push(queue, GKF_WORK_KERNEL, spin_until_stopped, &inside, 0);
	await(&inside);
	pid = fork();
	if (!pid)
		_exit(run_short_ones());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	gkf_queue_stop(queue, 1);
	finish(queue);
	gkf_queue_release(queue, false);
	assert_int_equal(status, 0);
}

/* An earlier request for the turn is over, and no reason to give it up. */
static void take_turn_once(void)
{
	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	gkf_turn_give(fx.m, slot);
}

static int note_turn(struct probe *probe)
{
	uint64_t holder = atomic_load(&fx.file->device[0].turn[0].holder);

	*(bool *)probe->data = (holder & 0xffff) == slot + 1;
	return 0;
}

static int note_busy(struct probe *probe)
{
	*(bool *)probe->data = atomic_load(&fx.file->busy[slot].since_ns);
	return 0;
}

/* Steps that are done in order, and whether one may find the turn kept. */
struct step {
	unsigned work;
	uint64_t bytes;
	bool may;
};
enum { STEPS_MAX = 16 };

/* Whether all steps that may find it kept do; the others never may. */
static bool do_steps(const struct step *steps, size_t count,
		     int (*note)(struct probe *))
{
	bool had[STEPS_MAX] = {false}, all = true;
	struct gkf_queue *queue = new_queue(0);
	struct gate gate;

	take_turn_once();
	gate_init(&gate);
	push(queue, GKF_WORK_NONE, stay, &gate, 0);
	for (size_t i = 0; i < count; i++) {
		struct gkf_task *task =
		    probe_of(steps[i].work, note, &had[i], 0);

		task->bytes = steps[i].bytes;
		gkf_queue_push(queue, task);
	}
	sem_post(&gate.open);
	finish(queue);
	gkf_queue_release(queue, false);
	assert_int_equal(atomic_load(&fx.file->device[0].turn[0].holder), 0);
	assert_int_equal(atomic_load(&fx.file->busy[slot].since_ns), 0);
	for (size_t i = 0; i < count; i++) {
		if (had[i] && !steps[i].may)
			fail_msg("step %zu found it so", i);
		all &= had[i] == steps[i].may;
	}
	return all;
}

/* Another thread that finds nothing to do gives the turn back now and then. */
static void can_do_steps(const struct step *steps, size_t count,
			 int (*note)(struct probe *))
{
	unsigned rounds = 0;

	while (!do_steps(steps, count, note))
		assert_true(++rounds < 100);
}

/* Events and small copies in between do not give the turn up, big ones do. */
static void kernels_keep_the_turn_over_events(void **state)
{
	static const struct step steps[] = {
	    {GKF_WORK_KERNEL, 0, true},         {GKF_WORK_NONE, 0, true},
	    {GKF_WORK_COPY_OUT, 4, true},       {GKF_WORK_KERNEL, 0, true},
	    {GKF_WORK_COPY_IN, 1 << 20, false}, {GKF_WORK_KERNEL, 0, true},
	    {GKF_WORK_HOST, 0, false},          {GKF_WORK_KERNEL, 0, true},
	    {GKF_WORK_NONE, 0, true}, /* until there is nothing to do */
	};

	(void)state;
	can_do_steps(steps, sizeof steps / sizeof *steps, note_turn);
}

/* Nor do they count as busy time, however many there are. */
static void copies_in_a_kept_turn_are_not_busy_time(void **state)
{
	static const struct step steps[] = {
	    {GKF_WORK_KERNEL, 0, true},    {GKF_WORK_NONE, 0, true},
	    {GKF_WORK_COPY_OUT, 0, false}, {GKF_WORK_COPY_DEVICE, 0, false},
	    {GKF_WORK_NONE, 0, false},     {GKF_WORK_KERNEL, 0, true},
	    {GKF_WORK_KERNEL, 0, true},    {GKF_WORK_COPY_IN, 0, false},
	};

	(void)state;
	can_do_steps(steps, sizeof steps / sizeof *steps, note_busy);
}

static unsigned kept_between_two_queues(void)
{
	struct gkf_queue *queue[2] = {new_queue(0), new_queue(0)};
	bool had[40] = {false};
	unsigned kept = 0;
	struct gate gate;

	gate_init(&gate);
	push(queue[0], GKF_WORK_NONE, stay, &gate, 0);
	for (unsigned i = 0; i < 40; i++) {
		push(queue[i & 1], GKF_WORK_NONE, note_turn, &had[i], 0);
		push(queue[i & 1], GKF_WORK_KERNEL, NULL, NULL, 0);
		gkf_queue_after(queue[!(i & 1)],
				gkf_queue_ticket(queue[i & 1]));
	}
	sem_post(&gate.open);
	for (unsigned i = 0; i < 2; i++) {
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
	for (unsigned i = 0; i < 40; i++)
		kept += had[i];
	return kept;
}

/*
 * Nor does a change to another queue, whose kernel waited for this one's.
 * Another thread may come first now and then: it counts that most can be kept.
 */
static void kernels_of_two_queues_keep_the_turn(void **state)
{
	unsigned kept = 0;

	(void)state;
	for (unsigned round = 0; kept < 20 && round < 100; round++)
		kept = kept_between_two_queues();
	assert_in_range(kept, 20, 39);
	assert_int_equal(atomic_load(&fx.file->device[0].turn[0].holder), 0);
}

static void copies_are_traffic(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_task *task = probe_of(GKF_WORK_COPY_IN, NULL, NULL, 0);
	uint64_t first = gkf_machine_bin(fx.m), last, moved = 0;
	struct gkf_done done;

	(void)state;
	task->bytes = 123456789;
	gkf_queue_run(queue, task);
	last = gkf_machine_bin(fx.m);
	while (gkf_machine_bin(fx.m) <= last)
		gk_sleep_until(gk_mono_ns() + 10 * GK_NS_PER_MS);
	for (uint64_t bin = first; bin <= last; bin++) {
		gkf_busy_read(fx.m, slot, bin, &done);
		moved += done.moved[GKF_IN];
		assert_int_equal(done.moved[GKF_OUT], 0);
	}
	assert_int_equal(moved, 123456789);
	gkf_queue_release(queue, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executors_take_no_signals),
		cmocka_unit_test(idle_queues_cost_no_cpu),
		cmocka_unit_test(waiting_for_a_word_costs_little),
		cmocka_unit_test(kernels_run_in_a_turn_and_are_busy_time),
		cmocka_unit_test(a_long_kernel_gives_others_their_turn),
		cmocka_unit_test(short_kernels_get_half_of_the_device),
		cmocka_unit_test(copies_are_traffic),
		cmocka_unit_test(kernels_keep_the_turn_over_events),
		cmocka_unit_test(copies_in_a_kept_turn_are_not_busy_time),
		cmocka_unit_test(kernels_of_two_queues_keep_the_turn),
#if defined(__x86_64__)
		cmocka_unit_test(kernels_have_the_default_floating_point),
#endif
	};

	return cmocka_run_group_tests(tests, open_one, close_it);
}
