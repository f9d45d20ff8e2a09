// Random numbers of a made-up device: the CPU's generator, seeded from where
// the device's own generator stands.
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

// Where the numbers of a captured operator stand: memory of the device that
// CUDA's generator fills before each launch of the graph, and what operators
// before it in the graph have drawn.
struct CapturedNumbers {
	const void *seed = nullptr, *offset = nullptr;
	std::uint64_t drawn_before = 0, blocks = 0;

	Philox now() const;
};

// The generator of the device that an operator was called with; undefined: the
// device's default one.
class DeviceGenerator
{
      public:
	DeviceGenerator(const at::Generator &given, c10::DeviceIndex device);

	// Where it stands; it goes on by what was drawn.
	Philox state();
	void advance(std::uint64_t drawn);

	// The same while the current stream is captured.
	CapturedNumbers captured_state();
	void advance_captured(std::uint64_t drawn);

      private:
	at::Generator from_;
	std::uint64_t blocks_; // of kernels that draw
	// No other thread draws on the device until this one has gone on.
	std::unique_lock<std::recursive_mutex> turn_;
};

// What one operator draws, from construction to destruction.
class Drawing
{
      public:
	explicit Drawing(Philox start);
	~Drawing();
	Drawing(const Drawing &) = delete;
	Drawing &operator=(const Drawing &) = delete;

	// Puts what stands for these numbers in the place of an operator's
	// generator: an argument, nullptr where it takes none.
	void give_to(const Plan &plan, c10::IValue *generator);

	// How many: as many as CUDA's operator does, where it drew by what
	// give_to() gave.
	std::uint64_t drawn() const;

      private:
	at::Generator generator();

	PhiloxSource outer_;
	Philox start_;
	std::uint64_t least_ = 0; // words that were drawn
	// The CPU's default generator stands where this does, for operators
	// that take no generator, and stands afterwards where it stood before.
	// Threads that draw from it meanwhile get numbers that are drawn again
	// later.
	class Default;
	std::unique_ptr<Default> default_;
};

} // namespace gpukit
