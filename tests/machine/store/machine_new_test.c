/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_new_test.c - checks the file of a new machine: its contents, and
 * where and how it appears.
 */
#include "can.h"
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/life.h"
#include "machine/model/topology.h"
#include "machine/store/board.h"
#include "machine/store/process/identity.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/machine_new.h"
#include "machine/store/scenario_table.h"
#include "machine/store/settings.h"
#include "machine/store/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct fixture fx;
static struct gkf_profile profiles[GKF_DEVICES_MAX];

static int open_none(void **state)
{
	struct gkf_machine_spec spec = {.device_count = 0};

	(void)state;
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		profiles[i] = gkf_profile_default;
	fixture_open_spec(&fx, &spec);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static struct gkf_machine_spec spec_of(unsigned count)
{
	return (struct gkf_machine_spec){
	    .device_count = count, .profiles = profiles, .seed = 7};
}

/* Computed independently of this code: a seed always names the same boards. */
static void boards_are_named_by_the_seed(void **state)
{
	struct gkf_machine_spec spec = spec_of(2);
	struct gkf_machine *m;

	(void)state;
	strcpy(profiles[1].brand, "GEFORCE");
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	assert_string_equal(gkf_board(m, 0)->uuid,
			    "GPU-b8b4c297-7eab-ce45-9c01-479161bc5d78");
	assert_string_equal(gkf_board(m, 0)->serial, "1329630043406");
	assert_string_equal(gkf_board(m, 1)->uuid,
			    "GPU-27e8ac81-e7bc-3b89-fbca-662387d9c66d");
	assert_string_equal(gkf_board(m, 1)->serial, "");
	gkf_machine_close(m);
	spec.seed = 8;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	assert_string_equal(gkf_board(m, 0)->uuid,
			    "GPU-4442e426-6c0a-c966-c3df-ac2b24ac86ae");
	assert_string_equal(gkf_board(m, 0)->serial, "1327014807482");
	gkf_machine_close(m);
}

static void boards_sit_eight_buses_apart(void **state)
{
	static const struct {
		unsigned device, domain, bus;
	} places[] = {{0, 0, 7},    {1, 0, 15}, {29, 0, 239}, {30, 1, 7},
		      {59, 1, 239}, {60, 2, 7}, {63, 2, 31}};
	struct gkf_machine_spec spec = spec_of(GKF_DEVICES_MAX);
	struct gkf_machine *m;

	(void)state;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	assert_int_equal(gkf_device_count(m), GKF_DEVICES_MAX);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const struct gkf_board *b = gkf_board(m, places[i].device);

		assert_int_equal(b->minor, places[i].device);
		assert_int_equal(b->pci_domain, places[i].domain);
		assert_int_equal(b->pci_bus, places[i].bus);
		assert_int_equal(b->pci_device, 0);
	}
	gkf_machine_close(m);
}

static void nothing_is_set_and_no_bin_is_remembered(void **state)
{
	struct gkf_machine_spec spec = spec_of(1);
	struct gkf_machine *m;
	struct gkf_file *f;

	(void)state;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	f = gkf_machine_file(m);
	for (int v = 0; v < GKF_V_COUNT; v++)
		assert_true(atomic_load(&f->device[0].set[v]) == GKF_UNSET);
	for (int b = 0; b < GKF_PAST_BINS; b++)
		assert_true(f->device[0].past[b].bin == UINT64_MAX);
	assert_true(atomic_load(&f->scenario.next_ns) == UINT64_MAX);
	assert_true(f->magic == GKF_MAGIC);
	assert_int_equal(f->version, GKF_VERSION);
	assert_int_equal(f->size_check, sizeof *f);
	assert_int_equal(f->creator_pid, 0);
	assert_int_equal(gkf_setting(m, GKF_LATENCY), GKF_LATENCY_NONE);
	gkf_machine_close(m);
}

static void what_was_asked_for_stands_in_it(void **state)
{
	struct gkf_identity self = gkf_self_look_up();
	struct gkf_machine_spec spec = spec_of(1);
	const struct gkf_file *f;
	struct gkf_machine *m;

	(void)state;
	spec.driver_version = "535.129.03";
	spec.nvml_version = "12.535.129.03";
	spec.cuda_version = 12020;
	spec.latency = GKF_LATENCY_REAL;
	spec.layout = GKF_LAYOUT_PCIE;
	spec.owned = true;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	f = gkf_machine_file(m);
	assert_string_equal(gkf_driver(m)->version, "535.129.03");
	assert_string_equal(gkf_driver(m)->nvml_version, "12.535.129.03");
	assert_int_equal(gkf_driver(m)->cuda_version, 12020);
	assert_int_equal(f->driver_generation, 535);
	assert_int_equal(gkf_setting(m, GKF_LATENCY), GKF_LATENCY_REAL);
	assert_int_equal(f->layout, GKF_LAYOUT_PCIE);
	assert_int_equal(gkf_machine_seed(m), 7);
	assert_int_equal(f->creator_pid, getpid());
	assert_int_equal(f->creator_ns, self.pid_ns);
	assert_int_equal(f->creator_start, self.start);
	assert_true(self.pid_ns && self.start);
	gkf_machine_close(m);
}

/* ---- a scenario in it ---- */

static const struct gkf_step steps[] = {
    {.bin = 12, .kind = GKF_STEP_NOTE, .text = 0},
    {.bin = 30, .kind = GKF_STEP_XID, .device = 0, .number = 79},
};

static void a_scenario_lies_behind_the_rest(void **state)
{
	const struct gkf_scenario_table table = {.name = "storm",
						 .steps = steps,
						 .count = 2,
						 .texts = "begin\0end",
						 .text_size = 10,
						 .begin_bin = 6,
						 .end_bin = 600};
	struct gkf_machine_spec spec = spec_of(1);
	struct gkf_machine *m;
	struct gkf_file *f;
	size_t size;

	(void)state;
	spec.scenario = &table;
	spec.frozen = true;
	assert_int_equal(gkf_file_size(&spec, &size), 0);
	assert_int_equal(size, sizeof *f + sizeof steps + 10);
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	f = gkf_machine_file(m);
	assert_int_equal(f->scenario.steps, 2);
	assert_int_equal(f->scenario.texts, 10);
	assert_int_equal(f->scenario.begin_bin, 6);
	assert_int_equal(f->scenario.end_bin, 600);
	assert_string_equal(f->scenario.name, "storm");
	/* Bin 12 begins here: a bin is a sixth of a second, rounded down. */
	assert_int_equal(atomic_load(&f->scenario.next_ns), 12 * 166666666ULL);
	assert_memory_equal(f + 1, steps, sizeof steps);
	assert_memory_equal((char *)(f + 1) + sizeof steps, "begin\0end", 10);
	assert_int_equal(m->steps, 2);
	assert_int_equal(m->texts, 10);
	gkf_machine_close(m);
}

static void a_scenario_may_be_empty(void **state)
{
	const struct gkf_scenario_table table = {.name = "calm"};
	struct gkf_machine_spec spec = spec_of(0);
	struct gkf_machine *m;

	(void)state;
	spec.scenario = &table;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	assert_true(atomic_load(&gkf_machine_file(m)->scenario.next_ns) ==
		    UINT64_MAX);
	assert_string_equal(gkf_machine_file(m)->scenario.name, "calm");
	gkf_machine_close(m);
}

static void more_than_there_is_room_for_is_refused(void **state)
{
	struct gkf_scenario_table table = {.count = GKF_STEPS_MAX,
					   .text_size = GKF_STEP_TEXTS_MAX};
	struct gkf_machine_spec spec = {.device_count = GKF_DEVICES_MAX,
					.scenario = &table};
	size_t size = 5;

	(void)state;
	assert_int_equal(gkf_file_size(&spec, &size), 0);
	assert_int_equal(size, sizeof(struct gkf_file) + GKF_STEP_TEXTS_MAX +
				   GKF_STEPS_MAX * sizeof *steps);
	size = 5;
	table.count++;
	assert_int_equal(gkf_file_size(&spec, &size), GK_ERR_TOO_MANY);
	table.count--;
	table.text_size++;
	assert_int_equal(gkf_file_size(&spec, &size), GK_ERR_TOO_MANY);
	table.text_size--;
	spec.device_count++;
	assert_int_equal(gkf_file_size(&spec, &size), GK_ERR_TOO_MANY);
	assert_int_equal(size, 5);
}

/* ---- how it appears ---- */

/* The number of files in the directory. */
static unsigned files(void)
{
	DIR *dir = opendir(fx.dir);
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static int create_within(rlim_t bytes)
{
	struct gkf_machine_spec spec = {.device_count = 0};
	struct rlimit limit = {bytes, bytes};
	char path[128];

	snprintf(path, sizeof path, "%s/other", fx.dir);
	setrlimit(RLIMIT_FSIZE, &limit);
	return gkf_machine_create(path, &spec);
}

static void a_limit_that_is_just_enough_is_enough(void **state)
{
	rlim_t least = gkf_machine_least_size();
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(create_within(least - 1) == GK_ERR_NO_SPACE ? 0 : 1);
	fixture_await(pid, 0);
	assert_int_equal(files(), 1);
	pid = fork();
	if (!pid)
		_exit(create_within(least) ? 1 : 0);
	fixture_await(pid, 0);
	assert_int_equal(files(), 2);
	snprintf(fx.path + strlen(fx.dir), 10, "/other");
	unlink(fx.path);
	snprintf(fx.path + strlen(fx.dir), 10, "/machine");
}

static void a_path_that_leads_nowhere_is_refused(void **state)
{
	struct gkf_machine_spec spec = {.device_count = 0};
	char longer[5000];

	(void)state;
	assert_int_equal(gkf_machine_create("machine", &spec), GK_ERR_INVALID);
	assert_int_equal(gkf_machine_create("/nonexistent/machine", &spec),
			 GK_ERR_NOT_FOUND);
	memset(longer, '/', sizeof longer);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(gkf_machine_create(longer, &spec), GK_ERR_INVALID);
	assert_int_equal(files(), 1);
}

static bool hide_proc(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/proc", "tmpfs", 0, NULL);
}

/* Without /proc an unnamed file cannot be given a name. */
static int create_without_proc(void)
{
	struct gkf_machine_spec spec = spec_of(1);
	struct gkf_machine *m;
	char path[128];
	struct stat st;
	int r;

	if (!hide_proc())
		return 77;
	if (gkf_machine_create(fx.path, &spec) != GK_ERR_EXISTS || files() != 1)
		return 1;
	snprintf(path, sizeof path, "%s/other", fx.dir);
	if (gkf_machine_create(path, &spec) || files() != 2)
		return 2;
	r = gkf_machine_open(path, &m);
	if (r || stat(path, &st) || unlink(path))
		return 3;
	return gkf_device_count(m) == 1 && (st.st_mode & 0777) == 0600 ? 0 : 4;
}

static void it_appears_whole_without_proc_too(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(create_without_proc());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		CANNOT("mounts-of-root", "unshare() or mount() refuses");
	assert_int_equal(status, 0);
}

/* ---- the private directory of a user who owns nothing else ---- */

static char own_dir[64], own_path[96];

static void become_user(void)
{
	uid_t user = 100000 + (uid_t)getpid();

	snprintf(own_dir, sizeof own_dir, "/dev/shm/gpukit-%u", (unsigned)user);
	if (seteuid(user))
		CANNOT("other-users", strerror(errno));
	unsetenv("GPUKIT_MACHINE");
}

static int leave_own(void **state)
{
	(void)state;
	unlink(own_path);
	rmdir(own_dir);
	return seteuid(getuid()); /* the test may have been skipped */
}

static void who_names_no_machine_gets_the_default_one(void **state)
{
	struct gkf_machine *m, *again;
	struct stat st;

	(void)state;
	become_user();
	snprintf(own_path, sizeof own_path, "%s/default", own_dir);
	assert_int_equal(gkf_machine_open(NULL, &m), 0);
	assert_int_equal(stat(own_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(own_dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(gkf_device_count(m), 8);
	for (unsigned i = 0; i < 8; i++) {
		struct gkf_profile board = gkf_profile_default;

		/* Its boards differ, as those of a launcher. */
		gkf_life_spread(&board, gkf_board(m, i)->seed);
		assert_memory_equal(&gkf_board(m, i)->profile, &board,
				    sizeof board);
		assert_int_not_equal(gkf_board(m, i)->seed,
				     i ? gkf_board(m, 0)->seed : 0);
	}
	/* It exists now: the same machine is opened. */
	gkf_setting_put(m, GKF_LATENCY, 1);
	assert_int_equal(gkf_machine_open("default", &again), 0);
	assert_int_equal(gkf_setting(again, GKF_LATENCY), 1);
	gkf_machine_close(m);
	gkf_machine_close(again);
}

static void no_other_machine_is_made_up(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	become_user();
	assert_int_equal(gkf_machine_open("lab", &m), GK_ERR_NOT_FOUND);
	assert_int_equal(access(own_dir, F_OK), -1);
	assert_null(m);
}

static void its_directory_is_made_but_not_believed_blindly(void **state)
{
	struct gkf_machine_spec spec = {.device_count = 0};
	char beside[96];

	(void)state;
	become_user();
	/* A path that only begins like it is another directory. */
	snprintf(beside, sizeof beside, "%s-aside/machine", own_dir);
	assert_int_equal(gkf_machine_create(beside, &spec), GK_ERR_NOT_FOUND);
	assert_int_equal(access(own_dir, F_OK), -1);
	snprintf(own_path, sizeof own_path, "%s/lab", own_dir);
	assert_int_equal(mkdir(own_dir, 0700), 0);
	assert_int_equal(chmod(own_dir, 0777), 0);
	assert_int_equal(gkf_machine_create(own_path, &spec),
			 GK_ERR_PERMISSION);
	assert_int_equal(access(own_path, F_OK), -1);
	assert_int_equal(rmdir(own_dir), 0);
	assert_int_equal(gkf_machine_create(own_path, &spec), 0);
	assert_int_equal(access(own_path, F_OK), 0);
}

int main(void)
{
#define OWN(name) cmocka_unit_test_teardown(name, leave_own)
#define T(name)   cmocka_unit_test_setup_teardown(name, open_none, close_it)
	const struct CMUnitTest tests[] = {
	    T(boards_are_named_by_the_seed),
	    T(boards_sit_eight_buses_apart),
	    T(nothing_is_set_and_no_bin_is_remembered),
	    T(what_was_asked_for_stands_in_it),
	    T(a_scenario_lies_behind_the_rest),
	    T(a_scenario_may_be_empty),
	    T(more_than_there_is_room_for_is_refused),
	    T(a_limit_that_is_just_enough_is_enough),
	    T(a_path_that_leads_nowhere_is_refused),
	    T(it_appears_whole_without_proc_too),
	    OWN(who_names_no_machine_gets_the_default_one),
	    OWN(no_other_machine_is_made_up),
	    OWN(its_directory_is_made_but_not_believed_blindly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
