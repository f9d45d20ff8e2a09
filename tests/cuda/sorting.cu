/* SPDX-License-Identifier: Apache-2.0 */
/* sorting.cu - sorts, sums and scans vectors of Thrust. */
#include "runtime.h"

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <vector>

#define N 5000

int main(void)
{
	std::vector<int> host(N);
	long long sum = 0;

	for (int i = 0; i < N; i++)
		host[i] = i * 7919 % 5003;

	thrust::device_vector<int> there(host.begin(), host.end());

	thrust::sort(there.begin(), there.end());
	thrust::copy(there.begin(), there.end(), host.begin());
	for (int i = 0; i < N; i++) {
		REQUIRE(!i || host[i - 1] < host[i]);
		sum += host[i];
	}
	EQUAL(thrust::reduce(there.begin(), there.end()), sum);
	thrust::inclusive_scan(there.begin(), there.end(), there.begin());
	EQUAL(there[N - 1], sum);
	EQUAL(there[1], host[0] + host[1]);
	return 0;
}
