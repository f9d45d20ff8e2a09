/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proctree_test.c - checks processes in their family, on made-up trees of
 * /proc.
 */
#include "base/clock.h"
#include "core/read/proctree.h"
#include "tree.h"

static struct tree proc;
static struct gk_family *family;
static struct gk_snapshot snap;
static struct gk_process processes[8];
static struct gk_tree *tree;

static int setup(void **state)
{
	(void)state;
	tree_make(&proc);
	assert_int_equal(gk_family_open(proc.fd, &family), 0);
	memset(processes, 0, sizeof processes);
	snap = (struct gk_snapshot){.mono_ns = 100 * GK_NS_PER_S,
				    .host.boot_ns = 100 * GK_NS_PER_S,
				    .processes = processes};
	tree = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_tree_free(tree);
	gk_family_close(family);
	tree_remove(&proc);
	return 0;
}

static void is_there(int pid, int ppid, unsigned long start)
{
	char name[32];

	tree_stat(&proc, (struct tree_stat){.pid = pid,
					    .comm = "x",
					    .state = 'S',
					    .ppid = ppid,
					    .utime = 10,
					    .start = start,
					    .rss = 100});
	snprintf(name, sizeof name, "%d/cmdline", pid);
	tree_write(&proc, name, "run\0it", 6);
}

static void ends(int pid)
{
	char name[32];

	snprintf(name, sizeof name, "%d/stat", pid);
	assert_int_equal(unlinkat(proc.fd, name, 0), 0);
	snprintf(name, sizeof name, "%d/cmdline", pid);
	assert_int_equal(unlinkat(proc.fd, name, 0), 0);
	snprintf(name, sizeof name, "%d", pid);
	assert_int_equal(unlinkat(proc.fd, name, AT_REMOVEDIR), 0);
}

static void on_gpu(int pid, unsigned device, int64_t bytes)
{
	struct gk_process *p = &processes[snap.process_count++];

	*p = (struct gk_process){.pid = pid,
				 .device = device,
				 .types = GK_PROCESS_COMPUTE,
				 .user = "u"};
	for (int i = 0; i < GK_PM_COUNT; i++)
		p->m[i].why = GK_ABSENT_NOT_SUPPORTED;
	p->m[GK_PM_GPU_MEM] = (struct gk_value){.v = bytes};
	p->m[GK_PM_CPU] = (struct gk_value){.v = 5000};
}

static void take(void)
{
	unsigned chosen[8];

	for (unsigned i = 0; i < snap.process_count; i++)
		chosen[i] = i;
	gk_tree_free(tree);
	assert_int_equal(
	    gk_tree_take(family, &snap, chosen, snap.process_count, &tree), 0);
}

static void next_snapshot(void)
{
	snap.mono_ns += GK_NS_PER_S;
	take();
}

/* The pids in order, indented by depth: "1 .42 ..43". */
static const char *shape(void)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < tree->count; i++) {
		len += (size_t)snprintf(text + len, sizeof text - len,
					"%s%.*s%d", i ? " " : "",
					(int)tree->nodes[i].depth, ".........",
					(int)tree->nodes[i].process.pid);
	}
	return text;
}

static void ancestors_and_children_come_with_it(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(20, 1, 5);
	is_there(42, 20, 10); /* on a GPU */
	is_there(43, 42, 11); /* its child */
	is_there(44, 43, 12); /* its grandchild: not asked for */
	is_there(50, 20, 13); /* a sibling: not asked for */
	on_gpu(42, 0, 1000);
	take();
	assert_string_equal(shape(), "1 .20 ..42 ...43");
	assert_true(tree->nodes[2].on_gpu);
	assert_false(tree->nodes[3].on_gpu);
	assert_string_equal(tree->nodes[3].process.command, "run it");
	assert_int_equal(tree->nodes[3].threads, 1);
	assert_int_equal(tree->nodes[3].parent, 2);
}

static void a_grandchild_on_a_gpu_brings_who_is_between(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	is_there(43, 42, 11);
	is_there(44, 43, 12);
	is_there(60, 1, 13);
	on_gpu(42, 0, 1000);
	on_gpu(44, 0, 2000);
	on_gpu(60, 1, 4000);
	take();
	assert_string_equal(shape(), "1 .42 ..43 ...44 .60");
	assert_false(tree->nodes[1].last);
	assert_true(tree->nodes[2].last);
	assert_true(tree->nodes[4].last);
}

static void a_process_on_two_gpus_is_one_with_both_memories(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	on_gpu(42, 0, 1000);
	on_gpu(42, 1, 2000);
	take();
	assert_string_equal(shape(), "1 .42");
	assert_int_equal(tree->nodes[1].process.m[GK_PM_GPU_MEM].v, 3000);
	assert_int_equal(tree->nodes[1].process.m[GK_PM_CPU].v, 5000);
}

static void a_tree_sums_what_is_known(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	is_there(43, 42, 11);
	on_gpu(42, 0, 1000);
	on_gpu(43, 0, 500);
	take();
	assert_int_equal(tree->nodes[0].size, 3);
	assert_int_equal(tree->nodes[0].sum[GK_PM_GPU_MEM].v, 1500);
	assert_int_equal(tree->nodes[0].sum[GK_PM_CPU].v, 10000);
	assert_int_equal(tree->nodes[0].process.m[GK_PM_GPU_MEM].why,
			 GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(tree->nodes[0].sum[GK_PM_SM_UTIL].why,
			 GK_ABSENT_NOT_SUPPORTED);
	assert_int_equal(tree->nodes[2].size, 1);
}

static void the_cpu_of_ancestors_is_known_the_second_time(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	on_gpu(42, 0, 1000);
	take();
	assert_int_equal(tree->nodes[0].process.m[GK_PM_CPU].why,
			 GK_ABSENT_ONE_SNAPSHOT);
	snap.mono_ns += GK_NS_PER_S;
	tree_stat(&proc,
		  (struct tree_stat){
		      .pid = 1, .comm = "x", .state = 'S', .utime = 10 + 50});
	take();
	assert_int_equal(tree->nodes[0].process.m[GK_PM_CPU].v,
			 50 * 10000 / sysconf(_SC_CLK_TCK));
}

static void who_is_gone_stands_alone_at_the_end(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	on_gpu(7, 0, 1000);
	on_gpu(7, 1, 1000);
	on_gpu(42, 0, 1000);
	processes[0].state = processes[1].state = GK_PROCESS_GONE;
	take();
	assert_string_equal(shape(), "1 .42 7");
	assert_int_equal(tree->nodes[2].process.state, GK_PROCESS_GONE);
	assert_int_equal(tree->nodes[2].process.m[GK_PM_GPU_MEM].v, 2000);
}

static void nobody_is_his_own_ancestor(void **state)
{
	(void)state;
	is_there(42, 43, 10);
	is_there(43, 42, 10);
	on_gpu(43, 0, 1000);
	take();
	assert_string_equal(shape(), "42 .43");
	/* A process that is its own parent, as from a torn line. */
	is_there(43, 43, 10);
	for (int i = 0; i < 8; i++)
		next_snapshot();
	assert_string_equal(shape(), "43");
}

static void without_processes_there_is_no_tree(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	take();
	assert_int_equal(tree->count, 0);
}

static void a_deep_family_is_walked_whole(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	for (int pid = 2; pid < 400; pid++)
		is_there(pid, pid - 1, (unsigned long)pid);
	is_there(500, 1, 600);
	on_gpu(399, 0, 1000);
	on_gpu(500, 0, 1000);
	take();
	assert_int_equal(tree->count, 400);
	assert_int_equal(tree->nodes[398].depth, 398);
	assert_int_equal(tree->nodes[399].process.pid, 500);
	assert_int_equal(tree->nodes[399].depth, 1);
	assert_int_equal(tree->nodes[399].parent, 0);
}

static void proc_is_read_once_for_each_snapshot(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	on_gpu(42, 0, 1000);
	take();
	is_there(43, 42, 11);
	is_there(1, 0, 0);
	take();
	assert_string_equal(shape(), "1 .42");
	next_snapshot();
	assert_string_equal(shape(), "1 .42 ..43");
}

/*
 * Processes that another filter lets in are read then, for the same snapshot.
 */
static void other_processes_may_be_chosen(void **state)
{
	unsigned second = 1;

	(void)state;
	is_there(1, 0, 0);
	is_there(20, 1, 5);
	is_there(42, 1, 10);
	is_there(50, 20, 12);
	on_gpu(42, 0, 1000);
	on_gpu(50, 0, 1000);
	take();
	assert_string_equal(shape(), "1 .20 ..50 .42");
	gk_tree_free(tree);
	assert_int_equal(gk_tree_take(family, &snap, &second, 1, &tree), 0);
	assert_string_equal(shape(), "1 .20 ..50");
	assert_string_equal(tree->nodes[1].process.command, "run it");
}

static void who_ends_is_gone_at_the_next_snapshot(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	is_there(43, 42, 11);
	on_gpu(42, 0, 1000);
	take();
	assert_string_equal(shape(), "1 .42 ..43");
	ends(43);
	next_snapshot();
	assert_string_equal(shape(), "1 .42");
}

/* Their new parent is known at once. */
static void orphans_are_read_again(void **state)
{
	(void)state;
	is_there(1, 0, 0);
	is_there(42, 1, 10);
	is_there(60, 1, 11);
	is_there(61, 60, 12);
	on_gpu(42, 0, 1000);
	on_gpu(61, 0, 1000);
	take();
	assert_string_equal(shape(), "1 .60 ..61 .42");
	is_there(61, 42, 12);
	ends(60);
	next_snapshot();
	assert_string_equal(shape(), "1 .42 ..61");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(ancestors_and_children_come_with_it),
	    T(a_grandchild_on_a_gpu_brings_who_is_between),
	    T(a_process_on_two_gpus_is_one_with_both_memories),
	    T(a_tree_sums_what_is_known),
	    T(the_cpu_of_ancestors_is_known_the_second_time),
	    T(who_is_gone_stands_alone_at_the_end),
	    T(nobody_is_his_own_ancestor),
	    T(without_processes_there_is_no_tree),
	    T(a_deep_family_is_walked_whole),
	    T(proc_is_read_once_for_each_snapshot),
	    T(other_processes_may_be_chosen),
	    T(who_ends_is_gone_at_the_next_snapshot),
	    T(orphans_are_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
