// What device memory was before a capture: the operators that it captures do
// their work at once, so that those after them find values and shapes, and it
// is undone when the capture ends.
#pragma once

#include "driver.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gpukit
{

class Journal
{
      public:
	// That of the capture that a stream is in. It restores what it kept,
	// and is gone, when that ends.
	static Journal &of(const CapturedStream &stream);

	// Bytes that are about to be written; kept once.
	void keep(void *view, std::size_t size);

	// That of the operator that the calling thread records; nullptr: none.
	// New memory is kept, too: it may be what the graph reads first, an
	// input that the program has let go.
	static Journal *&current();

      private:
	struct Kept {
		char *view;
		std::vector<char> before;
	};

	static void ended(void *id);
	bool knows(const char *view, std::size_t size) const;

	std::mutex lock_;
	std::vector<Kept> kept_;
	std::map<const char *, std::size_t> known_; // where from, how many
};

} // namespace gpukit
