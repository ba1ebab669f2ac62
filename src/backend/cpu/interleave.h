// Matrices in the order in which vectors take them, made from the file's when a model is loaded.
//
// A block of Q4_0 is 18 bytes: nothing in it is aligned, sixteen of them become vectors by a dozen inserts and eight
// shuffles, and their scales are picked up one by one. So sixteen runs of 32 values of a row become a record: the codes
// of all runs side by side, line after line, then their scales. What a row's last record lacks is filled up with zeros.
//
// A run has eight words of four codes, and a line is 64 bytes, a word of each run:
//
//   bits of a code   lines
//   8                word w in line w
//   4                word w in the lower halves of line w, word w + 4 in the upper ones
//   2                words 4i … 4i + 3 in bits 0, 2, 4, 6 of line i
//   1                word w in bit w of the line
//
// Codes of 3, 5 and 6 bits have their low 2, 4 and 4 bits first, then the lines of their high 1, 1 and 2. Then comes
//
//   two bytes of each run, where the format has scales that are whole numbers: one for each half, and where there are
//   mins too each with its half's min in the upper nibble; or where a run has one scale, all runs' scales, and then
//   their mins, if there are any
//   d of each run as f16, or of each block of 256 values; then dmin likewise, where the format has mins
//
// So a record has as many bytes as its blocks had, and 8 more for Q4_K and Q5_K's unpacked scales and mins (8 bits for
// 6), or 4 for IQ4_XS's. Of Q6_K each run has its own d: 448 bytes for 420, but whole cache lines.
//
// The same bytes suit every instruction set: where a vector holds fewer than kRecordRuns words, it takes a part of
// each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backend/host_memory.h"
#include "base/thread_pool.h"
#include "plan/plan.h"
#include "quant/coding.h"

namespace tern::cpu {

inline constexpr int kRecordRuns = 16;                                 // of 32 values
inline constexpr size_t kRecordLine = kRecordRuns * sizeof(uint32_t);  // bytes

// Where what lies in a record of a format.
struct RecordLayout {
  int low_bits, high_bits;  // of a code
  size_t low_lines, high_lines;
  size_t scales_at, d_at, dmin_at;  // bytes
  size_t runs_per_d;
  size_t bytes;

  constexpr explicit RecordLayout(const Coding& c) {
    const int bits = c.bits();
    low_bits = bits >= 8 ? 8 : bits >= 4 ? 4 : 2;
    high_bits = bits - low_bits;
    low_lines = static_cast<size_t>(low_bits);
    high_lines = static_cast<size_t>(high_bits);
    scales_at = (low_lines + high_lines) * kRecordLine;
    const int scale_bytes = c.group < 32 || c.has_mins ? 2 : 1;  // of a run
    d_at = scales_at + static_cast<size_t>(c.has_scales() ? scale_bytes * kRecordRuns : 0);
    runs_per_d = c.has_scales() && bits != 6 ? 8 : 1;
    const size_t d_bytes = kRecordRuns / runs_per_d * sizeof(uint16_t);
    dmin_at = d_at + d_bytes;
    bytes = dmin_at + (c.has_mins ? d_bytes : 0);
  }
};

// Whether matrices of this format are worth it: of one and two bits without mins they are read fast as they are.
constexpr bool has_interleaved(const Coding& coding) { return coding.n_codes > 4 || coding.has_mins; }
bool has_interleaved(Format format);

// Bytes of one row of whole records.
uint64_t interleaved_row_bytes(Format format, int cols);

// One row of the file's blocks as records.
void interleave_row(Format format, Bytes row, int cols, MutableBytes out);

struct InterleavedWeights {
  HostMemory memory;
  std::deque<Tensor> tensors;  // views of it; a deque: addresses stay
};

// Replaces the matrices that are multiplied with int8 blocks, each once, by interleaved ones, which the plan's steps
// then point to. Does nothing where `most_bytes` are too few for them.
InterleavedWeights interleave_block_inputs(Plan& plan, uint64_t most_bytes, ThreadPool& pool);

}  // namespace tern::cpu
