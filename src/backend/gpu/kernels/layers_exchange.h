// What the parts of those kernels share: words between workgroups, and which rows a workgroup has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/kernels/layers_shape.h"

namespace tern::gpu {

using LayerWords = wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>;

inline constexpr uint32_t kTagMask = 3;

namespace layers {

using namespace wgsl;

struct LayerBuiltins {
  WorkgroupId wg;
  NumWorkgroups n_wg;
  LocalIndex tid;
};

// Words that other workgroups write, or read.
class Exchange {
 public:
  Exchange(const LayersShape& c, const LayerWords& words, const LocalIndex& tid)
      : c_(c), tid_(tid), words_(words), patience_(var("patience", atomicLoad(words[LayersShape::kPatience]))) {}

  // Where the word of row `row` of a region in blocks is.
  Name<U32> place(uint32_t region, const Name<U32>& row) const {
    if (c_.words_in_units) {
      auto in_block = let("row_of_block", (row & 15u) * 32u + ((row >> 4u) & 31u));
      return let("place", (row & ~511u) + in_block + region);
    }
    if (!c_.words_in_quads) return let("place", row + region);
    auto in_block = let("row_of_block", (row & 3u) * 32u + ((row >> 2u) & 31u));
    return let("place", (row & ~127u) + in_block + region);
  }
  // Those of rows 4i … 4i + 3, with words_in_quads.
  static std::vector<Name<U32>> places_of_quad(uint32_t region, const Name<U32>& i) {
    auto first = let("place", i / 32u * 128u + i % 32u + region);
    std::vector<Name<U32>> places{first};
    for (uint32_t j = 1; j < 4; ++j) places.push_back(let("place", first + 32 * j));
    return places;
  }
  // Those of rows 16i … 16i + 15, with words_in_units. `base`: of the row of x that they belong to.
  static std::vector<Name<U32>> places_of_unit(uint32_t region, const Name<U32>& base, const Name<U32>& i) {
    auto first = let("place", base + i / 32u * 512u + i % 32u + region);
    std::vector<Name<U32>> places{first};
    for (uint32_t j = 1; j < 16; ++j) places.push_back(let("place", first + 32 * j));
    return places;
  }

  void put(const Name<U32>& place, const Name<F32>& value, const Name<U32>& tag) const {
    auto value_bits = let("value_bits", bitcast<U32>(value));
    // Of what is not finite rounding would make a number.
    auto half = let("half", select((kTagMask + 1) / 2, e(0u), (value_bits & kInfinityBits) == kInfinityBits));
    auto rounded = let("rounded", value_bits + half);
    atomicStore(words_[place], (rounded & ~kTagMask) | tag);
  }

  // Who looks at the last of the words alone until it is there, before all look at all: looking costs those who write.
  enum class First { kSubgroup, kEach, kNobody };

  struct Looks {
    std::optional<First> who = {};
    std::optional<Name<U32>> at = {};          // in place of the last of the words
    std::optional<Name<Bool>> is_needed = {};  // whether an invocation needs its values; else they may be anything
    size_t n_always = SIZE_MAX;                // of the values, from the first; the others are 0 unless has_more
    std::optional<Name<Bool>> has_more = {};
  };

  // The values at these places, once all of them are there. All invocations have to call it.
  std::vector<Name<F32>> take(const std::vector<Name<U32>>& places, const Name<U32>& tag) const {
    return take(places, tag, Looks{});
  }
  std::vector<Name<F32>> take(const std::vector<Name<U32>>& places, const Name<U32>& tag, const Looks& looks) const {
    const First who = looks.who.value_or(c_.tokens == 1 ? First::kSubgroup : First::kEach);
    const Name<U32> first_at = looks.at.value_or(places.back());
    if (c_.in_turns) workgroupBarrier();
    std::vector<Var<U32>> found;
    const size_t n_always = std::min(looks.n_always, places.size());
    for (size_t i = 0; i < places.size(); ++i) found.push_back(i < n_always ? var("found", 0u) : var("found", tag));
    auto waits = var("waits", 1u);
    const auto wait_for_last = [&] {
      loop("early", 0u, patience_, 1u, [&](const Name<U32>& tries) {
        found[0] = atomicLoad(words_[first_at]);
        auto given_up = has_given_up(tries);
        when(((found[0] ^ tag) & kTagMask) == 0u || given_up, [&] { raw_statement("break;"); });
      });
    };
    if (who == First::kEach) wait_for_last();
    if (who == First::kSubgroup) {
      when(tid_ < c_.caps.subgroup, wait_for_last);
      workgroupBarrier();
    }
    const auto wait_for_all = [&] {
      loop("tries", 0u, patience_, 1u, [&](const Name<U32>& tries) {
        for (size_t i = 0; i < n_always; ++i) found[i] = atomicLoad(words_[places[i]]);
        if (n_always < places.size()) {
          when(*looks.has_more, [&] {
            for (size_t i = n_always; i < places.size(); ++i) found[i] = atomicLoad(words_[places[i]]);
          });
        }
        auto odd = var("odd", 0u);
        for (size_t i = 0; i < places.size(); ++i) odd = odd | (found[i] ^ tag);
        when((odd & kTagMask) == 0u, [&] {
          waits = 0u;
          raw_statement("break;");
        });
        auto given_up = has_given_up(tries);
        when(given_up, [&] { raw_statement("break;"); });
      });
    };
    if (looks.is_needed) {
      when(*looks.is_needed, wait_for_all, [&] { waits = 0u; });
    } else {
      wait_for_all();
    }
    // Who has waited in vain once does not wait again, and tells the others.
    when(waits != 0u, [&] {
      when(patience_ != 1u, [&] { atomicAdd(words_[LayersShape::kFailed], 1u); });
      patience_ = 1u;
    });
    std::vector<Name<F32>> values;
    for (size_t i = 0; i < places.size(); ++i) values.push_back(let("value", bitcast<F32>(found[i] & ~kTagMask)));
    return values;
  }

 private:
  // Whether somebody has waited in vain: looked for now and then.
  Name<Bool> has_given_up(const Name<U32>& tries) const {
    auto n_failed = var("n_failed", 0u);
    when((tries & 255u) == 255u, [&] { n_failed = atomicLoad(words_[LayersShape::kFailed]); });
    return let("given_up", n_failed != 0u);
  }

  const LayersShape& c_;
  LocalIndex tid_;
  LayerWords words_;
  Var<U32> patience_;
};

// The tag that the layers of a token have used last, for the next one.
inline void keep_last_tag(const LayersShape& c, const LayerWords& words, const LayerBuiltins& b,
                          const Name<U32>& last_tag) {
  when(b.wg.x == 0u && b.tid == 0u,
       [&] { atomicStore(words[LayersShape::kTag], (last_tag + 1u + c.n_layers) & kTagMask); });
}

// values[from], … values[from + 3], for values that lie one by one. `part`: what they are called, with a number.
template <class Values>
Name<Vec4<F32>> load_quad(const Values& values, const Name<U32>& from, const std::string& part, const char* name) {
  auto a = let(part + "0", values[from]);
  auto b = let(part + "1", values[from + 1u]);
  auto c = let(part + "2", values[from + 2u]);
  auto d = let(part + "3", values[from + 3u]);
  return let(name, vec4f(a, b, c, d));
}

// The rows [first, end) of n that a workgroup has.
struct Share {
  Share(const LayerBuiltins& b, uint32_t n)
      : first(let("first_row", b.wg.x * n / b.n_wg.x)), end(let("end_row", (b.wg.x + 1u) * n / b.n_wg.x)) {}
  Name<U32> first, end;
};

// A workgroup has the same rows of x all along, and adds to them as they are, not as others see them.
class Residual {
 public:
  Residual(const LayersShape& c, const Exchange& exchange, const LayerBuiltins& b)
      : c_(c), exchange_(exchange), b_(b), rows_(shared<F32>("residual", c.most_rows)), mine_(b, c.d_model) {}

  void load(const InOut<"x", F32>& x, const Name<U32>& tag) const {
    for_mine([&](const Name<U32>& row) {
      auto value = let("x_value", x[row]);
      rows_[row - mine_.first] = value;
      exchange_.put(exchange_.place(c_.x_words(), row), value, tag);
    });
  }
  // To a row of x, of which others are told.
  void add(const Name<U32>& row, const Name<F32>& value, uint32_t region, const Name<U32>& tag) const {
    auto mine = let("mine_at", row - mine_.first);
    auto sum = let("x_new", rows_[mine] + value);
    rows_[mine] = sum;
    exchange_.put(exchange_.place(region, row), sum, tag);
  }
  void store(const InOut<"x", F32>& x) const {
    workgroupBarrier();
    for_mine([&](const Name<U32>& row) {
      auto value = let("x_value", rows_[row - mine_.first]);
      x[row] = value;
    });
  }

 private:
  template <class Body>
  void for_mine(const Body& body) const {
    loop("row", mine_.first + b_.tid, mine_.end, c_.workgroup, body);
  }

  const LayersShape& c_;
  const Exchange& exchange_;
  LayerBuiltins b_;
  Shared<F32> rows_;
  Share mine_;
};

}  // namespace layers
}  // namespace tern::gpu
