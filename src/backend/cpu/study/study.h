// The kernel study compares ways to compute y = scale · (W·x) for a ternary matrix W and one float vector x, to see
// what each packing and its arithmetic cost. There is one file per kernel and one row per kernel in the table. `tern
// bench kernels` measures the table; tests/conform checks all of it.
//
// A product has two parts. `prepare` converts x to what the rows need (a copy in another order, int8 values, look-up
// tables) and counts in the measured time; `multiply` reads the packed rows.
//
// Any shape works: if a packing needs whole blocks, rows are padded with zero weights.
//
// If any activation is not finite, the whole result is NaN for every kernel (multiply_with), because sums, look-up
// tables and int8 scales would each give different results.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/ops/work_queue.h"
#include "backend/cpu/scratch.h"
#include "backend/host_memory.h"
#include "base/bytes.h"
#include "base/thread_pool.h"

namespace tern::cpu::study {

enum class Activations : uint8_t {
  kFloat,
  kInt8,  // quantized as in the engine (Q in docs/numerics.md); Σ w·q is exact, so every bit of y is defined
};

// Ternary weights as plain codes −1, 0, +1.
struct Codes {
  std::span<const int8_t> values;  // [rows, cols]
  int rows = 0, cols = 0;

  std::span<const int8_t> row(int r) const {
    return values.subspan(static_cast<size_t>(r) * static_cast<size_t>(cols), static_cast<size_t>(cols));
  }
};

// A packed matrix; a weight is scale · code. It may begin at any multiple of Packing::alignment.
struct Packed {
  int rows = 0, cols = 0;
  float scale = 1;
  Bytes data;

  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(data.data()); }
};

struct Packing {
  std::string_view name;  // "f32", "2-bit", "base-3"

  // The bytes of a packed [rows, cols] matrix, all of which a product reads; and the packing itself. `out` is zeroed
  // and has that size.
  uint64_t (*bytes)(int64_t rows, int64_t cols);
  void (*pack)(const Codes& codes, MutableBytes out);

  size_t alignment = 1;  // of a packed matrix
};

struct Kernel {
  std::string_view name;  // "base3-int8"
  Packing packing;
  Activations activations;
  bool is_vectors;        // false: plain C++ for every instruction set
  std::string_view what;  // one line to be read by people

  // The bytes that `prepare` writes, 64-byte aligned.
  uint64_t (*prepared_bytes)(int64_t cols);
  void (*prepare)(const Packed& w, const float* x, std::byte* out);

  // Computes this worker's rows of y = scale · (W·x).
  void (*multiply)(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y);

  // For float activations: the largest number of roundings of an output, so that
  // |y − exact| ≤ roundings · 2⁻²⁴ · scale · Σ|x|. Not used for int8, where y is known exactly.
  double (*roundings)(int64_t cols);
};

// All kernels, with the f32 reference first and the engine's own last.
std::span<const Kernel> kernels();

// Multiplies with any of the kernels on a team of threads. Owns the memory for prepared activations.
class Multiplier {
 public:
  // Makes a Multiplier for matrices of up to `cols` columns. kOutOfMemory.
  static Result<Multiplier> create(ThreadPool& pool, int64_t cols);

  // y[w.rows] = w·x, x[w.cols]; `w` must be packed by `kernel`.
  void multiply_with(const Kernel& kernel, const Packed& w, std::span<const float> x, std::span<float> y);

 private:
  Multiplier(ThreadPool& pool, HostMemory prepared, size_t scratch_floats);

  ThreadPool& pool_;
  HostMemory prepared_;
  std::vector<Scratch> scratch_;  // one per worker
};

}  // namespace tern::cpu::study
