#include "backend/gpu/kernels/delta.h"

#include <cmath>

namespace tern::gpu {

using namespace wgsl;

namespace {

// A sequence of the batch.
struct SequenceOf {
  SequenceOf(const SequencesBuffer& sequences, const DeltaShape& c, const Name<U32>& number)
      : first(let("first", sequences[number * kSequenceWords + kFirstRowOf])),
        n(let("n", sequences[number * kSequenceWords + kRowsOf])),
        state_at(let("state_at", sequences[number * kSequenceWords + kStateOf] * c.state_floats())),
        to(let("to_state", sequences[number * kSequenceWords + kStateTo] * c.state_floats())),
        is_new(let("is_new", sequences[number * kSequenceWords + kIsNew] != 0u)) {}
  Name<U32> first, n, state_at, to;
  Name<Bool> is_new;
};

}  // namespace

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
                            auto at = let("at", (wg.y - before) * c.channels() + channel);
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
                  auto at = let("at", (sequence.first + from - n_columns) * c.channels() + channel);
                  value = x[at];
                },
                [&] { when(!sequence.is_new, [&] { value = state[columns + from * c.channels()]; }); });
            state[to_columns + j * c.channels()] = value;
          }
        });
      });
}

namespace {

// The part of a column of S that an invocation keeps in registers: n_rows rows from first_row on.
struct ColumnPart {
  ColumnPart(const DeltaRuleConfig& c, const SequenceOf& sequence, const WorkgroupId& wg, const LocalIndex& tid)
      : n_rows(c.shape.head_dim / DeltaRuleConfig::kParts),
        head(let("head", wg.x / c.parts_of_head())),
        part(let("part", tid % DeltaRuleConfig::kParts)),
        column(let("column", (wg.x % c.parts_of_head()) * c.columns() + tid / DeltaRuleConfig::kParts)),
        first_row(let("first_row", part * n_rows)),
        in_state(let("in_state", (head * c.shape.head_dim + first_row) * c.shape.head_dim + column)),
        place(let("place", sequence.state_at + in_state)),
        to_place(let("to_place", sequence.to + in_state)) {
    for (uint32_t i = 0; i < n_rows; ++i) s.push_back(var("s", 0.0f));
  }

  uint32_t n_rows;
  Name<U32> head, part, column, first_row;
  Name<U32> in_state, place, to_place;  // of the first row: within its state; in the states before and after
  std::vector<Var<F32>> s;
};

// How much of S stays, and how much of a token is written.
struct DeltaGates {
  Name<F32> shrink, strength;
};
template <class Alpha, class Beta>
DeltaGates delta_gates(const Alpha& alpha, const Beta& beta, const Name<F32>& decay, const Name<F32>& bias,
                       const Name<U32>& of_head) {
  auto dt = let("dt", alpha[of_head] + bias);
  auto softplus = let("softplus", select(log(1.0f + exp(min(dt, 20.0f))), dt, dt > 20.0f));
  auto shrink = let("shrink", exp(decay * softplus));
  return {shrink, let("strength", 1.0f / (1.0f + exp(-beta[of_head])))};
}

// One token: reads what S predicts for its key, writes the difference from its value, and reads for its query. Queries
// and keys are not normed yet, so the factors that norm them are applied to the results.
Name<F32> take_token(const DeltaRuleConfig& c, const ColumnPart& mine, const Shared<F32>& keys,
                     const Shared<F32>& queries, const Name<U32>& staged, const DeltaGates& gates,
                     const Name<F32>& value, const LocalIndex& tid) {
  const auto sum_of_parts = [&](const Var<F32>& part) {
    auto v = let("mine", part);
    return reduce_lanes(Reduce::kSum, c.caps, v, tid, DeltaRuleConfig::kParts, c.workgroup());
  };
  auto predicted = var("predicted", 0.0f);
  auto k_squares = var("k_squares", 0.0f);
  auto q_squares = var("q_squares", 0.0f);
  for (uint32_t i = 0; i < mine.n_rows; ++i) {
    auto k = let("k", keys[staged + i]);
    auto q = let("q", queries[staged + i]);
    predicted += k * mine.s[i];
    k_squares += k * k;
    q_squares += q * q;
  }
  auto all_predicted = sum_of_parts(predicted);
  auto k_scale = let("k_scale", inverseSqrt(sum_of_parts(k_squares) + 1e-6f));
  const float per_dim = 1.0f / std::sqrt(static_cast<float>(c.shape.head_dim));
  auto q_scale = let("q_scale", inverseSqrt(sum_of_parts(q_squares) + 1e-6f) * per_dim);
  auto delta = let("delta", gates.strength * (value - gates.shrink * (all_predicted * k_scale)) * k_scale);
  auto out = var("out", 0.0f);
  for (uint32_t i = 0; i < mine.n_rows; ++i) {
    auto k = let("k", keys[staged + i]);
    auto q = let("q", queries[staged + i]);
    auto updated = let("updated", gates.shrink * mine.s[i] + k * delta);
    mine.s[i] = updated;
    out += q * updated;
  }
  return let("result", sum_of_parts(out) * q_scale);
}

}  // namespace

DeltaRuleKernel delta_rule(const DeltaRuleConfig& c) {
  constexpr uint32_t kTokens = 8;  // whose queries and keys are staged at a time
  const DeltaShape& s = c.shape;
  const uint32_t dim = s.head_dim;
  return kernel(
      "delta_rule", c.workgroup(),
      [&](In<"x", F32> x, In<"alpha", F32> alpha, In<"beta", F32> beta, In<"decay", F32> decay,
          In<"dt_bias", F32> dt_bias, SequencesBuffer sequences, InOut<"state", F32> state, Out<"y", F32> y,
          WorkgroupId wg, LocalIndex tid) {
        auto number = let("number", wg.y);
        const SequenceOf sequence(sequences, s, number);
        const ColumnPart mine(c, sequence, wg, tid);
        when(!sequence.is_new, [&] {
          for (uint32_t i = 0; i < mine.n_rows; ++i) mine.s[i] = state[mine.place + i * dim];
        });
        auto key_head = let("key_head", s.is_tiled ? mine.head % s.n_k_heads : mine.head / (s.n_v_heads / s.n_k_heads));
        auto decay_of_head = let("decay_of_head", decay[mine.head]);
        auto bias = let("bias", dt_bias[mine.head]);
        auto keys = shared<F32>("keys", kTokens * dim);
        auto queries = shared<F32>("queries", kTokens * dim);
        loop("chunk", 0u, sequence.n, kTokens, [&](const Name<U32>& chunk) {
          auto n_here = let("n_here", min(sequence.n - chunk, kTokens));
          workgroupBarrier();
          loop("i", tid, n_here * dim, c.workgroup(), [&](const Name<U32>& i) {
            auto source = let("source", (sequence.first + chunk + i / dim) * s.channels() + key_head * dim + i % dim);
            queries[i] = x[source];
            keys[i] = x[source + s.key_width()];
          });
          workgroupBarrier();
          loop("t", 0u, n_here, 1u, [&](const Name<U32>& t) {
            auto row = let("row", sequence.first + chunk + t);
            auto of_head = let("of_head", row * s.n_v_heads + mine.head);
            const DeltaGates gates = delta_gates(alpha, beta, decay_of_head, bias, of_head);
            auto at = let("at", mine.head * dim + mine.column);
            auto value = let("value", x[row * s.channels() + 2 * s.key_width() + at]);
            auto staged = let("staged", t * dim + mine.first_row);
            auto result = take_token(c, mine, keys, queries, staged, gates, value, tid);
            when(mine.part == 0u, [&] { y[row * s.value_width() + at] = result; });
          });
        });
        for (uint32_t i = 0; i < mine.n_rows; ++i) state[mine.to_place + i * dim] = mine.s[i];
      });
}

GatedNormKernel gated_norm(const HeadNormConfig& c) {
  return kernel(
      "gated_norm", c.workgroup,
      [&](In<"x", F32> x, In<"gate", F32> gate, In<"gain", F32> gain, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) {
        auto head = let("head", (wg.y * c.n_heads + wg.x) * c.head_dim);
        auto factor = inverse_head_rms(c, x, head, tid);
        loop("i", tid, c.head_dim, c.workgroup, [&](const Name<U32>& i) {
          auto v = let("v", x[head + i]);
          auto g = let("g", gate[head + i]);
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

SigmoidMulKernel sigmoid_mul(const RowsConfig& c) {
  return kernel("sigmoid_mul", kElementwiseWorkgroup,
                [&](In<"gate", F32> gate, InOut<"x", F32> x, WorkgroupId wg, LocalIndex tid) {
                  for_column(c.width, wg, tid, [&](const Name<U32>& column) {
                    auto i = let("i", wg.y * c.width + column);
                    auto g = let("g", gate[i]);
                    x[i] = x[i] / (1.0f + exp(-g));
                  });
                });
}

}  // namespace tern::gpu
