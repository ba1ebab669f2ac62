// Divides the processor's energy among the models that compute at the same time.
#pragma once

#include <mutex>
#include <vector>

#include "tern/energy.h"

namespace tern::server {

class EnergyMeter;

// The energy of one model. Used by one thread.
class EnergyShare {
 public:
  explicit EnergyShare(EnergyMeter* meter) : meter_(meter) {}  // null: nothing is measured
  ~EnergyShare();
  EnergyShare(const EnergyShare&) = delete;
  EnergyShare& operator=(const EnergyShare&) = delete;

  bool is_measured() const { return meter_ != nullptr; }
  void begin();  // starts computing
  // Joules since begin() or the last call; 0 if not measured. `goes_on`: it is still computing.
  double take(bool goes_on);

 private:
  friend class EnergyMeter;
  EnergyMeter* meter_;
  double joules_ = 0;  // managed by the meter
};

// The counter covers the whole machine and does not say which model uses what. Its energy is therefore divided equally
// among the models computing at the time; if none is, it is not counted.
class EnergyMeter {
 public:
  explicit EnergyMeter(EnergyReader& reader) : reader_(reader) {}  // must outlive it

 private:
  friend class EnergyShare;
  void begin(EnergyShare& share);
  double take(EnergyShare& share, bool goes_on);
  void settle();  // call with the lock held

  std::mutex mutex_;
  EnergyReader& reader_;
  double last_ = 0;  // last reading of the counter
  std::vector<EnergyShare*> computing_;
};

}  // namespace tern::server
