// Random numbers of a made-up device: the CPU's generator, seeded from where
// the device's own generator stands.
#pragma once

#include "philox.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

#include <mutex>
#include <optional>

namespace gpukit
{

// What one operator draws. given: the generator of the device that it was
// called with; undefined: the device's default one. That goes on by four, as
// CUDA's do at least, or by what was taken from philox_source().
class Drawing
{
      public:
	Drawing(const at::Generator &given, c10::DeviceIndex device);
	~Drawing();
	Drawing(const Drawing &) = delete;
	Drawing &operator=(const Drawing &) = delete;

	// The CPU generator to use in its place.
	at::Generator generator();

      private:
	at::Generator from_;
	PhiloxSource outer_;
	Philox start_;
	bool drew_ = false;
};

// The CPU's default generator stands where such a one does, for operators that
// take no generator, and stands afterwards where it stood before. Threads that
// draw from it meanwhile get numbers that are drawn again later.
class DefaultGenerator
{
      public:
	explicit DefaultGenerator(const at::Generator &drawn);
	~DefaultGenerator();
	DefaultGenerator(const DefaultGenerator &) = delete;
	DefaultGenerator &operator=(const DefaultGenerator &) = delete;

      private:
	std::unique_lock<std::recursive_mutex> alone_;
	at::mt19937 engine_;
	std::optional<float> next_float_;
	std::optional<double> next_double_;
};

} // namespace gpukit
