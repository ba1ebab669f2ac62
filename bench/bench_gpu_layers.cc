// Times the megakernel, which computes all layers of a token in one dispatch (kernels/megakernel/ternary_layers.h), by
// the number and size of its workgroups and the length of the history. Weights and activations are random.
//
//   bench_gpu_layers [GPU [NAME=VALUE …]]     names of TernaryLayersConfig's layout: workgroup, qkv, square, glu, wide,
//                                             ahead, splits; wgs=N,… (132), pos=N (128), layers=N (30), write=FILE,
//                                             warm=MS (1,000: how long it runs before), spin_limit=N, hash=1
//   with as_rows=1  the kernel for several sequences for one, and with
//   rows=N          for as many sequences (kernels/megakernel/ternary_rows.h): most_rows, heads, units, added of
//   TernaryRowsConfig
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/kernels/megakernel/ternary_rows.h"

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
  c.serial_subgroups = device.adapter().type == AdapterType::kSoftware;
  c.most_splits = number("splits", c.most_splits);
  c.most_short_splits = number("short_splits", c.most_short_splits);
  c.short_rounds = number("short_rounds", c.short_rounds);
  CHECK(c.place_matrices(1));
  const uint64_t matrix_bytes = uint64_t{16} * c.n_layers * c.layer_vectors;
  if (options.contains("same")) c.layer_vectors = 0;
  const uint32_t pos = number("pos", 128), n_blocks = pos / kBlockPositions + 1;
  const uint32_t rows = number("rows", 1);
  TernaryRowsConfig of_rows;
  const bool as_rows = rows > 1 || options.contains("as_rows");
  if (as_rows) {
    of_rows = rows_config(c, std::max(2u, std::bit_ceil(rows)));
    of_rows.square_lanes = number("square", of_rows.square_lanes);
    of_rows.wide_lanes = number("wide", of_rows.wide_lanes);
    of_rows.most_splits = std::min(number("splits", of_rows.most_splits), of_rows.most_splits);
    of_rows.most_rows = number("most_rows", 64);
    of_rows.heads_at_once = number("heads", 1);
    of_rows.units_ahead = number("units", of_rows.units_ahead);
    of_rows.most_ahead = number("ahead", of_rows.most_ahead);
    of_rows.rows_added = number("added", of_rows.rows_added);
    CHECK(fits(of_rows));
  }
  const auto kernel = as_rows ? ternary_rows(of_rows) : ternary_layers(c);
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
  const auto x = buffer("x", 4 * rows * c.d_model);
  std::vector<float> row_of_x(rows * c.d_model);
  for (auto& v : row_of_x) v = static_cast<float>(rand() % 2000 - 1000) * 0.001f;
  const auto angles = buffer("angles", uint64_t{8} * (pos + 1) * c.heads.head_dim / 2);
  const auto params = buffer("params", 4 * (64 + rows * n_blocks));
  std::vector<uint32_t> words(64 + rows * n_blocks);
  words[kNTokens] = rows;
  for (uint32_t row = 0; row < rows; ++row) {
    const uint32_t at = kFirstRow + row * kRowWords, table = 64 + row * n_blocks;
    words[at + kRowPos] = pos, words[at + kRowTable] = table;
    for (uint32_t i = 0; i < n_blocks; ++i) words[table + i] = row * n_blocks + i;
  }
  (void)device.write(*params, 0, std::as_bytes(std::span(words)));
  const auto kv = buffer("kv", uint64_t{4} * c.n_layers * rows * n_blocks * c.heads.n_kv_heads * c.heads.head_dim * 64);
  for (uint32_t& word : noise) word = static_cast<uint32_t>(rand()) * 2654435761u & 0xbfffbfffu;
  for (uint64_t at = 0; at < kv->bytes(); at += noise.size() * 4) {
    (void)device.write(*kv, at,
                       std::as_bytes(std::span(noise)).first(std::min<uint64_t>(noise.size() * 4, kv->bytes() - at)));
  }
  const auto exchange = buffer("words", 4 * (as_rows ? of_rows.n_words() : c.n_words()));
  const uint32_t spin_limit = number("spin_limit", 200000);
  (void)device.write(*exchange, 4 * LayersShape::kSpinLimit, std::as_bytes(std::span(&spin_limit, 1)));
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
    std::string_view list = options["wgs"];
    while (!list.empty()) {
      counts.push_back(static_cast<uint32_t>(std::stoul(std::string(list))));
      list.remove_prefix(std::min(list.find(','), list.size() - 1) + 1);
    }
  } else {
    counts = {132};
  }
  for (const uint32_t n : counts) {
    const Command command{.pipeline = *pipeline, .bindings = bindings.get(), .grid = {n, 1, 1}, .from = {}, .to = {}};
    std::vector<double> times;
    // Idle GPUs run at a fraction of their clock rate, and take a while to speed up.
    const auto is_cold = [&, began = std::chrono::steady_clock::now()] {
      return std::chrono::steady_clock::now() - began < std::chrono::milliseconds(number("warm", 1000));
    };
    const std::vector<Command> many(50, command);
    while (is_cold()) (void)device.time_whole(many);
    const uint32_t none = 0;
    (void)device.write(*exchange, 4 * LayersShape::kFailed, std::as_bytes(std::span(&none, 1)));
    for (int i = 0; i < 12; ++i) {
      (void)device.write(*x, 0, std::as_bytes(std::span(row_of_x)));
      const auto seconds = device.time_whole({&command, 1});
      if (!seconds) return std::fprintf(stderr, "%s\n", seconds.error().message.c_str()), 1;
      times.push_back(*seconds);
      std::vector<float> now(rows * c.d_model);
      (void)device.read({x.get(), 0, 0}, std::as_writable_bytes(std::span(now)));
      size_t hash = 0;
      for (const float v : now) hash = hash * 31 + std::hash<float>()(v);
      if (options.contains("hash")) std::printf("%zx ", hash % 65536);
    }
    std::ranges::sort(times);
    std::vector<uint32_t> after(64);
    (void)device.read({exchange.get(), 0, 256}, std::as_writable_bytes(std::span(after)));
    std::vector<float> result(rows * c.d_model);
    (void)device.read({x.get(), 0, 0}, std::as_writable_bytes(std::span(result)));
    std::printf(
        "%4u x %4u, pos %5u: least %.4f ms, median %.4f, most %.4f; failed %u; x %.5f %.5f; compiled in %.2f s\n", n,
        c.workgroup, pos, times.front() * 1e3, times[times.size() / 2] * 1e3, times.back() * 1e3,
        after[LayersShape::kFailed], result[0], result[rows * c.d_model - 1], compiled);
  }
  return 0;
}

}  // namespace
}  // namespace tern::gpu

int main(int argc, char** argv) { return tern::gpu::run(argc, argv); }
