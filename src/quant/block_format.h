// Builds the FormatInfo of a format that is given as a type:
//
//   struct Q4_K {
//     static constexpr FormatId kId = { … };
//     struct Block { … };                                            the bytes of a block
//     static constexpr int kValues = 256;                            values per block
//     static constexpr Coding kCoding = { … };
//     static void unpack(const Block& block, BlockParts& parts);     d, codes, and the other parts of the coding
//     static Block pack(const BlockParts& parts);                    the reverse
//   };
//
// Decoding and encoding follow from these. A format with its own encoder has `static Block encode(const float*)`
// instead of pack, and encode_weighted(const float*, const float* weights) if it can use weights. A format whose rows
// may be multiplied with int8 activations has kIsTernary. block_formats.h lists all formats.
#pragma once

#include "quant/block_loop.h"
#include "quant/coding.h"
#include "quant/fit.h"
#include "quant/format.h"

namespace tern {

// Computes the values of a block from its parts; requires coding.has_codes().
void values_of(const Coding& coding, const BlockParts& parts, std::span<float> values);

template <class F>
void unpack_block(const std::byte* block, BlockParts& parts) {
  F::unpack(load<typename F::Block>(block), parts);
}

template <class F>
void decode_as(Bytes blocks, std::span<float> values) {
  // NOLINTNEXTLINE(readability-non-const-parameter): a function that depends on F writes to it
  const auto decode = [](const typename F::Block& block, float* out) {
    BlockParts parts;
    F::unpack(block, parts);
    values_of(F::kCoding, parts, std::span<float>(out, F::kValues));
  };
  decode_blocks<typename F::Block, F::kValues>(blocks, values, decode);
}

template <class F>
void encode_as(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<typename F::Block, F::kValues>(values, blocks, [](const float* x) {
    if constexpr (requires { F::encode(x); }) {
      return F::encode(x);
    } else {
      return F::pack(fit_parts(F::kCoding, std::span(x, F::kValues)));
    }
  });
}

template <class F>
constexpr bool kHasPack = requires(const BlockParts& parts) { F::pack(parts); };
template <class F>
constexpr bool kHasWeighted = requires(const float* x) { F::encode_weighted(x, x); };

template <class F>
void encode_weighted_as(std::span<const float> values, std::span<const float> importance, MutableBytes blocks) {
  CHECK(importance.size() == values.size());
  encode_blocks<typename F::Block, F::kValues>(values, blocks, [&](const float* x) {
    const float* const weights = importance.data() + (x - values.data());
    if constexpr (kHasWeighted<F>) {
      return F::encode_weighted(x, weights);
    } else {
      return F::pack(fit_parts(F::kCoding, std::span(x, F::kValues), std::span(weights, F::kValues)));
    }
  });
}

template <class F>
constexpr FormatInfo block_format() {
  FormatInfo info = {F::kId};
  info.block = F::kValues;
  info.block_bytes = sizeof(typename F::Block);
  info.is_ternary = requires { F::kIsTernary; };
  info.is_for_float_rows = true;
  info.coding = F::kCoding;
  info.unpack = unpack_block<F>;
  info.decode = decode_as<F>;
  info.encode = encode_as<F>;
  if constexpr (kHasPack<F> || kHasWeighted<F>) info.encode_weighted = encode_weighted_as<F>;
  return info;
}

}  // namespace tern
