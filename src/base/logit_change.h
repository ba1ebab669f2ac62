// A change that a sampler makes to one token's logit before it filters.
#pragma once

#include "tern/options.h"

namespace tern {

// These steps are taken in this order, each rounded to a float: the bias is added, `first` is subtracted, the logit is
// divided by `factor` (or multiplied, if it is below zero), and `second` and `third` are subtracted.
struct LogitChange {
  TokenId token = 0;
  float bias = 0;  // −infinity: the token is not chosen
  float first = 0;
  float factor = 1;  // above 0
  float second = 0, third = 0;
};

// The definition.
inline float changed(float logit, const LogitChange& c) {
  const float lowered = logit + c.bias - c.first;
  // 0 stays 0, whatever the factor is.
  const float divided = lowered == 0 ? 0 : lowered > 0 ? lowered / c.factor : lowered * c.factor;
  return divided - c.second - c.third;
}

}  // namespace tern
