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

Drawing::Drawing(const at::Generator &given, c10::DeviceIndex device)
    : from_(given.defined() ? given
			    : at::globalContext().defaultGenerator(
				  c10::Device(c10::kCUDA, device))),
      outer_(philox_source())
{
	TORCH_CHECK(from_.device().is_cuda(),
		    "Expected a 'cuda' device type for generator but found '",
		    from_.device().type(), "'");
	std::lock_guard<std::mutex> guard(from_.mutex());

	start_ = {from_.current_seed(), from_.get_offset()};
	philox_source() = {start_, true};
}

Drawing::~Drawing()
{
	std::uint64_t end = philox_source().next.offset;

	philox_source() = outer_;
	if (end == start_.offset && drew_)
		end += 4;
	if (end == start_.offset)
		return;
	std::lock_guard<std::mutex> guard(from_.mutex());
	from_.set_offset(end);
}

at::Generator Drawing::generator()
{
	drew_ = true;
	return at::detail::createCPUGenerator(
	    mix(start_.seed + 0x9e3779b97f4a7c15ULL * (start_.offset / 4 + 1)));
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
