/* machine.c - making, finding and mapping the machine file. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "fake/mig.h"
#include "fake/mix.h"
#include "fake/physics.h"
#include "fake/private.h"
#include "fake/scenario.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The driver generation that is made up. */
#define DRIVER_VERSION "580.95.05"
#define NVML_VERSION   "13." DRIVER_VERSION
#define CUDA_VERSION   13000

#define DEFAULT_NAME "default"
#define PATH_CAP     4096

static int private_dir(char *dir, size_t cap)
{
	int n = snprintf(dir, cap, "/dev/shm/gpukit-%u", (unsigned)geteuid());

	return n < 0 || (size_t)n >= cap ? GK_ERR_INVALID : 0;
}

int gkf_machine_path(const char *name, char *ret_path, size_t cap)
{
	char path[PATH_CAP];
	int n;

	if (!name)
		name = getenv("GPUKIT_MACHINE");
	if (!name)
		name = DEFAULT_NAME;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return GK_ERR_INVALID;
	if (strchr(name, '/'))
		n = snprintf(path, sizeof path, "%s", name);
	else
		n = snprintf(path, sizeof path, "/dev/shm/gpukit-%u/%s",
			     (unsigned)geteuid(), name);
	if (n < 0 || (size_t)n >= sizeof path || (size_t)n >= cap)
		return GK_ERR_INVALID;
	memcpy(ret_path, path, (size_t)n + 1);
	return 0;
}

static int init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int error = pthread_mutexattr_init(&attr);

	if (error)
		return gk_err_from_errno(error);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	error = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return error ? gk_err_from_errno(error) : 0;
}

/* What glibc notes in a lock of this kind. */
static int lock_kind(int *ret_kind)
{
	pthread_mutex_t lock;
	int r = init_lock(&lock);

	if (r)
		return r;
	*ret_kind = lock.__data.__kind;
	pthread_mutex_destroy(&lock);
	return 0;
}

/* Where the boards sit: eight buses apart, thirty to a PCI domain. */
static void place(struct gkf_board *board, unsigned i)
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
	/* GeForce boards carry no serial number in their inforom. */
	if (board->profile.part_number[0])
		snprintf(board->serial, sizeof board->serial, "%013llu",
			 (unsigned long long)(1320000000000ULL +
					      gkf_mix(b) % 10000000000ULL));
}

static int init_device(struct gkf_device *dev, unsigned i,
		       const struct gkf_profile *profile, uint64_t seed)
{
	dev->board.profile = *profile;
	place(&dev->board, i);
	name_board(&dev->board, gkf_mix(seed) + i);
	if (profile->mig > 0 && gkf_mig_board(profile))
		atomic_init(&dev->mig.mode, GKF_MIG_CURRENT | GKF_MIG_PENDING);
	for (int v = 0; v < GKF_V_COUNT; v++)
		atomic_init(&dev->set[v], GKF_UNSET);
	for (int b = 0; b < GKF_PAST_BINS; b++)
		dev->past[b].bin = UINT64_MAX;
	gkf_physics_rest(profile, &dev->state[0]);
	return init_lock(&dev->books.lock);
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

static int init_file(struct gkf_file *f, const struct gkf_machine_spec *spec)
{
	int r = init_lock(&f->lock);

	if (r)
		return r;
	f->version = GKF_VERSION;
	f->size_check = sizeof *f;
	gkf_scenario_init(f, spec->scenario);
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
	atomic_init(&f->latency, spec->latency);
	if (spec->owned) {
		int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct gkf_machine self = {.file = f, .proc = proc};
		struct gkf_identity id = gkf_self(&self);

		f->creator_pid = id.pid;
		f->creator_ns = id.pid_ns;
		f->creator_start = id.start;
		if (proc >= 0)
			close(proc);
	}
	for (unsigned i = 0; !r && i < spec->device_count; i++)
		r = init_device(&f->device[i], i, &spec->profiles[i],
				spec->seed);
	if (!r)
		f->magic = GKF_MAGIC;
	return r;
}

/* Growing a file past the limit of this process would end it by SIGXFSZ. */
static int reserve(int fd, size_t size)
{
	struct rlimit limit;
	int error;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size)
		return GK_ERR_NO_SPACE;
	error = posix_fallocate(fd, 0, (off_t)size);
	return error ? gk_err_from_errno(error) : 0;
}

static size_t size_of(const struct gkf_machine_spec *spec)
{
	const struct gkf_scenario_table *s = spec->scenario;

	return sizeof(struct gkf_file) +
	       (s ? gkf_scenario_size(s->count, s->text_size) : 0);
}

/* Fills a new, still nameless file. */
static int fill(int fd, const struct gkf_machine_spec *spec)
{
	size_t size = size_of(spec);
	struct gkf_file *f;
	int r = reserve(fd, size);

	if (r)
		return r;
	f = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f == MAP_FAILED)
		return gk_err_from_errno(errno);
	r = init_file(f, spec);
	munmap(f, size);
	return r;
}

/* Makes the private directory if the path lies in it. */
static int make_parent(const char *path)
{
	char dir[64];
	int r = private_dir(dir, sizeof dir);
	size_t len = strlen(dir);

	if (r || strncmp(path, dir, len) || path[len] != '/')
		return r;
	return gk_make_private_dir(dir);
}

/*
 * Opens a file for a machine in the making. It has no name, so that nothing is
 * left of it when its maker is killed; where that cannot be, it has one beside
 * path, told in name. A descriptor, or a gk_err.
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

/* link() and not rename(): it refuses to replace a living machine. */
static int publish(int fd, const char *name, const char *path)
{
	char nameless[32];

	snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, *name ? name : nameless, AT_FDCWD, path,
		      AT_SYMLINK_FOLLOW) < 0
		   ? gk_err_from_errno(errno)
		   : 0;
}

static bool has_room(const struct gkf_scenario_table *s)
{
	return !s || (s->count <= GKF_STEPS_MAX &&
		      s->text_size <= GKF_STEP_TEXTS_MAX);
}

int gkf_machine_create(const char *path, const struct gkf_machine_spec *spec)
{
	char name[PATH_CAP];
	int fd, r;

	if (spec->device_count > GKF_DEVICES_MAX || !has_room(spec->scenario))
		return GK_ERR_TOO_MANY;
	if (!strchr(path, '/'))
		return GK_ERR_INVALID;
	r = make_parent(path);
	if (r)
		return r;
	fd = open_unfinished(path, name, sizeof name);
	if (fd < 0)
		return fd;
	r = fill(fd, spec);
	if (!r)
		r = publish(fd, name, path);
	close(fd);
	if (*name)
		unlink(name);
	return r;
}

static int make_default(const char *path)
{
	struct gkf_profile profiles[GKF_DEFAULT_DEVICES];
	struct gkf_machine_spec spec = {.device_count = GKF_DEFAULT_DEVICES,
					.profiles = profiles};
	int r;

	for (unsigned i = 0; i < GKF_DEFAULT_DEVICES; i++)
		profiles[i] = gkf_profile_default;
	r = gkf_machine_create(path, &spec);
	return r == GK_ERR_EXISTS ? 0 : r;
}

/* What a file must hold because of its scenario; false: it says nonsense. */
static bool scenario_size(int fd, uint64_t *ret_size)
{
	struct gkf_scenario_head head;

	if (pread(fd, &head, sizeof head,
		  offsetof(struct gkf_file, scenario)) != sizeof head ||
	    head.steps > GKF_STEPS_MAX || head.texts > GKF_STEP_TEXTS_MAX)
		return false;
	*ret_size = gkf_scenario_size(head.steps, head.texts);
	return true;
}

/* Refuses what is no machine before any of it is believed. */
static int check(int fd, size_t *ret_size)
{
	uint64_t behind;
	struct {
		uint64_t magic;
		uint32_t version, size_check;
	} head;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	if (!S_ISREG(st.st_mode) ||
	    pread(fd, &head, sizeof head, 0) != sizeof head ||
	    head.magic != GKF_MAGIC)
		return GK_ERR_CORRUPT;
	if (head.version != GKF_VERSION ||
	    head.size_check != sizeof(struct gkf_file))
		return GK_ERR_VERSION;
	if (!scenario_size(fd, &behind) ||
	    (uint64_t)st.st_size < sizeof(struct gkf_file) + behind)
		return GK_ERR_CORRUPT;
	*ret_size = sizeof(struct gkf_file) + behind;
	return 0;
}

static int map(const char *path, struct gkf_file **ret_file, size_t *ret_size)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	void *f;
	int r;

	if (fd < 0)
		return gk_err_from_errno(errno);
	r = check(fd, ret_size);
	if (r)
		goto out;
	f = mmap(NULL, *ret_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f == MAP_FAILED)
		r = gk_err_from_errno(errno);
	else
		*ret_file = f;
out:
	close(fd);
	return r;
}

/* A string whole within its array. */
#define ENDS(text) (memchr(text, 0, sizeof(text)) != NULL)

static bool is_sound(const struct gkf_board *b)
{
	const struct gkf_profile *p = &b->profile;

#define FIELD(member, key, min, max, help)                                     \
	if (p->member < (min) || p->member > (max))                            \
		return false;
	GKF_PROFILE_INTEGERS(FIELD)
#undef FIELD
	return ENDS(p->id) && ENDS(p->name) && ENDS(p->mark) &&
	       ENDS(p->brand) && ENDS(p->architecture) && ENDS(p->vbios) &&
	       ENDS(p->part_number) && ENDS(p->inforom_image) &&
	       ENDS(p->mig_layout) && ENDS(p->inforom_oem) &&
	       ENDS(p->inforom_ecc) && ENDS(b->uuid) && ENDS(b->serial) &&
	       p->reserved_mib <= p->memory_mib;
}

/* This process's view of a mapped file; the mapping stays the caller's. */
static int view(struct gkf_file *f, size_t size, struct gkf_machine **ret)
{
	const struct gkf_scenario_head *scenario = &f->scenario;
	unsigned count = f->device_count, steps, texts;
	struct gkf_machine *m;
	int kind, r = lock_kind(&kind);

	if (r)
		return r;
	if (count > GKF_DEVICES_MAX || f->lock.__data.__kind != kind)
		return GK_ERR_CORRUPT;
	/* It may have changed since its size was taken. */
	steps = __atomic_load_n(&scenario->steps, __ATOMIC_RELAXED);
	texts = __atomic_load_n(&scenario->texts, __ATOMIC_RELAXED);
	if (sizeof *f + gkf_scenario_size(steps, texts) > size)
		return GK_ERR_CORRUPT;
	m = calloc(1, sizeof *m + count * sizeof *m->boards);
	if (!m)
		return GK_ERR_NOMEM;
	m->file = f;
	m->size = size;
	m->steps = steps;
	m->texts = texts;
	m->lock_kind = kind;
	m->device_count = count;
	for (unsigned i = 0; i < count; i++) {
		m->boards[i] = f->device[i].board;
		if (!is_sound(&m->boards[i])) {
			free(m);
			return GK_ERR_CORRUPT;
		}
	}
	gkf_topology_make(m->boards, count,
			  f->layout < GKF_LAYOUT_COUNT
			      ? (enum gkf_layout)f->layout
			      : GKF_LAYOUT_AUTO,
			  &m->topology);
	m->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	m->own = gkf_own_new();
	*ret = m;
	return 0;
}

static int open_at(const char *path, struct gkf_machine **ret)
{
	struct gkf_file *f = NULL;
	size_t size = 0;
	int r = map(path, &f, &size);

	if (r)
		return r;
	r = view(f, size, ret);
	if (r)
		munmap(f, size);
	return r;
}

int gkf_machine_scratch(const struct gkf_machine_spec *spec,
			struct gkf_machine **ret)
{
	size_t size = size_of(spec);
	struct gkf_file *f;
	int r;

	if (spec->device_count > GKF_DEVICES_MAX || !has_room(spec->scenario))
		return GK_ERR_TOO_MANY;
	f = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f == MAP_FAILED)
		return gk_err_from_errno(errno);
	r = init_file(f, spec);
	if (!r)
		r = view(f, size, ret);
	if (r)
		munmap(f, size);
	else
		(*ret)->scratch = true;
	return r;
}

/* Whether a missing machine may be made: only the one with no launcher. */
static bool is_default(const char *path)
{
	char standard[PATH_CAP];

	return !gkf_machine_path(DEFAULT_NAME, standard, sizeof standard) &&
	       !strcmp(path, standard);
}

int gkf_machine_open(const char *path, struct gkf_machine **ret)
{
	char found[PATH_CAP];
	int r = gkf_machine_path(path, found, sizeof found);

	if (r)
		return r;
	r = open_at(found, ret);
	if (r == GK_ERR_NOT_FOUND && is_default(found)) {
		r = make_default(found);
		if (!r)
			r = open_at(found, ret);
	}
	if (r)
		gk_log(GK_LOG_WARN, "machine %s: %s", found, gk_strerror(r));
	return r;
}

void gkf_machine_close(struct gkf_machine *m)
{
	if (!m)
		return;
	munmap(m->file, m->size);
	gkf_own_free(m->own);
	if (m->proc >= 0)
		close(m->proc);
	free(m);
}

struct gkf_file *gkf_machine_file(struct gkf_machine *m)
{
	return m->file;
}

unsigned gkf_device_count(const struct gkf_machine *m)
{
	return m->device_count;
}

const struct gkf_board *gkf_board(const struct gkf_machine *m, unsigned device)
{
	return &m->boards[device];
}

const struct gkf_topology *gkf_topology(const struct gkf_machine *m)
{
	return &m->topology;
}
