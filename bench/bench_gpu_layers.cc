// All layers of a token in one dispatch (kernels/ternary_layers.h): how long they take, by how many workgroups of which
// size share them, and how long the history is. Weights and activations are anything.
//
//   bench_gpu_layers [GPU [NAME=VALUE …]]     names of TernaryLayersConfig's layout: workgroup, qkv, square, glu, wide,
//                                             ahead, splits; wgs=N (132), pos=N (128), layers=N (30), write=FILE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/ternary_layers.h"

namespace tern::gpu {
namespace {

int run(int argc, char** argv) {
  std::map<std::string, std::string> options;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    options[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  const auto number = [&](const char* name, uint32_t otherwise) {
    return options.contains(name) ? static_cast<uint32_t>(std::stoul(options[name])) : otherwise;
  };
  auto opened = open_device({.adapter = argc > 1 ? argv[1] : ""});
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
  Device& device = **opened;
  TernaryLayersConfig c{{.n_layers = number("layers", 30),
                         .d_model = 2560,
                         .d_ff = 6912,
                         .heads = {20, 5, 128},
                         .eps = 1e-5f,
                         .caps = {.packed_dot = true, .subgroup = device.features().subgroup_min}}};
  if (options.contains("tiny")) c.d_model = 256, c.d_ff = 512, c.heads = {4, 2, 64};
  c.workgroup = number("workgroup", c.workgroup);
  c.qkv_lanes = number("qkv", c.qkv_lanes);
  c.square_lanes = number("square", c.square_lanes);
  c.glu_lanes = number("glu", c.glu_lanes);
  c.wide_lanes = number("wide", c.wide_lanes);
  c.most_ahead = number("ahead", c.most_ahead);
  c.in_turns = device.adapter().type == AdapterType::kSoftware;
  c.most_splits = number("splits", std::min(c.most_splits, c.caps.subgroup));
  CHECK(c.place_matrices(1));
  const uint64_t matrix_bytes = uint64_t{16} * c.n_layers * c.layer_vectors;
  if (options.contains("same")) c.layer_vectors = 0;
  const uint32_t pos = number("pos", 128), n_blocks = pos / kBlockPositions + 1;
  const auto kernel = ternary_layers(c);
  if (options.contains("write")) std::ofstream(options["write"]) << kernel.module.text;
  const auto pipeline = device.pipeline(kernel.module);
  if (!pipeline) return std::fprintf(stderr, "%s\n", pipeline.error().message.c_str()), 1;
  const auto buffer = [&](const char* name, uint64_t bytes) {
    return std::move(device.new_buffer(name, bytes, BufferUse::kWork)).value();
  };
  const auto w = buffer("w", matrix_bytes);
  std::vector<uint32_t> noise(1 << 20);
  for (auto& word : noise) word = static_cast<uint32_t>(rand()) * 2654435761u & 0xaaaaaaaau;
  for (uint64_t at = 0; at < w->bytes(); at += noise.size() * 4) {
    (void)device.write(*w, at,
                       std::as_bytes(std::span(noise)).first(std::min<uint64_t>(noise.size() * 4, w->bytes() - at)));
  }
  const auto vectors = buffer("vectors", uint64_t{4} * c.n_layers * c.layer_values());
  std::vector<float> ones(c.n_layers * c.layer_values(), 1.0f);
  for (uint32_t l = 0; l < c.n_layers; ++l) {
    for (uint32_t i = 0; i < 8; ++i) ones[l * c.layer_values() + c.scales() + i] = 0.01f;
  }
  (void)device.write(*vectors, 0, std::as_bytes(std::span(ones)));
  const auto x = buffer("x", 4 * c.d_model);
  std::vector<float> row_of_x(c.d_model);
  for (auto& v : row_of_x) v = static_cast<float>(rand() % 2000 - 1000) * 0.001f;
  const auto angles = buffer("angles", uint64_t{8} * (pos + 1) * c.heads.head_dim / 2);
  const auto params = buffer("params", 4 * 4096);
  std::vector<uint32_t> words(4096);
  words[kFirstRow + kRowPos] = pos, words[kFirstRow + kRowTable] = 16;
  for (uint32_t i = 0; i < n_blocks; ++i) words[16 + i] = i;
  (void)device.write(*params, 0, std::as_bytes(std::span(words)));
  const auto kv = buffer("kv", uint64_t{4} * c.n_layers * n_blocks * c.heads.n_kv_heads * c.heads.head_dim * 64);
  for (uint32_t& word : noise) word = static_cast<uint32_t>(rand()) * 2654435761u & 0xbfffbfffu;
  for (uint64_t at = 0; at < kv->bytes(); at += noise.size() * 4) {
    (void)device.write(*kv, at,
                       std::as_bytes(std::span(noise)).first(std::min<uint64_t>(noise.size() * 4, kv->bytes() - at)));
  }
  const auto exchange = buffer("words", 4 * c.n_words());
  const uint32_t patience = 200'000;
  (void)device.write(*exchange, 4 * LayersShape::kPatience, std::as_bytes(std::span(&patience, 1)));
  const BufferView views[] = {{w.get(), 0, 0},      {vectors.get(), 0, 0}, {x.get(), 0, 0},       {angles.get(), 0, 0},
                              {params.get(), 0, 0}, {kv.get(), 0, 0},      {exchange.get(), 0, 0}};
  const auto bindings = device.bind(**pipeline, views).value();
  const auto start = std::chrono::steady_clock::now();
  const Command one{.pipeline = *pipeline, .bindings = bindings.get(), .grid = {1, 1, 1}, .from = {}, .to = {}};
  if (const auto ready = device.prepare({&one, 1}); !ready)
    return std::fprintf(stderr, "%s\n", ready.error().message.c_str()), 1;
  const double compiled = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<uint32_t> counts;
  if (options.contains("wgs")) {
    counts = {number("wgs", 132)};
  } else {
    counts = {132};
  }
  for (const uint32_t n : counts) {
    const Command command{.pipeline = *pipeline, .bindings = bindings.get(), .grid = {n, 1, 1}, .from = {}, .to = {}};
    std::vector<double> times;
    for (int i = 0; i < 12; ++i) {
      (void)device.write(*x, 0, std::as_bytes(std::span(row_of_x)));
      const auto seconds = device.time_whole({&command, 1});
      if (!seconds) return std::fprintf(stderr, "%s\n", seconds.error().message.c_str()), 1;
      times.push_back(*seconds);
      std::vector<float> now(c.d_model);
      (void)device.read({x.get(), 0, 0}, std::as_writable_bytes(std::span(now)));
      size_t hash = 0;
      for (const float v : now) hash = hash * 31 + std::hash<float>()(v);
      if (options.contains("hash")) std::printf("%zx ", hash % 65536);
    }
    std::ranges::sort(times);
    std::vector<uint32_t> after(c.n_words());
    (void)device.read({exchange.get(), 0, 0}, std::as_writable_bytes(std::span(after)));
    std::vector<float> result(c.d_model);
    (void)device.read({x.get(), 0, 0}, std::as_writable_bytes(std::span(result)));
    std::printf(
        "%4u x %4u, pos %5u: least %.4f ms, median %.4f, most %.4f; failed %u; x %.5f %.5f; compiled in %.2f s\n", n,
        c.workgroup, pos, times.front() * 1e3, times[times.size() / 2] * 1e3, times.back() * 1e3,
        after[LayersShape::kFailed], result[0], result[c.d_model - 1], compiled);
  }
  return 0;
}

}  // namespace
}  // namespace tern::gpu

int main(int argc, char** argv) { return tern::gpu::run(argc, argv); }
