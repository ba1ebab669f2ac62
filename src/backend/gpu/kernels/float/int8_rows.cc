#include "backend/gpu/kernels/float/int8_rows.h"

#include "backend/gpu/kernels/float/int8_activations.h"
#include "backend/gpu/kernels/rms_norm.h"

namespace tern::gpu {

using namespace wgsl;
using namespace float_matvec;

namespace {

constexpr uint32_t kPieceOfRun = Int8Row::kPiece, kQuadsOfPiece = kPieceOfRun / 4;

// Converts an invocation's half of a run and stores it if `exists`. Two adjacent invocations share the run, so both
// must take part. factor: of the values, multiplied with the scale.
template <class X8, class Runs>
void write_piece(const Int8RowsConfig& c, const Name<U32>& row, const LocalIndex& tid, const X8& x8, const Runs& runs,
                 const Name<U32>& piece, const Name<Bool>& exists, const std::vector<Name<Vec4<F32>>>& quads,
                 const std::optional<Name<F32>>& factor) {
  const Int8Piece made(c.caps, quads, /*needs_sums=*/true, tid, c.workgroup);
  auto scale = factor ? let("scale_of_row", made.scale * *factor) : made.scale;
  when(exists, [&] {
    x8[row * (c.width / kPieceOfRun) + Int8Row::piece_at(c.coding, c.width, piece)] =
        call<Vec4<U32>>("vec4<u32>", made.words[0], made.words[1], made.words[2], made.words[3]);
    when((piece & 1u) == 0u, [&] {
      auto run = let("run_of_row", piece / 2u);
      runs[row * (c.width / kRun) + Int8Row::run_at(c.coding, c.width, run)] = vec2f(scale, made.sum);
    });
  });
}

}  // namespace

Int8RowsKernel int8_rows(const Int8RowsConfig& c) {
  CHECK(c.width % kRun == 0 && c.width % c.coding.values() == 0 && c.workgroup % 2 == 0);
  return kernel(c.normed ? "norm_int8_rows" : "int8_rows", c.workgroup,
                [&](FloatX x, FloatGain gain, Out<"x8", Vec4<U32>> x8, Out<"runs", Vec2<F32>> runs, WorkgroupId wg,
                    LocalIndex tid) {
                  const auto factor = c.normed ? std::optional(inverse_row_rms(c, x, wg.y, tid)) : std::nullopt;
                  const uint32_t pieces = c.width / kPieceOfRun, at_once = c.workgroups() * c.workgroup;
                  for (uint32_t first = 0; first < pieces; first += at_once) {
                    auto piece = let("piece", (wg.x * c.workgroup + tid) + first);
                    auto from_piece = let("from_piece", min(piece, pieces - 1));
                    std::vector<Name<Vec4<F32>>> quads;
                    for (uint32_t k = 0; k < kQuadsOfPiece; ++k) {
                      auto quad = let("quad", from_piece * kQuadsOfPiece + k);
                      auto v = let("v", x[wg.y * (c.width / 4) + quad]);
                      quads.push_back(c.normed ? let("value", v * gain[quad]) : v);
                    }
                    auto exists = let("exists", piece < pieces);
                    write_piece(c, wg.y, tid, x8, runs, piece, exists, quads, factor);
                  }
                });
}

void leave_int8(const LeftRow& left, const Name<U32>& first, uint32_t n,
                const std::function<Name<F32>(const Name<U32>&)>& value) {
  const Int8RowsConfig& c = left.config;
  CHECK(!c.normed && n % kRun == 0 && c.width % kRun == 0 && c.workgroup % 2 == 0);
  const uint32_t pieces = n / kPieceOfRun;
  for (uint32_t done = 0; done < pieces; done += c.workgroup) {
    auto mine = let("left_piece", left.tid + done);
    auto from_piece = let("from_piece", min(mine, pieces - 1) * kPieceOfRun);
    std::vector<Name<Vec4<F32>>> quads;
    for (uint32_t k = 0; k < kQuadsOfPiece; ++k) {
      std::vector<Name<F32>> four;
      for (uint32_t i = 0; i < 4; ++i) four.push_back(value(let("left_at", from_piece + (4 * k + i))));
      quads.push_back(let("left_quad", vec4f(four[0], four[1], four[2], four[3])));
    }
    auto piece = let("piece", first / kPieceOfRun + mine);
    auto exists = let("exists", mine < pieces && piece < c.width / kPieceOfRun);
    write_piece(c, left.row, left.tid, left.x8, left.runs, piece, exists, quads, {});
  }
}

}  // namespace tern::gpu
