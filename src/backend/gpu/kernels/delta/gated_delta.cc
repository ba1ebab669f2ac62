#include "backend/gpu/kernels/delta/delta_token.h"
#include "base/check.h"

namespace tern::gpu {

using namespace wgsl;
using namespace delta;

namespace {

// A padding after each part of a query or key makes parts start in different banks.
template <class I>
auto padded(const DeltaShape& s, const I& i) {
  return i + i / (s.head_dim / DeltaRuleConfig::kParts);
}
constexpr uint32_t padded_dim(const DeltaShape& s) { return s.head_dim + DeltaRuleConfig::kParts; }

// The head's query, key and value of the only row, convolved, in workgroup memory [3, head_dim], padded. Moves the
// columns. Only one of the heads that share a query and a key stores their columns.
Shared<F32> convolved_row(const GatedDeltaConfig& c, const In<"rows", F32>& rows, const In<"taps", F32>& taps,
                          const InOut<"state", F32>& state, const SequenceOf& sequence, const Name<U32>& head,
                          const LocalIndex& tid) {
  const DeltaShape& s = c.shape;
  const uint32_t dim = s.head_dim, n_columns = s.n_taps - 1;
  auto convolved = shared<F32>("convolved", 3 * padded_dim(s));
  auto key_head = let("key_head", key_head_of(s, head));
  auto is_first = let("is_first", s.is_tiled ? head < s.n_k_heads : head % (s.n_v_heads / s.n_k_heads) == 0u);
  loop("i", tid, 3 * dim, c.workgroup, [&](const Name<U32>& i) {
    auto of_key = let("of_key", i + i / dim * (s.key_width() - dim) + key_head * dim);
    auto of_value = let("of_value", i + head * dim + (2 * s.key_width() - 2 * dim));
    auto is_value = let("is_value", i >= 2 * dim);
    auto channel = let("channel", select(of_key, of_value, is_value));
    auto columns = let("columns", sequence.state_at + (s.columns_at()) + channel);
    std::vector<Var<F32>> inputs;
    for (uint32_t j = 0; j < n_columns; ++j) inputs.push_back(var("input", 0.0f));
    when(!sequence.is_new, [&] {
      for (uint32_t j = 0; j < n_columns; ++j) inputs[j] = state[columns + j * s.channels()];
    });
    auto now = let("now", rows[sequence.first * s.conv_stride() + channel]);
    auto sum = var("sum", 0.0f);
    for (uint32_t j = 0; j < s.n_taps; ++j) {
      auto tap = let("tap", taps[channel * s.n_taps + j]);
      if (j < n_columns) {
        sum += tap * inputs[j];
      } else {
        sum += tap * now;
      }
    }
    auto v = let("v", sum);
    convolved[padded(s, i)] = v / (1.0f + exp(-v));
    when(is_first || is_value, [&] {
      auto to_columns = let("to_columns", sequence.to + (s.columns_at()) + channel);
      for (uint32_t j = 0; j + 1 < n_columns; ++j) state[to_columns + j * s.channels()] = inputs[j + 1];
      state[to_columns + (n_columns - 1) * s.channels()] = now;
    });
  });
  workgroupBarrier();
  return convolved;
}

}  // namespace

bool has_gated_delta(const GatedDeltaConfig& c, uint32_t most_invocations) {
  const DeltaShape& s = c.shape;
  return s.are_side_by_side && s.n_taps > 1 && c.workgroup <= most_invocations &&
         c.workgroup % GatedNormConfig::kLanes == 0 && DeltaRuleConfig::kParts * s.head_dim % c.workgroup == 0;
}

namespace {

struct GatedDeltaViews {
  In<"rows", F32> rows;
  In<"taps", F32> taps;
  In<"decay", F32> decay;
  In<"dt_bias", F32> dt_bias;
  In<"gain", F32> gain;
  SequencesBuffer sequences;
  InOut<"state", F32> state;
  Out<"y", F32> y;
};
// Where a token's results of a head are.
struct HeadResults {
  Name<U32> row, head;
  Shared<F32> values;  // only if they are kept
};

HeadResults token_of_head(const GatedDeltaConfig& c, const GatedDeltaViews& views, const WorkgroupId& wg,
                          const LocalIndex& tid, bool keeps) {
  const auto& [rows, taps, decay, dt_bias, gain, sequences, state, y] = views;
  constexpr uint32_t kParts = DeltaRuleConfig::kParts;
  const DeltaShape& s = c.shape;
  const uint32_t dim = s.head_dim, at_once = c.workgroup / kParts;
  auto head = let("head", wg.x);
  auto number = let("number", wg.y);
  const SequenceOf sequence(sequences, s, number);
  auto part = let("part", tid % kParts);
  std::vector<Name<U32>> columns;
  std::vector<ColumnPart> parts;
  for (uint32_t first = 0; first < dim; first += at_once) {
    columns.push_back(let("column", tid / kParts + first));
    parts.emplace_back(s, sequence, head, part, columns.back());
  }
  when(!sequence.is_new, [&] {
    for (const ColumnPart& mine : parts) mine.load(state);
  });
  auto row = let("row", sequence.first * s.conv_stride());
  auto alpha = let("alpha", rows[row + (s.alpha_at()) + head]);
  auto beta = let("beta", rows[row + (s.beta_at()) + head]);
  auto decay_of_head = let("decay_of_head", decay[head]);
  auto bias = let("bias", dt_bias[head]);
  const Shared<F32> convolved = convolved_row(c, rows, taps, state, sequence, head, tid);
  auto outputs = shared<F32>("outputs", dim);
  TokenPart token;
  auto q_at = let("q_at", padded(s, parts.front().first_row));
  for (uint32_t i = 0; i < parts.front().n_rows; ++i) {
    token.query.push_back(let("query", convolved[q_at + i]));
    token.key.push_back(let("key", convolved[q_at + (padded_dim(s) + i)]));
  }
  const TokenFactors prepared = {delta_gates(alpha, beta, decay_of_head, bias),
                                 norm_factors(s, token, c.norm.caps, tid, c.workgroup)};
  auto factors_of_token = shared<Vec4<F32>>("factors", 1);
  when(tid == 0u, [&] { store_factors(factors_of_token, 0u, prepared); });
  workgroupBarrier();
  const TokenFactors factors = load_factors(factors_of_token, 0u);
  for (size_t i = 0; i < parts.size(); ++i) {
    auto at_value = let("at_value", columns[i] + 2 * dim);
    auto value = let("value", convolved[padded(s, at_value)]);
    auto result = take_token(parts[i], token, factors, value, c.norm.caps, tid, c.workgroup);
    when(part == 0u, [&] { outputs[columns[i]] = result; });
    parts[i].store(state);
  }
  workgroupBarrier();
  auto lane = let("lane", tid % GatedNormConfig::kLanes);
  const auto output = [&](const Name<U32>& i) { return outputs[i]; };
  auto factor = inverse_rms_over_lanes(c.norm, output, lane, tid, c.workgroup);
  loop("i", tid, dim, c.workgroup, [&](const Name<U32>& i) {
    auto v = let("v", outputs[i]);
    auto of_head = let("of_head", head * dim + i);
    auto g = let("g", rows[row + (s.gate_at()) + of_head]);
    auto result = let("gated", v * factor * gain[i] * (g / (1.0f + exp(-g))));
    y[sequence.first * s.value_width() + of_head] = result;
    if (keeps) outputs[i] = result;  // its only reader is this invocation
  });
  return {sequence.first, head, outputs};
}

}  // namespace

GatedDeltaKernel gated_delta(const GatedDeltaConfig& c) {
  return kernel("gated_delta", c.workgroup,
                [&](In<"rows", F32> rows, In<"taps", F32> taps, In<"decay", F32> decay, In<"dt_bias", F32> dt_bias,
                    In<"gain", F32> gain, SequencesBuffer sequences, InOut<"state", F32> state, Out<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  token_of_head(c, {rows, taps, decay, dt_bias, gain, sequences, state, y}, wg, tid, /*keeps=*/false);
                });
}

GatedDeltaLeavingKernel gated_delta_leaving(const GatedDeltaConfig& c, const WeightCoding& coding) {
  return kernel(
      "gated_delta_leaving", c.workgroup,
      [&](In<"rows", F32> rows, In<"taps", F32> taps, In<"decay", F32> decay, In<"dt_bias", F32> dt_bias,
          In<"gain", F32> gain, SequencesBuffer sequences, InOut<"state", F32> state, Out<"y", F32> y, LeftX x8,
          LeftRuns runs, WorkgroupId wg, LocalIndex tid) {
        const HeadResults results =
            token_of_head(c, {rows, taps, decay, dt_bias, gain, sequences, state, y}, wg, tid, /*keeps=*/true);
        workgroupBarrier();
        auto first = let("first_of_head", results.head * c.shape.head_dim);
        leave_int8({{.width = c.shape.value_width(), .coding = coding, .caps = c.norm.caps, .workgroup = c.workgroup},
                    results.row,
                    tid,
                    x8,
                    runs},
                   first, c.shape.head_dim, [&](const Name<U32>& i) { return let("result", results.values[i]); });
      });
}

}  // namespace tern::gpu
