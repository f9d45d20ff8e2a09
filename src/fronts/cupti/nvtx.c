/*
 * nvtx.c - libnvToolsExt: marks and ranges where no tool listens. So they are
 * on a GPU without a profiler, too, and nothing is refused.
 */
#include <stdint.h>

/* Of NVTX: NVTX_NO_PUSH_POP_TRACKING. */
enum { PUSH_POP = -2, NOTHING = 0 };

/*
 * A handle, an id, a level or nothing: one register holds any of them. What is
 * passed is left alone.
 */
#define NVTX(symbol, answer)                                                   \
	__attribute__((visibility("default"))) intptr_t symbol(void);          \
	intptr_t symbol(void)                                                  \
	{                                                                      \
		return answer;                                                 \
	}
#include "abi/nvtx.def"
