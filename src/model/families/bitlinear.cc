#include "model/families/bitlinear.h"

#include <algorithm>
#include <optional>

#include "quant/formats/tq1_0.h"
#include "quant/formats/tq2_0.h"

namespace tern {
namespace {

// True if all nonzero scales of the blocks are equal. `scale_at`: offset of the scale in a block.
Result<bool> has_one_scale(const StoredBytes& blocks, size_t block_bytes, size_t scale_at) {
  constexpr size_t kBlocksAtOnce = 16384;
  std::optional<uint16_t> scale;
  Scratch scratch;
  for (uint64_t first = 0; first < blocks.size(); first += kBlocksAtOnce * block_bytes) {
    TRY(const Bytes piece,
        blocks.read(first, std::min<uint64_t>(kBlocksAtOnce * block_bytes, blocks.size() - first), scratch));
    for (size_t at = 0; at + block_bytes <= piece.size(); at += block_bytes) {
      const auto d = load<uint16_t>(piece.data() + at + scale_at);
      if (d == 0) continue;
      if (scale && d != *scale) return false;
      scale = d;
    }
  }
  return true;
}

}  // namespace

Result<bool> has_bitlinear_layers(ModelSource& source, BitLinear which) {
  if (which == BitLinear::kNever) return false;
  if (which == BitLinear::kAlways) return true;
  TRY(const auto w, source.find_tensor("blk.0.attn_q.weight"));
  if (!w || !w->format) return false;
  if (*w->format == Format::kI2_S) return true;
  if (which != BitLinear::kOneScale) return false;
  if (*w->format == Format::kTQ1_0) return has_one_scale(w->data, sizeof(Tq1_0Block), offsetof(Tq1_0Block, d));
  if (*w->format == Format::kTQ2_0) return has_one_scale(w->data, sizeof(Tq2_0Block), offsetof(Tq2_0Block, d));
  return false;
}

}  // namespace tern
