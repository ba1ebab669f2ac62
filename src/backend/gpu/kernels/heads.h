// Post-processing of the rows of all three projections, before attention: the head norms and RoPE.
#pragma once

#include <optional>

#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

struct HeadsConfig {
  HeadShape shape;
  bool interleaved = false;  // pairs are adjacent, not half a head apart
  bool normed = false;       // heads of q and k have RMS norms; otherwise the gains are not read
  float eps = 0;
  Caps caps;
  bool norms_values = false;  // those of v too, with a gain of 1
  bool gated = false;         // each query's head is followed by as many values of a gate, which are not read here
  uint32_t n_dims = 0;        // only the first dimensions of a head rotate, with pairs half of them apart; 0: all
  // Invocations that share a head. With subgroups, a team lies within one, and adds up the head's squares without a
  // barrier.
  uint32_t team() const { return caps.subgroup == 0 ? 32 : std::min(caps.subgroup, 32u); }
  uint32_t rows() const { return shape.n_heads + 2 * shape.n_kv_heads; }
  uint32_t rotated() const { return n_dims > 0 ? n_dims : shape.head_dim; }

  bool operator==(const HeadsConfig&) const = default;
};

// qkv: [n_tokens, n_heads + 2 n_kv_heads, head_dim], with gates between. Gains: [head_dim]. angles: (cos, sin) of
// [positions, rotated()/2].
// A batch row's BatchRow::angles says where its sequence's position 0 begins.
using QkvRows = wgsl::In<"qkv", wgsl::F32>;
using QueryGain = wgsl::In<"q_gain", wgsl::F32>;
using KeyGain = wgsl::In<"k_gain", wgsl::F32>;
using RopeAngles = wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>;
struct HeadInputs {
  QkvRows qkv;
  QueryGain q_gain;
  KeyGain k_gain;
  RopeAngles angles;
};

// The values of a head in workgroup memory.
struct HeadValues {
  wgsl::Shared<wgsl::F32> tile;
  wgsl::Name<wgsl::U32> base;
  std::optional<wgsl::Name<wgsl::F32>> factor;
  template <wgsl::ValueOf<wgsl::U32> I>
  wgsl::Temp<wgsl::F32> operator[](I&& i) const {
    auto value = wgsl::e(tile[base + std::forward<I>(i)]);
    if (factor) return std::move(value) * *factor;
    return value;
  }
};

// Processes one head per team of invocations, into workgroup memory: norms and rotates queries and keys, copies values.
class HeadTeams {
 public:
  // Only the first `n_teams` teams of the workgroup work.
  HeadTeams(const HeadsConfig& c, uint32_t n_teams, const wgsl::LocalIndex& tid, uint32_t workgroup);
  const wgsl::Name<wgsl::U32>& team() const { return team_; }
  const wgsl::Name<wgsl::U32>& lane() const { return lane_; }  // within the team

  // Processes head `row` with this invocation's team if `is_used`. All invocations must call it; it ends with a
  // barrier. turns: the token's row of the angles.
  void take(const HeadInputs& in, const wgsl::Name<wgsl::U32>& token, const wgsl::Name<wgsl::U32>& row,
            const wgsl::Name<wgsl::U32>& turns, const wgsl::Name<wgsl::Bool>& is_used) const;
  // The head that a team has processed.
  HeadValues values(const wgsl::Name<wgsl::U32>& team) const;

 private:
  HeadsConfig c_;
  wgsl::LocalIndex tid_;
  uint32_t workgroup_;
  wgsl::Shared<wgsl::F32> tile_;     // [teams, head_dim], without the norm's factor
  wgsl::Shared<wgsl::F32> factors_;  // [teams]
  wgsl::Name<wgsl::U32> team_, lane_;
};

}  // namespace tern::gpu
