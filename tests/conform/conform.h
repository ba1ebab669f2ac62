// The conform harness: runs a CPU op on every instruction set of this machine and with several thread counts, with
// guard bytes around every buffer. The test compares the result with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "backend/cpu/ops/cpu_target.h"
#include "backend/cpu/ops/work_queue.h"
#include "backend/cpu/scratch.h"
#include "base/check.h"
#include "base/thread_pool.h"
#include "conform/values.h"

namespace tern::conform {

// `count` zeroed values with guard bytes on both sides, starting `misalign` values past a 64-byte boundary.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count, size_t misalign = 0)
      : count_(count), bytes_((count + misalign) * sizeof(T) + 2 * kGuard + 64) {
    CHECK(count < (size_t{1} << 30));
    std::ranges::fill(bytes_, kPattern);
    const auto base = reinterpret_cast<uintptr_t>(bytes_.data() + kGuard);
    begin_ = bytes_.data() + kGuard + (64 - base % 64) % 64 + misalign * sizeof(T);
    std::memset(begin_, 0, count * sizeof(T));
  }
  T* data() { return reinterpret_cast<T*>(begin_); }
  const T* data() const { return reinterpret_cast<const T*>(begin_); }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data()[i]; }
  std::vector<T> values() const { return {data(), data() + count_}; }

  // True while all bytes outside [data(), data() + size()) are unchanged.
  bool intact() const {
    const unsigned char* end = begin_ + count_ * sizeof(T);
    for (const unsigned char* p = bytes_.data(); p != bytes_.data() + bytes_.size(); ++p) {
      if ((p < begin_ || p >= end) && *p != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 256;
  static constexpr unsigned char kPattern = 0xA5;
  size_t count_;
  std::vector<unsigned char> bytes_;
  unsigned char* begin_ = nullptr;
};

// Calls test() once per target that the kernels were compiled for and this machine can run.
template <class Test>
void on_every_target(Test&& test) {
  for (const cpu::CpuTarget& target : cpu::cpu_targets()) {
    if (!cpu::can_run(target)) continue;
    cpu::choose_cpu_target(target);
    SCOPED_TRACE(target.name);
    test();
  }
  CHECK(cpu::choose_cpu_target("").has_value());
}

// A cached pool of `n_threads` threads: most of the ops here take less time than starting threads.
inline ThreadPool& team_of(int n_threads) {
  static std::map<int, ThreadPool> teams;
  return teams.try_emplace(n_threads, n_threads).first->second;
}

// Scratch memory of exactly `floats` floats for each thread of a pool. It still contains the previous op's data.
inline std::vector<cpu::Scratch>& scratch_of(int n_threads, size_t floats) {
  static std::map<std::pair<int, size_t>, std::vector<cpu::Scratch>> kept;
  auto& scratch = kept[{n_threads, floats}];
  if (scratch.empty()) scratch.assign(static_cast<size_t>(n_threads), cpu::Scratch(floats));
  return scratch;
}

// Runs `op(args, queue)` on a pool of n_threads threads, as the backend does.
template <class Args>
void run_on(int n_threads, void (*op)(const Args&, cpu::WorkQueue&), const Args& args, size_t scratch_floats = 0) {
  std::atomic<int> next = 0;
  auto& scratch = scratch_of(n_threads, scratch_floats);
  team_of(n_threads).run([&](int worker) {
    cpu::WorkQueue queue(next, n_threads, scratch[static_cast<size_t>(worker)]);
    op(args, queue);
  });
}

}  // namespace tern::conform
