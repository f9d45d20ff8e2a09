/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_new.c - creates machine files: fills in the first content, and makes
 * the file appear whole or not at all.
 */
#include "machine/store/machine_new.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mix.h"
#include "base/str.h"
#include "machine/file/boards.h"
#include "machine/file/clock_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/scenario_state.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/store/above.h"
#include "machine/store/board_name.h"
#include "machine/store/process/identity.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/store/rows.h"
#include "machine/store/scenario_table.h"
#include "machine/store/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_CAP 4096

/* The default driver. */
#define DRIVER_VERSION "580.95.05"
#define NVML_VERSION   "13." DRIVER_VERSION
#define CUDA_VERSION   13000

/* PCI addresses: boards are eight buses apart, thirty in a PCI domain. */
static void place_board(struct gkf_board *board, unsigned i)
{
	board->minor = i;
	board->pci_domain = i / 30;
	board->pci_bus = 7 + 8 * (i % 30);
}

static void name_board(struct gkf_board *board, uint64_t seed)
{
	uint64_t a = gkf_mix(seed), b = gkf_mix(a);

	snprintf(board->uuid, sizeof board->uuid,
		 "GPU-%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32),
		 (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xffff,
		 (unsigned)(b >> 48),
		 (unsigned long long)(b & 0xffffffffffffULL));
	/* GeForce boards have no serial number in their infoROM. */
	if (!gkf_is_consumer(&board->profile))
		snprintf(board->serial, sizeof board->serial, "%013llu",
			 (unsigned long long)(1320000000000ULL +
					      gkf_mix(b) % 10000000000ULL));
}

static void rename_board(struct gkf_board *board,
			 const struct gkf_board_name *named)
{
	if (*named->uuid)
		gk_str_copy(board->uuid, sizeof board->uuid, named->uuid);
	gk_str_copy(board->serial, sizeof board->serial, named->serial);
	if (named->has_place) {
		board->pci_domain = named->pci_domain;
		board->pci_bus = named->pci_bus;
		board->pci_device = named->pci_device;
	}
	if (named->minor >= 0)
		board->minor = (uint32_t)named->minor;
}

/*
 * Figures from captures of driver branches other than that of the profile's
 * capture. They apply only while the profile's own figure is `ours`.
 */
static const struct {
	int64_t device, ours;
	unsigned major;
	int64_t mib;
} reserves[] = {
#define RESERVED(device, ours, major, mib) {device, ours, major, mib},
#include "machine/file/reserve.def"
#undef RESERVED
};

/*
 * The memory in MiB that a driver of the branch `major` reserves for itself:
 * the figure in reserve.def or, if there is none, the profile's.
 */
static int64_t reserved_mib(const struct gkf_profile *profile, unsigned major)
{
	for (size_t i = 0; i < sizeof reserves / sizeof *reserves; i++)
		if (reserves[i].device == profile->pci_device_id &&
		    reserves[i].ours == profile->reserved_mib &&
		    reserves[i].major == major)
			return reserves[i].mib;
	return profile->reserved_mib;
}

static void init_board(struct gkf_board *board, unsigned i,
		       const struct gkf_machine_spec *spec)
{
	const char *driver =
	    spec->driver_version ? spec->driver_version : DRIVER_VERSION;

	board->profile = spec->profiles[i];
	board->profile.reserved_mib =
	    reserved_mib(&board->profile, (unsigned)atoi(driver));
	place_board(board, i);
	name_board(board, gkf_mix(spec->seed) + i);
	if (spec->names)
		rename_board(board, &spec->names[i]);
	if (spec->lively)
		board->seed = gkf_mix(gkf_mix(spec->seed) + i) | 1;
}

static void init_device(struct gkf_device *dev, struct gkf_board *board,
			const struct gkf_above *above)
{
	for (int v = 0; v < GKF_V_COUNT; v++)
		atomic_init(&dev->set[v], GKF_UNSET);
	for (int b = 0; b < GKF_PAST_BINS; b++)
		dev->past[b].bin = UINT64_MAX;
	above->device_begin(dev, board);
}

static void init_driver(struct gkf_file *f, const struct gkf_machine_spec *spec)
{
	const char *driver = spec->driver_version, *nvml = spec->nvml_version;

	gk_str_copy(f->driver_version, sizeof f->driver_version,
		    driver ? driver : DRIVER_VERSION);
	gk_str_copy(f->nvml_version, sizeof f->nvml_version,
		    nvml ? nvml : NVML_VERSION);
	f->driver_generation = (uint32_t)atoi(f->driver_version);
	f->cuda_version =
	    spec->cuda_version ? spec->cuda_version : CUDA_VERSION;
}

/* table NULL: no scenario. */
static void init_scenario(struct gkf_file *file,
			  const struct gkf_scenario_table *table)
{
	struct gkf_scenario_head *head = &file->scenario;

	atomic_init(&head->next_ns, UINT64_MAX);
	if (!table)
		return;
	head->steps = table->count;
	head->texts = table->text_size;
	head->begin_bin = table->begin_bin;
	head->end_bin = table->end_bin;
	gk_str_copy(head->name, sizeof head->name, table->name);
	if (table->count) {
		memcpy(gkf_file_steps(file), table->steps,
		       table->count * sizeof *table->steps);
		atomic_init(&head->next_ns, table->steps[0].bin * GKF_BIN_NS);
	}
	if (table->text_size)
		memcpy(gkf_file_steps(file) + table->count, table->texts,
		       table->text_size);
}

void gkf_file_init(struct gkf_file *f, const struct gkf_machine_spec *spec,
		   const struct gkf_above *above)
{
	f->version = GKF_VERSION;
	f->size_check = sizeof *f;
	f->rows_check = gkf_rows_check();
	init_scenario(f, spec->scenario);
	f->clock[0] = (struct gkf_clock){
	    .real_ns = gk_boot_ns(),
	    .wall_ns = gk_wall_ns(),
	    .speed = spec->frozen  ? 0
		     : spec->speed ? spec->speed
				   : 1000,
	};
	atomic_init(&f->run_speed, spec->speed ? spec->speed : 1000);
	f->seed = spec->seed;
	init_driver(f, spec);
	f->device_count = spec->device_count;
	f->layout = spec->layout;
	f->shared = spec->shared;
	atomic_init(&f->latency, spec->latency);
	if (spec->owned) {
		struct gkf_identity id = gkf_self_look_up();

		f->creator_pid = id.pid;
		f->creator_ns = id.pid_ns;
		f->creator_start = id.start;
	}
	for (unsigned i = 0; i < spec->device_count; i++) {
		init_board(gkf_file_board(f, i), i, spec);
		init_device(&f->device[i], gkf_file_board(f, i), above);
	}
	f->magic = GKF_MAGIC;
}

/*
 * Reserves the whole file. Checks the file size limit first, because growing
 * the file past it would raise SIGXFSZ.
 */
static int reserve_space(int fd, size_t size)
{
	struct rlimit limit;
	int error;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size)
		return GK_ERR_NO_SPACE;
	error = posix_fallocate(fd, 0, (off_t)size);
	return error ? gk_err_from_errno(error) : 0;
}

static bool has_room(const struct gkf_scenario_table *s)
{
	return !s || (s->count <= GKF_STEPS_MAX &&
		      s->text_size <= GKF_STEP_TEXTS_MAX);
}

int gkf_file_size(const struct gkf_machine_spec *spec, size_t *ret_size)
{
	const struct gkf_scenario_table *s = spec->scenario;

	if (spec->device_count > GKF_DEVICES_MAX || !has_room(s))
		return GK_ERR_TOO_MANY;
	*ret_size = sizeof(struct gkf_file) +
		    (s ? gkf_scenario_size(s->count, s->text_size) : 0);
	return 0;
}

/* Fills a new file before it is published. */
static int fill_file(int fd, size_t size, const struct gkf_machine_spec *spec,
		     const struct gkf_above *above)
{
	struct gkf_file *f;
	int r = reserve_space(fd, gkf_locks_end(size));

	if (r)
		return r;
	f = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f == MAP_FAILED)
		return gk_err_from_errno(errno);
	gkf_file_init(f, spec, above);
	munmap(f, size);
	return 0;
}

/* Makes the private directory if the path lies in it. */
static int make_parent(const char *path)
{
	char dir[PATH_MAX];
	int r = gkf_private_dir(dir, sizeof dir);
	size_t len = strlen(dir);

	if (r || strncmp(path, dir, len) || path[len] != '/')
		return r;
	return gk_make_private_dir(dir);
}

/*
 * Opens a file for a machine being made; returns a descriptor or a gk_err. The
 * file has no name, so that nothing remains if this process is killed. If the
 * file system does not support that, the file gets a name next to `path`, which
 * is returned in `name`.
 */
static int open_unfinished(const char *path, char *name, size_t cap)
{
	const char *slash = strrchr(path, '/');
	int fd = -1;

	if ((size_t)snprintf(name, cap, "%.*s", (int)(slash - path + 1),
			     path) >= cap)
		return GK_ERR_INVALID;
	if (!access("/proc/self/fd", X_OK))
		fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	*name = '\0';
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(name, cap, "%s.XXXXXX.tmp", path) >= cap)
		return GK_ERR_INVALID;
	fd = mkostemps(name, 4, O_CLOEXEC);
	return fd < 0 ? gk_err_from_errno(errno) : fd;
}

/* link(), not rename(): it refuses to replace a live machine. */
static int publish_machine(int fd, const char *name, const char *path)
{
	char nameless[32];

	snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, *name ? name : nameless, AT_FDCWD, path,
		      AT_SYMLINK_FOLLOW) < 0
		   ? gk_err_from_errno(errno)
		   : 0;
}

/* The umask does not apply: the user asked for it. */
static int share_file(int fd, enum gkf_others_may shared)
{
	static const mode_t modes[] = {
	    [GKF_OTHERS_NOTHING] = 0600,
	    [GKF_OTHERS_READ] = 0644,
	    [GKF_OTHERS_WRITE] = 0666,
	};

	return fchmod(fd, modes[shared]) < 0 ? gk_err_from_errno(errno) : 0;
}

int gkf_store_create(const char *path, const struct gkf_machine_spec *spec,
		     const struct gkf_above *above)
{
	char name[PATH_CAP];
	size_t size = 0;
	int fd, r = gkf_file_size(spec, &size);

	if (r)
		return r;
	if (!strchr(path, '/'))
		return GK_ERR_INVALID;
	r = make_parent(path);
	if (r)
		return r;
	fd = open_unfinished(path, name, sizeof name);
	if (fd < 0)
		return fd;
	r = fill_file(fd, size, spec, above);
	if (!r)
		r = share_file(fd, spec->shared);
	if (!r)
		r = publish_machine(fd, name, path);
	close(fd);
	if (*name)
		unlink(name);
	return r;
}
