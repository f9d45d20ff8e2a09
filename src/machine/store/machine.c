/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - finds, checks and maps the machine file. */
#include "machine/store/machine.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/truncated.h"
#include "machine/file/boards.h"
#include "machine/file/file.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/store/above.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/emptied.h"
#include "machine/store/follow.h"
#include "machine/store/gate.h"
#include "machine/store/gate_new.h"
#include "machine/store/process/identity.h"
#include "machine/store/locks.h"
#include "machine/store/machine_new.h"
#include "machine/store/rows.h"
#include "machine/store/settings.h"
#include "machine/store/trust.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_NAME "default"
#define PATH_CAP     4096

int gkf_machine_path(const char *name, char *ret_path, size_t cap)
{
	char dir[PATH_CAP] = "";
	size_t len;

	if (!name)
		name = getenv("GPUKIT_MACHINE");
	if (!name)
		name = DEFAULT_NAME;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return GK_ERR_INVALID;
	if (!strchr(name, '/') && gkf_private_dir(dir, sizeof dir))
		return GK_ERR_INVALID;
	len = strlen(dir) + (*dir != 0) + strlen(name);
	if (len >= cap || len >= PATH_CAP)
		return GK_ERR_INVALID;
	snprintf(ret_path, cap, "%s%s%s", dir, *dir ? "/" : "", name);
	return 0;
}

/*
 * The size that a file must have, given its scenario; false: the scenario is
 * invalid.
 */
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

/*
 * Checks that a file is a machine, before any content is used. Returns the size
 * of the content; the locks follow it in the file.
 */
static int check_contents(int fd, size_t *ret_size)
{
	uint64_t behind;
	struct {
		uint64_t magic;
		uint32_t version, size_check, rows_check;
	} head;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	if (!S_ISREG(st.st_mode) ||
	    pread(fd, &head, sizeof head, 0) != sizeof head ||
	    head.magic != GKF_MAGIC)
		return GK_ERR_CORRUPT;
	if (head.version != GKF_VERSION ||
	    head.size_check != sizeof(struct gkf_file) ||
	    head.rows_check != gkf_rows_check())
		return GK_ERR_VERSION;
	if (!scenario_size(fd, &behind) ||
	    (uint64_t)st.st_size <
		gkf_locks_end(sizeof(struct gkf_file) + behind))
		return GK_ERR_CORRUPT;
	*ret_size = sizeof(struct gkf_file) + behind;
	return 0;
}

/* Whether a string ends within its array. */
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

static void copy_driver(const struct gkf_file *f, struct gkf_driver *ret_driver)
{
	memcpy(ret_driver->version, f->driver_version,
	       sizeof(ret_driver->version) - 1);
	memcpy(ret_driver->nvml_version, f->nvml_version,
	       sizeof(ret_driver->nvml_version) - 1);
	ret_driver->cuda_version = f->cuda_version;
}

/* Makes the private data of this process. */
static int furnish_view(int fd, size_t size, struct gkf_machine *m)
{
	int r = gkf_emptied_new(&m->emptied);
	void *locks;

	if (!r)
		r = gkf_locks_new(fd, m->file, size,
				  GKF_LOCK_BOOKS + m->device_count,
				  &m->emptied->claims, &m->locks);
	if (r)
		return r;
	locks = gkf_locks_pages(m->locks, &size);
	if (fd >= 0)
		gk_truncated_watch(locks, size, &m->damaged);
	m->gate = gkf_gate_new(m);
	if (!m->gate)
		return GK_ERR_NOMEM;
	gkf_self(m);
	return 0;
}

static void unwatch_mappings(struct gkf_machine *m)
{
	size_t size;

	gk_truncated_forget(m->file);
	if (m->locks)
		gk_truncated_forget(gkf_locks_pages(m->locks, &size));
}

static void clear_out(struct gkf_machine *m)
{
	free(m->gate);
	gkf_locks_free(m->locks);
	gkf_emptied_free(m->emptied);
	free(m->boards);
	free(m);
}

/*
 * Copies the content that never changes. Reads each word only once, because
 * another process may overwrite it.
 */
static int copy_contents(struct gkf_machine *m, size_t size)
{
	struct gkf_file *f = m->file;
	uint32_t layout = __atomic_load_n(&f->layout, __ATOMIC_RELAXED);

	m->device_count = __atomic_load_n(&f->device_count, __ATOMIC_RELAXED);
	m->steps = __atomic_load_n(&f->scenario.steps, __ATOMIC_RELAXED);
	m->texts = __atomic_load_n(&f->scenario.texts, __ATOMIC_RELAXED);
	if (m->device_count > GKF_DEVICES_MAX ||
	    sizeof *f + gkf_scenario_size(m->steps, m->texts) > size)
		return GK_ERR_CORRUPT;
	m->boards = calloc(m->device_count + 1, sizeof *m->boards);
	if (!m->boards)
		return GK_ERR_NOMEM;
	for (unsigned i = 0; i < m->device_count; i++) {
		m->boards[i] = *gkf_file_board(f, i);
		if (!is_sound(&m->boards[i]))
			return GK_ERR_CORRUPT;
	}
	copy_driver(f, &m->driver);
	m->above->topology_make(m->boards, m->device_count,
				layout < GKF_LAYOUT_COUNT
				    ? (enum gkf_layout)layout
				    : GKF_LAYOUT_AUTO,
				&m->topology);
	return 0;
}

/*
 * Makes this process's view of a file with `size` bytes of content. `f` is the
 * mapped file with its locks or, if fd is -1, private memory without locks; the
 * caller keeps owning it. The file may be truncated during the call.
 */
static int make_view(int fd, struct gkf_file *f, size_t size,
		     const struct gkf_above *above, struct gkf_machine **ret)
{
	struct gkf_machine *m = calloc(1, sizeof *m);
	int r;

	if (!m)
		return GK_ERR_NOMEM;
	m->above = above;
	m->file = f;
	m->size = fd < 0 ? size : gkf_locks_end(size);
	if (fd >= 0)
		gk_truncated_watch(f, m->size, &m->damaged);
	r = copy_contents(m, size);
	if (!r)
		r = furnish_view(fd, size, m);
	if (!r && atomic_load(&m->damaged))
		r = GK_ERR_CORRUPT;
	if (r) {
		unwatch_mappings(m);
		clear_out(m);
	} else {
		*ret = m;
	}
	return r;
}

size_t gkf_machine_least_size(void)
{
	return gkf_locks_end(sizeof(struct gkf_file));
}

/* The writers' lock is last in the file, so any truncation removes it. */
bool gkf_machine_is_whole(struct gkf_machine *m)
{
	(void)atomic_load_explicit(gkf_locks_word(m->locks, GKF_LOCK_WRITERS),
				   memory_order_relaxed);
	if (__builtin_expect(
		!atomic_load_explicit(&m->damaged, memory_order_relaxed), 1))
		return true;
	if (!atomic_exchange(&m->told, true))
		gk_log(GK_LOG_ERROR,
		       "the machine's file was truncated: its GPUs are lost");
	return false;
}

static int map_machine(int fd, const struct gkf_above *above,
		       struct gkf_machine **ret)
{
	struct gkf_file *f;
	size_t size = 0, mapped;
	int r = check_contents(fd, &size);

	if (r)
		return r;
	mapped = gkf_locks_end(size);
	f = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f == MAP_FAILED)
		return gk_err_from_errno(errno);
	r = make_view(fd, f, size, above, ret);
	if (r)
		munmap(f, mapped);
	return r;
}

static int read_all(int fd, char *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, to + done, size - done, (off_t)done);

		if (n < 0 && errno != EINTR)
			return gk_err_from_errno(errno);
		if (!n)
			return GK_ERR_CORRUPT;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/*
 * Copies the current state of another user's machine, because that user may
 * overwrite it.
 */
static int copy_machine(int fd, const struct gkf_above *above,
			struct gkf_machine **ret)
{
	struct gkf_file *f;
	size_t size = 0;
	int r = check_contents(fd, &size);

	if (r)
		return r;
	f = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f == MAP_FAILED)
		return gk_err_from_errno(errno);
	r = read_all(fd, (char *)f, size);
	if (!r)
		r = make_view(-1, f, size, above, ret);
	if (r) {
		munmap(f, size);
		return r;
	}
	r = gkf_lock_to_compute(*ret);
	if (r) {
		gkf_machine_close(*ret);
		return r;
	}
	gkf_copy_freeze(*ret);
	gkf_unlock(*ret);
	gkf_copy_follow(*ret, fd);
	return 0;
}

int gkf_store_open(const char *path, const struct gkf_above *above,
		   struct gkf_machine **ret)
{
	bool foreign;
	int fd = gkf_trust_open(path, &foreign), r;

	if (fd < 0)
		return fd;
	if (foreign)
		gk_log(GK_LOG_WARN,
		       "machine %s belongs to another user: showing a "
		       "read-only copy of it",
		       path);
	r = foreign ? copy_machine(fd, above, ret)
		    : map_machine(fd, above, ret);
	close(fd);
	return r;
}

int gkf_store_scratch(const struct gkf_machine_spec *spec,
		      const struct gkf_above *above, struct gkf_machine **ret)
{
	struct gkf_file *f;
	size_t size = 0;
	int r = gkf_file_size(spec, &size);

	if (r)
		return r;
	f = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f == MAP_FAILED)
		return gk_err_from_errno(errno);
	gkf_file_init(f, spec, above);
	r = make_view(-1, f, size, above, ret);
	if (r)
		munmap(f, size);
	else
		(*ret)->scratch = true;
	return r;
}

void gkf_machine_close(struct gkf_machine *m)
{
	if (!m)
		return;
	unwatch_mappings(m);
	if (m->source) {
		gk_truncated_forget(m->source);
		munmap(m->source, m->size);
	}
	munmap(m->file, m->size);
	clear_out(m);
}

bool gkf_machine_is_copy(const struct gkf_machine *m)
{
	return m->copied;
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
	GK_ASSERT(device < m->device_count);
	return &m->boards[device];
}

const struct gkf_topology *gkf_topology(const struct gkf_machine *m)
{
	return &m->topology;
}
