/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - hand-made snapshots for the tests of src/format, and the
 * comparison with golden files.
 */
#ifndef TESTS_FORMAT_FIXTURE_H
#define TESTS_FORMAT_FIXTURE_H

#include "base/str.h"

#include <sys/types.h>
#include <gpukit/gpukit.h>

struct gk_device;
struct gk_metric_set;
struct gk_process;

#define FIXTURE_DEVICES   64
#define FIXTURE_PROCESSES 64

struct fixture {
	struct gk_snapshot snap;
	struct gk_device devices[FIXTURE_DEVICES];
	struct gk_process processes[FIXTURE_PROCESSES];
};

/*
 * Makes gpus A100s of rising load, one without sensors where absent is set, on
 * a host at a fixed time in UTC.
 */
void fixture_init(struct fixture *f, size_t gpus);

/* Adds a MIG device after the last device; returns it. */
struct gk_device *fixture_add_mig(struct fixture *f, int index);

/* Adds a running process on a device (a position); returns it. */
struct gk_process *fixture_add_process(struct fixture *f, unsigned device,
				       pid_t pid, const char *command);

/* Two GPUs with processes in every state, a MIG GPU, a lost one. */
void fixture_everything(struct fixture *f);

/* Sets all devices as they are when only some metrics are read. */
void fixture_read_only(struct fixture *f, const struct gk_metric_set *only);

/* Fails the test unless both are the same bytes. Frees both. */
void assert_same_text(struct gk_buf *a, struct gk_buf *b);

/* A present value. */
struct gk_value present(int64_t v);

/* Arguments as /proc has them, from a string literal with NULs inside. */
#define SET_ARGS(process, literal)                                             \
	((process)->args = (literal), (process)->args_len = sizeof(literal) - 1)

/*
 * Fails the test unless out equals tests/data/golden/<name>.txt. With
 * UPDATE_GOLDEN=1 the file is written instead. Frees out.
 */
void assert_golden(struct gk_buf *out, const char *name);

/* Starts every test program: a UTF-8 locale, time zone UTC. */
int fixture_setup(void **state);

#endif
