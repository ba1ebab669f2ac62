#include "backend/gpu/kernels/delta.h"

#include <cmath>

#include "backend/gpu/kernels/delta_token.h"

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

DeltaRuleKernel delta_rule(const DeltaRuleConfig& c) {
  constexpr uint32_t kTokens = 8;  // whose queries and keys are staged at a time
  const DeltaShape& s = c.shape;
  const uint32_t dim = s.head_dim;
  return kernel("delta_rule", c.workgroup(),
                [&](In<"x", F32> x, In<"alpha", F32> alpha, In<"beta", F32> beta, In<"decay", F32> decay,
                    In<"dt_bias", F32> dt_bias, SequencesBuffer sequences, InOut<"state", F32> state, Out<"y", F32> y,
                    WorkgroupId wg, LocalIndex tid) {
                  auto number = let("number", wg.y);
                  const SequenceOf sequence(sequences, s, number);
                  auto head = let("head", wg.x / c.parts_of_head());
                  auto part = let("part", tid % DeltaRuleConfig::kParts);
                  auto column = let("column", (wg.x % c.parts_of_head()) * c.columns() + tid / DeltaRuleConfig::kParts);
                  const ColumnPart mine(s, sequence, head, part, column);
                  when(!sequence.is_new, [&] { mine.load(state); });
                  auto key_head = let("key_head", key_head_of(s, head));
                  auto decay_of_head = let("decay_of_head", decay[head]);
                  auto bias = let("bias", dt_bias[head]);
                  auto keys = shared<F32>("keys", kTokens * dim);
                  auto queries = shared<F32>("queries", kTokens * dim);
                  loop("chunk", 0u, sequence.n, kTokens, [&](const Name<U32>& chunk) {
                    auto n_here = let("n_here", min(sequence.n - chunk, kTokens));
                    workgroupBarrier();
                    loop("i", tid, n_here * dim, c.workgroup(), [&](const Name<U32>& i) {
                      auto source =
                          let("source", (sequence.first + chunk + i / dim) * s.channels() + key_head * dim + i % dim);
                      queries[i] = x[source];
                      keys[i] = x[source + s.key_width()];
                    });
                    workgroupBarrier();
                    loop("t", 0u, n_here, 1u, [&](const Name<U32>& t) {
                      auto row = let("row", sequence.first + chunk + t);
                      auto alpha_of_head = let("alpha_of_head", alpha[row * s.alpha_stride() + (s.alpha_at()) + head]);
                      auto beta_of_head = let("beta_of_head", beta[row * s.alpha_stride() + (s.beta_at()) + head]);
                      const DeltaGates gates = delta_gates(alpha_of_head, beta_of_head, decay_of_head, bias);
                      auto at = let("at", head * dim + column);
                      auto value = let("value", x[row * s.channels() + 2 * s.key_width() + at]);
                      auto staged = let("staged", t * dim + mine.first_row);
                      const Staged token{keys, staged, queries, staged};
                      auto result = take_token(s, c.caps, c.workgroup(), mine, token, gates, value, tid);
                      when(part == 0u, [&] { y[row * s.value_width() + at] = result; });
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

RotateKernel rotate(const RotateConfig& c) {
  const uint32_t workgroup = c.workgroup();
  return kernel("rotate", workgroup,
                [&](In<"x", F32> x, In<"signs", F32> signs, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
                  auto block = shared<F32>("block", c.block);
                  auto row = let("row", wg.y * c.width);
                  auto first = let("first", wg.x * c.block);
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
                  }
                });
}

SigmoidMulKernel sigmoid_mul(const SigmoidMulConfig& c) {
  return kernel(
      "sigmoid_mul", kElementwiseWorkgroup,
      [&](In<"gate", F32> gate, InOut<"x", F32> x, WorkgroupId wg, LocalIndex tid) {
        for_column(c.width, wg, tid, [&](const Name<U32>& column) {
          auto i = let("i", wg.y * c.width + column);
          auto of_gate =
              c.stride == 0 ? i : let("of_gate", wg.y * c.stride + column + (column / c.head_dim + 1u) * c.head_dim);
          auto g = let("g", gate[of_gate]);
          x[i] = x[i] / (1.0f + exp(-g));
        });
      });
}

}  // namespace tern::gpu
