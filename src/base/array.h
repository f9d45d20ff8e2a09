/* array.h - how many elements an array has. */
#ifndef GK_BASE_ARRAY_H
#define GK_BASE_ARRAY_H

#define COUNT(array) (sizeof(array) / sizeof *(array))

#endif
