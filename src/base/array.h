/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - the number of elements of an array. */
#ifndef GK_BASE_ARRAY_H
#define GK_BASE_ARRAY_H

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
