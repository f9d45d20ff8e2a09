/* SPDX-License-Identifier: Apache-2.0 */
// Random numbers. The state (seed, offset) of CUDA's generators can be seeded,
// saved and restored by programs. Each such state is mapped to one state of a
// Mersenne twister.
#include "random.h"

#include "driver.h"
#include "plan.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

namespace gpukit
{

namespace
{

// The last steps of SplitMix64: similar inputs give unrelated outputs.
std::uint64_t mix(std::uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

std::recursive_mutex &default_lock()
{
	static std::recursive_mutex *lock = new std::recursive_mutex;

	return *lock;
}

// Never destroyed, because threads may draw numbers until the process ends.
std::recursive_mutex &turn_of(c10::DeviceIndex device)
{
	static constexpr int DEVICES = 128; // more than PyTorch knows
	static auto *turns = new std::recursive_mutex[DEVICES];

	return turns[device % DEVICES];
}

at::CPUGeneratorImpl *default_impl()
{
	return at::detail::getDefaultCPUGenerator().get<at::CPUGeneratorImpl>();
}

} // namespace

class Drawing::Default
{
      public:
	explicit Default(const at::Generator &drawn);
	~Default();

      private:
	std::unique_lock<std::recursive_mutex> alone_;
	at::mt19937 engine_;
	std::optional<float> next_float_;
	std::optional<double> next_double_;
};

Drawing::Default::Default(const at::Generator &drawn) : alone_(default_lock())
{
	at::CPUGeneratorImpl *to = default_impl();
	std::lock_guard<std::mutex> guard(to->mutex_);

	engine_ = to->engine();
	next_float_ = to->next_float_normal_sample();
	next_double_ = to->next_double_normal_sample();
	to->set_engine(drawn.get<at::CPUGeneratorImpl>()->engine());
	to->set_next_float_normal_sample(std::nullopt);
	to->set_next_double_normal_sample(std::nullopt);
}

Drawing::Default::~Default()
{
	at::CPUGeneratorImpl *to = default_impl();
	std::lock_guard<std::mutex> guard(to->mutex_);

	to->set_engine(engine_);
	to->set_next_float_normal_sample(next_float_);
	to->set_next_double_normal_sample(next_double_);
}

Drawing::Drawing(Philox start) : outer_(philox_source()), start_(start)
{
	philox_source() = {start_, true};
}

Drawing::~Drawing()
{
	philox_source() = outer_;
}

at::Generator Drawing::generator()
{
	return at::detail::createCPUGenerator(
	    mix(start_.seed + 0x9e3779b97f4a7c15ULL * (start_.offset / 4 + 1)));
}

void Drawing::give_to(const Plan &plan, c10::IValue *argument)
{
	if (!plan.philox)
		least_ = plan.draws;
	if (plan.philox && argument)
		*argument = c10::IValue();
	else if (argument)
		*argument = generator();
	else if (!plan.philox)
		default_ = std::make_unique<Default>(generator());
}

std::uint64_t Drawing::drawn() const
{
	return std::max(philox_source().next.offset - start_.offset, least_);
}

Philox CapturedNumbers::now() const
{
	const void *at[] = {view_bytes(seed, 8), view_bytes(offset, 8)};
	std::uint64_t value[2];

	std::memcpy(&value[0], at[0], 8);
	std::memcpy(&value[1], at[1], 8);
	return {value[0], value[1] + drawn_before, blocks};
}

DeviceGenerator::DeviceGenerator(const at::Generator &given,
				 c10::DeviceIndex device)
    : from_(given.defined() ? given
			    : at::globalContext().defaultGenerator(
				  c10::Device(c10::kCUDA, device))),
      blocks_(count_blocks(device)), turn_(turn_of(device))
{
	TORCH_CHECK(from_.device().is_cuda(),
		    "Expected a 'cuda' device type for generator but found '",
		    from_.device().type(), "'");
}

Philox DeviceGenerator::state()
{
	std::lock_guard<std::mutex> guard(from_.mutex());

	return {from_.current_seed(), from_.get_offset(), blocks_};
}

void DeviceGenerator::advance(std::uint64_t drawn)
{
	std::lock_guard<std::mutex> guard(from_.mutex());

	if (drawn)
		from_.set_offset(from_.get_offset() + drawn);
}

CapturedNumbers DeviceGenerator::captured_state()
{
	std::lock_guard<std::mutex> guard(from_.mutex());
	at::PhiloxCudaState s =
	    from_.get<at::CUDAGeneratorImpl>()->philox_cuda_state(0);

	return {s.seed_.ptr, s.offset_.ptr, s.offset_intragraph_, blocks_};
}

void DeviceGenerator::advance_captured(std::uint64_t drawn)
{
	std::lock_guard<std::mutex> guard(from_.mutex());

	from_.get<at::CUDAGeneratorImpl>()->philox_cuda_state(drawn);
}

} // namespace gpukit
