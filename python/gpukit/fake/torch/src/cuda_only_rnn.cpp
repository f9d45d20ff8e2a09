/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_rnn.cpp - cuDNN's recurrent networks, made of PyTorch's own layers.
 * The backward pass repeats the forward pass with the same dropout; the seed
 * for it is in the reserve.
 */
#include "cuda_only.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>

namespace gpukit
{
namespace
{

using at::IntArrayRef;
using at::TensorList;

/* cudnnRNNMode_t. */
enum { RELU, TANH, LSTM, GRU };

struct Network {
	int64_t mode, layers;
	bool batch_first, train, bidirectional;
	double dropout;
	std::vector<int64_t> batch_sizes; /* empty: not packed */
	bool has_biases;
};

struct Operands {
	Tensor input, hx, cx; /* cx: defined for LSTM only */
	std::vector<Tensor> weights;
};

struct Results {
	Tensor output, hy, cy;
};

/* While it exists, random numbers come from a generator with a known seed. */
class SeededDraws
{
      public:
	explicit SeededDraws(uint64_t seed)
	    : generator_(at::detail::getDefaultCPUGenerator()),
	      state_(generator_.get_state())
	{
		generator_.set_current_seed(seed);
	}
	~SeededDraws()
	{
		generator_.set_state(state_);
	}

      private:
	at::Generator generator_;
	Tensor state_;
};

Tensor make_batch_sizes(const Network &network)
{
	return at::tensor(network.batch_sizes, at::kLong);
}

Results run_lstm(const Network &n, const Operands &in)
{
	std::vector<Tensor> state = {in.hx, in.cx};

	if (n.batch_sizes.empty()) {
		auto [out, hy, cy] = at::lstm(
		    in.input, state, in.weights, n.has_biases, n.layers,
		    n.dropout, n.train, n.bidirectional, n.batch_first);
		return {out, hy, cy};
	}
	auto [out, hy, cy] = at::lstm(in.input, make_batch_sizes(n), state,
				      in.weights, n.has_biases, n.layers,
				      n.dropout, n.train, n.bidirectional);
	return {out, hy, cy};
}

template <typename Dense, typename Packed>
Results run_plain(const Network &n, const Operands &in, Dense dense,
		  Packed packed)
{
	auto [out, hy] =
	    n.batch_sizes.empty()
		? dense(in.input, in.hx, in.weights, n.has_biases, n.layers,
			n.dropout, n.train, n.bidirectional, n.batch_first)
		: packed(in.input, make_batch_sizes(n), in.hx, in.weights,
			 n.has_biases, n.layers, n.dropout, n.train,
			 n.bidirectional);

	return {out, hy, Tensor()};
}

#define RUN_PLAIN(name)                                                        \
	run_plain(                                                             \
	    n, in, [](auto &&...x) { return at::name(x...); },                 \
	    [](auto &&...x) { return at::name(x...); })

Results run_network(const Network &n, const Operands &in, uint64_t seed)
{
	SeededDraws draws(seed);

	switch (n.mode) {
	case LSTM:
		return run_lstm(n, in);
	case GRU:
		return RUN_PLAIN(gru);
	case RELU:
		return RUN_PLAIN(rnn_relu);
	case TANH:
		return RUN_PLAIN(rnn_tanh);
	default:
		TORCH_CHECK(false,
			    "unknown mode of a recurrent network: ", n.mode);
	}
}

Network make_network(int64_t mode, int64_t proj_size, int64_t weight_stride0,
		     int64_t layers, bool batch_first, double dropout,
		     bool train, bool bidirectional, IntArrayRef batch_sizes)
{
	return {mode,
		layers,
		batch_first,
		train,
		bidirectional,
		dropout,
		batch_sizes.vec(),
		weight_stride0 - (proj_size > 0) == 4};
}

Tensor make_reserve(uint64_t seed)
{
	return at::from_blob(&seed, {8}, at::kByte).clone();
}

uint64_t read_reserve(const Tensor &reserve)
{
	return *(const uint64_t *)reserve.const_data_ptr<uint8_t>();
}

uint64_t draw_seed()
{
	auto gen = at::get_generator_or_default<at::CPUGeneratorImpl>(
	    std::nullopt, at::detail::getDefaultCPUGenerator());
	std::lock_guard<std::mutex> lock(gen->mutex_);

	return gen->random64();
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>
rnn(const Tensor &input, TensorList weights, int64_t weight_stride0,
    const optional<Tensor> &weight_buf, const Tensor &hx,
    const optional<Tensor> &cx, int64_t mode, int64_t hidden_size,
    int64_t proj_size, int64_t layers, bool batch_first, double dropout,
    bool train, bool bidirectional, IntArrayRef batch_sizes,
    const optional<Tensor> &dropout_state)
{
	Network network =
	    make_network(mode, proj_size, weight_stride0, layers, batch_first,
			 dropout, train, bidirectional, batch_sizes);
	uint64_t seed = draw_seed();
	Results results = run_network(
	    network, {input, hx, cx.value_or(Tensor()), weights.vec()}, seed);

	(void)hidden_size;
	(void)dropout_state;
	return {results.output, results.hy,
		results.cy.defined() ? results.cy
				     : at::empty({0}, hx.options()),
		make_reserve(seed),
		is_given(weight_buf) ? *weight_buf
				     : at::empty({0}, input.options())};
}

/* Kernels run without the dispatch keys of autograd. This restores these
 * keys. */
struct WithAutograd {
	at::AutoGradMode mode{true};
	c10::impl::ForceDispatchKeyGuard keys{
	    c10::impl::tls_local_dispatch_key_set().included_,
	    c10::impl::tls_local_dispatch_key_set().excluded_ -
		c10::autograd_dispatch_keyset -
		c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView)};
};

Tensor make_leaf(const Tensor &tensor)
{
	return tensor.defined() ? tensor.detach().requires_grad_() : tensor;
}

Operands make_leaves(const Operands &in)
{
	Operands leaves = {
	    make_leaf(in.input), make_leaf(in.hx), make_leaf(in.cx), {}};

	for (auto &weight : in.weights)
		leaves.weights.push_back(make_leaf(weight));
	return leaves;
}

struct Gradients {
	optional<Tensor> output, hy, cy;
};

void add_pair(std::vector<Tensor> &results, std::vector<Tensor> &grads,
	      const Tensor &result, const optional<Tensor> &grad)
{
	if (!is_given(grad) || !result.defined())
		return;
	results.push_back(result);
	grads.push_back(*grad);
}

/* Returns the gradients of input, hx, cx (if given) and the weights. */
std::vector<Tensor> differentiate(const Network &network, const Operands &in,
				  const Gradients &given, uint64_t seed)
{
	WithAutograd with;
	Operands leaves = make_leaves(in);
	Results out = run_network(network, leaves, seed);
	std::vector<Tensor> results, grads, of = {leaves.input, leaves.hx};

	if (leaves.cx.defined())
		of.push_back(leaves.cx);
	of.insert(of.end(), leaves.weights.begin(), leaves.weights.end());
	add_pair(results, grads, out.output, given.output);
	add_pair(results, grads, out.hy, given.hy);
	add_pair(results, grads, out.cy, given.cy);
	if (results.empty())
		return std::vector<Tensor>(of.size());
	return torch::autograd::grad(results, of, grads, false, false, true);
}

std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>> rnn_backward(
    const Tensor &input, TensorList weights, int64_t weight_stride0,
    const Tensor &weight_buf, const Tensor &hx, const optional<Tensor> &cx,
    const Tensor &output, const optional<Tensor> &grad_output,
    const optional<Tensor> &grad_hy, const optional<Tensor> &grad_cy,
    int64_t mode, int64_t hidden_size, int64_t proj_size, int64_t layers,
    bool batch_first, double dropout, bool train, bool bidirectional,
    IntArrayRef batch_sizes, const optional<Tensor> &dropout_state,
    const Tensor &reserve, std::array<bool, 4> wanted)
{
	Network network =
	    make_network(mode, proj_size, weight_stride0, layers, batch_first,
			 dropout, train, bidirectional, batch_sizes);
	Operands in = {input, hx, cx.value_or(Tensor()), weights.vec()};
	auto grads = differentiate(network, in, {grad_output, grad_hy, grad_cy},
				   read_reserve(reserve));
	size_t first = in.cx.defined() ? 3 : 2;

	(void)weight_buf;
	(void)output;
	(void)hidden_size;
	(void)dropout_state;
	for (size_t i = 0; i < grads.size(); i++)
		if (!grads[i].defined() && i >= first)
			grads[i] = at::zeros_like(in.weights[i - first]);
	return {wanted[0] ? grads[0] : Tensor(),
		wanted[1] ? grads[1] : Tensor(),
		wanted[2] && first == 3 ? grads[2] : Tensor(),
		{grads.begin() + first, grads.end()}};
}

/*
 * Returns a weight buffer for cuDNN. Nothing reads it, so the weights stay
 * where they are.
 */
Tensor flatten_weight(TensorList weights, int64_t weight_stride0,
		      int64_t input_size, int64_t mode, int64_t hidden_size,
		      int64_t proj_size, int64_t layers, bool batch_first,
		      bool bidirectional)
{
	std::vector<Tensor> flat;

	(void)weight_stride0;
	(void)input_size;
	(void)mode;
	(void)hidden_size;
	(void)proj_size;
	(void)layers;
	(void)batch_first;
	(void)bidirectional;
	for (auto &weight : weights)
		flat.push_back(weight.reshape(-1));
	return at::cat(flat);
}

/* Its content does not matter, because our networks seed their own dropout. */
Tensor init_dropout_state(double dropout, bool train, int64_t seed,
			  optional<at::ScalarType> type,
			  optional<at::Layout> layout,
			  optional<at::Device> device, optional<bool> pinned)
{
	(void)dropout;
	(void)train;
	(void)type;
	(void)layout;
	(void)device;
	(void)pinned;
	return make_reserve((uint64_t)seed);
}

} // namespace

Rows rnn_rows()
{
	return {
	    own_row<rnn>("_cudnn_rnn"),
	    own_row<rnn_backward>("_cudnn_rnn_backward"),
	    own_row<flatten_weight>("_cudnn_rnn_flatten_weight"),
	    own_row<init_dropout_state>("_cudnn_init_dropout_state"),
	};
}

} // namespace gpukit
