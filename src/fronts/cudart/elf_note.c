/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_note.c - an ELF note by which `gpukit fake doctor` recognises this
 * runtime, even in stripped programs that are linked with the archive.
 */

#include <stdint.h>

/*
 * The type of a note named "gpukit" that contains the CUDA major version of a
 * runtime.
 */
#define TYPE 1

static const struct {
	uint32_t name_size, size, type;
	char name[8];
	uint32_t major;
} mark __attribute__((section(".note.gpukit.cudart"), used, aligned(4))) = {
    sizeof "gpukit", sizeof(uint32_t), TYPE, "gpukit", CUDART_MAJOR};
