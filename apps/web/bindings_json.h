// What the engine gives, as the JSON of the module's answers. Names are those of the package (index.d.ts).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "tern/engine.h"

namespace tern::web {

std::string_view code_name(ErrorCode code);
std::string_view reason_name(FinishReason reason);

// Of a loaded model; n_ctx: of its session.
nlohmann::json info_of(const Engine& engine, int n_ctx);

// Of one token, and of those that might have stood in its place.
nlohmann::json logprobs_of(const Engine& engine, TokenId token, const Logprobs& logprobs);

// As Uint8Array.fromBase64 and atob read it.
std::string base64(std::span<const std::byte> bytes);

}  // namespace tern::web
