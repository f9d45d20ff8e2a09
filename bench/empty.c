/* SPDX-License-Identifier: Apache-2.0 */
/* empty.c - a library with nothing in it: what any preloaded one costs. */
extern int nothing;
