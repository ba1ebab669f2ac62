// Matrices in the order in which vectors take them, made from the file's when a model is loaded.
//
// A block of Q4_0 is 18 bytes: nothing in it is aligned, sixteen of them become vectors by a dozen inserts and eight
// shuffles, and their scales are picked up one by one. So kRecordBlocks blocks of a row become a record: the first
// words of all blocks side by side, then their second words, …, and last their f16 scales. A record has as many bytes
// as its blocks had; what a row's last one lacks is filled up with blocks of zeros.
//
// Of Q6_K two blocks become a record, of sixteen runs of 32 values. Its four lines of low bits hold word w of the run's
// values in their lower halves and word w + 4 in their upper ones; then come two lines of high bits, line i with words
// 4i … 4i + 3 in bits 0, 2, 4, 6; then the sixteen pairs of scales; last the d of each run, so 448 bytes for 420.
//
// The same bytes suit every instruction set: where a vector holds fewer than kRecordBlocks words, it takes a part of
// each line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backend/host_memory.h"
#include "base/thread_pool.h"
#include "plan/plan.h"

namespace tern::cpu {

inline constexpr int kRecordBlocks = 16;                                 // of 32 values
inline constexpr size_t kRecordLine = kRecordBlocks * sizeof(uint32_t);  // bytes
inline constexpr size_t kQ6RecordBytes = 6 * kRecordLine + 2 * kRecordBlocks * sizeof(uint16_t);

// Whether matrices of this format are worth it.
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
