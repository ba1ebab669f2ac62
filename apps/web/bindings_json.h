// The engine's results as JSON for the module's answers. Names are those of the package (index.d.ts).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "tern/engine.h"

namespace tern::web {

std::string_view code_name(ErrorCode code);

// Describes a loaded model; n_ctx: the context of its session.
nlohmann::json info_of(const Engine& engine, int n_ctx);

// Log probabilities of one token and of its alternatives.
nlohmann::json logprobs_of(const Engine& engine, TokenId token, const Logprobs& logprobs);

// Standard base64, readable by Uint8Array.fromBase64 and atob.
std::string base64(std::span<const std::byte> bytes);

}  // namespace tern::web
