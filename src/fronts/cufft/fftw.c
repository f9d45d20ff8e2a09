/*
 * fftw.c - opens FFTW3, keeps its plans, and runs transforms with them. Its
 * planner is not thread-safe: one lock is around it and the list of plans. A
 * program may plan with the same library; therefore plans are made and let go
 * in the thread that asks for a transform, not in one that runs it.
 */
#include "base/log.h"
#include "fronts/cufft/front.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FFTW's, by its manual. */
struct dimension {
	ptrdiff_t n, is, os;
};

enum { DESTROY_INPUT = 1, UNALIGNED = 2, PRESERVE_INPUT = 16, ESTIMATE = 64 };

/* What an address is a multiple of for the fast plans; device memory is. */
#define ALIGNMENT 64

/* Plans that nobody uses are kept up to so many. */
#define KEPT 64

/* Complex and real numbers are void here: both precisions share a type. */
struct fftw {
	void *(*plan_guru64_dft)(int rank, const struct dimension *dims,
				 int many_rank, const struct dimension *many,
				 void *in, void *out, int sign, unsigned flags);
	void *(*plan_guru64_dft_r2c)(int rank, const struct dimension *dims,
				     int many_rank,
				     const struct dimension *many, void *in,
				     void *out, unsigned flags);
	void *(*plan_guru64_dft_c2r)(int rank, const struct dimension *dims,
				     int many_rank,
				     const struct dimension *many, void *in,
				     void *out, unsigned flags);
	void (*execute_dft)(void *plan, void *in, void *out);
	void (*execute_dft_r2c)(void *plan, void *in, void *out);
	void (*execute_dft_c2r)(void *plan, void *in, void *out);
	void (*destroy_plan)(void *plan);
};

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name)                                                         \
	{                                                                      \
#name, offsetof(struct fftw, name)                             \
	}
    FUNCTION(plan_guru64_dft),     FUNCTION(plan_guru64_dft_r2c),
    FUNCTION(plan_guru64_dft_c2r), FUNCTION(execute_dft),
    FUNCTION(execute_dft_r2c),     FUNCTION(execute_dft_c2r),
    FUNCTION(destroy_plan),
#undef FUNCTION
};

/* By is_double. */
static const struct {
	const char *file, *prefix, *package;
} libraries[] = {
    {"libfftw3f.so.3", "fftwf_", "libfftw3-single3"},
    {"libfftw3.so.3", "fftw_", "libfftw3-double3"},
};

struct kept_plan {
	struct kept_plan *next;
	struct transform key;
	void *plan;
	unsigned users;
};

static struct {
	pthread_mutex_t lock;
	struct fftw fftw[2];
	bool opened[2];
	struct kept_plan *first; /* the one used last is the first */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find_functions(int which, void *library)
{
	char symbol[64];

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found;

		snprintf(symbol, sizeof symbol, "%s%s", libraries[which].prefix,
			 functions[i].name);
		found = dlsym(library, symbol);
		if (!found)
			return false;
		memcpy((char *)&state.fftw[which] + functions[i].offset, &found,
		       sizeof found);
	}
	return true;
}

bool fftw_ready(bool is_double)
{
	bool ready;

	pthread_mutex_lock(&state.lock);
	if (!state.opened[is_double]) {
		void *library =
		    dlopen(libraries[is_double].file, RTLD_NOW | RTLD_LOCAL);

		state.opened[is_double] =
		    library && find_functions(is_double, library);
	}
	ready = state.opened[is_double];
	pthread_mutex_unlock(&state.lock);
	if (!ready)
		gk_log(GK_LOG_ERROR,
		       "cuFFT needs %s (Debian: %s), which cannot be loaded",
		       libraries[is_double].file, libraries[is_double].package);
	return ready;
}

static unsigned choose_flags(const struct transform *t)
{
	unsigned flags = ESTIMATE;

	if (!t->aligned)
		flags |= UNALIGNED;
	if (t->kind == TO_REAL)
		flags |= t->rank == 1 && !t->in_place ? PRESERVE_INPUT
						      : DESTROY_INPUT;
	return flags;
}

/* NULL: FFTW has no way to do that. */
static void *make_fftw_plan(const struct transform *t, void *in, void *out)
{
	const struct fftw *f = &state.fftw[t->is_double];
	struct dimension dims[RANK_MAX];
	struct dimension many = {t->batch, t->in.dist, t->out.dist};
	unsigned flags = choose_flags(t);

	for (int i = 0; i < t->rank; i++)
		dims[i] =
		    (struct dimension){t->n[i], transform_step(t, &t->in, i),
				       transform_step(t, &t->out, i)};
	if (t->kind == FROM_REAL)
		return f->plan_guru64_dft_r2c(t->rank, dims, 1, &many, in, out,
					      flags);
	if (t->kind == TO_REAL)
		return f->plan_guru64_dft_c2r(t->rank, dims, 1, &many, in, out,
					      flags);
	return f->plan_guru64_dft(t->rank, dims, 1, &many, in, out,
				  t->direction, flags);
}

/* With the lock: takes the plan of a key out of the list. */
static struct kept_plan *take_out(const struct transform *key)
{
	struct kept_plan **at = &state.first, *p;

	while (*at && memcmp(&(*at)->key, key, sizeof *key))
		at = &(*at)->next;
	p = *at;
	if (p)
		*at = p->next;
	return p;
}

/* With the lock: lets go of unused plans behind the first KEPT. */
static void drop_old(void)
{
	struct kept_plan **at = &state.first;

	for (unsigned seen = 0; *at; seen++) {
		struct kept_plan *p = *at;

		if (seen < KEPT || p->users) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		state.fftw[p->key.is_double].destroy_plan(p->plan);
		free(p);
	}
}

static struct kept_plan *new_kept_plan(const struct transform *key, void *in,
				       void *out)
{
	struct kept_plan *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->key = *key;
	p->plan = make_fftw_plan(key, in, out);
	if (p->plan)
		return p;
	free(p);
	return NULL;
}

/* With the lock: the plan of a key, made if need be, as the one used last. */
static struct kept_plan *find_plan(const struct transform *key, void *in,
				   void *out)
{
	struct kept_plan *p = take_out(key);

	if (!p)
		p = new_kept_plan(key, in, out);
	if (p) {
		p->next = state.first;
		state.first = p;
	}
	return p;
}

/* The same transform of a copy of its input. */
static struct transform from_copy(const struct transform *t)
{
	struct transform copied = *t;

	copied.in_place = false;
	copied.aligned = false;
	return copied;
}

bool fftw_prepare(struct transform *t, CUdeviceptr in, CUdeviceptr out)
{
	/* Planning looks at addresses, not at what is there. */
	void *from = (void *)(uintptr_t)in, *to = (void *)(uintptr_t)out;
	bool found;

	t->aligned = (in | out) % ALIGNMENT == 0;
	pthread_mutex_lock(&state.lock);
	found = find_plan(t, from, to) != NULL;
	if (!found && t->in_place) {
		struct transform copied = from_copy(t);

		found = find_plan(&copied, NULL, to) != NULL;
	}
	drop_old();
	pthread_mutex_unlock(&state.lock);
	return found;
}

static struct kept_plan *use_plan(const struct transform *key, void *in,
				  void *out)
{
	struct kept_plan *p;

	pthread_mutex_lock(&state.lock);
	p = find_plan(key, in, out);
	if (p)
		p->users++;
	pthread_mutex_unlock(&state.lock);
	return p;
}

static void leave_plan(struct kept_plan *p)
{
	pthread_mutex_lock(&state.lock);
	p->users--;
	pthread_mutex_unlock(&state.lock);
}

static bool execute(const struct transform *t, void *in, void *out)
{
	const struct fftw *f = &state.fftw[t->is_double];
	struct kept_plan *p = use_plan(t, in, out);

	if (!p)
		return false;
	if (t->kind == FROM_REAL)
		f->execute_dft_r2c(p->plan, in, out);
	else if (t->kind == TO_REAL)
		f->execute_dft_c2r(p->plan, in, out);
	else
		f->execute_dft(p->plan, in, out);
	leave_plan(p);
	return true;
}

/* For layouts that FFTW cannot do in place. */
static bool execute_from_copy(const struct transform *t, const void *in,
			      void *out, size_t size)
{
	struct transform copied = from_copy(t);
	void *copy = malloc(size);
	bool done = false;

	if (copy) {
		memcpy(copy, in, size);
		done = execute(&copied, copy, out);
	}
	free(copy);
	return done;
}

/* 5 n log2(n) for complex numbers, as is usual; half of that for real ones. */
static uint64_t count_operations(const struct transform *t)
{
	uint64_t n = (uint64_t)t->n[0] * (uint64_t)(t->rank > 1 ? t->n[1] : 1) *
		     (uint64_t)(t->rank > 2 ? t->n[2] : 1);
	uint64_t twice =
	    (t->kind == COMPLEX ? 10 : 5) * (uint64_t)(63 - __builtin_clzll(n));

	return n * twice / 2 * (uint64_t)t->batch;
}

CUresult fftw_run(struct gpukit_run *run)
{
	const struct transform_run *p = run->params;
	const struct transform *t = &p->transform;
	size_t size = (size_t)transform_in_bytes(t);
	void *in = run->memory(run, t->in_place ? GPUKIT_WRITES : GPUKIT_READS,
			       p->in, size);
	void *out = run->memory(run, GPUKIT_WRITES, p->out,
				(size_t)transform_out_bytes(t));

	if (!in || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	run->operations += count_operations(t);
	if (!execute(t, in, out) &&
	    !(t->in_place && execute_from_copy(t, in, out, size)))
		return CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}
