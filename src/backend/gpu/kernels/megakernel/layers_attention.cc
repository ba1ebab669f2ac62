#include "backend/gpu/kernels/megakernel/layers_attention.h"

#include <bit>
#include <cmath>

#include "base/bytes.h"

namespace tern::gpu {

bool fits(const LayersShape& c) {
  const uint32_t subgroup = c.caps.subgroup;
  if (subgroup < 8 || !c.caps.packed_dot || c.workgroup % subgroup != 0) return false;
  return std::has_single_bit(c.subgroups()) && c.subgroups() <= subgroup && c.heads.head_dim % 8 == 0 &&
         c.heads.n_heads % c.heads.n_kv_heads == 0 && c.group_heads() <= 8 && c.d_model % 16 == 0 && c.d_ff % 16 == 0 &&
         c.q_width() % 16 == 0 && c.most_splits > 0 && c.most_short_splits > 0 &&
         std::has_single_bit(c.lanes_of_result) && c.lanes_of_result <= subgroup;
}

uint32_t layers_workgroup_bytes(const LayersShape& c) {
  const auto in_16s = [](uint32_t bytes) { return (bytes + 15) / 16 * 16; };
  return in_16s(4 * c.most_rows) + in_16s(4 * (c.group_heads() + 2) * c.heads.head_dim) +
         in_16s(4 * c.subgroups() * c.heads_in_memory() * c.sums_stride());
}

namespace layers {
LayersAttention::LayersAttention(const LayersShape& c, const In<"angles", Vec2<F32>>& angles,
                                 const ParamsBuffer& params, const Cache& kv, const Mailbox& mailbox,
                                 const LayerBuiltins& b, const std::optional<HeadNorms>& norms)
    : c_(c),
      angles_(angles),
      params_(params),
      kv_(kv),
      mailbox_(mailbox),
      b_(b),
      norms_(norms),
      turned_(shared<F32>("turned", (c.group_heads() + 2) * c.heads.head_dim)),
      sums_(shared<F32>("sums", idle_values(c))) {
  if (norms_) squares_ = shared<F32>("head_squares", head_norms_bytes(c) / 4);
  if (c_.tokens > 1) {
    n_rows_ = let("n_rows", min(params[kNTokens], c_.tokens));
    return;
  }
  for (uint32_t i = 0; i < c_.kv_heads_of_workgroup; ++i) {
    here_.push_back(look_around(i));
  }
}

std::vector<LayersAttention::Loaded> LayersAttention::load_positions(const Name<U32>& layer) const {
  std::vector<Loaded> loaded;
  for (const Here& here : here_) loaded.push_back(load_position(here.layer_vectors, layer, here.newest_at));
  return loaded;
}

void LayersAttention::attend(const Name<U32>& layer, const std::vector<Loaded>& newest, const Name<U32>& tag) const {
  for (size_t k = 0; k < here_.size(); ++k) {
    if (k > 0) workgroupBarrier();  // the previous head's data in workgroup memory has been read
    attend_with(here_[k], layer, newest[k], tag);
  }
}

// Each workgroup handles one KV head of one row of the batch at a time, and then the next one.
void LayersAttention::attend_rows(const Name<U32>& layer, const Name<U32>& tag) const {
  auto at_once = let("pairs_at_once", b_.n_wg.x / splits());
  auto n_rounds = let("n_rounds", (n_rows_ * c_.heads.n_kv_heads + at_once - 1u) / at_once);
  loop("nth", 0u, n_rounds, 1u, [&](const Name<U32>& nth) {
    workgroupBarrier();  // earlier data in workgroup memory has been read
    const Here here = look_around_row(nth);
    attend_with(here, layer, load_position(here.layer_vectors, layer, here.newest_at), tag);
  });
}

Name<U32> LayersAttention::splits() const {
  if (c_.tokens > 1) return let("splits", max(1u, min(b_.n_wg.x / (n_rows_ * c_.heads.n_kv_heads), c_.most_splits)));
  return let("splits", max(1u, min(b_.n_wg.x / c_.workgroups_of_heads(), c_.most_splits)));
}
LayersAttention::Here LayersAttention::look_around(uint32_t nth) const {
  Here here;
  here.splits = splits();
  here.pos = let("pos", row_word(params_, e(0u), kRowPos));
  if (c_.has_short()) {
    auto short_splits = let("short_splits", min(b_.n_wg.x / c_.heads.n_heads, c_.most_of_short()));
    here.is_short = let("is_short", here.pos < short_splits * (c_.positions_at_once() * c_.short_rounds));
    here.splits = let("splits", select(here.splits, short_splits, *here.is_short));
    here.n_heads = let("n_heads", select(c_.group_heads(), e(1u), *here.is_short));
    here.first_head = let("first_head", b_.wg.x / here.splits * here.n_heads);
    here.kv_head = let("kv_head", here.first_head / c_.group_heads());
  } else {
    here.kv_head = nth == 0 ? let("kv_head", b_.wg.x / here.splits)
                            : let("kv_head", b_.wg.x / here.splits + b_.n_wg.x / here.splits * nth);
    give_all_heads(here);
  }
  here.split = let("split", b_.wg.x % here.splits);
  here.is_used = let("is_used", here.kv_head < c_.heads.n_kv_heads);
  find_positions(here, [] { return e(0u); });
  return here;
}

LayersAttention::Here LayersAttention::look_around_row(const Name<U32>& nth) const {
  Here here;
  here.splits = splits();
  auto at_once = let("pairs_at_once", b_.n_wg.x / here.splits);
  auto group = let("group_of_splits", b_.wg.x / here.splits);
  auto pair = let("pair_of_head", group + at_once * nth);
  here.is_used = let("is_used", group < at_once && pair < n_rows_ * c_.heads.n_kv_heads);
  auto safe = let("safe_pair", select(0u, pair, here.is_used));
  here.kv_head = let("kv_head", safe % c_.heads.n_kv_heads);
  give_all_heads(here);
  here.split = let("split", b_.wg.x % here.splits);
  auto row = let("row_of_head", safe / c_.heads.n_kv_heads);
  here.row_words = let("row_words", row * c_.row_words());
  here.pos = let("pos", row_word(params_, e(row), kRowPos));
  find_positions(here, [&] { return e(row); });
  return here;
}

Name<U32> LayersAttention::in_row(const Here& here, const Name<U32>& place) {
  return here.row_words ? let("place", place + *here.row_words) : place;
}

void LayersAttention::give_all_heads(Here& here) const {
  here.n_heads = let("n_heads", e(c_.group_heads()));
  here.first_head = let("first_head", here.kv_head * c_.group_heads());
}

// `row`: the row of the batch.
void LayersAttention::find_positions(Here& here, const std::function<Temp<U32>()>& row) const {
  const HeadShape& h = c_.heads;
  const uint32_t lanes = c_.lanes_of_position();
  here.table = let("table", row_word(params_, row(), kRowTable));
  auto n_pos = let("n_pos", here.pos + 1u);
  const auto part_from = [&](const auto& split) -> Temp<U32> {
    if (c_.window == 0) return split * n_pos / here.splits;
    // Only the positions inside the window are divided among the splits.
    auto unseen = let("unseen", max(n_pos, c_.window) - c_.window);
    return unseen + split * (n_pos - unseen) / here.splits;
  };
  here.first = let("first_pos", part_from(here.split));
  // A workgroup without a head gets no positions: otherwise it would overwrite the key and value of another head.
  auto next_split = let("next_split", here.split + 1u);
  here.end = let("end_pos", select(here.first, part_from(next_split), here.is_used));
  here.lane = let("lane_of_pos", b_.tid % lanes);
  here.group = let("group_of_pos", b_.tid / lanes);
  here.layer_vectors = let("kv_layer", raw<U32>("arrayLength(&kv)") / c_.n_layers);
  const uint32_t half = h.head_dim / 2, n_pairs = (c_.group_heads() + 2) * half;
  here.newest = let("newest", here.first + here.group);
  auto angles_at = let("angles_at", (row_word(params_, row(), kRowAngles) + here.pos) * half);
  for (uint32_t k = 0; k * c_.workgroup < n_pairs; ++k) {
    auto pair = let("pair", min(b_.tid + k * c_.workgroup, n_pairs - 1) % half);
    here.angles.push_back(let("angle", angles_[angles_at + pair]));
  }
  here.newest_at = key_at(here, here.newest);
}
Name<U32> LayersAttention::key_at(const Here& here, const Name<U32>& p) const {
  auto safe = let("safe_pos", min(p, here.pos));
  auto safe_head = let("safe_head", min(here.kv_head, c_.heads.n_kv_heads - 1));
  auto block = kv_block(params_, here.table, safe);
  return let("key_at", kv_place(c_.heads, block, safe_head, safe) * (c_.heads.head_dim / 8) + here.lane);
}
LayersAttention::Loaded LayersAttention::load_position(const Name<U32>& layer_vectors, const Name<U32>& layer,
                                                       const Name<U32>& at) const {
  const uint32_t lanes = c_.lanes_of_position(), vectors = c_.vectors_of_lane();
  Loaded loaded{let("key_of_layer", layer * layer_vectors + at), {}, {}};
  for (uint32_t i = 0; i < vectors; ++i) loaded.k.push_back(let("k8", kv_[loaded.at + i * lanes]));
  for (uint32_t i = 0; i < vectors; ++i) {
    loaded.v.push_back(let("v8", kv_[loaded.at + (c_.value_behind() + i * lanes)]));
  }
  return loaded;
}
// A workgroup handles one KV head with all query heads that share it (one query head if the history is short), and a
// part of the positions. `lanes` of a subgroup share a position, 8 · vectors dimensions each.
void LayersAttention::attend_with(const Here& here, const Name<U32>& layer, const Loaded& newest,
                                  const Name<U32>& tag) const {
  const uint32_t subgroup = c_.caps.subgroup, heads = c_.group_heads(), lanes = c_.lanes_of_position();
  CHECK(c_.heads.head_dim == 8 * lanes * c_.vectors_of_lane() && subgroup % lanes == 0);
  take_heads(here, layer, tag);
  const uint32_t per_subgroup = subgroup / lanes;
  auto n_used =
      let("n_used", min((here.end - here.first + (per_subgroup - 1)) / per_subgroup, c_.workgroup / subgroup));
  const HeadSums of_heads = new_sums();
  auto has_positions = let("has_positions", b_.tid / subgroup < n_used);
  if (here.is_short) {
    const auto see_and_add = [&](uint32_t n_heads) {
      see_positions(here, n_heads, layer, newest, of_heads);
      for (uint32_t head = 0; head < n_heads; ++head) add_up_lanes(here, head, head, of_heads);
    };
    when(has_positions, [&] { when(*here.is_short, [&] { see_and_add(1); }, [&] { see_and_add(heads); }); });
    workgroupBarrier();
    return tell_part(here, 0, here.n_heads, n_used, tag);
  }
  when(has_positions, [&] { see_positions(here, heads, layer, newest, of_heads); });
  // Sums over a subgroup's positions, then over the workgroup's, for as many heads at a time as fit in workgroup
  // memory.
  const uint32_t at_a_time = c_.heads_in_memory();
  for (uint32_t from = 0; from < heads; from += at_a_time) {
    if (from > 0) workgroupBarrier();  // the previous heads have been read
    const uint32_t n_heads = std::min(at_a_time, heads - from);
    when(has_positions, [&] {
      for (uint32_t i = 0; i < n_heads; ++i) add_up_lanes(here, i, from + i, of_heads);
    });
    workgroupBarrier();
    tell_part(here, from, let("n_told", e(n_heads)), n_used, tag);
  }
}

// Combines the rows of `n_used` subgroups and publishes them as the workgroup's part, for the heads in workgroup
// memory. The first of them is head `from`.
void LayersAttention::tell_part(const Here& here, uint32_t from, const Name<U32>& n_heads, const Name<U32>& n_used,
                                const Name<U32>& tag) const {
  const uint32_t head_dim = c_.heads.head_dim, at_a_time = c_.heads_in_memory();
  loop("out_value", b_.tid, n_heads * head_dim, c_.workgroup, [&](const Name<U32>& j) {
    auto head = let("head", j / head_dim);
    auto dim = let("dim", j % head_dim);
    auto most = var("most", kLowestScore);
    loop("i", 0u, n_used, 1u, [&](const Name<U32>& i) {
      auto row = let("sums_row", (head + i * at_a_time) * c_.sums_stride());
      auto top = let("top", sums_[row + head_dim]);
      most = max(most, top);
    });
    auto value = var("out_sum", 0.0f);
    auto weights = var("weights", 0.0f);
    loop("i", 0u, n_used, 1u, [&](const Name<U32>& i) {
      auto row = let("sums_row", (head + i * at_a_time) * c_.sums_stride());
      auto top = let("top", sums_[row + head_dim]);
      auto shrink = let("shrink", exp(top - most));
      value += sums_[row + dim] * shrink;
      weights += sums_[row + (head_dim + 1)] * shrink;
    });
    auto part = let("part_at", ((here.first_head + head + from) * c_.most_splits + here.split) * c_.part_stride());
    when(here.is_used, [&] {
      auto place = in_row(here, let("place", part + dim + c_.part_words()));
      auto whole = let("whole", value);
      mailbox_.publish(place, whole, tag);
      when(dim == 0u, [&] {
        auto top_place = in_row(here, let("place", part + (head_dim + c_.part_words())));
        auto top = let("top_of_all", most);
        mailbox_.publish(top_place, top, tag);
        auto sum_place = in_row(here, let("place", part + (head_dim + 1 + c_.part_words())));
        auto weight = let("whole_weight", weights);
        mailbox_.publish(sum_place, weight, tag);
      });
    });
  });
}

// Combines the parts into attention's result. Several lanes share a value; each has one part, or several if there are
// more parts than lanes.
void LayersAttention::merge(const Name<U32>& tag) const {
  const HeadShape& h = c_.heads;
  const uint32_t lanes = c_.lanes_of_result, of_lane = ceil_div(c_.most_splits, lanes);
  const uint32_t at_once = c_.workgroup / lanes;
  const Share share(b_, c_.q_width());
  const auto& n_splits = here_.front().splits;
  auto has_more = let("has_more", n_splits > lanes);
  auto lane = let("lane_of_value", b_.tid % lanes);
  auto group = let("group_of_value", b_.tid / lanes);
  const auto for_more = [&](const auto& body) {
    if (of_lane == 1) return;
    when(has_more, [&] {
      for (uint32_t k = 1; k < of_lane; ++k) body(k);
    });
  };
  loop("from_value", share.first, share.end, at_once, [&](const Name<U32>& from) {
    auto is_needed = let("is_needed", from + group < share.end);
    auto out = let("out", min(from + group, share.end - 1u));
    auto head = let("head", out / h.head_dim);
    std::vector<Name<U32>> parts, places;
    for (uint32_t k = 0; k < of_lane; ++k) {
      parts.push_back(let("part", lane + k * lanes));
      auto safe = let("safe_part", min(parts[k], n_splits - 1u));
      auto part = let("part_at", (head * c_.most_splits + safe) * c_.part_stride() + c_.part_words());
      places.push_back(let("place", part + out % h.head_dim));
      places.push_back(let("place", part + h.head_dim));
      places.push_back(let("place", part + (h.head_dim + 1)));
    }
    const auto found = mailbox_.wait(places, tag, {.is_needed = is_needed, .n_always = 3, .has_more = has_more});
    const auto value_of = [&](uint32_t k) { return found[3 * k]; };
    const auto top_of = [&](uint32_t k) { return found[3 * k + 1]; };
    const auto sum_of = [&](uint32_t k) { return found[3 * k + 2]; };
    auto most_of_lane = var("most_of_lane", top_of(0));
    for_more([&](uint32_t k) { most_of_lane = max(most_of_lane, top_of(k)); });
    auto my_most = let("my_most", most_of_lane);
    auto most = reduce_lanes(Reduce::kMax, c_.caps, my_most, b_.tid, lanes, c_.workgroup);
    const auto shrink_of = [&](uint32_t k) {
      return let("shrink", select(0.0f, exp(top_of(k) - most), parts[k] < n_splits));
    };
    auto first_shrink = shrink_of(0);
    auto values = var("values_of_lane", value_of(0) * first_shrink);
    auto weights = var("weights_of_lane", sum_of(0) * first_shrink);
    for_more([&](uint32_t k) {
      auto shrink = shrink_of(k);
      values += value_of(k) * shrink;
      weights += sum_of(k) * shrink;
    });
    auto my_value = let("my_value", values);
    auto my_weight = let("my_weight", weights);
    auto value = reduce_lanes(Reduce::kSum, c_.caps, my_value, b_.tid, lanes, c_.workgroup);
    auto weight = reduce_lanes(Reduce::kSum, c_.caps, my_weight, b_.tid, lanes, c_.workgroup);
    when(lane == 0u && is_needed, [&] {
      auto result = let("result", value / weight);
      mailbox_.publish(mailbox_.place(c_.attention_words(), out), result, tag);
    });
  });
}

}  // namespace layers
}  // namespace tern::gpu
