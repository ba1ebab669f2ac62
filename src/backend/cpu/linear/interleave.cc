#include "backend/cpu/linear/interleave.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "backend/cpu/linear/block_linear.h"
#include "backend/repack.h"
#include "base/check.h"
#include "plan/step_weights.h"
#include "quant/formats/q4_0.h"
#include "quant/formats/q8_0.h"

namespace tern::cpu {
namespace {

// Interleaves blocks of 32 values whose bytes after d are already the words of the lines.
template <class Block>
void interleave_words(Bytes row, MutableBytes out) {
  constexpr size_t kWord = sizeof(uint32_t), kWords = (sizeof(Block) - sizeof(Block::d)) / kWord;
  constexpr size_t kRecord = kRecordRuns * sizeof(Block);
  const size_t blocks = row.size() / sizeof(Block);
  for (size_t b = 0; b < blocks; ++b) {
    const std::byte* from = row.data() + b * sizeof(Block);
    std::byte* const record = out.data() + b / kRecordRuns * kRecord;
    const size_t lane = b % kRecordRuns;
    for (size_t word = 0; word < kWords; ++word) {
      std::memcpy(record + (word * kRecordRuns + lane) * kWord, from + sizeof(Block::d) + word * kWord, kWord);
    }
    std::memcpy(record + kWords * kRecordRuns * kWord + lane * sizeof(Block::d), from, sizeof(Block::d));
  }
}

// The reverse.
template <class Block>
void read_back_words(Bytes records, MutableBytes row) {
  constexpr size_t kWord = sizeof(uint32_t), kWords = (sizeof(Block) - sizeof(Block::d)) / kWord;
  constexpr size_t kRecord = kRecordRuns * sizeof(Block);
  for (size_t b = 0; b < row.size() / sizeof(Block); ++b) {
    std::byte* const to = row.data() + b * sizeof(Block);
    const std::byte* const record = records.data() + b / kRecordRuns * kRecord;
    const size_t lane = b % kRecordRuns;
    for (size_t word = 0; word < kWords; ++word) {
      std::memcpy(to + sizeof(Block::d) + word * kWord, record + (word * kRecordRuns + lane) * kWord, kWord);
    }
    std::memcpy(to, record + kWords * kRecordRuns * kWord + lane * sizeof(Block::d), sizeof(Block::d));
  }
}

// Stores the 32 codes of a run in its lane.
void put_codes(const RecordLayout& layout, const uint8_t* codes, std::byte* record, size_t lane) {
  uint32_t lines[8] = {};
  for (int w = 0; w < 8; ++w) {
    uint32_t word;
    std::memcpy(&word, codes + 4 * w, sizeof word);
    const uint32_t low = word & (0x01010101u * ((1u << layout.low_bits) - 1)), high = word >> layout.low_bits;
    if (layout.low_bits == 4) {
      lines[w % 4] |= low << (w / 4 * 4);
    } else {
      lines[w / 4] |= low << (w % 4 * 2);
    }
    if (layout.high_bits == 1) {
      lines[layout.low_lines] |= (high & 0x01010101) << w;
    } else if (layout.high_bits == 2) {
      lines[layout.low_lines + static_cast<size_t>(w) / 4] |= (high & 0x03030303) << (w % 4 * 2);
    }
  }
  for (size_t i = 0; i < layout.low_lines + layout.high_lines; ++i) {
    std::memcpy(record + i * kRecordLine + lane * sizeof(uint32_t), &lines[i], sizeof(uint32_t));
  }
}

// Stores the scales of run r of a block in its lane.
void put_scales(const Coding& coding, const RecordLayout& layout, const BlockParts& parts, size_t r, std::byte* record,
                size_t lane) {
  const size_t d = lane / layout.runs_per_d * sizeof(uint16_t);
  std::memcpy(record + layout.d_at + d, &parts.d, sizeof parts.d);
  if (coding.has_mins) std::memcpy(record + layout.dmin_at + d, &parts.dmin, sizeof parts.dmin);
  if (!coding.has_scales()) return;
  std::byte* const scales = record + layout.scales_at;
  if (coding.group == 32) {
    scales[lane] = static_cast<std::byte>(parts.scales[r]);
    if (coding.has_mins) scales[kRecordRuns + lane] = static_cast<std::byte>(parts.mins[r]);
    return;
  }
  for (size_t half = 0; half < 2; ++half) {
    const int min = coding.has_mins ? parts.mins[2 * r + half] : 0;
    scales[2 * lane + half] = static_cast<std::byte>(parts.scales[2 * r + half] | min << 4);
  }
}

void interleave_parts(const FormatInfo& info, Bytes row, MutableBytes out) {
  const RecordLayout layout(info.coding);
  const auto block_bytes = static_cast<size_t>(info.block_bytes), runs = static_cast<size_t>(info.block) / 32;
  BlockParts parts = {};
  for (size_t b = 0; b < row.size() / block_bytes; ++b) {
    info.unpack(row.data() + b * block_bytes, parts);
    for (size_t r = 0; r < runs; ++r) {
      const size_t run = b * runs + r, lane = run % kRecordRuns;
      std::byte* const record = out.data() + run / kRecordRuns * layout.bytes;
      put_codes(layout, parts.codes + 32 * r, record, lane);
      put_scales(info.coding, layout, parts, r, record, lane);
    }
  }
}

}  // namespace

bool has_interleaved(Format format) { return has_interleaved(format_info(format).coding); }

uint64_t interleaved_row_bytes(Format format, int cols) {
  constexpr int kCols = kRecordRuns * 32;
  const auto records = static_cast<uint64_t>((cols + kCols - 1) / kCols);
  return records * RecordLayout(format_info(format).coding).bytes;
}

void interleave_row(Format format, Bytes row, int cols, MutableBytes out) {
  CHECK(row.size() == row_bytes(format, cols) && out.size() == interleaved_row_bytes(format, cols));
  const FormatInfo& info = format_info(format);
  CHECK(has_interleaved(format));
  if (cols % (kRecordRuns * 32) != 0) std::ranges::fill(out.last(RecordLayout(info.coding).bytes), std::byte{0});
  if (format == Format::kQ4_0) return interleave_words<Q4_0Block>(row, out);
  if (format == Format::kQ8_0) return interleave_words<Q8_0Block>(row, out);
  interleave_parts(info, row, out);
}

bool is_read_back(Format format) { return format == Format::kQ4_0 || format == Format::kQ8_0; }

void read_back_row(Format format, Bytes records, int cols, MutableBytes row) {
  CHECK(row.size() == row_bytes(format, cols) && records.size() == interleaved_row_bytes(format, cols));
  CHECK(is_read_back(format));
  if (format == Format::kQ4_0) return read_back_words<Q4_0Block>(records, row);
  read_back_words<Q8_0Block>(records, row);
}

namespace {

// An embedding and a head may be two tensors of the same bytes.
bool same_matrix(const Tensor& a, const Tensor& b) {
  return a.data.identity() == b.data.identity() && a.data.size() == b.data.size() && a.format == b.format &&
         a.rows == b.rows && a.cols == b.cols;
}

// Calls use(table) for the tables of the plan that can be read back.
void for_tables(Plan& plan, const std::function<void(const Tensor*&)>& use) {
  for (Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor*& w, WeightRole role) {
      if (role == WeightRole::kTable && is_read_back(w->format)) use(w);
    });
  }
}

// False also for short rows of which a record would be half empty, if the file's order has kernels for whole groups of
// them: with 256-bit vectors these are 1.3 (Q4_0) to 1.5 times as fast (Q8_0).
bool pays(const Tensor& w) { return has_interleaved(w.format) && (w.cols != 256 || file_group(w.format) != 256); }

}  // namespace

std::set<const Tensor*> only_interleaved(Plan& plan) {
  std::map<const Tensor*, int> other_uses;  // mentions, less those with int8 blocks
  const auto count = [&](const Tensor*& w, WeightRole role) {
    other_uses[w] += role == WeightRole::kTable && is_read_back(w->format) ? 0 : 1;
  };
  for (Step& step : plan.steps) for_each_weight(step.body, count);
  std::set<const Tensor*> only;
  for_block_matrices(plan, [&](const Tensor*& w) {
    --other_uses[w];
    if (pays(*w)) only.insert(w);
  });
  std::erase_if(only, [&](const Tensor* w) { return other_uses[w] != 0; });
  for_tables(plan, [&](const Tensor*& table) {
    if (std::ranges::any_of(only, [&](const Tensor* w) { return same_matrix(*w, *table); })) only.insert(table);
  });
  return only;
}

namespace {

// Rows of `w` as they are read become records in `out`. False if reading fails.
bool interleave_rows(const Tensor& w, MutableBytes out, ThreadPool& pool, bool reads_alone) {
  const uint64_t in_stride = row_bytes(w.format, w.cols), stride = interleaved_row_bytes(w.format, w.cols);
  const auto workers = static_cast<int64_t>(pool.size()), rows = static_cast<int64_t>(w.rows);
  const auto share = [workers](int64_t n, int64_t worker) {
    const int64_t begin = n * worker / workers;
    return RowRange{begin, n * (worker + 1) / workers - begin};
  };
  const auto put = [&](int64_t first, int64_t n, Bytes from) {
    for (int64_t r = 0; r < n; ++r) {
      const MutableBytes to = out.subspan(static_cast<uint64_t>(first + r) * stride, stride);
      interleave_row(w.format, from.subspan(static_cast<uint64_t>(r) * in_stride, in_stride), w.cols, to);
    }
  };
  if (w.data.is_resident() || reads_alone) {
    return read_rows(w.data, in_stride, {0, rows},
                     [&](RowRange part, Bytes from) -> Result<void> {
                       pool.run([&](int worker) {
                         const RowRange own = share(part.count, worker);
                         put(part.first + own.first, own.count,
                             from.subspan(static_cast<uint64_t>(own.first) * in_stride));
                       });
                       return {};
                     })
        .has_value();
  }
  std::atomic<bool> failed = false;
  pool.run([&](int worker) {
    const auto done = read_rows(w.data, in_stride, share(rows, worker), [&](RowRange part, Bytes from) -> Result<void> {
      put(part.first, part.count, from);
      return {};
    });
    if (!done) failed = true;
  });
  return !failed;
}

}  // namespace

InterleavedWeights interleave_block_inputs(Plan& plan, uint64_t most_bytes, ThreadPool& pool, bool reads_alone) {
  std::map<const Tensor*, Tensor*> copies;  // a matrix may be in several steps
  std::vector<const Tensor*> originals;
  InterleavedWeights result;
  uint64_t bytes = 0;
  for_block_matrices(plan, [&](const Tensor*& w) {
    if (!pays(*w) || copies.contains(w)) return;
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
    const uint64_t bytes_of_w = static_cast<uint64_t>(w->rows) * interleaved_row_bytes(w->format, w->cols);
    const MutableBytes out = free.first(bytes_of_w);
    free = free.subspan(bytes_of_w);
    // If reading fails, the file's order stays in use.
    if (!interleave_rows(*w, out, pool, reads_alone)) return {};
    copies[w]->data = out;
    copies[w]->is_rearranged = true;
  }
  for_block_matrices(plan, [&](const Tensor*& w) {
    if (const auto found = copies.find(w); found != copies.end()) w = found->second;
  });
  for_tables(plan, [&](const Tensor*& table) {
    const auto found = std::ranges::find_if(originals, [&](const Tensor* w) { return same_matrix(*w, *table); });
    if (found != originals.end()) table = copies[*found];
  });
  return result;
}

}  // namespace tern::cpu
