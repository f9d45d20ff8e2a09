/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - is a library of the program of duplicate names, program.c. */
#include "object.h"

void LOOK(void);
void LOOK(void)
{
	look_around();
}
