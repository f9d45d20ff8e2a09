/*
 * elf_note.c - an ELF note that says whose runtime this is, in programs that
 * carry the archive too, stripped or not: `gpukit fake doctor` looks for it.
 */

#include <stdint.h>

#define TYPE 1 /* of the notes named gpukit: a runtime's CUDA major */

static const struct {
	uint32_t name_size, size, type;
	char name[8];
	uint32_t major;
} mark __attribute__((section(".note.gpukit.cudart"), used, aligned(4))) = {
    sizeof "gpukit", sizeof(uint32_t), TYPE, "gpukit", CUDART_MAJOR};
