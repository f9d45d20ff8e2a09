/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_only_int4.cpp - matrices (n rows, k columns) of 4-bit weights. They are
 * packed in the order in which tensor cores of 16 x 8 x 16 read them: [n / 8][k
 * / (16 * inner)][32 lanes][inner / 2] words. A word has the values of one lane
 * for two tiles of k. Lane t has row t / 4 and, in each tile, four columns: 2 *
 * (t % 4), the next one, and these two plus 8.
 */
#include "cuda_only.h"

namespace gpukit
{
namespace
{

const int64_t TILE = 16;
const int64_t LANES = 32;

/* order[n] is the index of the value that the n-th four bits of a word
 * contain. */
const int order[8] = {0, 2, 4, 6, 1, 3, 5, 7};

/* The column of the i-th value of a lane, within the two tiles of its word. */
int64_t find_column(int64_t lane, int64_t i)
{
	return i / 4 * TILE + i / 2 % 2 * 8 + lane % 4 * 2 + i % 2;
}

void check_inner(int64_t inner)
{
	TORCH_CHECK(inner == 2 || inner == 4 || inner == 8,
		    "innerKTiles must be 2, 4 or 8, not ", inner);
}

struct Packed {
	int64_t rows, columns, inner; /* rows: a multiple of 8 */

	int64_t word(int64_t row, int64_t pair, int64_t lane_column) const
	{
		int64_t outer = pair / (inner / 2),
			outers = columns / TILE / inner;
		int64_t lane = row % 8 * 4 + lane_column;

		return ((row / 8 * outers + outer) * LANES + lane) *
			   (inner / 2) +
		       pair % (inner / 2);
	}
};

/* Calls visit(row, column, word, shift) for each value of the matrix. */
template <typename Visit> void walk(const Packed &packed, Visit visit)
{
	for (int64_t row = 0; row < packed.rows; row++)
		for (int64_t pair = 0; pair < packed.columns / TILE / 2; pair++)
			for (int64_t lane = 0; lane < 4; lane++)
				for (int n = 0; n < 8; n++)
					visit(row,
					      pair * 2 * TILE +
						  find_column(lane, order[n]),
					      packed.word(row, pair, lane),
					      4 * n);
}

/* Packs a matrix of n rows and k / 2 bytes. Each byte has two values, the first
 * one in its upper half. */
Tensor pack_weight(const Tensor &self, int64_t inner)
{
	int64_t columns = self.size(1) * 2;

	check_inner(inner);
	TORCH_CHECK(self.dim() == 2 && self.scalar_type() == at::kByte,
		    "expected a matrix of uint8, got ", self.scalar_type());
	TORCH_CHECK(columns % (inner * TILE) == 0,
		    "k must be a multiple of 16 * innerKTiles");
	Tensor in = self.contiguous();
	int64_t tiles = (self.size(0) + 7) / 8;
	Tensor out =
	    at::zeros({tiles, columns / (inner * TILE), LANES, inner / 2},
		      self.options().dtype(at::kInt));
	const uint8_t *from = in.const_data_ptr<uint8_t>();
	uint32_t *to = (uint32_t *)out.mutable_data_ptr<int32_t>();
	Packed packed = {self.size(0), columns, inner};

	walk(packed, [&](int64_t row, int64_t column, int64_t word, int shift) {
		uint8_t both = from[(row * columns + column) / 2];
		uint32_t value = column % 2 ? both & 15 : both >> 4;

		to[word] |= value << shift;
	});
	return out;
}

/* Returns the values, which are 0 to 15. The shape is n, k. */
Tensor unpack_weight(const Tensor &weight, int64_t columns)
{
	Packed packed = {weight.size(0) * 8, columns, weight.size(3) * 2};
	Tensor in = weight.contiguous();
	Tensor out = at::empty({packed.rows, columns}, at::kFloat);
	const uint32_t *from = (const uint32_t *)in.const_data_ptr<int32_t>();
	float *to = out.mutable_data_ptr<float>();

	walk(packed, [&](int64_t row, int64_t column, int64_t word, int shift) {
		to[row * columns + column] = (float)(from[word] >> shift & 15);
	});
	return out;
}

/* The shape of scales is k / group, n, 2. Each pair consists of a scale and the
 * number that the value 8 represents. */
Tensor multiply_packed(const Tensor &self, const Tensor &weight, int64_t group,
		       const Tensor &scales)
{
	int64_t columns = self.size(1);

	TORCH_CHECK(self.scalar_type() == at::kBFloat16 && self.dim() == 2,
		    "expected a matrix of bf16, got ", self.scalar_type());
	TORCH_CHECK(weight.dim() == 4 && weight.scalar_type() == at::kInt &&
			weight.size(2) == LANES,
		    "expected a weight of _convert_weight_to_int4pack");
	check_inner(weight.size(3) * 2);
	TORCH_CHECK(weight.size(1) * weight.size(3) * 2 * TILE == columns,
		    "the weight's k differs from the operand's, ", columns);
	TORCH_CHECK(group == 32 || group == 64 || group == 128 || group == 256,
		    "qGroupSize must be 32, 64, 128 or 256, not ", group);
	TORCH_CHECK(scales.dim() == 3 && scales.size(0) * group == columns &&
			scales.size(1) == weight.size(0) * 8 &&
			scales.size(2) == 2,
		    "expected scales of k / group, n, 2");
	Tensor wide = scales.to(at::kFloat)
			  .permute({1, 0, 2})
			  .repeat_interleave(group, 1);
	Tensor values =
	    (unpack_weight(weight, columns) - 8) * wide.select(2, 0) +
	    wide.select(2, 1);

	/* The kernel multiplies weights rounded to bf16. */
	return at::matmul(self.to(at::kFloat),
			  values.to(at::kBFloat16).to(at::kFloat).t())
	    .to(at::kBFloat16);
}

} // namespace

Rows int4_rows()
{
	return {
	    own_row<pack_weight>("_convert_weight_to_int4pack"),
	    own_row<multiply_packed>("_weight_int4pack_mm"),
	};
}

} // namespace gpukit
