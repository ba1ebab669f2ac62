// Checks and then times the kernels of the study (backend/cpu/study) on one matrix.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "backend/cpu/study/expected.h"
#include "backend/cpu/study/study.h"
#include "base/files/system_info.h"
#include "base/platform/memory.h"
#include "base/result.h"
#include "engine/load/backends.h"
#include "tern/tools.h"
#include "tools/bench/spread.h"
#include "tools/random_values.h"

namespace tern {
namespace {

using cpu::study::Codes;
using cpu::study::Kernel;
using cpu::study::Packed;

constexpr int64_t kMostRowsOrCols = 1 << 22;  // for up to that many columns, Σ |code·q| stays below 2³¹
constexpr int kMostThreads = 1024;
constexpr uint64_t kLeastUncached = uint64_t{64} << 20;
constexpr int kLeastRuns = 20, kMostRuns = 10'000;
constexpr double kSecondsOfRuns = 0.5;

Result<void> check_arguments(const KernelBenchOptions& o) {
  for (const int64_t size : {o.rows, o.cols}) {
    if (size < 1 || size > kMostRowsOrCols) {
      return fail(ErrorCode::kInvalidArgument,
                  "bench kernels: a matrix of {} rows and {} columns; give 1 to {} of each, such as 4096x4096", o.rows,
                  o.cols, kMostRowsOrCols);
    }
  }
  if (o.n_threads < 0 || o.n_threads > kMostThreads) {
    return fail(ErrorCode::kInvalidArgument, "bench kernels: {} threads; give 1 to {}, or 0 for one per CPU",
                o.n_threads, kMostThreads);
  }
  if (o.repeats < 0) {
    return fail(ErrorCode::kInvalidArgument, "bench kernels: {} runs; give 1 or more, or 0 for as many as it takes",
                o.repeats);
  }
  return {};
}

// Number of copies of a packed matrix so that the first is no longer cached when the last was read.
uint64_t copies_of(uint64_t bytes, bool cached) {
  return cached ? 1 : ceil_div(std::max(kLeastUncached, 2 * platform::largest_cache_bytes()), bytes);
}

// Distance between copies: whole pages for large matrices, cache lines for small ones.
uint64_t stride_of(uint64_t bytes) { return round_up(bytes, bytes < 4096 ? 64 : 4096); }

// Checks the memory up front: the system may grant memory that it does not have.
Result<void> check_memory(const KernelBenchOptions& o) {
  uint64_t most = 0;
  for (const Kernel& kernel : cpu::study::kernels()) {
    const uint64_t bytes = kernel.packing.bytes(o.rows, o.cols);
    most = std::max(most, stride_of(bytes) * copies_of(bytes, o.cached) + kernel.prepared_bytes(o.cols));
  }
  const uint64_t needed = most + static_cast<uint64_t>(o.rows * o.cols);
  const uint64_t available = read_memory_info().available_bytes;
  if (available == 0 || needed <= available) return {};
  return fail(ErrorCode::kOutOfMemory,
              "bench kernels: {}x{} needs {} MB of memory and {} MB are available; give a smaller matrix", o.rows,
              o.cols, needed / 1'000'000, available / 1'000'000);
}

// The matrix, the input and the expected output.
struct Problem {
  Codes codes;
  float scale = 1;
  std::vector<float> x;
  cpu::study::Expected expected;
};

// Random −1, 0 and +1 in the proportions of fill_ternary, made by all threads.
void fill_codes(ThreadPool& pool, std::span<int8_t> codes) {
  const CounterRandom random(1);
  const size_t per_worker = (codes.size() / static_cast<size_t>(pool.size()) / 8 + 1) * 8;
  pool.run([&](int worker) {
    const size_t begin = std::min(codes.size(), static_cast<size_t>(worker) * per_worker);
    const size_t end = std::min(codes.size(), begin + per_worker);
    for (size_t i = begin; i < end; ++i) {
      const auto byte = static_cast<uint8_t>(random(i / 8) >> (8 * (i % 8)));
      codes[i] = static_cast<int8_t>((byte >= 96) - 2 * (byte >= 176));
    }
  });
}

Problem make_problem(ThreadPool& pool, const Codes& codes) {
  Problem p;
  p.codes = codes;
  p.x.resize(static_cast<size_t>(codes.cols));
  fill_normal(CounterRandom(2), 0, 1, p.x);
  p.scale = static_cast<float>(1 / std::sqrt(kTernaryVariance * codes.cols));  // outputs of about 1
  p.expected = expect(p.codes, p.scale, p.x, pool);
  return p;
}

// Enough copies of the packed matrix to exceed the caches, or one copy.
class Copies {
 public:
  static Result<Copies> create(const Kernel& kernel, const Codes& codes, bool cached, ThreadPool& pool) {
    const uint64_t bytes = kernel.packing.bytes(codes.rows, codes.cols);
    Copies copies(bytes, copies_of(bytes, cached));
    TRY(copies.memory_, HostMemory::allocate(copies.count_ * copies.stride_, "the packed matrix"));
    copies.memory_.advise_huge_pages();
    kernel.packing.pack(codes, {copies.memory_.data(), bytes});
    std::atomic<uint64_t> next = 1;
    pool.run([&](int) {
      for (uint64_t i = next++; i < copies.count_; i = next++) {
        std::memcpy(copies.memory_.data() + i * copies.stride_, copies.memory_.data(), bytes);
      }
    });
    return copies;
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t count() const { return count_; }
  Bytes of_turn(uint64_t turn) const { return {memory_.data() + turn % count_ * stride_, bytes_}; }

 private:
  Copies(uint64_t bytes, uint64_t count) : bytes_(bytes), count_(count), stride_(stride_of(bytes)) {}

  uint64_t bytes_, count_, stride_;
  HostMemory memory_;
};

// Time to read the bytes alone, the lower bound for a product. It is measured alternately with the products, because
// the machine's other load varies.
double seconds_to_read(Bytes bytes, ThreadPool& pool) {
  const std::span words(reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / sizeof(uint64_t));
  const auto workers = static_cast<size_t>(pool.size());
  std::atomic<uint64_t> total = 0;
  const auto start = std::chrono::steady_clock::now();
  pool.run([&](int worker) {
    const auto at = [&](size_t i) { return words.size() * i / workers; };
    const auto i = static_cast<size_t>(worker);
    total += cpu_sum_words(words.subspan(at(i), at(i + 1) - at(i)));
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  static std::atomic<uint64_t> used;  // prevents the compiler from removing the reads
  used = total.load();
  return seconds;
}

Result<KernelBench> bench_one(const Kernel& kernel, const Problem& problem, const KernelBenchOptions& options,
                              ThreadPool& pool, cpu::study::Multiplier& multiplier) {
  const Codes& codes = problem.codes;
  TRY(const Copies copies, Copies::create(kernel, codes, options.cached, pool));
  std::vector<float> y(static_cast<size_t>(codes.rows));
  const auto multiply = [&](uint64_t turn) {
    const Packed w{codes.rows, codes.cols, problem.scale, copies.of_turn(turn)};
    const auto start = std::chrono::steady_clock::now();
    multiplier.multiply_with(kernel, w, problem.x, y);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  multiply(0);
  const cpu::study::Verdict verdict = judge(kernel, problem.expected, codes.cols, y);
  if (verdict.bad_row) {
    const auto row = static_cast<size_t>(*verdict.bad_row);
    return fail(ErrorCode::kNotSupported,
                "bench kernels: {} gives {} for row {} instead of {}, which is beyond its bound: a bug in Tern, so "
                "nothing is reported",
                kernel.name, y[row], row, problem.expected.exact[row]);
  }
  std::vector<double> ms, read_ms;
  double spent = 0;
  const auto enough = [&](int n) {
    if (options.repeats > 0) return n >= options.repeats;
    return n >= kMostRuns || (n >= kLeastRuns && spent >= kSecondsOfRuns);
  };
  for (uint64_t turn = 1; !enough(static_cast<int>(ms.size())); turn += 2) {
    const double seconds = multiply(turn);
    spent += seconds;
    ms.push_back(seconds * 1e3);
    read_ms.push_back(seconds_to_read(copies.of_turn(turn + 1), pool) * 1e3);
  }
  const bool int8 = kernel.activations == cpu::study::Activations::kInt8;
  KernelBench bench{.name = std::string(kernel.name),
                    .packing = std::string(kernel.packing.name),
                    .activations = int8 ? "int8" : "f32",
                    .what = std::string(kernel.what),
                    .target = kernel.is_vectors ? cpu_target() : "scalar",
                    .bytes = copies.bytes(),
                    .runs = static_cast<int>(ms.size()),
                    .copies = static_cast<int>(copies.count()),
                    .max_error = verdict.max_error};
  bench.bits_per_weight = 8 * static_cast<double>(bench.bytes) / (static_cast<double>(codes.rows) * codes.cols);
  bench.ms = spread_of(std::move(ms));
  const auto gb_per_s = [&](double median) { return median > 0 ? static_cast<double>(bench.bytes) / median / 1e6 : 0; };
  bench.gb_per_s = gb_per_s(bench.ms.median);
  bench.read_gb_per_s = gb_per_s(spread_of(std::move(read_ms)).median);
  bench.share = bench.read_gb_per_s > 0 ? bench.gb_per_s / bench.read_gb_per_s : 0;
  return bench;
}

}  // namespace

Result<KernelBenchResult> bench_kernels(const KernelBenchOptions& options) {
  TRY_STATUS(check_arguments(options));
  TRY_STATUS(check_memory(options));
  TRY_STATUS(choose_cpu_target());
  ThreadPool pool(ThreadPool::threads_for(options.n_threads));
  TRY(const HostMemory codes, HostMemory::allocate(static_cast<uint64_t>(options.rows * options.cols), "the matrix"));
  const std::span<int8_t> values(reinterpret_cast<int8_t*>(codes.data()), codes.bytes());
  fill_codes(pool, values);
  const Problem problem = make_problem(pool, {values, static_cast<int>(options.rows), static_cast<int>(options.cols)});
  TRY(auto multiplier, cpu::study::Multiplier::create(pool, options.cols));
  KernelBenchResult result;
  result.n_threads = pool.size();
  result.cache_bytes = platform::largest_cache_bytes();
  for (const double y : problem.expected.exact) result.result_rms += y * y;
  result.result_rms = std::sqrt(result.result_rms / static_cast<double>(options.rows));
  const auto all = cpu::study::kernels();
  for (const Kernel& kernel : all) {
    TRY(auto bench, bench_one(kernel, problem, options, pool, multiplier));
    result.kernels.push_back(std::move(bench));
    if (options.on_progress) {
      options.on_progress({.what = "measuring", .done = result.kernels.size(), .total = all.size(), .unit = "kernels"});
    }
  }
  return result;
}

}  // namespace tern
