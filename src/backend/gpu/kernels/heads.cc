#include "backend/gpu/kernels/heads.h"

#include <vector>

namespace tern::gpu {

using namespace wgsl;

namespace {

// The two values of a pair that RoPE rotates, as loaded, and their gains.
struct HeadPair {
  Name<U32> pair, at_a, at_b;
  Name<F32> a, b, gain_a, gain_b;
  Name<Vec2<F32>> angle;
};

// Sets where pair `at` lies. Returns whether it rotates, if not all pairs do: the other dimensions pass in pairs of
// their own.
template <class At>
std::optional<Name<Bool>> place_pair(const HeadsConfig& c, const At& at, HeadPair& p) {
  const uint32_t half = c.shape.head_dim / 2, turned = c.rotated() / 2;
  if (turned == half) {
    p.at_a = let("at_a", c.interleaved ? at * 2u : e(at));
    p.at_b = let("at_b", p.at_a + (c.interleaved ? 1u : half));
    return {};
  }
  CHECK(!c.interleaved);
  auto turns_here = let("turns_here", at < turned);
  p.at_a = let("at_a", at + select(turned, 0u, turns_here));
  p.at_b = let("at_b", at + select(half, turned, turns_here));
  return turns_here;
}

}  // namespace

HeadTeams::HeadTeams(const HeadsConfig& c, uint32_t n_teams, const LocalIndex& tid, uint32_t workgroup)
    : c_(c),
      tid_(tid),
      workgroup_(workgroup),
      tile_(shared<F32>("tile", n_teams * c.shape.head_dim)),
      factors_(c.normed ? shared<F32>("factors", n_teams) : Shared<F32>{}),
      team_(let("team", tid / c.team())),
      lane_(let("team_lane", tid % c.team())) {
  CHECK(c.shape.head_dim % 4 == 0 && workgroup >= n_teams * c.team());
}

// RoPE is linear, so the norm's factor can be applied last: rope(norm(x)) = factor · rope(x·gain). This way a lane
// reads its pairs only once.
void HeadTeams::take(const HeadInputs& in, const Name<U32>& token, const Name<U32>& row, const Name<U32>& turns,
                     const Name<Bool>& is_used) const {
  const HeadShape& s = c_.shape;
  const uint32_t half = s.head_dim / 2, lanes = c_.team(), turned = c_.rotated() / 2;
  auto is_query = let("is_query", row < s.n_heads);
  auto is_turned = let("is_turned", row < s.n_heads + s.n_kv_heads);  // values have no gain and do not rotate
  const auto gain_at = [&](const Name<U32>& i) {
    auto gain = let("gain", select(in.k_gain[i], in.q_gain[i], is_query));
    return let("scale", select(1.0f, gain, is_turned));
  };
  std::optional<Var<F32>> squares;
  if (c_.normed) squares.emplace(var("squares", 0.0f));
  when(is_used, [&] {
    auto from = c_.gated ? let("from_row", (token * (c_.rows() + s.n_heads) + row + min(row, s.n_heads)) * s.head_dim)
                         : let("from_row", (token * c_.rows() + row) * s.head_dim);
    std::vector<HeadPair> pairs;  // all loads of a lane are issued before the first result is used
    for (uint32_t i = 0; i * lanes < half; ++i) {
      const bool whole = (i + 1) * lanes <= half;
      HeadPair p;
      p.pair = let("pair", lane_ + i * lanes);
      auto at = whole ? p.pair : let("pair_at", min(p.pair, half - 1));
      const auto turns_here = place_pair(c_, at, p);
      p.a = let("a", in.qkv[from + p.at_a]);
      p.b = let("b", in.qkv[from + p.at_b]);
      if (c_.normed) {
        p.gain_a = gain_at(p.at_a);
        p.gain_b = gain_at(p.at_b);
      }
      auto turn = turns_here ? let("turn", in.angles[turns * turned + min(at, turned - 1)])
                             : let("turn", in.angles[turns * half + at]);
      p.angle = turns_here ? let("angle", select(vec2f(1.0f, 0.0f), turn, is_turned && *turns_here))
                           : let("angle", select(vec2f(1.0f, 0.0f), turn, is_turned));
      pairs.push_back(p);
    }
    auto base = let("tile_base", team_ * s.head_dim);
    for (const HeadPair& p : pairs) {
      const auto turn = [&] {
        auto a = c_.normed ? let("scaled_a", p.a * p.gain_a) : p.a;
        auto b = c_.normed ? let("scaled_b", p.b * p.gain_b) : p.b;
        tile_[base + p.at_a] = a * at(p.angle, 0) - b * at(p.angle, 1);
        tile_[base + p.at_b] = b * at(p.angle, 0) + a * at(p.angle, 1);
        if (squares) *squares += p.a * p.a + p.b * p.b;
      };
      const bool is_last = &p == &pairs.back();
      if (is_last && half % lanes != 0) {
        when(p.pair < half, turn);
      } else {
        turn();
      }
    }
  });
  if (squares) {
    auto mine = let("mine", *squares);
    auto total = reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, lanes, workgroup_);
    auto factor = let("factor", 1.0f / sqrt(total / static_cast<float>(s.head_dim) + c_.eps));
    when(is_used && lane_ == 0u,
         [&] { factors_[team_] = c_.norms_values ? e(factor) : select(1.0f, factor, is_turned); });
  }
  workgroupBarrier();
}

HeadValues HeadTeams::values(const Name<U32>& team) const {
  auto base = let("head_base", team * c_.shape.head_dim);
  if (!c_.normed) return {tile_, base, std::nullopt};
  return {tile_, base, let("head_factor", factors_[team])};
}

}  // namespace tern::gpu
