// Comparing runs of one plan step by step.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "tools/difference.h"

namespace tern {

// What every step of a batch wrote, one entry per slot that a step writes. int8 rows are kept as the numbers that they
// stand for.
class StepRecord {
 public:
  void begin_batch() { values_.clear(); }
  StepObserver observer();

  const std::vector<std::vector<float>>& values() const { return values_; }

 private:
  std::vector<std::vector<float>> values_;
};

// How other runs of the same batches differ from the recorded ones, added up over the batches.
class StepDifferences {
 public:
  struct Entry {
    std::string step;
    Difference difference;
  };

  explicit StepDifferences(const StepRecord& record) : record_(record) {}

  // After the record has the batch, before the other run.
  void begin_batch() { n_compared_ = 0; }
  StepObserver observer();

  const std::vector<Entry>& entries() const { return entries_; }  // in plan order

 private:
  const StepRecord& record_;
  size_t n_compared_ = 0;  // of this batch
  std::vector<Entry> entries_;
};

}  // namespace tern
