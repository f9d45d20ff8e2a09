/* SPDX-License-Identifier: Apache-2.0 */
// Random numbers of a made-up device: the CPU's generator, seeded from the
// state of the device's own generator.
#pragma once

#include "philox.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <mutex>

namespace gpukit
{

struct Plan;

// The state for the numbers of a captured operator: device memory that CUDA's
// generator fills before each launch of the graph, and the count of numbers
// drawn by operators before it in the graph.
struct CapturedNumbers {
	const void *seed = nullptr, *offset = nullptr;
	std::uint64_t drawn_before = 0, blocks = 0;

	Philox now() const;
};

// The device generator that an operator was called with; if undefined, the
// device's default one.
class DeviceGenerator
{
      public:
	DeviceGenerator(const at::Generator &given, c10::DeviceIndex device);

	// Its state; advance() moves it on by the numbers drawn.
	Philox state();
	void advance(std::uint64_t drawn);

	// The same while the current stream is captured.
	CapturedNumbers captured_state();
	void advance_captured(std::uint64_t drawn);

      private:
	at::Generator from_;
	std::uint64_t blocks_; // of kernels that draw
	// No other thread draws on the device until this one has advanced.
	std::unique_lock<std::recursive_mutex> turn_;
};

// The random numbers of one operator, from construction to destruction.
class Drawing
{
      public:
	explicit Drawing(Philox start);
	~Drawing();
	Drawing(const Drawing &) = delete;
	Drawing &operator=(const Drawing &) = delete;

	// Replaces an operator's generator argument by one with these numbers;
	// nullptr if it takes none.
	void give_to(const Plan &plan, c10::IValue *generator);

	// How many numbers CUDA's operator draws, if this one drew from the
	// generator of give_to().
	std::uint64_t drawn() const;

      private:
	at::Generator generator();

	PhiloxSource outer_;
	Philox start_;
	std::uint64_t least_ = 0; // words that were drawn
	// For operators without a generator argument: puts the CPU's default
	// generator into this state, and restores its former state afterwards.
	// Numbers that other threads draw from it meanwhile are drawn again
	// later.
	class Default;
	std::unique_ptr<Default> default_;
};

} // namespace gpukit
