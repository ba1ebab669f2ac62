#include "backend/gpu/kernels/embed.h"

namespace tern::gpu {

using namespace wgsl;

template <class Word>
EmbedKernel<Word> embed(const EmbedConfig& c) {
  constexpr uint32_t kWorkgroup = 256;
  CHECK(c.width % 2 == 0);
  return kernel("embed", kWorkgroup,
                [&](In<"tokens", U32> tokens, In<"table", Word> table, RowRange range, Out<"y", Vec2<F32>> y,
                    WorkgroupId wg, LocalIndex tid) {
                  // Below the range the difference wraps round, beyond any count.
                  auto row = let("row", tokens[wg.y] - range.get<"first">());
                  when(row < range.get<"count">(), [&] {
                    loop("i", tid, c.width / 2, kWorkgroup, [&](const Name<U32>& i) {
                      auto word = let("word", table[row * (c.width / 2) + i]);
                      if constexpr (std::same_as<Word, F16x2>) {
                        y[wg.y * (c.width / 2) + i] = unpack2x16float(word);
                      } else {
                        y[wg.y * (c.width / 2) + i] = word;
                      }
                    });
                  });
                });
}

template EmbedKernel<F16x2> embed<F16x2>(const EmbedConfig&);
template EmbedKernel<Vec2<F32>> embed<Vec2<F32>>(const EmbedConfig&);

}  // namespace tern::gpu
