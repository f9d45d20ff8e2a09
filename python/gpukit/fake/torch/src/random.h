/* SPDX-License-Identifier: Apache-2.0 */
// Random numbers of a made-up device. They come from the CPU's generator, which
// is seeded from the state of the device's generator.
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

// The state for the random numbers of a captured operator: the device memory
// that CUDA's generator fills before each launch of the graph, and how many
// numbers are drawn by the operators that precede it in the graph.
struct CapturedNumbers {
	const void *seed = nullptr, *offset = nullptr;
	std::uint64_t drawn_before = 0, blocks = 0;

	Philox now() const;
};

// The generator with which an operator was called. If it is undefined, the
// default generator of the device.
class DeviceGenerator
{
      public:
	DeviceGenerator(const at::Generator &given, c10::DeviceIndex device);

	// Returns the generator's state. advance() adds the numbers drawn to
	// it.
	Philox state();
	void advance(std::uint64_t drawn);

	// The same for a stream that is being captured.
	CapturedNumbers captured_state();
	void advance_captured(std::uint64_t drawn);

      private:
	at::Generator from_;
	// the most blocks that a kernel that draws may have
	std::uint64_t blocks_;
	// While this object exists, no other thread draws on the device.
	std::unique_lock<std::recursive_mutex> turn_;
};

// The random numbers of one operator. They are available while this object
// exists.
class Drawing
{
      public:
	explicit Drawing(Philox start);
	~Drawing();
	Drawing(const Drawing &) = delete;
	Drawing &operator=(const Drawing &) = delete;

	// Replaces the generator argument of an operator with a generator that
	// gives these numbers. `generator` is nullptr if the operator has no
	// such argument.
	void give_to(const Plan &plan, c10::IValue *generator);

	// Returns how many numbers CUDA's operator would draw, if this one has
	// drawn from the generator of give_to().
	std::uint64_t drawn() const;

      private:
	at::Generator generator();

	PhiloxSource outer_;
	Philox start_;
	std::uint64_t least_ = 0; // minimum number of words drawn
	// For operators without a generator argument. Puts the CPU's default
	// generator into this state, and restores its former state afterwards.
	// If other threads use that generator while this object exists, the
	// numbers that they draw are drawn a second time later.
	class Default;
	std::unique_ptr<Default> default_;
};

} // namespace gpukit
