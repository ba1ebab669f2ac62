// The processor's energy, divided among the models that compute at the same time.
#pragma once

#include <mutex>
#include <vector>

#include "tern/energy.h"

namespace tern::server {

class EnergyMeter;

// What one model takes. One thread's.
class EnergyShare {
 public:
  explicit EnergyShare(EnergyMeter* meter) : meter_(meter) {}  // null: nothing is measured
  ~EnergyShare();
  EnergyShare(const EnergyShare&) = delete;
  EnergyShare& operator=(const EnergyShare&) = delete;

  bool is_measured() const { return meter_ != nullptr; }
  void begin();  // it computes from now on
  // Joules since begin(), or since the last call; 0 where they are not measured. `goes_on`: it computes still.
  double take(bool goes_on);

 private:
  friend class EnergyMeter;
  EnergyMeter* meter_;
  double joules_ = 0;  // the meter's
};

// The counter is the whole machine's, and does not say who takes what. So what it counts is divided equally among those
// who compute just then; what it counts while nobody does is nobody's.
class EnergyMeter {
 public:
  explicit EnergyMeter(EnergyReader& reader) : reader_(reader) {}  // which must outlive it

 private:
  friend class EnergyShare;
  void begin(EnergyShare& share);
  double take(EnergyShare& share, bool goes_on);
  void settle();  // with the lock

  std::mutex mutex_;
  EnergyReader& reader_;
  double last_ = 0;  // that the counter showed
  std::vector<EnergyShare*> computing_;
};

}  // namespace tern::server
