// A row of activations in the float kernels for few tokens: optionally normed, as floats or int8, and multiplied with
// units of weights. Included only by the files of such kernels.
#pragma once

#include <algorithm>
#include <functional>
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

// A row of activations as int8, and its products with units of weights. Each run of 32 values has a scale, so a unit's
// sum consists of one partial sum per run. The row is stored in pieces of 16 values (half a run), so that pieces of
// adjacent units are adjacent.
class Int8Row {
 public:
  static constexpr uint32_t kPiece = 16;

  // pieces: [cols / kPiece] or more. runs: (scale, sum), [cols / kRun] or more. The row starts at these places.
  template <class Pieces, class Runs>
  Int8Row(const WeightCoding& coding, uint32_t cols, const Dot4& dot4, const Pieces& pieces, const Runs& runs)
      : coding_(coding),
        cols_(cols),
        dot4_(dot4),
        piece_([pieces](Temp<U32> i) { return let("x16", pieces[std::move(i)]); }),
        run_([runs](Temp<U32> i) { return let("run", runs[std::move(i)]); }) {}

  // Where a row keeps the piece or the run with this number, for weights of this coding.
  static Temp<U32> piece_at(const WeightCoding& coding, uint32_t cols, const Name<U32>& piece) {
    const uint32_t per_unit = coding.values() / kPiece;
    return piece % per_unit * (cols / coding.values()) + piece / per_unit;
  }
  static Temp<U32> run_at(const WeightCoding& coding, uint32_t cols, const Name<U32>& run) {
    const uint32_t per_unit = std::max(1u, coding.values() / kRun);
    return run % per_unit * (cols / coding.values()) + run / per_unit;
  }
  bool needs_sums() const { return UnpackBytes(dot4_, coding_).needs_sum(); }  // the same for both matrices of a pair

  void add(const std::vector<Rows>& matrices, const std::vector<Loaded>& loaded, const Name<U32>& i,
           const std::vector<Var<F32>>& sums) const {
    add_to_all({this}, matrices, loaded, i, {&sums});
  }

  // The same for several rows of activations, a run of all at a time, so that weights are unpacked once.
  static void add_to_all(const std::vector<const Int8Row*>& columns, const std::vector<Rows>& matrices,
                         const std::vector<Loaded>& loaded, const Name<U32>& i,
                         const std::vector<const std::vector<Var<F32>>*>& sums) {
    const WeightCoding& coding = columns.front()->coding_;
    std::vector<UnitProducts> parts;
    for (size_t column = 0; column < columns.size(); ++column) parts.emplace_back(matrices, loaded.size());
    const uint32_t words_per_run = std::min(4u, coding.bits());
    for (uint32_t first = 0; first < 4; first += words_per_run) {
      for (size_t column = 0; column < columns.size(); ++column) {
        columns[column]->add_run(matrices, loaded, i, first, parts[column]);
      }
    }
    for (size_t column = 0; column < columns.size(); ++column) parts[column].add_scaled(loaded, *sums[column]);
  }

 private:
  uint32_t units() const { return cols_ / coding_.values(); }
  uint32_t pieces_per_unit() const { return coding_.values() / kPiece; }

  // Adds the products of the run whose codes begin in word `first` of unit i.
  void add_run(const std::vector<Rows>& matrices, const std::vector<Loaded>& loaded, const Name<U32>& i, uint32_t first,
               const UnitProducts& parts) const {
    const uint32_t words_per_run = std::min(4u, coding_.bits());
    const auto x = run_of_unit(i, first / words_per_run);
    auto scale_and_sum = run_(run_index(i, first / words_per_run));
    if (parts.x_sum()) *parts.x_sum() += sum_of(x, scale_and_sum) * at(scale_and_sum, 0);
    for_rows(matrices, [&](size_t r, const Rows& m) {
      const UnpackBytes bytes(dot4_, m.w->coding);
      auto dot = var("dot_of_bytes", 0);
      for (uint32_t k = 0; k < words_per_run; ++k) {
        for (uint32_t step = 0; step < bytes.quads_per_word(); ++step) {
          dot = bytes.add(dot, loaded[r].unit, first + k, step, x[k * bytes.quads_per_word() + step]);
        }
      }
      parts[r] += bytes.dot_of_values(dot, at(scale_and_sum, 1)) * at(scale_and_sum, 0);
    });
  }

  // The words of run `run` of unit i, or all its words if a unit is only half a run.
  std::vector<Name<I8x4>> run_of_unit(const Name<U32>& i, uint32_t run) const {
    std::vector<Name<I8x4>> words;
    const uint32_t pieces = std::min(2u, pieces_per_unit());
    for (uint32_t piece = run * pieces; piece < (run + 1) * pieces; ++piece) {
      auto four = piece_(i + piece * units());
      for (uint32_t k = 0; k < 4; ++k) words.push_back(let("x4", packed<I8x4>(at(four, k))));
    }
    return words;
  }
  // Σ of the integers in `x`: the stored sum of their run, if there is one.
  Temp<F32> sum_of(const std::vector<Name<I8x4>>& x, const Name<Vec2<F32>>& scale_and_sum) const {
    if (needs_sums()) return e(at(scale_and_sum, 1));
    auto ones = let("ones", packed<I8x4>(e(0x01010101u)));
    auto sum = var("sum_of_unit", 0);
    for (const Name<I8x4>& x4 : x) sum = sum + dot4_(x4, ones);
    return f32(sum);
  }
  Temp<U32> run_index(const Name<U32>& i, uint32_t run) const {
    return pieces_per_unit() == 1 ? i / 2u : i + run * units();
  }

  WeightCoding coding_;
  uint32_t cols_;
  Dot4 dot4_;
  std::function<Name<Vec4<U32>>(Temp<U32>)> piece_;
  std::function<Name<Vec2<F32>>(Temp<U32>)> run_;
};

// The same in workgroup memory, where the kernel that multiplies the row stores it.
class StagedInt8Row : public Int8Row {
 public:
  StagedInt8Row(const WeightCoding& coding, uint32_t cols, const Dot4& dot4, const Shared<Vec4<U32>>& staged,
                const Shared<Vec2<F32>>& runs)
      : Int8Row(coding, cols, dot4, staged, runs), coding_(coding), cols_(cols), staged_(staged), runs_(runs) {}

  void store_piece(const Name<U32>& piece, const std::vector<Name<I8x4>>& words) const {
    staged_[piece_at(coding_, cols_, piece)] = call<Vec4<U32>>("vec4<u32>", words[0], words[1], words[2], words[3]);
  }
  void store_run(const Name<U32>& run, const Name<F32>& scale, const Name<F32>& sum) const {
    auto where = let("run_at", run_at(coding_, cols_, run));
    runs_[where] = vec2f(scale, sum);
  }

 private:
  WeightCoding coding_;
  uint32_t cols_;
  Shared<Vec4<U32>> staged_;
  Shared<Vec2<F32>> runs_;
};

// The factor that converts a run's values to int8, from its largest magnitude. Magnitudes too small to divide by count
// as zero.
inline Name<F32> to_int8(const Name<F32>& of_run) {
  return let("to_int8", select(0.0f, 127.0f / of_run, of_run > 1e-35f));
}

// A row of x as int8.
class Int8Activations {
 public:
  Int8Activations(Input& in, const Dot4& dot4)
      : c_(in.config()),
        in_(in),
        row_{c_.coding, c_.cols, dot4, shared<Vec4<U32>>("staged", c_.cols / kPiece),
             shared<Vec2<F32>>("runs", c_.cols / kRun)} {
    CHECK(c_.cols % kRun == 0 && c_.workgroup % 2 == 0);
  }

  void prepare() {
    // An invocation handles pieces of 16 values, half a run.
    const uint32_t n_pieces = c_.cols / kPiece, rounds = (n_pieces + c_.workgroup - 1) / c_.workgroup;
    const auto is_whole = [&](uint32_t round) { return (round + 1) * c_.workgroup <= n_pieces; };
    std::vector<Name<U32>> pieces;
    std::vector<Name<Vec4<F32>>> values;
    for (uint32_t round = 0; round < rounds; ++round) {  // issue all loads before any result is used
      pieces.push_back(let("piece", in_.tid() + round * c_.workgroup));
      // Past the row's end the last piece is loaded again.
      auto from = is_whole(round) ? pieces[round] : let("last_piece", min(pieces[round], n_pieces - 1));
      std::vector<Name<Vec4<F32>>> loaded;
      for (uint32_t k = 0; k < kPiece / 4; ++k) {
        auto quad = let("q", from * (kPiece / 4) + k);
        loaded.push_back(in_.load(quad));
        values.push_back(let("value", in_.weighted(loaded[k], quad)));
      }
      const auto add_squares = [&] {
        for (const auto& v : loaded) in_.add_square(v);
      };
      if (is_whole(round) || !c_.normed) {
        add_squares();
      } else {
        when(pieces[round] < n_pieces, add_squares);
      }
    }
    for (uint32_t round = 0; round < rounds; ++round) {
      stage_piece(pieces[round], &values[round * (kPiece / 4)], is_whole(round) ? 0 : n_pieces);
    }
    in_.sum_over_workgroup();
    workgroupBarrier();
  }

  void add(const std::vector<Rows>& matrices, const std::vector<Loaded>& loaded, const Name<U32>& i,
           const std::vector<Var<F32>>& sums) const {
    row_.add(matrices, loaded, i, sums);
  }

  Name<F32> factor() { return in_.factor(); }

 private:
  static constexpr uint32_t kPiece = Int8Row::kPiece;

  // Writes four quads if piece < end. end = 0: always.
  void stage_piece(const Name<U32>& piece, const Name<Vec4<F32>>* quads, uint32_t end) {
    auto most = var("most", 0.0f);
    for (uint32_t k = 0; k < kPiece / 4; ++k) {
      auto size = let("size", abs(quads[k]));
      most = max(most, max(max(at(size, 0), at(size, 1)), max(at(size, 2), at(size, 3))));
    }
    auto of_piece = let("of_piece", most);
    auto of_run = reduce_lanes(Reduce::kMax, c_.caps, of_piece, in_.tid(), 2, c_.workgroup);
    auto scale = let("scale", of_run / 127.0f);
    auto factor = to_int8(of_run);
    std::vector<Name<I8x4>> words;
    auto sum = var("sum_of_piece", 0);
    for (uint32_t k = 0; k < kPiece / 4; ++k) {
      auto q = let("q4", call<Vec4<I32>>("vec4<i32>", round(quads[k] * factor)));
      words.push_back(pack_int8(c_.caps, q));
      if (row_.needs_sums()) sum += at(q, 0) + at(q, 1) + at(q, 2) + at(q, 3);
    }
    auto sum_of_run = let("sum_of_piece", f32(sum));
    if (row_.needs_sums()) sum_of_run = reduce_lanes(Reduce::kSum, c_.caps, sum_of_run, in_.tid(), 2, c_.workgroup);
    const auto store = [&] {
      row_.store_piece(piece, words);
      when((piece & 1u) == 0u, [&] {
        auto run = let("run_of_row", piece / 2u);
        row_.store_run(run, scale, sum_of_run);
      });
    };
    if (end == 0) {
      store();
    } else {
      when(piece < end, store);
    }
  }

  const FloatLinearConfig& c_;
  Input& in_;
  StagedInt8Row row_;
};

}  // namespace tern::gpu::float_matvec
