#include "backend/gpu/kernels/delta/delta.h"

#include <cmath>
#include <optional>

#include "backend/gpu/kernels/delta/delta_token.h"

namespace tern::gpu {

using namespace wgsl;
using namespace delta;

CausalConvKernel causal_conv(const DeltaShape& c) {
  const uint32_t n_columns = c.n_taps - 1;
  return kernel("causal_conv", kElementwiseWorkgroup,
                [&](In<"x", F32> x, In<"taps", F32> taps, SequencesBuffer sequences, In<"state", F32> state,
                    Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  auto number = let("number", sequences[wg.y + kSequenceOfRow]);
                  const SequenceOf sequence(sequences, c, number);
                  auto row = let("row", wg.y - sequence.first);
                  for_column(c.channels(), wg, tid, [&](const Name<U32>& channel) {
                    auto sum = var("sum", 0.0f);
                    for (uint32_t j = 0; j < c.n_taps; ++j) {
                      // The input of the row n_columns − j before this one: in the batch, or kept in the state.
                      const uint32_t before = n_columns - j;
                      auto tap = let("tap", taps[channel * c.n_taps + j]);
                      when(
                          row >= before,
                          [&] {
                            auto at = let("at", (wg.y - before) * c.conv_stride() + channel);
                            sum += tap * x[at];
                          },
                          [&] {
                            when(!sequence.is_new, [&] {
                              auto column = let("kept", row + j);
                              auto at = let("at", sequence.state_at + c.columns_at() + column * c.channels() + channel);
                              sum += tap * state[at];
                            });
                          });
                    }
                    auto v = let("v", sum);
                    y[wg.y * c.channels() + channel] = v / (1.0f + exp(-v));
                  });
                });
}

// Invocations write only what they themselves have read, so columns may move within the state.
KeepColumnsKernel keep_columns(const DeltaShape& c) {
  const uint32_t n_columns = c.n_taps - 1;
  return kernel(
      "keep_columns", kElementwiseWorkgroup,
      [&](In<"x", F32> x, SequencesBuffer sequences, InOut<"state", F32> state, WorkgroupId wg, LocalIndex tid) {
        auto number = let("number", wg.y);
        const SequenceOf sequence(sequences, c, number);
        for_column(c.channels(), wg, tid, [&](const Name<U32>& channel) {
          auto columns = let("columns", sequence.state_at + (c.columns_at()) + channel);
          auto to_columns = let("to_columns", sequence.to + (c.columns_at()) + channel);
          for (uint32_t j = 0; j < n_columns; ++j) {
            // Column j takes input n + j, counted from the oldest column.
            auto from = let("source", sequence.n + j);
            auto value = var("value", 0.0f);
            when(
                from >= n_columns,
                [&] {
                  auto at = let("at", (sequence.first + from - n_columns) * c.conv_stride() + channel);
                  value = x[at];
                },
                [&] { when(!sequence.is_new, [&] { value = state[columns + from * c.channels()]; }); });
            state[to_columns + j * c.channels()] = value;
          }
        });
      });
}

namespace {

// Keys, queries and values of some tokens in workgroup memory, with what each token's norms and gates come to. A
// padding after each part of a key or query makes parts start in different banks.
class StagedTokens {
 public:
  static constexpr uint32_t kTokens = 8;

  explicit StagedTokens(const DeltaRuleConfig& c)
      : c_(c),
        keys_(shared<Vec4<F32>>("keys", kTokens * DeltaRuleConfig::kParts * stride())),
        queries_(shared<Vec4<F32>>("queries", kTokens * DeltaRuleConfig::kParts * stride())),
        values_(shared<F32>("values", kTokens * c.columns())),
        factors_(shared<Vec4<F32>>("factors", kTokens)) {}

  // n tokens from row `first_row` of x on. first_value: of this workgroup, among a head's.
  void stage(const In<"x", Vec4<F32>>& x, const Name<U32>& first_row, const Name<U32>& n, const Name<U32>& key_head,
             const Name<U32>& first_value, const LocalIndex& tid) const {
    const DeltaShape& s = c_.shape;
    const uint32_t quads = s.head_dim / 4, of_part = quads / DeltaRuleConfig::kParts, of_row = s.channels() / 4;
    loop("i", tid, n * quads, c_.workgroup(), [&](const Name<U32>& i) {
      auto quad = let("quad", i % quads);
      auto source = let("source", (first_row + i / quads) * of_row + key_head * quads + quad);
      auto to = let("to", (i / quads * DeltaRuleConfig::kParts + quad / of_part) * stride() + quad % of_part);
      queries_[to] = x[source];
      keys_[to] = x[source + s.key_width() / 4];
    });
    const uint32_t value_quads = c_.columns() / 4;
    loop("i", tid, n * value_quads, c_.workgroup(), [&](const Name<U32>& i) {
      auto at_value = let("at_value", first_value / 4u + i % value_quads + (s.key_width() / 2));
      auto v = let("v", x[(first_row + i / value_quads) * of_row + at_value]);
      for (uint32_t k = 0; k < 4; ++k) values_[i * 4u + k] = at(v, k);
    });
  }

  // This invocation's part of a token's key and query.
  TokenPart part_of(const Name<U32>& t, const Name<U32>& part) const {
    auto from = let("from_part", (t * DeltaRuleConfig::kParts + part) * stride());
    TokenPart token;
    for (uint32_t j = 0; j + 1 < stride(); ++j) {
      auto k = let("k", keys_[from + j]);
      auto q = let("q", queries_[from + j]);
      for (uint32_t i = 0; i < 4; ++i) {
        token.key.push_back(let("key", at(k, i)));
        token.query.push_back(let("query", at(q, i)));
      }
    }
    return token;
  }

  // Computes the factors of all n tokens, each by as many invocations as there are parts. gates_of(t): of token t.
  template <class Gates>
  void prepare(const Name<U32>& n, const Name<U32>& part, const Gates& gates_of, const LocalIndex& tid) const {
    auto t = let("my_token", min(tid / DeltaRuleConfig::kParts % kTokens, n - 1u));
    const TokenFactors factors = {gates_of(t), norm_factors(c_.shape, part_of(t, part), c_.caps, tid, c_.workgroup())};
    when(part == 0u && tid < DeltaRuleConfig::kParts * kTokens, [&] { store_factors(factors_, t, factors); });
  }
  TokenFactors factors_of(const Name<U32>& t) const { return load_factors(factors_, t); }
  Name<F32> value(const Name<U32>& t, const Name<U32>& column) const {
    return let("value", values_[t * c_.columns() + column]);
  }

 private:
  uint32_t stride() const { return c_.shape.head_dim / 4 / DeltaRuleConfig::kParts + 1; }  // of parts, in quads

  DeltaRuleConfig c_;
  Shared<Vec4<F32>> keys_, queries_;
  Shared<F32> values_;
  Shared<Vec4<F32>> factors_;
};

}  // namespace

DeltaRuleKernel delta_rule(const DeltaRuleConfig& c) {
  const DeltaShape& s = c.shape;
  const uint32_t dim = s.head_dim;
  return kernel("delta_rule", c.workgroup(),
                [&](In<"x", Vec4<F32>> x, In<"alpha", F32> alpha, In<"beta", F32> beta, In<"decay", F32> decay,
                    In<"dt_bias", F32> dt_bias, SequencesBuffer sequences, InOut<"state", F32> state, Out<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  auto number = let("number", wg.y);
                  const SequenceOf sequence(sequences, s, number);
                  auto head = let("head", wg.x / c.parts_of_head());
                  auto part = let("part", tid % DeltaRuleConfig::kParts);
                  auto first_column = let("first_column", (wg.x % c.parts_of_head()) * c.columns());
                  auto in_group = let("in_group", tid / DeltaRuleConfig::kParts);
                  auto column = let("column", first_column + in_group);
                  const ColumnPart mine(s, sequence, head, part, column);
                  when(!sequence.is_new, [&] { mine.load(state); });
                  auto key_head = let("key_head", key_head_of(s, head));
                  auto decay_of_head = let("decay_of_head", decay[head]);
                  auto bias = let("bias", dt_bias[head]);
                  auto first_value = let("first_value", head * dim + first_column);
                  const StagedTokens staged(c);
                  loop("chunk", 0u, sequence.n, StagedTokens::kTokens, [&](const Name<U32>& chunk) {
                    auto n_here = let("n_here", min(sequence.n - chunk, StagedTokens::kTokens));
                    auto first_row = let("first_of_chunk", sequence.first + chunk);
                    workgroupBarrier();
                    staged.stage(x, first_row, n_here, key_head, first_value, tid);
                    workgroupBarrier();
                    const auto gates_of = [&](const Name<U32>& t) {
                      auto of_row = let("of_row", (first_row + t) * s.alpha_stride() + head);
                      auto alpha_of_head = let("alpha_of_head", alpha[of_row + s.alpha_at()]);
                      auto beta_of_head = let("beta_of_head", beta[of_row + s.beta_at()]);
                      return delta_gates(alpha_of_head, beta_of_head, decay_of_head, bias);
                    };
                    staged.prepare(n_here, part, gates_of, tid);
                    workgroupBarrier();
                    loop("t", 0u, n_here, 1u, [&](const Name<U32>& t) {
                      const TokenFactors factors = staged.factors_of(t);
                      auto value = staged.value(t, in_group);
                      auto result =
                          take_token(mine, staged.part_of(t, part), factors, value, c.caps, tid, c.workgroup());
                      when(part == 0u, [&] { y[(first_row + t) * s.value_width() + head * dim + column] = result; });
                    });
                  });
                  mine.store(state);
                });
}

GatedNormKernel gated_norm(const GatedNormConfig& c) {
  return kernel(
      "gated_norm", GatedNormConfig::kLanes,
      [&](In<"x", F32> x, In<"gate", F32> gate, In<"gain", F32> gain, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
        auto head = let("head", (wg.y * c.n_heads + wg.x) * c.head_dim);
        auto of_gate = let("of_gate", wg.y * c.gate_stride + (c.gate_at) + wg.x * c.head_dim);
        const auto value = [&](const Name<U32>& i) { return x[head + i]; };
        auto factor = inverse_rms_over_lanes(c, value, tid, tid, GatedNormConfig::kLanes);
        loop("i", tid, c.head_dim, GatedNormConfig::kLanes, [&](const Name<U32>& i) {
          auto v = let("v", value(i));
          auto g = let("g", gate[of_gate + i]);
          y[head + i] = v * factor * gain[i] * (g / (1.0f + exp(-g)));
        });
      });
}

SplitHeadsKernel split_heads(const SplitHeadsConfig& c) {
  const uint32_t width = c.n_heads * c.head_dim;
  return kernel("split_heads", kElementwiseWorkgroup,
                [&](In<"x", F32> x, Out<"q", F32> q, Out<"gate", F32> gate, WorkgroupId wg, LocalIndex tid) {
                  for_column(width, wg, tid, [&](const Name<U32>& i) {
                    auto from = let("source", wg.y * (2 * width) + i + i / c.head_dim * c.head_dim);
                    auto to = let("to", wg.y * width + i);
                    q[to] = x[from];
                    gate[to] = x[from + c.head_dim];
                  });
                });
}

TurnStatesKernel turn_states() {
  return kernel("turn_states", kMostSequences, [&](InOut<"sequences", U32> sequences, LocalIndex tid) {
    auto at = let("at", tid * kSequenceWords);
    auto from = let("from_state", sequences[at + kStateOf]);
    auto to = let("to_state", sequences[at + kStateTo]);
    sequences[at + kStateOf] = to;
    sequences[at + kStateTo] = from;
    sequences[at + kIsNew] = 0u;
  });
}

namespace {

struct RotateViews {
  In<"x", F32> x;
  In<"gain", F32> gain;
  In<"signs", F32> signs;
  Out<"y", F32> y;
};

// Returns the block's results in workgroup memory if `keeps` is true: not of an inverse.
Shared<F32> rotate_block(const RotateConfig& c, const RotateViews& views, const WorkgroupId& wg, const LocalIndex& tid,
                         bool keeps) {
  const uint32_t workgroup = c.workgroup();
  const auto& [x, gain, signs, y] = views;
  auto block = shared<F32>("block", c.block);
  auto row = let("row", wg.y * c.width);
  auto first = let("first", wg.x * c.block);
  std::optional<Name<F32>> factor;
  if (c.normed) {
    auto squares = var("squares", 0.0f);
    loop("i", tid, c.width, workgroup, [&](const Name<U32>& i) {
      auto v = let("v", x[row + i]);
      squares += v * v;
    });
    auto mine = let("mine", squares);
    auto total = reduce_workgroup(Reduce::kSum, c.caps, mine, tid, workgroup);
    factor = let("factor", 1.0f / sqrt(total / static_cast<float>(c.width) + c.eps));
  }
  for (uint32_t i = 0; i < c.block; i += workgroup) {
    auto at = let("at", first + i + tid);
    auto value = var("value", 0.0f);
    if (c.n_groups == 0) {
      value = x[row + at];
    } else {
      const uint32_t per_group = c.width / c.head_dim / c.n_groups;
      auto head = let("head", at / c.head_dim);
      auto source = let("source", (head % per_group * c.n_groups + head / per_group) * c.head_dim);
      value = x[row + source + at % c.head_dim];
    }
    if (factor) value = value * *factor * gain[at];
    if (!c.is_inverse) value = value * signs[at];
    block[tid + i] = value;
  }
  for (uint32_t half = 1; half < c.block; half *= 2) {
    workgroupBarrier();
    for (uint32_t i = 0; i < c.block / 2; i += workgroup) {
      auto pair = let("pair", tid + i);
      auto low = let("low", pair / half * (2 * half) + pair % half);
      auto a = let("a", block[low]);
      auto b = let("b", block[low + half]);
      block[low] = a + b;
      block[low + half] = a - b;
    }
  }
  workgroupBarrier();
  const float norm = 1 / std::sqrt(static_cast<float>(c.block));
  for (uint32_t i = 0; i < c.block; i += workgroup) {
    auto at = let("at", first + i + tid);
    auto value = let("value", block[tid + i] * norm);
    y[row + at] = c.is_inverse ? let("signed", value * signs[at]) : value;
    if (keeps) block[tid + i] = value;
  }
  return block;
}

}  // namespace

RotateKernel rotate(const RotateConfig& c) {
  return kernel("rotate", c.workgroup(),
                [&](In<"x", F32> x, In<"gain", F32> gain, In<"signs", F32> signs, Out<"y", F32> y, WorkgroupId wg,
                    LocalIndex tid) { rotate_block(c, {x, gain, signs, y}, wg, tid, /*keeps=*/false); });
}

RotateLeavingKernel rotate_leaving(const RotateConfig& c, const WeightCoding& coding) {
  CHECK(!c.is_inverse);
  return kernel(
      "rotate_leaving", c.workgroup(),
      [&](In<"x", F32> x, In<"gain", F32> gain, In<"signs", F32> signs, Out<"y", F32> y, LeftX x8, LeftRuns runs,
          WorkgroupId wg, LocalIndex tid) {
        const auto block = rotate_block(c, {x, gain, signs, y}, wg, tid, /*keeps=*/true);
        workgroupBarrier();
        auto first = let("first_of_block", wg.x * c.block);
        leave_int8(
            {{.width = c.width, .coding = coding, .caps = c.caps, .workgroup = c.workgroup()}, wg.y, tid, x8, runs},
            first, c.block, [&](const Name<U32>& i) { return let("kept", block[i]); });
      });
}

namespace {

// The result for a value of x, stored.
Name<F32> gate_value(const SigmoidMulConfig& c, const In<"gate", F32>& gate, const InOut<"x", F32>& x,
                     const WorkgroupId& wg, const Name<U32>& column) {
  auto i = let("i", wg.y * c.width + column);
  auto of_gate = c.stride == 0 ? i : let("of_gate", wg.y * c.stride + column + (column / c.head_dim + 1u) * c.head_dim);
  auto g = let("g", gate[of_gate]);
  auto gated = let("gated", x[i] / (1.0f + exp(-g)));
  x[i] = gated;
  return gated;
}

}  // namespace

SigmoidMulKernel sigmoid_mul(const SigmoidMulConfig& c) {
  return kernel("sigmoid_mul", kElementwiseWorkgroup,
                [&](In<"gate", F32> gate, InOut<"x", F32> x, WorkgroupId wg, LocalIndex tid) {
                  for_column(c.width, wg, tid, [&](const Name<U32>& column) { gate_value(c, gate, x, wg, column); });
                });
}

SigmoidMulLeavingKernel sigmoid_mul_leaving(const SigmoidMulConfig& c, const WeightCoding& coding, const Caps& caps) {
  CHECK(c.width % kElementwiseWorkgroup == 0);
  return kernel("sigmoid_mul_leaving", kElementwiseWorkgroup,
                [&](In<"gate", F32> gate, InOut<"x", F32> x, LeftX x8, LeftRuns runs, WorkgroupId wg, LocalIndex tid) {
                  auto results = shared<F32>("results", kElementwiseWorkgroup);
                  auto first = let("first_column", wg.x * kElementwiseWorkgroup);
                  auto column = let("column", first + tid);
                  results[tid] = gate_value(c, gate, x, wg, column);
                  workgroupBarrier();
                  leave_int8({{.width = c.width, .coding = coding, .caps = caps, .workgroup = kElementwiseWorkgroup},
                              wg.y,
                              tid,
                              x8,
                              runs},
                             first, kElementwiseWorkgroup,
                             [&](const Name<U32>& i) { return let("result", results[i]); });
                });
}

}  // namespace tern::gpu
