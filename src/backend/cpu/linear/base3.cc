#include "backend/cpu/linear/base3.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "backend/repack.h"
#include "base/check.h"
#include "base/half.h"
#include "quant/formats/tq1_0.h"

namespace tern::cpu {
namespace {

constexpr uint32_t kNumbers = 59049;  // 3^10

// The scale that all blocks with a nonzero scale share; 0 if there are none.
Result<float> common_scale(const Tensor& w) {
  uint16_t first = 0;
  const Bytes blocks = w.data.resident();
  for (size_t at = 0; at < blocks.size(); at += sizeof(Tq1_0Block)) {
    const uint16_t d = load<Tq1_0Block>(blocks.data() + at).d & 0x7FFF;  // the codes take care of the sign
    if (d == first || d == 0) continue;
    if (first != 0 || std::isnan(f16_to_f32(d)))
      return fail(
          ErrorCode::kNotSupported,
          "tensor {}: its TQ1_0 blocks have different scales ({} and {}), but a ternary matrix has one; convert "
          "the model to I2_S",
          w.name, f16_to_f32(first), f16_to_f32(d));
    first = d;
  }
  return f16_to_f32(first);
}

void rearrange_rows(const Tensor& w, size_t begin, size_t end, MutableBytes out) {
  const auto cols = static_cast<size_t>(w.cols);
  const size_t in_stride = row_bytes(w.format, w.cols), stride = base3_row_bytes(cols);
  std::vector<uint8_t> codes(cols);
  for (size_t r = begin; r < end; ++r) {
    decode_tq1_0_codes(w.data.resident().subspan(r * in_stride, in_stride), codes);
    base3_encode_row(codes, out.subspan(r * stride, stride));
  }
}

// Gate and up matrices of GLUs whose two matrices differ in format.
std::set<const Tensor*> unlike_pairs(const Plan& plan) {
  std::set<const Tensor*> unlike;
  for (const Step& step : plan.steps) {
    const auto* glu = std::get_if<step::TernaryGlu>(&step.body);
    if (glu && glu->w_gate->format != glu->w_up->format) unlike.insert({glu->w_gate, glu->w_up});
  }
  return unlike;
}

uint64_t base3_bytes(const Tensor& w) {
  return static_cast<uint64_t>(w.rows) * base3_row_bytes(static_cast<size_t>(w.cols));
}

Tensor rearranged(const Tensor& w, float scale, Bytes bytes) {
  Tensor tensor = w;
  tensor.scale = w.scale * scale;
  tensor.data = bytes;
  tensor.is_rearranged = true;
  return tensor;
}

}  // namespace

size_t base3_words(size_t cols) {
  const size_t words = (cols + kBase3Digits - 1) / kBase3Digits;
  return (words + kBase3Alignment - 1) / kBase3Alignment * kBase3Alignment;
}

void base3_encode_row(std::span<const uint8_t> codes, MutableBytes out) {
  const size_t words = base3_words(codes.size());
  CHECK(out.size() == words * sizeof(uint16_t));
  auto* const to = reinterpret_cast<uint16_t*>(out.data());
  std::fill_n(to, words, uint16_t{0});
  for (size_t t = 0; t < kBase3Digits; ++t) {
    const size_t first = t * words, n = first < codes.size() ? std::min(words, codes.size() - first) : 0;
    for (size_t j = 0; j < n; ++j) to[j] = static_cast<uint16_t>(to[j] * 3 + codes[first + j]);
    for (size_t j = n; j < words; ++j) to[j] = static_cast<uint16_t>(to[j] * 3);
  }
  for (size_t j = 0; j < words; ++j) {
    to[j] = static_cast<uint16_t>((static_cast<uint32_t>(to[j]) * 65536 + kNumbers - 1) / kNumbers);
  }
}

Result<Base3Matrix> to_base3(const Tensor& w) {
  CHECK(w.format == Format::kTQ1_0 && !w.is_rearranged);
  Base3Matrix result;
  TRY(const float scale, common_scale(w));
  TRY(result.memory, HostMemory::allocate(base3_bytes(w), "a ternary matrix"));
  const MutableBytes bytes(result.memory.data(), base3_bytes(w));
  rearrange_rows(w, 0, static_cast<size_t>(w.rows), bytes);
  result.tensor = rearranged(w, scale, bytes);
  return result;
}

Result<Base3Weights> rearrange_base3(Plan& plan, ThreadPool& pool) {
  std::map<const Tensor*, Tensor*> copies;  // a matrix may be in several steps
  Base3Weights result;
  std::vector<const Tensor*> originals;
  uint64_t bytes = 0;
  const std::set<const Tensor*> unlike = unlike_pairs(plan);
  TRY_STATUS(for_ternary_matrices(plan, [&](const Tensor*& w) -> Result<void> {
    if (w->format != Format::kTQ1_0 || copies.contains(w) || unlike.contains(w)) return {};
    copies[w] = nullptr;
    originals.push_back(w);
    bytes += base3_bytes(*w);
    return {};
  }));
  if (originals.empty()) return result;
  TRY(result.memory, HostMemory::allocate(bytes, "the ternary weights"));
  result.memory.advise_huge_pages();
  MutableBytes free(result.memory.data(), bytes);
  for (const Tensor* w : originals) {
    TRY(const float scale, common_scale(*w));
    const MutableBytes out = free.first(base3_bytes(*w));
    free = free.subspan(out.size());
    const auto rows = static_cast<size_t>(w->rows), workers = static_cast<size_t>(pool.size());
    pool.run([&](int worker) {
      const auto i = static_cast<size_t>(worker);
      rearrange_rows(*w, rows * i / workers, rows * (i + 1) / workers, out);
    });
    copies[w] = &result.tensors.emplace_back(rearranged(*w, scale, out));
  }
  TRY_STATUS(for_ternary_matrices(plan, [&](const Tensor*& w) -> Result<void> {
    if (const auto found = copies.find(w); found != copies.end()) w = found->second;
    return {};
  }));
  return result;
}

}  // namespace tern::cpu
