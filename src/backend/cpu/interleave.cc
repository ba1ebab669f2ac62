#include "backend/cpu/interleave.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <vector>

#include "backend/repack.h"
#include "base/check.h"
#include "quant/q4_0.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace tern::cpu {
namespace {

template <class Block>
void interleave(Bytes row, MutableBytes out) {
  constexpr size_t kWord = sizeof(uint32_t), kWords = (sizeof(Block) - sizeof(Block::d)) / kWord;
  constexpr size_t kRecord = kRecordBlocks * sizeof(Block);
  const size_t blocks = row.size() / sizeof(Block);
  if (blocks % kRecordBlocks != 0) std::ranges::fill(out.last(kRecord), std::byte{0});
  for (size_t b = 0; b < blocks; ++b) {
    const std::byte* from = row.data() + b * sizeof(Block);
    std::byte* const record = out.data() + b / kRecordBlocks * kRecord;
    const size_t lane = b % kRecordBlocks;
    for (size_t word = 0; word < kWords; ++word) {
      std::memcpy(record + (word * kRecordBlocks + lane) * kWord, from + sizeof(Block::d) + word * kWord, kWord);
    }
    std::memcpy(record + kWords * kRecordBlocks * kWord + lane * sizeof(Block::d), from, sizeof(Block::d));
  }
}

uint32_t word_at(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Run r of a block, as in quant/q6_k.h.
void interleave_run(const Q6_KBlock& block, size_t r, std::byte* record, size_t lane) {
  constexpr size_t kWords = 8;
  const size_t half = r / 4, quarter = r % 4;
  const uint8_t* const low = block.low + 64 * half + 32 * (quarter % 2);
  const uint8_t* const high = block.high + 32 * half;
  uint32_t lines[6] = {};
  for (size_t w = 0; w < kWords; ++w) {
    lines[w % 4] |= (word_at(low + 4 * w) >> (quarter / 2 * 4) & 0x0F0F0F0F) << (w / 4 * 4);
    lines[4 + w / 4] |= (word_at(high + 4 * w) >> (2 * quarter) & 0x03030303) << (w % 4 * 2);
  }
  for (size_t i = 0; i < 6; ++i)
    std::memcpy(record + i * kRecordLine + lane * sizeof(uint32_t), &lines[i], sizeof(uint32_t));
  std::byte* const scales = record + 6 * kRecordLine + lane * sizeof(uint16_t);
  std::memcpy(scales, block.scales + 2 * r, sizeof(uint16_t));
  std::memcpy(scales + kRecordBlocks * sizeof(uint16_t), &block.d, sizeof block.d);
}

void interleave_q6_k(Bytes row, MutableBytes out) {
  constexpr size_t kRuns = kQ6_KBlock / 32, kBlocks = kRecordBlocks / kRuns;  // of a block; of a record
  const size_t blocks = row.size() / sizeof(Q6_KBlock);
  if (blocks % kBlocks != 0) std::ranges::fill(out.last(kQ6RecordBytes), std::byte{0});
  for (size_t b = 0; b < blocks; ++b) {
    Q6_KBlock block;
    std::memcpy(&block, row.data() + b * sizeof block, sizeof block);
    std::byte* const record = out.data() + b / kBlocks * kQ6RecordBytes;
    for (size_t r = 0; r < kRuns; ++r) interleave_run(block, r, record, b % kBlocks * kRuns + r);
  }
}

}  // namespace

bool has_interleaved(Format format) {
  return format == Format::kQ4_0 || format == Format::kQ8_0 || format == Format::kQ6_K;
}

uint64_t interleaved_row_bytes(Format format, int cols) {
  constexpr int kCols = kRecordBlocks * kQ4_0Block;
  static_assert(kQ4_0Block == kQ8_0Block);
  const int records = (cols + kCols - 1) / kCols;
  if (format == Format::kQ6_K) return static_cast<uint64_t>(records) * kQ6RecordBytes;
  return row_bytes(format, records * kCols);
}

void interleave_row(Format format, Bytes row, int cols, MutableBytes out) {
  CHECK(row.size() == row_bytes(format, cols) && out.size() == interleaved_row_bytes(format, cols));
  switch (format) {
    case Format::kQ4_0:
      return interleave<Q4_0Block>(row, out);
    case Format::kQ8_0:
      return interleave<Q8_0Block>(row, out);
    case Format::kQ6_K:
      return interleave_q6_k(row, out);
    default:
      CHECK(false);
  }
}

InterleavedWeights interleave_block_inputs(Plan& plan, uint64_t most_bytes, ThreadPool& pool) {
  std::map<const Tensor*, Tensor*> copies;  // a matrix may be in several steps
  std::vector<const Tensor*> originals;
  InterleavedWeights result;
  uint64_t bytes = 0;
  for_block_matrices(plan, [&](const Tensor*& w) {
    if (!has_interleaved(w->format) || copies.contains(w)) return;
    copies[w] = &result.tensors.emplace_back(*w);
    originals.push_back(w);
    bytes += static_cast<uint64_t>(w->rows) * interleaved_row_bytes(w->format, w->cols);
  });
  if (bytes == 0 || bytes > most_bytes) return {};
  auto memory = HostMemory::allocate(bytes, "the weights' copy");
  if (!memory) return {};
  result.memory = std::move(*memory);
  result.memory.advise_huge_pages();

  MutableBytes free(result.memory.data(), bytes);
  for (const Tensor* w : originals) {
    const uint64_t in_stride = row_bytes(w->format, w->cols), stride = interleaved_row_bytes(w->format, w->cols);
    const auto rows = static_cast<uint64_t>(w->rows), workers = static_cast<uint64_t>(pool.size());
    const MutableBytes out = free.first(rows * stride);
    free = free.subspan(rows * stride);
    std::atomic<bool> failed = false;  // to make rows that are made as they are read
    pool.run([&](int worker) {
      const uint64_t begin = rows * static_cast<uint64_t>(worker) / workers;
      const uint64_t end = rows * (static_cast<uint64_t>(worker) + 1) / workers;
      const auto put = [&](RowRange part, Bytes from) -> Result<void> {
        const auto first = static_cast<uint64_t>(part.first), n = static_cast<uint64_t>(part.count);
        for (uint64_t r = 0; r < n; ++r) {
          const MutableBytes to = out.subspan((first + r) * stride, stride);
          interleave_row(w->format, from.subspan(r * in_stride, in_stride), w->cols, to);
        }
        return {};
      };
      const RowRange range{static_cast<int64_t>(begin), static_cast<int64_t>(end - begin)};
      if (!read_rows(w->data, in_stride, range, put)) failed = true;
    });
    if (failed) return {};
    copies[w]->data = out;
    copies[w]->is_rearranged = true;
  }
  for_block_matrices(plan, [&](const Tensor*& w) {
    if (const auto found = copies.find(w); found != copies.end()) w = found->second;
  });
  return result;
}

}  // namespace tern::cpu
