// Random numbers of a made-up device: the CPU's generator, seeded from where
// the device's own generator stands.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

#include <mutex>
#include <optional>

namespace gpukit
{

// The CPU generator that an operator uses instead of its device's, which goes
// on by four, as CUDA's do. given: undefined means the device's default one.
at::Generator draw_generator(const at::Generator &given,
			     c10::DeviceIndex device);

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
