/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h - types of elements, and conversions between them. The enum has the
 * values of cudaDataType.
 */
#ifndef GKF_ELEMENT_H
#define GKF_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum element {
	R_32F = 0,
	R_64F = 1,
	R_16F = 2,
	R_8I = 3,
	C_32F = 4,
	C_64F = 5,
	C_16F = 6,
	C_8I = 7,
	R_8U = 8,
	C_8U = 9,
	R_32I = 10,
	C_32I = 11,
	R_16BF = 14,
	C_16BF = 15,
	R_8F_E4M3 = 28,
	R_8F_E5M2 = 29,
};

/* Bytes per element; 0: unknown type. */
size_t element_size(enum element type);

bool element_is_complex(enum element type);

/* The type of an element's real and imaginary parts. If the type is real, the
 * result is the type itself. */
enum element element_real(enum element type);

/*
 * Converts n elements. Both types must be real, or both complex. Rounds to
 * nearest, ties to even; integers and 8-bit floats saturate. `to` may be `from`
 * only if both types have the same size.
 */
void element_convert(void *to, enum element to_type, const void *from,
		     enum element from_type, size_t n);

/* Read or write one element; part 1 is the imaginary part (0 if the type is
 * real). */
void element_get(const void *from, enum element type, double ret_parts[2]);
void element_set(void *to, enum element type, const double parts[2]);

#endif
