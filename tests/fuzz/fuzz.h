/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - the function that libFuzzer calls repeatedly with any bytes.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <gpukit/gpukit.h>

#include <stddef.h>
#include <stdint.h>

/* Ends the program if a value of a snapshot is out of its range. */
void check_ranges(const struct gk_snapshot *snap);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
