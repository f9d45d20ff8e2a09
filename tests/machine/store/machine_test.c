/* SPDX-License-Identifier: Apache-2.0 */
/* machine_test.c - checks making, finding and refusing machine files. */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/boards.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/board_name.h"
#include "machine/store/clock.h"
#include "machine/store/gate.h"
#include "machine/store/process/ledger.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Where in the file a member of a board lies. */
#define BOARD(device, member)                                                  \
	(offsetof(struct gkf_file, board[device]) +                            \
	 offsetof(struct gkf_board, member))

static struct fixture fx;

static int open_three(void **state)
{
	(void)state;
	fixture_open(&fx, 3);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void path_follows_name_and_environment(void **state)
{
	char path[128], expected[128];

	(void)state;
	snprintf(expected, sizeof expected, "/dev/shm/gpukit-%u/lab",
		 (unsigned)geteuid());
	assert_int_equal(gkf_machine_path("lab", path, sizeof path), 0);
	assert_string_equal(path, expected);
	assert_int_equal(gkf_machine_path("/tmp/x", path, sizeof path), 0);
	assert_string_equal(path, "/tmp/x");
	assert_int_equal(gkf_machine_path(NULL, path, sizeof path), 0);
	assert_string_equal(path, fx.path);
	assert_int_equal(gkf_machine_path("", path, sizeof path),
			 GK_ERR_INVALID);
	assert_int_equal(gkf_machine_path(".", path, sizeof path),
			 GK_ERR_INVALID);
	assert_int_equal(gkf_machine_path("..", path, sizeof path),
			 GK_ERR_INVALID);
	assert_int_equal(gkf_machine_path("...", path, sizeof path), 0);
	assert_int_equal(gkf_machine_path("./x", path, sizeof path), 0);
	assert_string_equal(path, "./x");
}

static void a_path_must_fit(void **state)
{
	char path[5000] = "?", name[5000];
	size_t need;

	(void)state;
	assert_int_equal(gkf_machine_path("lab", path, sizeof path), 0);
	need = strlen(path) + 1;
	strcpy(path, "?");
	assert_int_equal(gkf_machine_path("lab", path, need - 1),
			 GK_ERR_INVALID);
	assert_string_equal(path, "?");
	assert_int_equal(gkf_machine_path("lab", path, need), 0);
	assert_int_equal(strlen(path), need - 1);
	memset(name, 'n', sizeof name);
	name[0] = '/';
	name[4096] = '\0';
	assert_int_equal(gkf_machine_path(name, path, sizeof path),
			 GK_ERR_INVALID);
	name[4095] = '\0';
	assert_int_equal(gkf_machine_path(name, path, sizeof path), 0);
	assert_string_equal(path, name);
	assert_int_equal(unsetenv("GPUKIT_MACHINE"), 0);
	assert_int_equal(gkf_machine_path(NULL, path, sizeof path), 0);
	assert_string_equal(strrchr(path, '/'), "/default");
}

static void file_is_private_and_its_space_reserved(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(fx.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true((uint64_t)st.st_blocks * 512 >= sizeof(struct gkf_file));
}

static void a_machine_is_not_replaced(void **state)
{
	struct gkf_machine_spec spec = {.device_count = 0};

	(void)state;
	assert_int_equal(gkf_machine_create(fx.path, &spec), GK_ERR_EXISTS);
	assert_int_equal(fx.file->device_count, 3);
}

static void a_killed_maker_leaves_nothing_unfinished(void **state)
{
	struct gkf_machine_spec spec = {.device_count = 0};
	char path[128], beside[160];
	struct dirent *entry;
	DIR *dir;

	(void)state;
	snprintf(path, sizeof path, "%s/other", fx.dir);
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid)
			for (;;) {
				gkf_machine_create(path, &spec);
				unlink(path);
			}
		usleep(1000 + (useconds_t)i * 97);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	unlink(path);
	dir = opendir(fx.dir);
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			assert_string_equal(entry->d_name, "machine");
	closedir(dir);
	/* A file under a name that this process might choose does no harm. */
	snprintf(beside, sizeof beside, "%s.%d.tmp", path, (int)getpid());
	close(open(beside, O_CREAT | O_RDWR, 0600));
	assert_int_equal(gkf_machine_create(path, &spec), 0);
	unlink(path);
	unlink(beside);
}

/* The limit of a process on file sizes causes an error, not its death. */
static void a_limit_on_files_is_an_error(void **state)
{
	struct gkf_machine_spec spec = {.device_count = 0};
	struct rlimit limit = {4096, 4096};
	char path[128];
	int status;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof path, "%s/other", fx.dir);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(gkf_machine_create(path, &spec) != GK_ERR_NO_SPACE);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(access(path, F_OK), -1);
}

static void too_many_devices_are_refused(void **state)
{
	struct gkf_machine_spec spec = {.device_count = GKF_DEVICES_MAX + 1};
	char path[128];

	(void)state;
	snprintf(path, sizeof path, "%s/other", fx.dir);
	assert_int_equal(gkf_machine_create(path, &spec), GK_ERR_TOO_MANY);
	assert_int_equal(access(path, F_OK), -1);
}

static void devices_differ_in_uuid_serial_and_place(void **state)
{
	const struct gkf_board *d = gkf_board(fx.m, 0);

	(void)state;
	assert_string_not_equal(d[0].uuid, d[1].uuid);
	assert_string_not_equal(d[0].serial, d[1].serial);
	assert_int_not_equal(d[0].pci_bus, d[1].pci_bus);
	assert_int_equal(strlen(d[0].uuid), strlen("GPU-") + 36);
	assert_int_equal(d[2].minor, 2);
}

/*
 * It may become older than the host, even in the first minutes after the boot.
 */
static void a_machine_grows_older_at_once(void **state)
{
	const uint64_t age = gk_boot_ns() + 1000 * GK_NS_PER_S;

	(void)state;
	gkf_machine_age(fx.m, age);
	assert_in_range(gkf_machine_ns(fx.m), age, age + 60 * GK_NS_PER_S);
}

/* Overwrites bytes of the file and returns the result of opening it. */
static int open_altered(size_t offset, const void *bytes, size_t len)
{
	struct gkf_machine *m = NULL;
	char saved[64];
	int fd = open(fx.path, O_RDWR), r;

	assert_true(fd >= 0 && len <= sizeof saved);
	assert_int_equal(pread(fd, saved, len, (off_t)offset), len);
	assert_int_equal(pwrite(fd, bytes, len, (off_t)offset), len);
	r = gkf_machine_open(fx.path, &m);
	assert_true((r == 0) == (m != NULL));
	gkf_machine_close(m);
	assert_int_equal(pwrite(fd, saved, len, (off_t)offset), len);
	close(fd);
	return r;
}

static void other_versions_and_garbage_are_refused(void **state)
{
	uint32_t version = GKF_VERSION + 1, many = GKF_DEVICES_MAX + 1;

	(void)state;
	assert_int_equal(open_altered(offsetof(struct gkf_file, version),
				      &version, sizeof version),
			 GK_ERR_VERSION);
	assert_int_equal(open_altered(offsetof(struct gkf_file, size_check),
				      &version, sizeof version),
			 GK_ERR_VERSION);
	assert_int_equal(open_altered(offsetof(struct gkf_file, rows_check),
				      &version, sizeof version),
			 GK_ERR_VERSION);
	assert_int_equal(open_altered(0, "garbage!", 8), GK_ERR_CORRUPT);
	assert_int_equal(open_altered(offsetof(struct gkf_file, device_count),
				      &many, sizeof many),
			 GK_ERR_CORRUPT);
	many = 0;
	assert_int_equal(open_altered(BOARD(0, profile.sm_clock_max_mhz), &many,
				      sizeof many),
			 GK_ERR_CORRUPT);
	assert_int_equal(open_altered(BOARD(0, uuid[40]), "endless!", 8),
			 GK_ERR_CORRUPT);
	assert_int_equal(open_altered(0, "", 0), 0);
}

/* A reader would run past the end of such a text. */
static void a_text_without_an_end_is_refused(void **state)
{
#define TEXT(member)                                                           \
	{                                                                      \
		BOARD(1, member), sizeof(((struct gkf_board *)0)->member)      \
	}
	static const struct {
		size_t at, size;
	} texts[] = {TEXT(uuid),
		     TEXT(serial),
		     TEXT(profile.id),
		     TEXT(profile.name),
		     TEXT(profile.mark),
		     TEXT(profile.brand),
		     TEXT(profile.architecture),
		     TEXT(profile.vbios),
		     TEXT(profile.part_number),
		     TEXT(profile.inforom_image),
		     TEXT(profile.inforom_oem),
		     TEXT(profile.inforom_ecc),
		     TEXT(profile.mig_layout)};
#undef TEXT
	char *file = (char *)fx.file;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char saved[128];
		size_t size = texts[i].size;

		memcpy(saved, file + texts[i].at, size);
		memset(file + texts[i].at, 'x', size);
		assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
		file[texts[i].at + size - 1] = '\0';
		assert_int_equal(open_altered(0, "", 0), 0);
		memcpy(file + texts[i].at, saved, size);
	}
}

static void a_number_out_of_its_range_is_refused(void **state)
{
#define FIELD(member, key, min, max, help)                                     \
	{offsetof(struct gkf_profile, member), min, max},
	static const struct {
		size_t at;
		int64_t min, max;
	} fields[] = {GKF_PROFILE_INTEGERS(FIELD)};
#undef FIELD
	struct gkf_profile *p = &gkf_file_board(fx.file, 2)->profile;

	(void)state;
	p->memory_mib = 4194304; /* more than is reserved */
	for (size_t i = 0; i < COUNT(fields); i++) {
		int64_t *at = (int64_t *)((char *)p + fields[i].at);
		int64_t saved = *at;

		*at = fields[i].min - 1;
		assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
		*at = fields[i].max + 1;
		assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
		*at = fields[i].max;
		assert_int_equal(open_altered(0, "", 0), 0);
		*at = saved;
	}
	p->memory_mib = p->reserved_mib;
	assert_int_equal(open_altered(0, "", 0), 0);
	p->reserved_mib++;
	assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
}

static void a_scenario_that_is_not_there_is_refused(void **state)
{
	struct gkf_scenario_head *head = &fx.file->scenario;

	(void)state;
	head->steps = GKF_STEPS_MAX;
	assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
	head->steps = 100000; /* beyond the locks */
	assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
	head->steps = 0;
	head->texts = GKF_STEP_TEXTS_MAX + 1;
	assert_int_equal(open_altered(0, "", 0), GK_ERR_CORRUPT);
	head->texts = 0;
	assert_int_equal(open_altered(0, "", 0), 0);
}

/* An unterminated driver name is cut at the end of its array. */
static void names_of_the_driver_are_cut(void **state)
{
	struct gkf_machine *m;

	(void)state;
	memset(fx.file->driver_version, 'd', sizeof fx.file->driver_version);
	memset(fx.file->nvml_version, 'n', sizeof fx.file->nvml_version);
	fx.file->cuda_version = 12345;
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	assert_int_equal(strlen(gkf_driver(m)->version), 31);
	assert_int_equal(gkf_driver(m)->version[30], 'd');
	assert_int_equal(strlen(gkf_driver(m)->nvml_version), 31);
	assert_int_equal(gkf_driver(m)->nvml_version[30], 'n');
	assert_int_equal(gkf_driver(m)->cuda_version, 12345);
	gkf_machine_close(m);
}

/* Whether the first two GPUs are linked as the layout of the file has it. */
static bool is_like(uint32_t layout, const struct gkf_topology *as)
{
	struct gkf_machine *m;
	bool alike;

	fx.file->layout = layout;
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	alike = !memcmp(&m->topology, as, sizeof *as);
	gkf_machine_close(m);
	return alike;
}

static void a_layout_that_there_is_not_is_the_usual_one(void **state)
{
	(void)state;
	assert_true(is_like(GKF_LAYOUT_AUTO, &fx.m->topology));
	assert_false(is_like(GKF_LAYOUT_MESH, &fx.m->topology));
	assert_true(is_like(GKF_LAYOUT_COUNT, &fx.m->topology));
	assert_true(is_like(UINT32_MAX, &fx.m->topology));
}

/* How often this process has mapped a part of the file. */
static unsigned mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		n += strstr(line, fx.path) != NULL;
	fclose(f);
	return n;
}

/* A refused file does not stay mapped either. */
static void nothing_of_a_closed_machine_stays_mapped(void **state)
{
	unsigned before = mapped();
	struct gkf_machine *m;

	(void)state;
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	assert_true(mapped() > before);
	gkf_machine_close(m);
	assert_int_equal(mapped(), before);
	fx.file->device_count = GKF_DEVICES_MAX + 1;
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	assert_int_equal(mapped(), before);
	/* Its locks are cut off. */
	fx.file->device_count = 3;
	assert_int_equal(truncate(fx.path, (off_t)gkf_machine_least_size() - 1),
			 0);
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	assert_int_equal(mapped(), before);
}

static void a_short_file_or_a_directory_is_no_machine(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	assert_int_equal(truncate(fx.path, 4096), 0);
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	assert_int_equal(truncate(fx.path, 3), 0);
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	assert_int_not_equal(gkf_machine_open(fx.dir, &m), 0);
	assert_null(m);
	/* Nobody touches the missing part again; fixture_close() unmaps it. */
}

/*
 * Truncation does not kill programs that have the file open: the missing part
 * reads as zero, and it is reported.
 */
static void a_file_that_is_truncated_is_told(void **state)
{
	off_t sizes[] = {0, (off_t)sizeof *fx.file / 2,
			 (off_t)gkf_machine_least_size() -
			     (off_t)sysconf(_SC_PAGESIZE)};
	struct gkf_machine *m;
	struct gkf_state s;
	unsigned slot;

	(void)state;
	assert_true(gkf_machine_is_whole(fx.m));
	for (size_t i = COUNT(sizes); i-- > 0;) {
		assert_int_equal(gkf_machine_open(fx.path, &m), 0);
		assert_int_equal(truncate(fx.path, sizes[i]), 0);
		assert_false(gkf_machine_is_whole(m));
		gkf_state_now(m, 0, &s);
		gkf_value_set(m, 0, GKF_V_TEMPERATURE, 50);
		gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot);
		gkf_reap(m, true);
		gkf_machine_close(m);
		assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
		fixture_close(&fx);
		fixture_open(&fx, 3);
	}
}

static void a_missing_machine_is_not_made_up(void **state)
{
	struct gkf_machine *m = NULL;

	(void)state;
	assert_int_equal(gkf_machine_open("/nonexistent/machine", &m),
			 GK_ERR_NOT_FOUND);
	assert_null(m);
}

static void boards_can_have_names_of_their_own(void **state)
{
	const struct gkf_board_name named[2] = {
	    {.uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef",
	     .serial = "123",
	     .has_place = true,
	     .pci_domain = 1,
	     .pci_bus = 0x3b,
	     .pci_device = 2,
	     .minor = 9},
	    {.minor = -1},
	};
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .seed = 7};
	struct gkf_machine *by_seed, *m;
	const struct gkf_board *b, *other;

	(void)state;
	assert_int_equal(gkf_machine_scratch(&spec, &by_seed), 0);
	spec.names = named;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	b = gkf_board(m, 0);
	assert_string_equal(b->uuid, named[0].uuid);
	assert_string_equal(b->serial, "123");
	assert_int_equal(b->pci_domain, 1);
	assert_int_equal(b->pci_bus, 0x3b);
	assert_int_equal(b->pci_device, 2);
	assert_int_equal(b->minor, 9);
	b = gkf_board(m, 1);
	other = gkf_board(by_seed, 1);
	assert_string_equal(b->uuid, other->uuid);
	assert_string_equal(b->serial, "");
	assert_int_equal(b->pci_bus, other->pci_bus);
	assert_int_equal(b->minor, 1);
	gkf_machine_close(m);
	gkf_machine_close(by_seed);
}

static void time_begins_when_it_is_made(void **state)
{
	(void)state;
	assert_true(gkf_machine_ns(fx.m) < 60 * GK_NS_PER_S);
	gkf_machine_age(fx.m, 10 * GK_NS_PER_S);
	assert_in_range(gkf_machine_bin(fx.m), 60, 60 + 60 * GKF_BINS_PER_S);
}

static void a_stopped_writer_does_not_stop_the_others(void **state)
{
	struct gkf_state before;
	int64_t value;
	uint64_t begin, took = UINT64_MAX;
	int ready[2];
	pid_t pid;
	char c;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		gkf_lock(fx.m);
		if (write(ready[1], "y", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]); /* else the end of the child would not be seen */
	assert_int_equal(read(ready[0], &c, 1), 1);
	for (int i = 0; i < 10 && took > GK_NS_PER_S / 2; i++) {
		begin = gk_mono_ns();
		gkf_state_now(fx.m, 0, &before);
		assert_true(gkf_value_get(fx.m, 0, GKF_V_POWER, &value));
		took = gk_mono_ns() - begin;
	}
	assert_true(took < GK_NS_PER_S / 2);
	/* A writer gives up with an error instead of hanging. */
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 50),
			 GK_ERR_TIMEOUT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 50), 0);
}

static void an_overwritten_lock_is_not_taken(void **state)
{
	struct gkf_state s;

	(void)state;
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 0x35353535);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 50),
			 GK_ERR_CORRUPT);
	gkf_state_now(fx.m, 0, &s);
	assert_int_equal(s.temp_mc, 31000);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_three, close_it)
	const struct CMUnitTest tests[] = {
	    T(path_follows_name_and_environment),
	    T(a_path_must_fit),
	    T(a_text_without_an_end_is_refused),
	    T(a_number_out_of_its_range_is_refused),
	    T(a_scenario_that_is_not_there_is_refused),
	    T(names_of_the_driver_are_cut),
	    T(a_layout_that_there_is_not_is_the_usual_one),
	    T(nothing_of_a_closed_machine_stays_mapped),
	    T(file_is_private_and_its_space_reserved),
	    T(a_machine_is_not_replaced),
	    T(a_killed_maker_leaves_nothing_unfinished),
	    T(a_limit_on_files_is_an_error),
	    T(too_many_devices_are_refused),
	    T(devices_differ_in_uuid_serial_and_place),
	    T(an_overwritten_lock_is_not_taken),
	    T(a_machine_grows_older_at_once),
	    T(other_versions_and_garbage_are_refused),
	    T(a_short_file_or_a_directory_is_no_machine),
	    T(a_file_that_is_truncated_is_told),
	    T(a_missing_machine_is_not_made_up),
	    T(boards_can_have_names_of_their_own),
	    T(time_begins_when_it_is_made),
	    T(a_stopped_writer_does_not_stop_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
