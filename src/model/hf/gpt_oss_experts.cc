#include "model/hf/gpt_oss_experts.h"

#include <algorithm>
#include <cstring>

#include "quant/formats/mxfp4.h"

namespace tern {
namespace {

// Every `step`-th row of an expert, from `first` on.
struct Turn {
  uint64_t step = 1, first = 0;
};

Turn turn_of(HfChange change) {
  if (change == HfChange::kEvenRows) return {.step = 2, .first = 0};
  if (change == HfChange::kOddRows) return {.step = 2, .first = 1};
  return {};
}

// Blocks of a checkpoint: byte i has the values 2i and 2i + 1, the low nibble first. In those of files, byte i has the
// values i and i + 16.
constexpr size_t kNibbles = sizeof(MXFP4::Block::nibbles);

void repack_row(const std::byte* blocks, const std::byte* exponents, size_t n_blocks, std::byte* out) {
  for (size_t b = 0; b < n_blocks; ++b, blocks += kNibbles) {
    MXFP4::Block block;
    block.exponent = static_cast<uint8_t>(exponents[b]);
    const auto value = [&](size_t i) {
      const auto byte = static_cast<unsigned>(blocks[i / 2]);
      return i % 2 == 0 ? byte & 15 : byte >> 4;
    };
    for (size_t i = 0; i < kNibbles; ++i) block.nibbles[i] = static_cast<uint8_t>(value(i) | value(i + 16) << 4);
    std::memcpy(out + b * sizeof(block), &block, sizeof(block));
  }
}

struct Packed {
  StoredBytes blocks, scales;
  uint64_t rows, n_blocks;  // of an expert, of a row
  Turn turn;
};

// Makes `count` rows of one expert, beginning with file row `from`.
Result<void> repack_rows(const Packed& packed, uint64_t from, uint64_t count, MutableBytes out) {
  const uint64_t n = packed.n_blocks, step = packed.turn.step;
  Scratch scratch;
  TRY(const Bytes exponents, packed.scales.read(from * n, count * step * n, scratch));
  const RowRange rows{static_cast<int64_t>(from), static_cast<int64_t>(count * step)};
  return read_rows(packed.blocks, n * kNibbles, rows, [&](RowRange part, Bytes bytes) -> Result<void> {
    for (uint64_t i = 0; i < static_cast<uint64_t>(part.count); ++i) {
      const uint64_t row = static_cast<uint64_t>(part.first) - from + i;
      if (row % step != packed.turn.first) continue;
      repack_row(bytes.data() + i * n * kNibbles, exponents.data() + row * n, n,
                 out.data() + row / step * n * sizeof(MXFP4::Block));
    }
    return {};
  });
}

// Calls make(expert, row, count, out) for the parts of [first, first + n) that lie in one expert of `rows`.
template <class Make>
Result<void> for_each_expert(uint64_t first, uint64_t n, uint64_t rows, MutableBytes out, const Make& make) {
  const size_t stride = out.size() / n;
  for (uint64_t at = first; at < first + n;) {
    const uint64_t here = std::min(first + n - at, rows - at % rows);
    TRY_STATUS(make(at / rows, at % rows, here, out.subspan((at - first) * stride, here * stride)));
    at += here;
  }
  return {};
}

uint64_t count_of(const SourceTensor& tensor) {
  uint64_t n = 1;
  for (const int64_t dim : tensor.shape) n *= static_cast<uint64_t>(dim);
  return n;
}

Result<SourceTensor> unpack(SourceTensor tensor, const SourceTensor& scales, Turn turn, ComputedTensors& made,
                            const std::string& path) {
  const bool has_sizes = tensor.data.size() == count_of(tensor) && scales.data.size() == count_of(scales);  // of bytes
  if (!std::ranges::equal(scales.shape, std::span(tensor.shape).first(3)) || !has_sizes) {
    return fail(ErrorCode::kCorruption, "{}: the scales of {} do not fit its blocks; download the files again", path,
                tensor.name);
  }
  const auto n = static_cast<uint64_t>(tensor.shape[0]);
  const Packed packed{.blocks = tensor.data,
                      .scales = scales.data,
                      .rows = static_cast<uint64_t>(tensor.shape[1]),
                      .n_blocks = static_cast<uint64_t>(tensor.shape[2]),
                      .turn = turn};
  const uint64_t rows = packed.rows / turn.step;
  const auto make = [packed, rows](uint64_t first, uint64_t count, MutableBytes out) {
    return for_each_expert(first, count, rows, out,
                           [&](uint64_t expert, uint64_t row, uint64_t here, MutableBytes part) {
                             const uint64_t from = expert * packed.rows + row * packed.turn.step;
                             return repack_rows(packed, from, here, part);
                           });
  };
  tensor.data = made.make_later(std::make_unique<MadeRows>(packed.n_blocks * sizeof(MXFP4::Block), rows * n, make));
  tensor.format = Format::kMXFP4;
  tensor.type_name = "MXFP4";
  tensor.shape = {tensor.shape[0], static_cast<int64_t>(rows), tensor.shape[2] * MXFP4::kValues};
  return tensor;
}

SourceTensor transpose(SourceTensor tensor, Turn turn, ComputedTensors& made) {
  const auto n = static_cast<uint64_t>(tensor.shape[0]), n_in = static_cast<uint64_t>(tensor.shape[1]),
             n_out = static_cast<uint64_t>(tensor.shape[2]), rows = n_out / turn.step;
  const uint64_t size = row_bytes(*tensor.format, 1);
  const auto make = [=, from = tensor.data](uint64_t first, uint64_t count, MutableBytes out) {
    return for_each_expert(
        first, count, rows, out, [&](uint64_t expert, uint64_t row, uint64_t here, MutableBytes part) -> Result<void> {
          Scratch scratch;
          TRY(const Bytes matrix, from.read(expert * n_in * n_out * size, n_in * n_out * size, scratch));
          for (uint64_t i = 0; i < n_in; ++i) {
            for (uint64_t r = 0; r < here; ++r) {
              const uint64_t column = (row + r) * turn.step + turn.first;
              std::memcpy(part.data() + (r * n_in + i) * size, matrix.data() + (i * n_out + column) * size, size);
            }
          }
          return {};
        });
  };
  tensor.data = made.make_later(std::make_unique<MadeRows>(n_in * size, rows * n, make));
  tensor.shape = {tensor.shape[0], static_cast<int64_t>(rows), tensor.shape[1]};
  return tensor;
}

Result<SourceTensor> take_biases(SourceTensor tensor, Turn turn, ComputedTensors& made, const std::string& path) {
  const auto n = static_cast<uint64_t>(tensor.shape[0]), width = static_cast<uint64_t>(tensor.shape[1]);
  const uint64_t rows = width / turn.step;
  const auto make = [=, from = tensor.data, format = *tensor.format](uint64_t, uint64_t, MutableBytes out) {
    Scratch scratch;
    return from.read_all(scratch).transform([&](Bytes bytes) {
      std::vector<float> values(n * width);
      format_info(format).decode(bytes, values);
      for (uint64_t i = 0; i < n * rows; ++i) {
        store(out.data() + i * sizeof(float), values[i / rows * width + i % rows * turn.step + turn.first]);
      }
    });
  };
  TRY(tensor.data, made.make(std::make_unique<MadeRows>(n * rows * sizeof(float), 1, make), path));
  tensor.format = Format::kF32;
  tensor.type_name = "F32";
  tensor.shape[1] = static_cast<int64_t>(rows);
  return tensor;
}

}  // namespace

Result<SourceTensor> make_gpt_oss_experts(HfChange change, SourceTensor tensor, const SourceTensor* scales,
                                          ComputedTensors& made, const std::string& path) {
  const Turn turn = turn_of(change);
  const auto divides = [&](size_t dim) { return tensor.shape[dim] % static_cast<int64_t>(turn.step) == 0; };
  if (scales) {
    const bool are_blocks = tensor.shape.size() == 4 && tensor.shape[3] == kNibbles && divides(1);
    return are_blocks ? unpack(std::move(tensor), *scales, turn, made, path) : tensor;
  }
  if (!tensor.format) return tensor;
  if (tensor.shape.size() == 3 && divides(2)) return transpose(std::move(tensor), turn, made);
  if (tensor.shape.size() == 2 && divides(1)) return take_biases(std::move(tensor), turn, made, path);
  return tensor;
}

}  // namespace tern
