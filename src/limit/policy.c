/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - owns the page of a policy: a pair (base/pair.h), whose sequence
 * word is the version, so that a change takes effect by a single store.
 */
#include "limit/policy.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/pair.h"
#include "base/truncated.h"

#include <errno.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* The largest page size of any machine. */
enum { PAGE = 65536, VERSION = 1 };

#define MAGIC 0x79636c70746b7067ULL /* "gpktplcy" */

struct gkl_policy_page {
	uint64_t magic, version;
	_Atomic uint64_t seq;
	struct gkl_policy copies[2];
};

_Static_assert(sizeof(struct gkl_policy_page) <= PAGE, "one page");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "the low half of the sequence word is its first half");

/* This process's private data, mapped directly after the page. */
struct mapping {
	int fd;              /* a writer's descriptor, or -1 */
	atomic_bool damaged; /* the file was truncated */
};

static struct mapping *mapping_of(const struct gkl_policy_page *page)
{
	return (struct mapping *)((uintptr_t)page + PAGE);
}

static void fill_page(void *at, const void *first)
{
	struct gkl_policy_page *page = at;

	page->magic = MAGIC;
	page->version = VERSION;
	gk_pair_write(&page->seq, page->copies, first, sizeof *page->copies);
}

static int check_page(const void *at)
{
	const struct gkl_policy_page *page = at;

	if (page->magic != MAGIC)
		return GK_ERR_CORRUPT;
	return page->version == VERSION ? 0 : GK_ERR_VERSION;
}

/*
 * Begins to watch the file before reading it, because it may be truncated at
 * any moment.
 */
static int check_watched(struct gkl_policy_page *page)
{
	gk_truncated_watch(page, PAGE, &mapping_of(page)->damaged);
	return check_page(page);
}

/* Maps the page and the private memory behind it. Takes ownership of fd. */
static int map_page(int fd, bool writable, struct gkl_policy_page **ret_page)
{
	int access = PROT_READ | (writable ? PROT_WRITE : 0), r;
	char *at = mmap(NULL, 2L * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		close(fd);
		return GK_ERR_NOMEM;
	}
	if (mmap(at, PAGE, access, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		r = gk_err_from_errno(errno);
	else
		r = check_watched((struct gkl_policy_page *)at);
	if (r || !writable)
		close(fd);
	if (r) {
		gk_truncated_forget(at);
		munmap(at, 2L * PAGE);
		return r;
	}
	*ret_page = (struct gkl_policy_page *)at;
	mapping_of(*ret_page)->fd = writable ? fd : -1;
	return 0;
}

static struct gkl_file_kind kind_of(enum gkl_trust trust,
				    const struct gkl_policy *first)
{
	return (struct gkl_file_kind){
	    .trust = trust,
	    .mode = trust == GKL_COMMON ? 0644 : 0600,
	    .size = PAGE,
	    .fill = fill_page,
	    .arg = first,
	};
}

int gkl_policy_open(const char *path, enum gkl_trust trust, bool writable,
		    struct gkl_policy_page **ret_page)
{
	struct gkl_file_kind kind = kind_of(trust, NULL);
	int fd = gkl_file_open(path, &kind, writable);

	return fd < 0 ? fd : map_page(fd, writable, ret_page);
}

int gkl_policy_make(const char *path, enum gkl_trust trust,
		    const struct gkl_policy *first,
		    struct gkl_policy_page **ret_page)
{
	struct gkl_file_kind kind = kind_of(trust, first);
	int fd = gkl_file_open_or_make(path, &kind, false);

	return fd < 0 ? fd : map_page(fd, false, ret_page);
}

void gkl_policy_close(struct gkl_policy_page *page)
{
	if (!page)
		return;
	if (mapping_of(page)->fd >= 0)
		close(mapping_of(page)->fd);
	gk_truncated_forget(page);
	munmap(page, 2L * PAGE);
}

bool gkl_policy_is_damaged(const struct gkl_policy_page *page)
{
	return __atomic_load_n(&page->magic, __ATOMIC_RELAXED) != MAGIC ||
	       atomic_load_explicit(&mapping_of(page)->damaged,
				    memory_order_relaxed);
}

void gkl_policy_read(const struct gkl_policy_page *page,
		     struct gkl_policy *ret_policy)
{
	gk_pair_read(&page->seq, page->copies, ret_policy, sizeof *ret_policy);
	/* Tenants may write to HAMi's directory, so figures are bounded. */
	for (int i = 0; i < GKL_DEVICES; i++)
		if (ret_policy->compute[i] > 100)
			ret_policy->compute[i] = 100;
	if (ret_policy->rule > GKL_OFF)
		ret_policy->rule = GKL_FIXED;
}

static uint32_t *version_word(const struct gkl_policy_page *page)
{
	/* Only the kernel reads the word here, to decide whether to sleep. */
	return (uint32_t *)(uintptr_t)&page->seq;
}

uint32_t gkl_policy_version(const struct gkl_policy_page *page)
{
	return (uint32_t)atomic_load_explicit(&page->seq, memory_order_acquire);
}

int gkl_policy_write(struct gkl_policy_page *page,
		     const struct gkl_policy *policy)
{
	int fd = mapping_of(page)->fd;

	if (fd < 0)
		return GK_ERR_PERMISSION;
	/* flock(), because the kernel releases it when its holder dies. */
	if (flock(fd, LOCK_EX) < 0)
		return gk_err_from_errno(errno);
	gk_pair_write(&page->seq, page->copies, policy, sizeof *policy);
	flock(fd, LOCK_UN);
	gk_futex_wake(GK_FUTEX_SHARED, (_Atomic uint32_t *)version_word(page),
		      INT_MAX);
	return 0;
}

void gkl_policy_wait(const struct gkl_policy_page *page, uint32_t seen,
		     uint64_t timeout_ns)
{
	gk_futex_wait(GK_FUTEX_SHARED, (_Atomic uint32_t *)version_word(page),
		      seen, timeout_ns);
}
