#include "server/api/service/energy_meter.h"

#include <algorithm>
#include <utility>

namespace tern::server {

EnergyShare::~EnergyShare() {
  if (meter_) meter_->take(*this, /*goes_on=*/false);
}

void EnergyShare::begin() {
  if (meter_) meter_->begin(*this);
}

double EnergyShare::take(bool goes_on) { return meter_ ? meter_->take(*this, goes_on) : 0; }

void EnergyMeter::settle() {
  const Result<double> now = reader_.joules();
  if (!now) return;  // the next reading will include this energy
  const double each = (*now - std::exchange(last_, *now)) / static_cast<double>(std::max<size_t>(computing_.size(), 1));
  for (EnergyShare* share : computing_) share->joules_ += each;
}

void EnergyMeter::begin(EnergyShare& share) {
  const std::scoped_lock lock(mutex_);
  settle();
  if (!std::ranges::contains(computing_, &share)) computing_.push_back(&share);
}

double EnergyMeter::take(EnergyShare& share, bool goes_on) {
  const std::scoped_lock lock(mutex_);
  settle();
  if (!goes_on) std::erase(computing_, &share);
  return std::exchange(share.joules_, 0.0);
}

}  // namespace tern::server
