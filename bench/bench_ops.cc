// How fast is each CPU op alone, with the shapes of BitNet 2B-4T? Bytes per second are weight bytes.
#include <benchmark/benchmark.h>

#include <vector>

#include "backend/cpu/linear/base3.h"
#include "backend/cpu/linear/block_linear.h"
#include "backend/cpu/ops/attention_parts.h"
#include "backend/cpu/ops/best_logits.h"
#include "backend/cpu/ops/cpu_target.h"
#include "backend/cpu/ops/ops.h"
#include "backend/cpu/scratch.h"
#include "backend/host_kv_store.h"
#include "backend/kv_layout.h"
#include "base/check.h"
#include "base/half.h"
#include "base/thread_pool.h"

namespace tern {
namespace {

// Matrices of one shape, one after another, in more memory than any cache holds, like the layers of a model.
struct Matrices {
  Matrices(Format format, int rows, int cols, uint64_t total_bytes)
      : memory(HostMemory::allocate(total_bytes, "benchmark weights").value()) {
    const uint64_t each = tensor_bytes(format, rows, cols);
    std::fill_n(memory.data(), total_bytes, std::byte{0x15});  // pages touched, and valid codes
    for (uint64_t at = 0; at + each <= total_bytes; at += each) {
      tensors.push_back(
          {.name = "w", .format = format, .rows = rows, .cols = cols, .data = {memory.data() + at, each}});
    }
  }
  HostMemory memory;
  std::vector<Tensor> tensors;
};

template <class Op, class Args>
void run(ThreadPool& pool, std::vector<cpu::Scratch>& scratch, const Op& op, const Args& args) {
  std::atomic<int> next = 0;
  pool.run([&](int worker) {
    cpu::WorkQueue queue(next, pool.size(), scratch[static_cast<size_t>(worker)]);
    op(args, queue);
  });
}

// The same bytes as rows of base 3; any bytes are valid there.
struct Base3Matrices : Matrices {
  Base3Matrices(int rows, int cols, uint64_t total_bytes) : Matrices(Format::kI2_S, rows, cols, total_bytes) {
    tensors.clear();
    const uint64_t each = static_cast<uint64_t>(rows) * cpu::base3_row_bytes(static_cast<size_t>(cols));
    for (uint64_t at = 0; at + each <= total_bytes; at += each) {
      tensors.push_back({.name = "w",
                         .format = Format::kTQ1_0,
                         .rows = rows,
                         .cols = cols,
                         .data = {memory.data() + at, each},
                         .is_rearranged = true});
    }
  }
};

// range: base 3 or I2_S, rows, cols, tokens, threads
void BM_TernaryLinear(benchmark::State& state) {
  if (const auto chosen = cpu::choose_cpu_target_from_environment(); !chosen) {
    return state.SkipWithError(chosen.error().message);
  }
  const int rows = static_cast<int>(state.range(1)), cols = static_cast<int>(state.range(2)),
            n = static_cast<int>(state.range(3));
  constexpr uint64_t kBytes = uint64_t{512} << 20;
  const Matrices weights =
      state.range(0) != 0 ? Base3Matrices(rows, cols, kBytes) : Matrices(Format::kI2_S, rows, cols, kBytes);
  state.SetLabel(std::string(cpu::cpu_target().name));
  ThreadPool pool(static_cast<int>(state.range(4)));
  std::vector<cpu::Scratch> scratch(static_cast<size_t>(pool.size()), cpu::Scratch(cpu::ternary_scratch(cols)));
  const std::vector<int8_t> q(static_cast<size_t>(n) * static_cast<size_t>(cols), 1);
  const std::vector<float> scale(static_cast<size_t>(n), 1.0f);
  const std::vector<int32_t> sum(static_cast<size_t>(n), cols);
  std::vector<float> out(static_cast<size_t>(n) * static_cast<size_t>(rows));
  size_t next = 0;
  for (auto _ : state) {
    const ops::TernaryLinear args{
        {q.data(), scale.data(), sum.data()}, n, &weights.tensors[next], ops::Store::kSet, out.data()};
    run(pool, scratch, cpu::ternary_linear, args);
    next = (next + 1) % weights.tensors.size();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weights.tensors[0].data.size()));
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(rows) * cols * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_TernaryLinear)
    ->ArgNames({"base3", "rows", "cols", "tokens", "threads"})
    ->ArgsProduct({{0, 1}, {13824}, {2560}, {1, 128}, {1, 2}})
    ->ArgsProduct({{0, 1}, {4096}, {4096}, {1}, {1}})
    ->Args({0, 2560, 6912, 1, 2})
    ->Args({0, 2560, 6912, 128, 2})
    ->Args({0, 640, 2560, 1, 2})
    ->UseRealTime();

// range: format, rows, cols, tokens, threads
void BM_BlockLinear(benchmark::State& state) {
  const auto format = static_cast<Format>(state.range(0));
  const int rows = static_cast<int>(state.range(1)), cols = static_cast<int>(state.range(2)),
            n = static_cast<int>(state.range(3));
  const Matrices weights(format, rows, cols, uint64_t{256} << 20);
  ThreadPool pool(static_cast<int>(state.range(4)));
  std::vector<cpu::Scratch> scratch(static_cast<size_t>(pool.size()), cpu::Scratch(cpu::block_scratch(cols, n)));
  const auto values = static_cast<size_t>(n) * static_cast<size_t>(cols);
  const std::vector<int8_t> q(values, 1);
  const std::vector<float> scale(values / kInt8Block, 1.0f);
  const std::vector<int32_t> sum(values / kInt8Block, kInt8Block);
  std::vector<float> out(static_cast<size_t>(n) * static_cast<size_t>(rows));
  size_t next = 0;
  for (auto _ : state) {
    const ops::FloatLinear args{
        {.blocks = {q.data(), scale.data(), sum.data()}}, n, &weights.tensors[next], ops::Store::kSet, out.data()};
    run(pool, scratch, cpu::float_linear, args);
    next = (next + 1) % weights.tensors.size();
  }
  state.SetLabel(std::string(format_info(format).name));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weights.tensors[0].data.size()));
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(rows) * cols * n, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_BlockLinear)
    ->ArgNames({"format", "rows", "cols", "tokens", "threads"})
    ->ArgsProduct({{static_cast<int>(Format::kQ1_0), static_cast<int>(Format::kQ2_0), static_cast<int>(Format::kPQ2_0),
                    static_cast<int>(Format::kQ4_0), static_cast<int>(Format::kQ8_0), static_cast<int>(Format::kQ6_K),
                    static_cast<int>(Format::kTQ2_0), static_cast<int>(Format::kQ4_K), static_cast<int>(Format::kQ5_K)},
                   {6144},
                   {2048},
                   {1, 128},
                   {1, 2}})
    ->UseRealTime();

void BM_Head(benchmark::State& state) {
  const int rows = 128256, cols = 2560;
  const Matrices weights(Format::kF16, rows, cols, tensor_bytes(Format::kF16, rows, cols));
  ThreadPool pool(static_cast<int>(state.range(0)));
  std::vector<cpu::Scratch> scratch(static_cast<size_t>(pool.size()), cpu::Scratch(cols));
  const std::vector<float> x(cols, 0.5f);
  std::vector<float> out(rows);
  for (auto _ : state)
    run(pool, scratch, cpu::float_linear,
        ops::FloatLinear{{.x = x.data()}, 1, weights.tensors.data(), ops::Store::kSet, out.data()});
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weights.tensors[0].data.size()));
}
BENCHMARK(BM_Head)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

// The best logit of a head with random values like BM_Head's, via its int8 copy (range: threads), and the number of
// rows that had to be computed. Bytes per second are the copy's.
void BM_ExactHead(benchmark::State& state) {
  const int rows = 128256, cols = 2560;
  Matrices weights(Format::kF16, rows, cols, tensor_bytes(Format::kF16, rows, cols));
  auto* values = reinterpret_cast<uint16_t*>(weights.memory.data());
  uint64_t random = 1;
  for (size_t i = 0; i < weights.tensors[0].data.size() / 2; ++i) {  // −0.06 … 0.06, nearly normal
    random = random * 6364136223846793005 + 1442695040888963407;
    const auto sum = static_cast<int>((random >> 60) + (random >> 56 & 15) + (random >> 52 & 15) + (random >> 48 & 15));
    values[i] = f32_to_f16(static_cast<float>(sum - 30) / 512 + static_cast<float>(random >> 40 & 255) / 131072);
  }
  ThreadPool pool(static_cast<int>(state.range(0)));
  cpu::BestLogits best(cpu::copy_head(weights.tensors[0], pool).value(), pool.size());
  std::vector<cpu::Scratch> scratch(static_cast<size_t>(pool.size()), cpu::Scratch(cpu::BestLogits::scratch(cols)));
  std::vector<float> x(cols), out(rows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7919 + 13) % 1000) / 500 - 1;
  const ops::FloatLinear op{{.x = x.data()}, 1, weights.tensors.data(), ops::Store::kSet, out.data()};
  for (auto _ : state) {
    CHECK(best.begin(1));
    std::atomic<int> next = 0, rest = 0;
    pool.run([&](int worker) {
      cpu::WorkQueue queue(next, pool.size(), scratch[static_cast<size_t>(worker)]);
      CHECK(best.estimate(op, worker, queue));
      pool.barrier();
      if (worker == 0) best.choose();
      pool.barrier();
      cpu::WorkQueue rest_share(rest, pool.size(), scratch[static_cast<size_t>(worker)]);
      best.rescore(op, worker, rest_share);
    });
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(best.copy().bytes_per_token()));
  state.counters["rescored"] = best.n_rescored();
}
BENCHMARK(BM_ExactHead)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

// One token, one layer after another. With 30 layers keys and values come from memory. range: history length, threads,
// KvType, layers
void BM_Attention(benchmark::State& state) {
  Config config;
  config.n_layers = static_cast<int>(state.range(3));
  config.n_kv_heads = 5;
  config.head_dim = 128;
  config.n_heads = 20;
  const auto type = static_cast<KvType>(state.range(2));
  const int n_pos = static_cast<int>(state.range(0));
  HostKvStore store(config, type);
  std::vector<std::byte*> blocks;
  for (KvBlockId block = 0; block < kv_blocks_for(n_pos); ++block) {
    CHECK(store.allocate(block));
    std::memset(store.data(block), 1, store.block_bytes());
    blocks.push_back(store.data(block));
  }
  const ops::KvRow row{blocks.data(), n_pos - 1};
  const ops::RowTile tile{0, 1};
  ThreadPool pool(static_cast<int>(state.range(1)));
  std::vector<cpu::Scratch> scratch(static_cast<size_t>(pool.size()),
                                    cpu::Scratch(cpu::attention_scratch(config.head_dim)));
  cpu::AttentionParts parts;
  CHECK(parts.reserve(1, config.n_heads, config.head_dim, n_pos));
  const std::vector<float> q(2560, 0.1f);
  std::vector<float> out(2560);
  int layer = 0;
  for (auto _ : state) {
    run(
        pool, scratch, [&](const auto& op, cpu::WorkQueue& queue) { cpu::attention(op, parts, queue); },
        ops::Attention{q.data(), {&row, 1}, {&tile, 1}, 20, 0, store.layer(layer), out.data()});
    layer = (layer + 1) % config.n_layers;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kv_layer_bytes(config, 0, n_pos, type)));
}
BENCHMARK(BM_Attention)
    ->ArgNames({"history", "threads", "kv", "layers"})
    ->ArgsProduct({{128, 256, 1024, 4096}, {1, 2}, {0, 2}, {1, 30}})
    ->UseRealTime();

// range: width
void BM_RmsNormQuantize(benchmark::State& state) {
  const int width = static_cast<int>(state.range(0));
  ThreadPool pool(1);
  std::vector<cpu::Scratch> scratch(1, cpu::Scratch(static_cast<size_t>(width)));
  const std::vector<float> x(static_cast<size_t>(width), 0.5f), gain(static_cast<size_t>(width), 1.0f);
  std::vector<int8_t> q(static_cast<size_t>(width));
  float scale = 0;
  int32_t sum = 0;
  for (auto _ : state) {
    run(pool, scratch, cpu::rms_norm_quantize,
        ops::RmsNormQuantize{x.data(), gain.data(), 1e-5f, 1, width, {q.data(), &scale, &sum}});
  }
}
BENCHMARK(BM_RmsNormQuantize)->ArgName("width")->Arg(2560)->Arg(6912)->UseRealTime();

// The cost of a phase of a token beyond its work.
void BM_Barrier(benchmark::State& state) {
  constexpr int kPhases = 1000;
  ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    pool.run([&](int) {
      for (int i = 0; i < kPhases; ++i) pool.barrier();
    });
  }
  state.SetItemsProcessed(state.iterations() * kPhases);
}
BENCHMARK(BM_Barrier)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace tern
