// The same as int8 (float_activations.h): converted, kept in workgroup memory or read from storage, and multiplied.
// Included only by the files of such kernels.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "backend/gpu/kernels/float/float_activations.h"

namespace tern::gpu::float_matvec {

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

// An invocation's half of a run, made int8, and the scale and sum of the run. Two adjacent invocations share a run, so
// both must take part.
struct Int8Piece {
  Int8Piece(const Caps& caps, std::span<const Name<Vec4<F32>>> quads, bool needs_sums, const LocalIndex& tid,
            uint32_t workgroup) {
    auto most = var("most", 0.0f);
    for (const auto& values : quads) {
      auto size = let("size", abs(values));
      most = max(most, max(max(at(size, 0), at(size, 1)), max(at(size, 2), at(size, 3))));
    }
    auto of_piece = let("of_piece", most);
    auto of_run = reduce_lanes(Reduce::kMax, caps, of_piece, tid, 2, workgroup);
    scale = let("scale", of_run / 127.0f);
    auto factor = to_int8(of_run);
    auto sum_of_piece = var("sum_of_piece", 0);
    for (const auto& values : quads) {
      auto q = let("q4", call<Vec4<I32>>("vec4<i32>", round(values * factor)));
      words.push_back(pack_int8(caps, q));
      if (needs_sums) sum_of_piece += at(q, 0) + at(q, 1) + at(q, 2) + at(q, 3);
    }
    sum = let("sum_of_piece", f32(sum_of_piece));
    if (needs_sums) sum = reduce_lanes(Reduce::kSum, caps, sum, tid, 2, workgroup);
  }

  std::vector<Name<I8x4>> words;
  Name<F32> scale, sum;
};

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
    const Int8Piece made(c_.caps, std::span(quads, kPiece / 4), row_.needs_sums(), in_.tid(), c_.workgroup);
    const auto store = [&] {
      row_.store_piece(piece, made.words);
      when((piece & 1u) == 0u, [&] {
        auto run = let("run_of_row", piece / 2u);
        row_.store_run(run, made.scale, made.sum);
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
