/* SPDX-License-Identifier: Apache-2.0 */
/* graph_lock.c - owns the lock of all graphs and captures. */
#include "fronts/cuda/graph/graph.h"

pthread_mutex_t graph_mutex = PTHREAD_MUTEX_INITIALIZER;
