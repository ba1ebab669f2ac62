// The conform harness: runs a CPU op on every instruction set that this machine has and on several thread counts, with
// guard words around every buffer, and hands the result to a comparison with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "backend/cpu/cpu_target.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/work_queue.h"
#include "base/check.h"
#include "base/thread_pool.h"
#include "conform/values.h"

namespace tern::conform {

// `count` values with guard words on both sides, `misalign` values past a 64-byte boundary.
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

  // True while nobody has written outside [data(), data() + size()).
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

// Calls test() once per target that this machine can run and the kernels were compiled for.
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

// A team of that many threads, made once: most of the ops here take less time than starting threads does.
inline ThreadPool& team_of(int n_threads) {
  static std::map<int, ThreadPool> teams;
  return teams.try_emplace(n_threads, n_threads).first->second;
}

// Scratch memory of just that many floats for each thread of a team, with whatever the op before left in it.
inline std::vector<cpu::Scratch>& scratch_of(int n_threads, size_t floats) {
  static std::map<std::pair<int, size_t>, std::vector<cpu::Scratch>> kept;
  auto& scratch = kept[{n_threads, floats}];
  if (scratch.empty()) scratch.assign(static_cast<size_t>(n_threads), cpu::Scratch(floats));
  return scratch;
}

// Runs `op(args, queue)` on a team of threads, as the backend does.
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
