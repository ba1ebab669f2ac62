#include "backend/gpu/kernels/float/int8_rows.h"

#include "backend/gpu/kernels/float/float_activations.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

namespace {

constexpr uint32_t kPieceOfRun = Int8Row::kPiece, kQuadsOfPiece = kPieceOfRun / 4;

class RowWriter {
 public:
  RowWriter(const Int8RowsConfig& c, const FloatX& x, const FloatGain& gain, const WorkgroupId& wg,
            const LocalIndex& tid)
      : c_(c), x_(x), gain_(gain), row_(wg.y), tid_(tid) {}

  // 1 / √(mean x² + eps)
  Name<F32> norm_factor() const {
    auto squares = var("squares", 0.0f);
    loop("i", tid_, c_.width / 4, c_.workgroup, [&](const Name<U32>& i) {
      auto v = let("v", x_[row_ * (c_.width / 4) + i]);
      squares += dot(v, v);
    });
    auto mine = let("my_squares", squares);
    auto total = reduce_workgroup(Reduce::kSum, c_.caps, mine, tid_, c_.workgroup);
    return let("factor", 1.0f / sqrt(total / static_cast<float>(c_.width) + c_.eps));
  }

  // An invocation's half of a run. Two adjacent invocations share the run, so both must take part.
  void write_piece(const Name<U32>& piece, const std::optional<Name<F32>>& factor, const Out<"x8", Vec4<U32>>& x8,
                   const Out<"runs", Vec2<F32>>& runs) const {
    auto from = let("from_piece", min(piece, c_.width / kPieceOfRun - 1));
    auto most = var("most", 0.0f);
    std::vector<Name<Vec4<F32>>> quads;
    for (uint32_t k = 0; k < kQuadsOfPiece; ++k) {
      auto quad = let("quad", from * kQuadsOfPiece + k);
      auto v = let("v", x_[row_ * (c_.width / 4) + quad]);
      quads.push_back(c_.normed ? let("value", v * gain_[quad]) : v);
      auto size = let("size", abs(quads[k]));
      most = max(most, max(max(at(size, 0), at(size, 1)), max(at(size, 2), at(size, 3))));
    }
    auto of_piece = let("of_piece", most);
    auto of_run = reduce_lanes(Reduce::kMax, c_.caps, of_piece, tid_, 2, c_.workgroup);
    auto to_integers = to_int8(of_run);
    std::vector<Name<I8x4>> words;
    auto sum = var("sum_of_piece", 0);
    for (const auto& values : quads) {
      auto q = let("q4", call<Vec4<I32>>("vec4<i32>", round(values * to_integers)));
      words.push_back(pack_int8(c_.caps, q));
      sum += at(q, 0) + at(q, 1) + at(q, 2) + at(q, 3);
    }
    auto mine = let("sum_of_piece", f32(sum));
    auto sum_of_run = reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, 2, c_.workgroup);
    auto scale = let("scale", factor ? of_run / 127.0f * *factor : of_run / 127.0f);
    when(piece < c_.width / kPieceOfRun, [&] {
      x8[row_ * (c_.width / kPieceOfRun) + Int8Row::piece_at(c_.coding, c_.width, piece)] =
          call<Vec4<U32>>("vec4<u32>", words[0], words[1], words[2], words[3]);
      when((piece & 1u) == 0u, [&] {
        auto run = let("run_of_row", piece / 2u);
        runs[row_ * (c_.width / kRun) + Int8Row::run_at(c_.coding, c_.width, run)] = vec2f(scale, sum_of_run);
      });
    });
  }

 private:
  Int8RowsConfig c_;
  FloatX x_;
  FloatGain gain_;
  Name<U32> row_;
  LocalIndex tid_;
};

}  // namespace

Int8RowsKernel int8_rows(const Int8RowsConfig& c) {
  CHECK(c.width % kRun == 0 && c.width % c.coding.values() == 0 && c.workgroup % 2 == 0);
  return kernel(c.normed ? "norm_int8_rows" : "int8_rows", c.workgroup,
                [&](FloatX x, FloatGain gain, Out<"x8", Vec4<U32>> x8, Out<"runs", Vec2<F32>> runs, WorkgroupId wg,
                    LocalIndex tid) {
                  const RowWriter writer(c, x, gain, wg, tid);
                  const auto factor = c.normed ? std::optional(writer.norm_factor()) : std::nullopt;
                  const uint32_t pieces = c.width / kPieceOfRun, at_once = c.workgroups() * c.workgroup;
                  for (uint32_t first = 0; first < pieces; first += at_once) {
                    auto piece = let("piece", (wg.x * c.workgroup + tid) + first);
                    writer.write_piece(piece, factor, x8, runs);
                  }
                });
}

}  // namespace tern::gpu
