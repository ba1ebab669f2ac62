// What streams and batches with prompts share when the device chooses tokens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace tern::gpu {

bool is_random(const DeviceSampling& o);
bool is_xtc(const DeviceSampling& o);

// The number of best logits that decide a row's token (Slice::n_best). Deviations are those of all logits.
int n_best_of(const DeviceSampling& o);

// Adds the random number of a row's next token, and with `has_xtc` the threshold that applies to it.
void draw_for(const DeviceSampling& o, bool has_xtc, std::vector<float>& drawn, std::vector<float>& thresholds);

// kDeviceLost if a chosen token does not exist. `device` is its name.
Result<void> check_tokens(std::span<const TokenId> tokens, int n_vocab, const std::string& device);

}  // namespace tern::gpu
