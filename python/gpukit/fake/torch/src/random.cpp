// Random numbers: a state (seed, offset) of CUDA's generators, which programs
// seed, save and restore, is one state of a Mersenne twister.
#include "random.h"

#include <ATen/Context.h>

namespace gpukit
{

namespace
{

// The finaliser of SplitMix64: neighbours come far from each other.
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

at::CPUGeneratorImpl *default_impl()
{
	return at::detail::getDefaultCPUGenerator().get<at::CPUGeneratorImpl>();
}

} // namespace

at::Generator draw_generator(const at::Generator &given,
			     c10::DeviceIndex device)
{
	at::Generator from = given.defined()
				 ? given
				 : at::globalContext().defaultGenerator(
				       c10::Device(c10::kCUDA, device));
	std::uint64_t seed, offset;

	TORCH_CHECK(from.device().is_cuda(),
		    "Expected a 'cuda' device type for generator but found '",
		    from.device().type(), "'");
	{
		std::lock_guard<std::mutex> guard(from.mutex());
		seed = from.current_seed();
		offset = from.get_offset();
		from.set_offset(offset + 4);
	}
	return at::detail::createCPUGenerator(
	    mix(seed + 0x9e3779b97f4a7c15ULL * (offset / 4 + 1)));
}

DefaultGenerator::DefaultGenerator(const at::Generator &drawn)
    : alone_(default_lock())
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

DefaultGenerator::~DefaultGenerator()
{
	at::CPUGeneratorImpl *to = default_impl();
	std::lock_guard<std::mutex> guard(to->mutex_);

	to->set_engine(engine_);
	to->set_next_float_normal_sample(next_float_);
	to->set_next_double_normal_sample(next_double_);
}

} // namespace gpukit
