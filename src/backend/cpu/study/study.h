// The kernel study: different ways to compute y = scale · (W·x) for a ternary matrix W and one float vector x, side by
// side, to see what a packing and its arithmetic cost. One file per kernel, one row per kernel in the table; `tern
// bench kernels` measures the table, tests/conform checks all of it.
//
// A product has two parts. `prepare` makes of x what the rows need (a copy in another order, int8 values, look-up
// tables) and belongs to the measured time; `multiply` reads the packed rows.
//
// Any shape works: where a packing wants whole blocks, rows are filled up with zero weights.
//
// Activations that are not finite make the whole result NaN, whatever the kernel (multiply_with): sums, look-up tables
// and int8 scales would each make something else of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/scratch.h"
#include "backend/cpu/work_queue.h"
#include "backend/host_memory.h"
#include "base/bytes.h"
#include "base/thread_pool.h"

namespace tern::cpu::study {

enum class Activations : uint8_t {
  kFloat,
  kInt8,  // quantised as the engine does it (Q in docs/numerics.md); Σ w·q is exact, so y is defined to the bit
};

// Ternary weights as plain codes −1, 0, +1.
struct Codes {
  std::span<const int8_t> values;  // [rows, cols]
  int rows = 0, cols = 0;

  std::span<const int8_t> row(int r) const {
    return values.subspan(static_cast<size_t>(r) * static_cast<size_t>(cols), static_cast<size_t>(cols));
  }
};

// A packed matrix; a weight is scale · code. It may begin at any multiple of Kernel::alignment.
struct Packed {
  int rows = 0, cols = 0;
  float scale = 1;
  Bytes data;

  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(data.data()); }
};

struct Kernel {
  std::string_view name;     // "base3-int8"
  std::string_view packing;  // "f32", "2-bit", "base-3"
  Activations activations;
  bool is_vectors;        // false: plain C++, whatever the instruction set
  std::string_view what;  // one line for people

  // Bytes of a packed [rows, cols], all that a product reads of it; and packing them. `out` is zeroed and as long.
  uint64_t (*packed_bytes)(int64_t rows, int64_t cols);
  void (*pack)(const Codes& codes, MutableBytes out);

  size_t alignment;  // of a packed matrix

  // Bytes that `prepare` writes, 64-byte aligned.
  uint64_t (*prepared_bytes)(int64_t cols);
  void (*prepare)(const Packed& w, const float* x, std::byte* out);

  // This worker's rows of y = scale · (W·x).
  void (*multiply)(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y);

  // For float activations: how many roundings an output may have seen, so that
  // |y − exact| ≤ roundings · 2⁻²⁴ · scale · Σ|x|. Not used for int8, where y is exactly known.
  double (*roundings)(int64_t cols);
};

// Every kernel, the reference first and the engine's own last.
std::span<const Kernel> kernels();

// Multiplies with one kernel after another on a team of threads. Holds the memory for prepared activations.
class Multiplier {
 public:
  // For matrices of up to `cols` columns. kOutOfMemory.
  static Result<Multiplier> create(ThreadPool& pool, int64_t cols);

  // y[w.rows] = w·x, x[w.cols]; `w` packed by `kernel`.
  void multiply_with(const Kernel& kernel, const Packed& w, std::span<const float> x, std::span<float> y);

 private:
  Multiplier(ThreadPool& pool, HostMemory prepared, size_t scratch_floats);

  ThreadPool& pool_;
  HostMemory prepared_;
  std::vector<Scratch> scratch_;  // each worker's own
};

}  // namespace tern::cpu::study
