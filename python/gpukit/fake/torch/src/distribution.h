/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution.h - distributes the random numbers of a grid of threads over the
 * elements of a result, as ATen's distribution kernels do: the numbers that a
 * thread draws in one step go to elements that are one grid of threads apart.
 */
#ifndef GPUKIT_TORCH_DISTRIBUTION_H
#define GPUKIT_TORCH_DISTRIBUTION_H

#include "philox_lanes.h"

#include <ATen/Parallel.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace gpukit
{

/* The grid of threads for a result with `elements` elements. */
struct Grid {
	static constexpr int64_t BLOCK = 256; /* threads */

	int64_t count, per_step, threads, steps;
	Philox philox; /* drawn from the source */

	/* numbers: how many numbers a thread draws at once. */
	Grid(int64_t elements, int64_t numbers)
	    : count(elements), per_step(numbers)
	{
		int64_t wanted = (count + BLOCK - 1) / BLOCK;
		int64_t most = (int64_t)philox_source().next.blocks;

		threads = BLOCK * std::min(wanted, most);
		steps = (count - 1) / (threads * per_step) + 1;
		philox = take_philox(4 * steps);
	}
};

/* Calls work(first) for each group of LANES threads. */
template <class Work> void each_lanes(const Grid &grid, Work work)
{
	constexpr int64_t AT_LEAST = 4096 / LANES; /* groups per host thread */

	at::parallel_for(0, grid.threads / LANES, AT_LEAST,
			 [&](int64_t begin, int64_t end) {
				 for (int64_t i = begin; i < end; i++)
					 work(i * LANES);
			 });
}

template <class Number>
using Make = void (*)(const PhiloxLanes &, unsigned used, Number (*out)[LANES]);

template <class T, class Number, class Put>
void put_row(T *out, int64_t n, const Number *numbers, Put put)
{
	if (n >= LANES)
		for (unsigned k = 0; k < LANES; k++)
			out[k] = put(numbers[k]);
	else
		for (int64_t k = 0; k < n; k++)
			out[k] = put(numbers[k]);
}

template <class T, class Number, class Put>
void deal_lanes(T *out, const Grid &grid, int64_t first, Make<Number> make,
		Put put)
{
	Number numbers[16 / sizeof(Number)][LANES];
	PhiloxLanes lanes;

	for (int64_t step = 0; step < grid.steps; step++) {
		int64_t at = first + step * grid.threads * grid.per_step;

		if (at >= grid.count)
			return;
		int64_t used = std::min(
		    grid.per_step, (grid.count - at - 1) / grid.threads + 1);
		draw_lanes(grid.philox, first, step, &lanes);
		make(lanes, used, numbers);
		for (int64_t i = 0; i < used; i++, at += grid.threads)
			put_row(out + at, grid.count - at, numbers[i], put);
	}
}

template <class T, class Number, class Put>
void deal(T *out, int64_t count, Make<Number> make, Put put)
{
	Grid grid(count, 16 / sizeof(Number));

	each_lanes(grid, [&](int64_t first) {
		deal_lanes(out, grid, first, make, put);
	});
}

/* Returns the result of an iterator as a tensor whose dimensions have the
 * iterator's order. */
at::Tensor in_order(at::TensorIteratorBase &iter);

/* Fills the result with put(number); T is the type of its elements. */
template <class T, class Number, class Put>
void fill(at::TensorIteratorBase &iter, Make<Number> make, Put put)
{
	if (iter.is_contiguous()) {
		deal(static_cast<T *>(iter.data_ptr(0)), iter.numel(), make,
		     put);
		return;
	}
	at::Tensor to = in_order(iter);
	at::Tensor from = at::empty(to.sizes(), to.options());

	deal(from.mutable_data_ptr<T>(), iter.numel(), make, put);
	to.copy_(from);
}

} // namespace gpukit

#endif
