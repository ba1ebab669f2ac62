// Shared by the megakernels' parts: the mailbox of words between workgroups, and the rows of each workgroup.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/kernels/megakernel/layers_shape.h"

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

// Reads and writes the words that workgroups exchange.
class Mailbox {
 public:
  Mailbox(const LayersShape& c, const LayerWords& words, const LocalIndex& tid)
      : c_(c), tid_(tid), words_(words), patience_(var("patience", atomicLoad(words[LayersShape::kSpinLimit]))) {}

  // The index of the word of row `row` in a region that is stored in blocks.
  Name<U32> place(uint32_t region, const Name<U32>& row) const {
    if (c_.words_in_units) {
      auto in_block = let("row_of_block", (row & 15u) * 32u + ((row >> 4u) & 31u));
      return let("place", (row & ~511u) + in_block + region);
    }
    if (!c_.words_in_quads) return let("place", row + region);
    auto in_block = let("row_of_block", (row & 3u) * 32u + ((row >> 2u) & 31u));
    return let("place", (row & ~127u) + in_block + region);
  }
  // The words of rows 4i … 4i + 3, with words_in_quads.
  static std::vector<Name<U32>> places_of_quad(uint32_t region, const Name<U32>& i) {
    auto first = let("place", i / 32u * 128u + i % 32u + region);
    std::vector<Name<U32>> places{first};
    for (uint32_t j = 1; j < 4; ++j) places.push_back(let("place", first + 32 * j));
    return places;
  }
  // The words of rows 16i … 16i + 15, with words_in_units. `base`: where the words of their row of x begin.
  static std::vector<Name<U32>> places_of_unit(uint32_t region, const Name<U32>& base, const Name<U32>& i) {
    auto first = let("place", base + i / 32u * 512u + i % 32u + region);
    std::vector<Name<U32>> places{first};
    for (uint32_t j = 1; j < 16; ++j) places.push_back(let("place", first + 32 * j));
    return places;
  }

  void publish(const Name<U32>& place, const Name<F32>& value, const Name<U32>& tag) const {
    auto value_bits = let("value_bits", bitcast<U32>(value));
    // Rounding could turn the bits of infinity or NaN into those of a number.
    auto half = let("half", select((kTagMask + 1) / 2, e(0u), (value_bits & kInfinityBits) == kInfinityBits));
    auto rounded = let("rounded", value_bits + half);
    atomicStore(words_[place], (rounded & ~kTagMask) | tag);
  }

  // Which invocations poll only the last word until it has arrived, before all invocations poll all words. Polling
  // slows down the writers.
  enum class FirstPoller { kSubgroup, kEach, kNone };

  struct WaitOptions {
    std::optional<FirstPoller> first = {};
    std::optional<Name<U32>> at = {};          // polled instead of the last word
    std::optional<Name<Bool>> is_needed = {};  // whether the invocation needs its values; otherwise they are arbitrary
    size_t n_always = SIZE_MAX;                // leading values that are always read; others are 0 unless has_more
    std::optional<Name<Bool>> has_more = {};
  };

  // Waits until the values at all these places have arrived, and returns them. All invocations must call it.
  std::vector<Name<F32>> wait(const std::vector<Name<U32>>& places, const Name<U32>& tag) const {
    return wait(places, tag, WaitOptions{});
  }
  std::vector<Name<F32>> wait(const std::vector<Name<U32>>& places, const Name<U32>& tag,
                              const WaitOptions& options) const {
    const FirstPoller first = options.first.value_or(c_.tokens == 1 ? FirstPoller::kSubgroup : FirstPoller::kEach);
    const Name<U32> first_at = options.at.value_or(places.back());
    if (c_.serial_subgroups) workgroupBarrier();
    std::vector<Var<U32>> found;
    const size_t n_always = std::min(options.n_always, places.size());
    for (size_t i = 0; i < places.size(); ++i) found.push_back(i < n_always ? var("found", 0u) : var("found", tag));
    auto waits = var("waits", 1u);
    const auto wait_for_last = [&] {
      loop("early", 0u, patience_, 1u, [&](const Name<U32>& tries) {
        found[0] = atomicLoad(words_[first_at]);
        auto given_up = has_given_up(tries);
        when(((found[0] ^ tag) & kTagMask) == 0u || given_up, [&] { raw_statement("break;"); });
      });
    };
    if (first == FirstPoller::kEach) wait_for_last();
    if (first == FirstPoller::kSubgroup) {
      when(tid_ < c_.caps.subgroup, wait_for_last);
      workgroupBarrier();
    }
    const auto wait_for_all = [&] {
      loop("tries", 0u, patience_, 1u, [&](const Name<U32>& tries) {
        for (size_t i = 0; i < n_always; ++i) found[i] = atomicLoad(words_[places[i]]);
        if (n_always < places.size()) {
          when(*options.has_more, [&] {
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
    if (options.is_needed) {
      when(*options.is_needed, wait_for_all, [&] { waits = 0u; });
    } else {
      wait_for_all();
    }
    // After one timeout, an invocation does not wait again, and kFailed informs the others.
    when(waits != 0u, [&] {
      when(patience_ != 1u, [&] { atomicAdd(words_[LayersShape::kFailed], 1u); });
      patience_ = 1u;
    });
    std::vector<Name<F32>> values;
    for (size_t i = 0; i < places.size(); ++i) values.push_back(let("value", bitcast<F32>(found[i] & ~kTagMask)));
    return values;
  }

 private:
  // True if any invocation's wait has timed out. Only checked now and then.
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

// Stores the last tag that the layers of this token used, for the next token.
inline void keep_last_tag(const LayersShape& c, const LayerWords& words, const LayerBuiltins& b,
                          const Name<U32>& last_tag) {
  when(b.wg.x == 0u && b.tid == 0u,
       [&] { atomicStore(words[LayersShape::kTag], (last_tag + 1u + c.n_layers) & kTagMask); });
}

// values[from], … values[from + 3], loaded one by one. `part`: the prefix of their names.
template <class Values>
Name<Vec4<F32>> load_quad(const Values& values, const Name<U32>& from, const std::string& part, const char* name) {
  auto a = let(part + "0", values[from]);
  auto b = let(part + "1", values[from + 1u]);
  auto c = let(part + "2", values[from + 2u]);
  auto d = let(part + "3", values[from + 3u]);
  return let(name, vec4f(a, b, c, d));
}

// The rows [first, end) of n that belong to the workgroup.
struct Share {
  Share(const LayerBuiltins& b, uint32_t n)
      : first(let("first_row", b.wg.x * n / b.n_wg.x)), end(let("end_row", (b.wg.x + 1u) * n / b.n_wg.x)) {}
  Name<U32> first, end;
};

// A workgroup keeps the same rows of x in all layers. It adds to the exact values, not to the rounded ones that are
// exchanged.
class Residual {
 public:
  Residual(const LayersShape& c, const Mailbox& mailbox, const LayerBuiltins& b)
      : c_(c), mailbox_(mailbox), b_(b), rows_(shared<F32>("residual", c.most_rows)), mine_(b, c.d_model) {}

  void load(const InOut<"x", F32>& x, const Name<U32>& tag) const {
    for_mine([&](const Name<U32>& row) {
      auto value = let("x_value", x[row]);
      rows_[row - mine_.first] = value;
      mailbox_.publish(mailbox_.place(c_.x_words(), row), value, tag);
    });
  }
  // Adds to a row of x and publishes the sum.
  void add(const Name<U32>& row, const Name<F32>& value, uint32_t region, const Name<U32>& tag) const {
    auto mine = let("mine_at", row - mine_.first);
    auto sum = let("x_new", rows_[mine] + value);
    rows_[mine] = sum;
    mailbox_.publish(mailbox_.place(region, row), sum, tag);
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
  const Mailbox& mailbox_;
  LayerBuiltins b_;
  Shared<F32> rows_;
  Share mine_;
};

}  // namespace layers
}  // namespace tern::gpu
