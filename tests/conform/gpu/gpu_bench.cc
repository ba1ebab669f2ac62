#include "conform/gpu/gpu_bench.h"

#include <algorithm>
#include <map>

#include "backend/gpu/device/mutant_test_support.h"
#include "backend/gpu/record/steps/recorder.h"

namespace tern::conform {
namespace {

constexpr uint64_t kGuard = 256;  // bytes before and after every array; a multiple of any offset alignment

std::vector<uint32_t> with_guards(Bytes bytes) {
  std::vector<uint32_t> words((2 * kGuard + bytes.size() + 15) / 16 * 4, kPoison);
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(words)).begin() + kGuard);
  return words;
}

bool is_poison(Bytes bytes, size_t first) {  // `first`: offset of bytes[0] in the buffer
  const auto poison = std::bit_cast<std::array<std::byte, 4>>(kPoison);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != poison[(first + i) % 4]) return false;
  }
  return true;
}

// Runs the kernel once on one device. Returns the final contents of each array, guards included.
std::vector<std::vector<uint32_t>> run_on(gpu::Device& device, const wgsl::Module& module, gpu::Grid grid,
                                          std::span<const Bytes2Way> args) {
  std::vector<std::vector<uint32_t>> arrays;
  std::vector<std::unique_ptr<gpu::Buffer>> buffers;
  std::vector<gpu::BufferView> views;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool is_uniform = module.bindings[i].access == wgsl::Access::kUniform;
    arrays.push_back(with_guards(args[i].bytes));
    const Bytes words = std::as_bytes(std::span(arrays.back()));
    buffers.push_back(device
                          .new_buffer(module.bindings[i].name, words.size(),
                                      is_uniform ? gpu::BufferUse::kUniform : gpu::BufferUse::kWork)
                          .value());
    EXPECT_TRUE(device.write(*buffers.back(), 0, words));
    views.push_back({buffers.back().get(), kGuard, is_uniform ? args[i].bytes.size() : words.size() - kGuard});
  }
  const auto pipeline = device.pipeline(module);
  if (!pipeline) {
    ADD_FAILURE() << pipeline.error().message;
    return arrays;
  }
  const auto bindings = device.bind(**pipeline, views);
  if (!bindings) {
    ADD_FAILURE() << bindings.error().message;
    return arrays;
  }
  const gpu::Command command{.pipeline = *pipeline, .bindings = bindings->get(), .grid = grid, .from = {}, .to = {}};
  const auto submitted = device.submit(std::span(&command, 1));
  EXPECT_TRUE(submitted) << submitted.error().message;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].result.empty()) continue;
    const auto read = device.read({buffers[i].get(), 0, 0}, std::as_writable_bytes(std::span(arrays[i])));
    EXPECT_TRUE(read) << read.error().message;
  }
  const auto status = device.check();
  EXPECT_TRUE(status) << module.name << ": " << status.error().message;
  return arrays;
}

// By the variant's name. They are closed before main() returns, because NVIDIA's driver is gone when static objects
// end.
struct Benches : testing::Environment {
  std::map<std::string, std::unique_ptr<GpuBench>> of;

  void TearDown() override { of.clear(); }
};
Benches* const benches = static_cast<Benches*>(testing::AddGlobalTestEnvironment(new Benches));  // gtest owns it

}  // namespace

void GpuBench::run_module(const wgsl::Module& module, gpu::Grid grid, std::span<const Bytes2Way> args) {
  ASSERT_EQ(module.bindings.size(), args.size());
  const wgsl::Module kernel = gpu::mutated(module);
  const auto arrays = run_on(*devices_.front(), kernel, grid, args);
  if (devices_.size() > 1) {
    EXPECT_EQ(run_on(*devices_.back(), kernel, grid, args), arrays) << module.name << ": robustness differs";
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Bytes bytes = std::as_bytes(std::span(arrays[i]));
    const size_t end = kGuard + args[i].bytes.size();
    EXPECT_TRUE(is_poison(bytes.first(kGuard), 0)) << module.name << " wrote before " << module.bindings[i].name;
    EXPECT_TRUE(is_poison(bytes.subspan(end), end)) << module.name << " wrote behind " << module.bindings[i].name;
    if (!args[i].result.empty())
      std::ranges::copy(bytes.subspan(kGuard, args[i].result.size()), args[i].result.begin());
  }
}

std::vector<uint32_t> batch_params(uint32_t pos, uint32_t n, std::span<const uint32_t> table, uint32_t angles) {
  constexpr uint32_t kGap = 5;
  std::vector<uint32_t> params = {n, kPoison, kPoison};
  for (uint32_t i = 0; i < n; ++i) {
    params.insert(params.end(), {pos + i, gpu::kFirstRow + gpu::kRowWords * n + kGap, angles});
  }
  params.insert(params.end(), kGap, kPoison);
  params.insert(params.end(), table.begin(), table.end());
  return params;
}

std::vector<Variant> variants() {
  return {
      {"everything", {}, true},
      {"no_subgroups", {.subgroups = true}},
      {"no_dot4", {.packed_dot = true}},
      {"nothing", {.f16 = true, .subgroups = true, .subgroup_matrix = true, .packed_dot = true, .timestamps = true}},
      {"default_limits", {.default_limits = true}}};
}

std::vector<Variant> variants_without_integers() {
  auto some = variants();
  std::erase_if(some, [](const Variant& v) { return v.name == "no_subgroups" || v.name == "no_dot4"; });
  return some;
}

std::unique_ptr<GpuBench> GpuBench::open(const Variant& variant, std::string& why_not) {
  auto bench = std::make_unique<GpuBench>();
  for (const bool robust : {false, true}) {
    if (robust && !variant.compare_robustness) break;
    auto device = gpu::open_device({.validation = true, .robustness = robust, .without = variant.without});
    if (!device) {
      why_not = device.error().message;
      return nullptr;
    }
    bench->devices_.push_back(std::move(*device));
  }
  bench->caps_ = gpu::caps_of(bench->device());
  return bench;
}

void GpuConform::SetUp() {
  std::unique_ptr<GpuBench>& bench = benches->of[GetParam().name];
  std::string why_not;
  if (!bench) bench = GpuBench::open(GetParam(), why_not);
  if (!bench) GTEST_SKIP() << why_not;
  bench_ = bench.get();
}

}  // namespace tern::conform
