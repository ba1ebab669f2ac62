#include "backend/gpu/run/trust/check_attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/memory/batch/batch_words.h"
#include "backend/gpu/run/trust/noise.h"
#include "backend/kv_layout.h"
#include "base/half.h"

namespace tern::gpu {
namespace {

// Limit of the mean squared error divided by the mean square; see check_products.cc.
constexpr double kMostErrorOfAttention = 0.05;

struct FirstAttention {
  int step;
  const step::Attention* attention;
};

std::optional<FirstAttention> first_attention(const Plan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (const auto* attention = std::get_if<step::Attention>(&plan.steps[i].body)) {
      return FirstAttention{static_cast<int>(i), attention};
    }
  }
  return std::nullopt;
}

// Keys or values of one head in the first block, [kKvBlock][head_dim].
std::vector<double> values_of_head(std::span<const uint16_t> block, const step::Attention& s, int side, int kv_head) {
  const size_t n = static_cast<size_t>(kKvBlock) * static_cast<size_t>(s.head_dim);
  const auto of_head = block.subspan(static_cast<size_t>(side * s.n_kv_heads + kv_head) * n, n);
  std::vector<double> values;
  for (const uint16_t half : of_head) values.push_back(static_cast<double>(f16_to_f32(half)));
  return values;
}

// Attention of one head for one token. `sink`: a score without a value, or null.
std::vector<double> attend(std::span<const float> q, const std::vector<double>& keys, const std::vector<double>& values,
                           const step::Attention& s, const float* sink, int pos) {
  const auto dim = static_cast<size_t>(s.head_dim);
  const int first = s.window > 0 ? std::max(0, pos + 1 - s.window) : 0;
  std::vector<double> scores;
  for (int p = first; p <= pos; ++p) {
    const double* const key = keys.data() + static_cast<size_t>(p) * dim;
    const double score = std::inner_product(q.begin(), q.end(), key, 0.0) / std::sqrt(static_cast<double>(dim));
    scores.push_back(s.softcap > 0 ? s.softcap * std::tanh(score / s.softcap) : score);
  }
  const double greatest = *std::ranges::max_element(scores);
  std::vector<double> sums(dim);
  double total = sink ? std::exp(*sink - greatest) : 0;
  for (int p = first; p <= pos; ++p) {
    const double weight = std::exp(scores[static_cast<size_t>(p - first)] - greatest);
    total += weight;
    for (size_t i = 0; i < dim; ++i) sums[i] += weight * values[static_cast<size_t>(p) * dim + i];
  }
  for (double& sum : sums) sum /= total;
  return sums;
}

// The attention to check: queries, a block of keys and values, and the output.
struct Checked {
  std::vector<float> q, out;    // [n_tokens, n_heads, head_dim]
  std::vector<uint16_t> block;  // [2, n_kv_heads, kKvBlock, head_dim], f16
  std::vector<float> sinks;     // [n_heads]; empty: none
};

// The largest error divided by power, among some tokens and heads.
double error_of(const Checked& rows, const step::Attention& s, int n_tokens) {
  const auto dim = static_cast<size_t>(s.head_dim), width = static_cast<size_t>(s.n_heads) * dim;
  double worst = 0;
  for (const int head : {0, s.n_heads - 1}) {
    const int kv_head = head / (s.n_heads / s.n_kv_heads);
    const auto keys = values_of_head(rows.block, s, 0, kv_head), values = values_of_head(rows.block, s, 1, kv_head);
    for (const int token : {0, n_tokens / 3, n_tokens / 2 + 1, n_tokens - 1}) {
      double error = 0, power = 0;
      const size_t first = static_cast<size_t>(token) * width + static_cast<size_t>(head) * dim;
      const float* const sink = rows.sinks.empty() ? nullptr : &rows.sinks[static_cast<size_t>(head)];
      const auto expected = attend(std::span(rows.q).subspan(first, dim), keys, values, s, sink, token);
      for (size_t i = 0; i < dim; ++i) {
        const double off = static_cast<double>(rows.out[first + i]) - expected[i];
        error += off * off;
        power += expected[i] * expected[i];
      }
      // Values that are not finite are detected when a token is computed (engine/kv/not_finite.h).
      if (!std::isfinite(power) || power == 0) continue;
      if (!(error <= worst * power)) worst = error / power;
    }
  }
  return worst;
}

// Scores that grow with every position, and strongly from the first half of the positions to the second, so that
// earlier partial sums become small.
Checked growing_scores(const Checked& like, const step::Attention& s) {
  constexpr float kScoreOfHalf = 15, kScoreOfPosition = 0.05f;
  Checked rows = like;
  Noise random;
  for (float& q : rows.q) q = 1 + 0.1f * random();
  const auto dim = static_cast<size_t>(s.head_dim), n_keys = rows.block.size() / 2;
  const auto score_of = [](size_t position) {
    const float of_half = position < static_cast<size_t>(kKvBlock) / 2 ? -kScoreOfHalf : kScoreOfHalf;
    return of_half + kScoreOfPosition * static_cast<float>(position);
  };
  for (size_t i = 0; i < rows.block.size(); ++i) {
    const float score = score_of(i / dim % static_cast<size_t>(kKvBlock));
    rows.block[i] = f32_to_f16(i < n_keys ? score / std::sqrt(static_cast<float>(dim)) : random());
  }
  return rows;
}

}  // namespace

Result<void> check_attention(Device& device, const Plan& plan, const Program& program, const GpuKvStore& store,
                             const WorkBuffers& work) {
  const auto found = first_attention(plan);
  if (!found || store.type() != KvType::kF16) return {};
  const step::Attention& s = *found->attention;
  const int n_tokens = std::min(kCheckedPrompt, plan.config.n_vocab / 2);
  std::vector<TokenId> tokens(static_cast<size_t>(n_tokens));
  std::iota(tokens.begin(), tokens.end(), plan.config.n_vocab / 2);
  const std::vector<KvBlockId> blocks(1);
  const Slice slice{.tokens = tokens, .blocks = blocks, .n_ctx = n_tokens};
  BatchWords words;
  words.set({&slice, 1}, work.ropes());
  TRY_STATUS(words.write(device, work));
  std::vector<Command> commands;
  program.commands(words.shape, commands, 0, found->step + 1);
  TRY_STATUS(device.submit(commands));

  Checked rows;
  rows.q.resize(static_cast<size_t>(n_tokens * s.n_heads * s.head_dim));
  rows.out.resize(rows.q.size());
  rows.block.resize(2 * static_cast<size_t>(s.n_kv_heads * kKvBlock * s.head_dim));
  if (s.sinks) {
    Scratch scratch;
    rows.sinks.resize(static_cast<size_t>(s.n_heads));
    TRY(const Bytes sinks, s.sinks->data.read_all(scratch));
    format_info(s.sinks->format).decode(sinks, rows.sinks);
  }
  const auto view_of = [&](BufferView view, uint64_t offset, size_t bytes) {
    view.offset += offset, view.bytes = bytes;
    return view;
  };
  const size_t row_bytes = rows.q.size() * sizeof(float), block_bytes = rows.block.size() * sizeof(uint16_t);
  const BufferView q = view_of(work.view(s.q), 0, row_bytes), out = view_of(work.view(s.out), 0, row_bytes);
  const BufferView block =
      view_of(store.layer(s.layer), GpuKvStore::place(blocks.front()) * uint64_t{block_bytes}, block_bytes);
  TRY_STATUS(device.read(q, std::as_writable_bytes(std::span(rows.q))));
  TRY_STATUS(device.read(block, std::as_writable_bytes(std::span(rows.block))));
  TRY_STATUS(device.read(out, std::as_writable_bytes(std::span(rows.out))));
  double error = error_of(rows, s, n_tokens);
  if (error <= kMostErrorOfAttention) {  // now with other rows; only the step's last dispatches run again
    // In splits, sinks are merged with the sums in a dispatch of their own.
    const size_t n_again = commands.back().pipeline->module().name == kSinkMergeName ? 2 : 1;
    rows = growing_scores(rows, s);
    TRY_STATUS(device.write(*q.buffer, q.offset, std::as_bytes(std::span(rows.q))));
    TRY_STATUS(device.write(*block.buffer, block.offset, std::as_bytes(std::span(rows.block))));
    TRY_STATUS(device.submit(std::span(commands).last(n_again)));
    TRY_STATUS(device.read(out, std::as_writable_bytes(std::span(rows.out))));
    error = error_of(rows, s, n_tokens);
  }
  if (error <= kMostErrorOfAttention) return {};
  return fail(ErrorCode::kNotSupported,
              "the GPU {} computes wrongly (attention of a prompt: a relative error of {:.2g}); use the cpu backend",
              device.adapter().name, std::sqrt(error));
}

}  // namespace tern::gpu
