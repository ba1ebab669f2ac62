// Compares runs of one plan step by step.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "tools/difference.h"

namespace tern {

// The outputs of all steps of a batch, one entry per slot that a step writes. int8 rows are stored as the floats that
// they represent.
class StepRecord {
 public:
  void begin_batch() { values_.clear(); }
  StepObserver observer();

  const std::vector<std::vector<float>>& values() const { return values_; }

 private:
  std::vector<std::vector<float>> values_;
};

// Differences between other runs of the same batches and the recorded ones, summed over the batches.
class StepDifferences {
 public:
  struct Entry {
    std::string step;
    Difference difference;
  };

  explicit StepDifferences(const StepRecord& record) : record_(record) {}

  // Call this after the batch was recorded and before the other run.
  void begin_batch() { n_compared_ = 0; }
  StepObserver observer();

  const std::vector<Entry>& entries() const { return entries_; }  // in plan order

 private:
  const StepRecord& record_;
  size_t n_compared_ = 0;  // in this batch
  std::vector<Entry> entries_;
};

}  // namespace tern
