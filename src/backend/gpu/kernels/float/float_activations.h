// A row of activations in the float kernels for few tokens: optionally normed, and multiplied with units of weights.
// Included only by the files of such kernels.
#pragma once

#include <algorithm>
#include <optional>

#include "backend/gpu/kernels/float/float_linear.h"

namespace tern::gpu::float_matvec {

using namespace wgsl;

// The rows of one matrix that a group of lanes processes.
struct Rows {
  const WeightPlanes* w;
  std::vector<Name<U32>> starts;  // their first units
};

struct Loaded {
  Name<WeightUnits> unit;
  UnitScale scale;  // if the coding has scales
};

inline bool have_mins(const std::vector<Rows>& matrices) {
  return std::ranges::any_of(matrices, [](const Rows& m) { return m.w->coding.has_mins(); });
}

// Calls body(r, matrix) for the rows of all matrices.
template <class Body>
void for_rows(const std::vector<Rows>& matrices, const Body& body) {
  size_t r = 0;
  for (const Rows& m : matrices) {
    for (size_t n = 0; n < m.starts.size(); ++n) body(r++, m);
  }
}

// The products of a unit's activations with the units of all rows, before these are scaled.
class UnitProducts {
 public:
  UnitProducts(const std::vector<Rows>& matrices, size_t n_rows) {
    for (size_t r = 0; r < n_rows; ++r) parts_.push_back(var("part", 0.0f));
    if (have_mins(matrices)) x_sum_ = var("x_sum", 0.0f);
  }
  const Var<F32>& operator[](size_t r) const { return parts_[r]; }
  // The sum of the unit's activations, if any of the matrices has mins.
  const std::optional<Var<F32>>& x_sum() const { return x_sum_; }

  void add_scaled(const std::vector<Loaded>& loaded, const std::vector<Var<F32>>& sums) const {
    for (size_t r = 0; r < loaded.size(); ++r) {
      const UnitScale& scale = loaded[r].scale;
      if (scale.scale.text.empty()) {
        sums[r] += parts_[r];
      } else if (scale.min.text.empty()) {
        sums[r] += parts_[r] * scale.scale;
      } else {
        sums[r] += parts_[r] * scale.scale - *x_sum_ * scale.min;
      }
    }
  }

 private:
  std::vector<Var<F32>> parts_;
  std::optional<Var<F32>> x_sum_;
};

// A row of x as it is loaded: multiplied with the norm's gain, with its squares added up.
class Input {
 public:
  Input(const FloatLinearConfig& c, const FloatX& x, const FloatGain& gain, const Name<U32>& row, const LocalIndex& tid)
      : c_(c), x_(x), gain_(gain), tid_(tid), base_(let("x_base", row * (c.cols / 4))) {
    if (c.normed) squares_ = var("squares", 0.0f).text;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  const FloatLinearConfig& config() const { return c_; }
  const LocalIndex& tid() const { return tid_; }

  template <ValueOf<U32> Quad>
  Name<Vec4<F32>> load(Quad&& quad) const {
    return let("v", x_[base_ + std::forward<Quad>(quad)]);
  }
  Temp<Vec4<F32>> weighted(const Name<Vec4<F32>>& v, const Name<U32>& quad) const {
    return c_.normed ? v * gain_[quad] : e(v);
  }
  void add_square(const Name<Vec4<F32>>& v) const {
    if (c_.normed) Ref<F32>(squares_) += dot(v, v);
  }
  // Σ x², from the sums of all invocations of the workgroup, or of all lanes of a row.
  void sum_over_workgroup() {
    if (c_.normed) total_ = reduce_workgroup(Reduce::kSum, c_.caps, mine(), tid_, c_.workgroup);
  }
  void sum_over_lanes() { total_ = reduce_lanes(Reduce::kSum, c_.caps, mine(), tid_, c_.lanes, c_.workgroup); }
  // 1 / √(mean x² + eps)
  Name<F32> factor() const { return let("factor", 1.0f / sqrt(total_ / static_cast<float>(c_.cols) + c_.eps)); }

 private:
  Name<F32> mine() const { return let("my_squares", Place<F32>{squares_}); }

  FloatLinearConfig c_;
  FloatX x_;
  FloatGain gain_;
  LocalIndex tid_;
  Name<U32> base_;
  wgsl::Text squares_;
  Name<F32> total_;
};

// A row of activations as the lanes multiply it with units of weights.
class Activations {
 public:
  explicit Activations(Input& in) : c_(in.config()), in_(in) {
    if (c_.staged) staged_ = shared<Vec4<F32>>("staged", c_.cols / 4);
  }

  // All invocations must call it. Contains barriers if x is staged.
  void prepare() {
    if (!c_.staged) return;
    const uint32_t quads = c_.coding.quads();
    loop("q", in_.tid(), c_.cols / 4, c_.workgroup, [&](const Name<U32>& q) {
      auto v = in_.load(q);
      in_.add_square(v);
      staged_[q % quads * units() + q / quads] = in_.weighted(v, q);
    });
    in_.sum_over_workgroup();
    workgroupBarrier();
  }

  // Adds the products with unit i of every row.
  void add(const std::vector<Rows>& matrices, const std::vector<Loaded>& loaded, const Name<U32>& i,
           const std::vector<Var<F32>>& sums) const {
    const UnitProducts parts(matrices, loaded.size());
    Name<U32> start;
    for_quads(c_.coding, [&](uint32_t k, const Name<U32>* first) {
      if (k == 0) start = quads(i, first);
      const Name<Vec4<F32>> x4 = quad(start, k);
      if (parts.x_sum()) *parts.x_sum() += dot(x4, splat<Vec4<F32>>(1.0f));
      for_rows(matrices, [&](size_t r, const Rows& m) {
        const Unpack unpack(m.w->coding);
        parts[r] += dot(unpack(loaded[r].unit, k, first), x4);
      });
    });
    parts.add_scaled(loaded, sums);
  }

  // To be called after all units have been added.
  Name<F32> factor() {
    if (!c_.staged) in_.sum_over_lanes();
    return in_.factor();
  }

 private:
  uint32_t units() const { return c_.cols / c_.coding.values(); }
  // Where the quads of unit i start, `first` quads into it.
  Name<U32> quads(const Name<U32>& i, const Name<U32>* first) const {
    if (c_.staged) return first ? let("x_at", *first * units() + i) : i;
    return first ? let("x_at", i * c_.coding.quads() + *first) : let("x_at", i * c_.coding.quads());
  }
  Name<Vec4<F32>> quad(const Name<U32>& start, uint32_t k) const {
    if (c_.staged) return let("x4", staged_[start + k * units()]);
    auto q = let("q", start + k);
    auto v = in_.load(q);
    if (!c_.normed) return v;
    in_.add_square(v);
    return let("x4", in_.weighted(v, q));
  }

  const FloatLinearConfig& c_;
  Input& in_;
  Shared<Vec4<F32>> staged_;
};

}  // namespace tern::gpu::float_matvec
