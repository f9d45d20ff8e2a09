/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_fault_table.c - the CUDA errors that faults can cause, and their Xids.
 */
#include "machine/trouble/cuda_fault.h"
#include "abi/cuda/cuda_abi.h"

#include <string.h>

static const struct {
	unsigned result;
	const char *word;
	unsigned xid;
} rows[] = {
#define CUDA_FAULT(result, word, xid) {CUDA_ERROR_##result, word, xid},
#include "abi/cuda/cuda_fault.def"
#undef CUDA_FAULT
};
#define ROWS (sizeof rows / sizeof *rows)

const char *gkf_cuda_fault_word(unsigned result)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].result == result)
			return rows[i].word;
	return NULL;
}

unsigned gkf_cuda_fault_find(const char *word, unsigned length)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].word) == length &&
		    !memcmp(rows[i].word, word, length))
			return rows[i].result;
	return 0;
}

unsigned gkf_cuda_fault_xid(unsigned result)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].result == result)
			return rows[i].xid;
	return 0;
}
