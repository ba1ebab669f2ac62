// Matrices in the order in which vectors read them, made from the file's order when a model is loaded.
//
// A block of Q4_0 is 18 bytes: nothing in it is aligned, sixteen blocks become vectors by a dozen inserts and eight
// shuffles, and their scales are gathered one by one. So sixteen runs of 32 values of a row become a record: the codes
// of all runs side by side, line by line, then their scales. The last record of a row is padded with zeros.
//
// A run has eight words of four codes. A line is 64 bytes: one word of each run.
//
//   bits of a code   lines
//   8                word w in line w
//   4                word w in the low nibbles of line w, word w + 4 in the high ones
//   2                words 4i … 4i + 3 in bits 0, 2, 4, 6 of line i
//   1                word w in bit w of the line
//
// Codes of 3, 5 and 6 bits store their low 2, 4 and 4 bits first, then the lines of their high 1, 1 and 2 bits. Then
// come
//
//   the scales, if they are integers. A format with a scale per half run has two bytes per run, one for each half,
//   with the half's min (if the format has mins) in the upper nibble. A format with a scale per run has one byte per
//   run, followed by the mins of all runs, if the format has mins.
//   d of each run as f16, or of each block of 256 values; then dmin in the same way, if the format has mins
//
// So a record has as many bytes as its blocks, plus 8 for the unpacked scales and mins of Q4_K and Q5_K (8 bits instead
// of 6), or 4 for IQ4_XS. In Q6_K each run has its own d: 448 bytes instead of 420, but whole cache lines.
//
// The same bytes suit every instruction set: if a vector holds fewer than kRecordRuns words, it takes a part of each
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>

#include "backend/host_memory.h"
#include "base/thread_pool.h"
#include "plan/plan.h"
#include "quant/coding.h"

namespace tern::cpu {

inline constexpr int kRecordRuns = 16;                                 // of 32 values
inline constexpr size_t kRecordLine = kRecordRuns * sizeof(uint32_t);  // bytes

// The offsets of the parts of a record.
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
    const int scale_bytes = c.group < 32 || c.has_mins ? 2 : 1;  // per run
    d_at = scales_at + static_cast<size_t>(c.has_scales() ? scale_bytes * kRecordRuns : 0);
    runs_per_d = c.has_scales() && bits != 6 ? 8 : 1;
    const size_t d_bytes = kRecordRuns / runs_per_d * sizeof(uint16_t);
    dmin_at = d_at + d_bytes;
    bytes = dmin_at + (c.has_mins ? d_bytes : 0);
  }
};

// True if interleaving pays for this format. Formats of one or two bits without mins are read fast in the file's order.
constexpr bool has_interleaved(const Coding& coding) { return coding.n_codes > 4 || coding.has_mins; }
bool has_interleaved(Format format);

// Bytes of one row, in whole records.
uint64_t interleaved_row_bytes(Format format, int cols);

// Converts one row of blocks in the file's order to records.
void interleave_row(Format format, Bytes row, int cols, MutableBytes out);

// True if a row of records can become blocks again: a table then needs no copy in the file's order.
bool is_read_back(Format format);
void read_back_row(Format format, Bytes records, int cols, MutableBytes row);

struct InterleavedWeights {
  HostMemory memory;
  std::deque<Tensor> tensors;  // views of `memory`; a deque keeps their addresses valid
};

// The matrices that no step needs in the file's order once they are interleaved; tables are read back.
std::set<const Tensor*> only_interleaved(Plan& plan);

// Interleaves the matrices that are multiplied with int8 blocks, each once, and points the plan's steps to the copies,
// with the tables that can be read back. Does nothing if they need more than `most_bytes`. `reads_alone`: only the
// calling thread may read what is not in memory.
InterleavedWeights interleave_block_inputs(Plan& plan, uint64_t most_bytes, ThreadPool& pool, bool reads_alone = false);

}  // namespace tern::cpu
