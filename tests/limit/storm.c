/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm.c - runs processes that allocate and free memory, fork, exec, end and
 * are killed at any moment, while the books are checked.
 *
 * Usage: test-limit-storm [SECONDS [SEED]]
 *
 * Processes compete for device 0. On device 1 each takes no more than a part
 * that all can have: a refusal there is an error. Device 2 is for children of
 * workers. Workers lend memory of device 3: a descriptor keeps it, which exec
 * and children inherit; no more may be held this way than is counted. A watcher
 * reads the totals all the time: none may ever be above the limit. Each thread
 * writes into its row what it holds at least and at most; now and then all are
 * stopped, and the books must agree with the rows. Now and then all are killed,
 * and nothing may be left.
 */
#include "base/clock.h"
#include "base/ofd_locks.h"
#include "limit/ledger_export.h"
#include "limit/ledger_op.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 8, THREADS = 3 };
enum { FOUGHT, FAIR, CHILDREN, LENT, DEVICES };

/* The most that a program lends, and that is remembered for a worker. */
enum { LENDS = 16, LENDS_KNOWN = 64 };

#define LIMIT (1ULL << 30)
#define PART  (LIMIT / WORKERS / THREADS)
#define LEND  (LIMIT / 1024)

struct row {
	_Atomic uint64_t least[DEVICES], most[DEVICES];
};

struct audit {
	/* Set around exec, when held memory may be given back at any moment. */
	_Atomic uint32_t unknown[WORKERS];
	struct row rows[WORKERS][THREADS];
	_Atomic uint64_t lent[WORKERS][LENDS_KNOWN], lends[WORKERS];
	_Atomic uint64_t operations, refusals, kills, checks, ends, execs;
};

static char dir[64], path[96], audit_path[96];
static struct gkl_ledger *ledger;
static struct audit *audit;
static unsigned int seed;

static void fail(const char *what, uint64_t is, uint64_t wanted)
{
	fprintf(stderr, "storm: %s: %llu, not %llu (seed %u)\n", what,
		(unsigned long long)is, (unsigned long long)wanted, seed);
	exit(1);
}

static int open_audit(void)
{
	int fd = open(audit_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof *audit))
		return 1;
	audit = mmap(NULL, sizeof *audit, PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	close(fd);
	return audit == MAP_FAILED;
}

/* A thread of a worker. */
struct thread {
	unsigned int worker, number, seed;
	uint64_t held[DEVICES];
};

static struct row *row_of(const struct thread *t)
{
	return &audit->rows[t->worker][t->number];
}

static uint64_t pick(struct thread *t, uint64_t below)
{
	return ((uint64_t)rand_r(&t->seed) << 31 | (uint64_t)rand_r(&t->seed)) %
	       below;
}

static void take(struct thread *t, unsigned int device, uint64_t bytes)
{
	struct row *row = row_of(t);

	atomic_store(&row->most[device], t->held[device] + bytes);
	if (gkl_ledger_reserve(ledger, device, GKL_DATA, bytes, LIMIT)) {
		t->held[device] += bytes;
		atomic_store(&row->least[device], t->held[device]);
	} else if (device == FAIR) {
		fail("refused what there is room for", bytes, PART);
	} else {
		atomic_store(&row->most[device], t->held[device]);
		atomic_fetch_add(&audit->refusals, 1);
	}
}

static void give(struct thread *t, unsigned int device, uint64_t bytes)
{
	struct row *row = row_of(t);

	atomic_store(&row->least[device], t->held[device] - bytes);
	gkl_ledger_refund(ledger, device, GKL_DATA, bytes);
	t->held[device] -= bytes;
	atomic_store(&row->most[device], t->held[device]);
}

static void operate(struct thread *t)
{
	unsigned int device = (unsigned)pick(t, 2);
	uint64_t held = t->held[device];
	uint64_t most = device == FAIR ? PART - held : LIMIT / 4;

	atomic_fetch_add(&audit->operations, 1);
	if (pick(t, 2) && most)
		take(t, device, 1 + pick(t, most));
	else if (held)
		give(t, device, pick(t, 3) ? 1 + pick(t, held) : held);
}

/* Counted, noted, then kept by a descriptor that nobody closes. */
static void lend(struct thread *t)
{
	uint64_t number = gkl_export_number(), place;
	static unsigned int lent;
	int fd;

	if (lent >= LENDS ||
	    !gkl_ledger_reserve(ledger, LENT, GKL_VIRTUAL, LEND, LIMIT))
		return;
	fd = memfd_create("storm", 0);
	if (fd < 0 || gkl_export_begin(ledger, LENT, number, LEND) < 0)
		return;
	lent++;
	place = atomic_fetch_add(&audit->lends[t->worker], 1);
	if (gkl_export_mark(fd, number))
		atomic_store(&audit->lent[t->worker][place % LENDS_KNOWN],
			     number);
}

/* Runs a child that dies in some way with what it holds. */
static void run_child(struct thread *t)
{
	struct timespec some = {.tv_nsec = (long)pick(t, 2000000)};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (gkl_ledger_own(ledger, FOUGHT) || gkl_ledger_own(ledger, FAIR))
		fail("a child begins with", gkl_ledger_own(ledger, FAIR), 0);
	gkl_ledger_reserve(ledger, CHILDREN, GKL_ARRAY, 1 + pick(t, LIMIT / 2),
			   LIMIT);
	nanosleep(&some, NULL);
	if (pick(t, 2))
		gkl_ledger_close(ledger);
	if (pick(t, 2))
		raise(SIGKILL);
	_exit(0);
}

static void start_child(struct thread *t)
{
	pid_t pid = fork();

	if (!pid)
		run_child(t);
	/* Otherwise it stays a zombie for a while. */
	if (pick(t, 2))
		waitpid(pid, NULL, 0);
}

static void begin_again(struct thread *t)
{
	char number[16], salt[16];

	snprintf(number, sizeof number, "%u", t->worker);
	snprintf(salt, sizeof salt, "%u", t->seed);
	atomic_store(&audit->unknown[t->worker], 1);
	atomic_fetch_add(&audit->execs, 1);
	execl("/proc/self/exe", "worker", dir, number, salt, NULL);
	fail("exec", (uint64_t)errno, 0);
}

static void look_around(struct thread *t)
{
	struct gkl_total total;

	gkl_ledger_total(ledger, (unsigned)pick(t, DEVICES), &total);
	if (total.used > LIMIT || total.peak > LIMIT)
		fail("too much", total.peak, LIMIT);
	gkl_ledger_bury(ledger);
}

static void *work(void *arg)
{
	struct thread *t = arg;

	for (;;) {
		uint64_t what = pick(t, 1000);

		if (what < 950)
			operate(t);
		else if (what < 980)
			sched_yield();
		else if (what < 990)
			look_around(t);
		else if (t->number)
			continue;
		else if (what < 992)
			lend(t);
		else if (what < 997)
			start_child(t);
		else if (what < 999)
			begin_again(t);
		else
			_exit(0);
	}
	return NULL;
}

static void run_worker(unsigned int number, unsigned int salt)
{
	struct thread threads[THREADS] = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A program after exec has its slot before its rows count. */
	if (gkl_ledger_slot(ledger) < 0)
		fail("no slot", 0, 1);
	memset(audit->rows[number], 0, sizeof audit->rows[number]);
	atomic_store(&audit->unknown[number], 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_t thread;

		threads[i] = (struct thread){
		    .worker = number, .number = i, .seed = salt * 31 + i};
		if (i && pthread_create(&thread, NULL, work, &threads[i]))
			fail("threads", i, THREADS);
	}
	work(&threads[0]);
}

static pid_t workers[WORKERS];

static void start_worker(unsigned int number)
{
	static unsigned int salt;
	pid_t pid;

	salt++;
	/* Nothing is left of the dead worker. */
	memset(audit->rows[number], 0, sizeof audit->rows[number]);
	atomic_store(&audit->unknown[number], 1);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		run_worker(number, seed + salt);
	}
	setpgid(pid, pid);
	workers[number] = pid;
}

/* A worker may exit by itself, or be killed by this program. */
static void check_end(int status)
{
	if (WIFEXITED(status) ? WEXITSTATUS(status)
			      : WTERMSIG(status) != SIGKILL)
		fail("a worker ended", (uint64_t)status, 0);
	atomic_fetch_add(&audit->ends, 1);
}

static void kill_worker(unsigned int number)
{
	int status;

	kill(-workers[number], SIGKILL);
	waitpid(workers[number], &status, 0);
	check_end(status);
	atomic_fetch_add(&audit->kills, 1);
}

static union gkl_wide total_of(unsigned int device)
{
	return gkl_wide_read(&ledger->file->taken[device].total);
}

/* What an account holds, including what running operations change. */
static uint64_t holds(unsigned int device, unsigned int slot,
		      union gkl_wide total)
{
	const struct gkl_account *a =
	    &ledger->file->slots[slot].account[device];
	bool on_the_way = total.high >> GKL_SEQ_BITS == slot &&
			  a->held.high + 1 == (total.high & GKL_SEQ_MASK);

	return a->held.low + (on_the_way ? a->op.low : 0);
}

/* Workers are stopped; only burials may change these devices. */
static void check_device(unsigned int device)
{
	union gkl_wide total, again;
	uint64_t sum;

	do {
		total = total_of(device);
		sum = 0;
		for (unsigned int i = 0; i < GKL_PROCESSES; i++)
			sum += holds(device, i, total);
		again = total_of(device);
	} while (total.both != again.both);
	if (sum != total.low)
		fail("the sum of accounts", sum, total.low);
}

/* Skips slots from before exec whose memory a descriptor still keeps. */
static bool is_slot_of(const struct gkl_slot *s, pid_t pid)
{
	union gkl_wide life = gkl_wide_read(&s->life);

	return (pid_t)(life.high >> 1 & 0x3fffff) == pid &&
	       !gkl_is_ended(s, life);
}

static int slot_of(pid_t pid)
{
	for (int i = 0; i < GKL_PROCESSES; i++)
		if (is_slot_of(&ledger->file->slots[i], pid))
			return i;
	return -1;
}

static void check_row(unsigned int worker, unsigned int device)
{
	uint64_t least = 0, most = 0, is;
	int slot = slot_of(workers[worker]);

	for (int i = 0; i < THREADS; i++) {
		least += atomic_load(&audit->rows[worker][i].least[device]);
		most += atomic_load(&audit->rows[worker][i].most[device]);
	}
	is = slot < 0 ? 0 : holds(device, (unsigned)slot, total_of(device));
	if (is < least || is > most)
		fail("a worker holds", is, least);
}

struct held {
	bool is[WORKERS][LENDS_KNOWN];
};

static void note_held(void *arg, const struct gk_ofd_lock *lock)
{
	struct held *held = arg;

	if (lock->begin < GKL_EXPORT_FIRST)
		return;
	for (int i = 0; i < WORKERS; i++)
		for (int k = 0; k < LENDS_KNOWN; k++)
			if (atomic_load(&audit->lent[i][k]) == lock->begin)
				held->is[i][k] = true;
}

/* Nobody lends now, but holders may release memory meanwhile. */
static void check_lent(void)
{
	uint64_t total = total_of(LENT).low, sum = 0;
	struct held held = {0};

	gk_ofd_locks(note_held, &held);
	for (int i = 0; i < WORKERS; i++)
		for (int k = 0; k < LENDS_KNOWN; k++)
			sum += held.is[i][k] ? LEND : 0;
	if (sum > total)
		fail("held of what was lent", sum, total);
}

/* False: the worker has ended and is replaced. */
static bool stop_worker(unsigned int number)
{
	int status;

	kill(workers[number], SIGSTOP);
	waitpid(workers[number], &status, WUNTRACED);
	if (WIFSTOPPED(status))
		return true;
	check_end(status);
	kill(-workers[number], SIGKILL);
	workers[number] = 0;
	return false;
}

static void check_stopped(void)
{
	for (unsigned int i = 0; i < WORKERS; i++)
		stop_worker(i);
	check_device(FOUGHT);
	check_device(FAIR);
	check_device(LENT);
	check_lent();
	for (unsigned int i = 0; i < WORKERS; i++)
		if (workers[i] && !atomic_load(&audit->unknown[i])) {
			check_row(i, FOUGHT);
			check_row(i, FAIR);
		}
	for (unsigned int i = 0; i < WORKERS; i++)
		if (workers[i])
			kill(workers[i], SIGCONT);
		else
			start_worker(i);
	atomic_fetch_add(&audit->checks, 1);
}

static void count_process(const struct gkl_process *process, void *arg)
{
	(void)process;
	++*(int *)arg;
}

/* When nobody is alive, nothing is held and all can be allocated. */
static void check_empty(void)
{
	int left = 0;

	for (unsigned int i = 0; i < WORKERS; i++)
		kill_worker(i);
	/* Their orphans become our children. */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	for (unsigned int d = 0; d < DEVICES; d++) {
		if (!gkl_ledger_reserve(ledger, d, GKL_DATA, LIMIT, LIMIT))
			fail("left on a device", total_of(d).low, 0);
		gkl_ledger_refund(ledger, d, GKL_DATA, LIMIT);
		if (total_of(d).low)
			fail("left on a device", total_of(d).low, 0);
	}
	gkl_ledger_each(ledger, count_process, &left);
	if (left != 1)
		fail("processes left", (uint64_t)left, 1);
	for (unsigned int i = 0; i < GKL_EXPORTS; i++)
		if (ledger->file->exports[i].owner.high)
			fail("exports left", i, GKL_EXPORTS);
	for (unsigned int i = 0; i < WORKERS; i++)
		start_worker(i);
}

static void *watch(void *arg)
{
	for (;;)
		for (unsigned int d = 0; d < DEVICES; d++)
			if (total_of(d).low > LIMIT)
				fail("above the limit", total_of(d).low, LIMIT);
	return arg;
}

static void rage(uint64_t seconds)
{
	uint64_t end = gk_mono_ns() + seconds * GK_NS_PER_S;
	struct thread dice = {.seed = seed};

	for (unsigned int i = 0; i < WORKERS; i++)
		start_worker(i);
	while (gk_mono_ns() < end) {
		struct timespec some = {.tv_nsec = (long)pick(&dice, 4000000)};
		uint64_t what = pick(&dice, 100);

		nanosleep(&some, NULL);
		if (what < 70) {
			unsigned int i = (unsigned)pick(&dice, WORKERS);

			kill_worker(i);
			start_worker(i);
		} else if (what < 98) {
			check_stopped();
		} else {
			check_empty();
		}
	}
	check_empty();
	for (unsigned int i = 0; i < WORKERS; i++)
		kill_worker(i);
}

static int open_both(void)
{
	snprintf(path, sizeof path, "%s/ledger", dir);
	snprintf(audit_path, sizeof audit_path, "%s/audit", dir);
	return open_audit() || gkl_ledger_open(path, GKL_PRIVATE, &ledger);
}

static int be_worker_again(char **argv)
{
	snprintf(dir, sizeof dir, "%s", argv[1]);
	if (open_both())
		return 1;
	run_worker((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 3;
	pthread_t watcher;

	if (argc == 4)
		return be_worker_again(argv);
	seed = argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)time(NULL);
	strcpy(dir, "/dev/shm/gpukit-test-XXXXXX");
	if (!mkdtemp(dir) || open_both())
		return 1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pthread_create(&watcher, NULL, watch, NULL))
		return 1;
	rage(seconds);
	printf("seed %u: %llu operations, %llu refusals, %llu kills, "
	       "%llu execs, %llu checks\n",
	       seed, (unsigned long long)audit->operations,
	       (unsigned long long)audit->refusals,
	       (unsigned long long)audit->kills,
	       (unsigned long long)audit->execs,
	       (unsigned long long)audit->checks);
	unlink(path);
	unlink(audit_path);
	rmdir(dir);
	return 0;
}
