// The published models that Tern is known to run, with their short names for `tern models` and `-m NAME`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tern/options.h"

namespace tern {

struct PublishedModel {
  std::string_view name;          // "bonsai-1.7b"
  std::string_view hub_name;      // what hub_pull() takes: "OWNER/NAME:FILE", or "OWNER/NAME" for a directory
  std::string_view format;        // of most of the weights: "Q1_0"
  std::string_view license;       // SPDX identifier, or the name on the model's page
  std::string_view general_name;  // general.name in the file
  std::string_view architecture;  // general.architecture; these two identify a file
  uint64_t file_bytes;            // published size; 0: unknown
  uint64_t weight_bytes;          // size of all tensors
  uint32_t n_layers;
  uint32_t kv_width;         // size of one token's keys in one layer: KV heads × head size
  uint32_t n_kv_layers = 0;  // layers that keep keys and values; 0: all
  uint64_t state_bytes = 0;  // of the recurrent layers, for each conversation
  SampleOptions sampling;    // the makers' recommendation; used if the file itself has none
  std::string_view replica;  // the description of the file that the tests check these numbers against

  // Bytes to download. If the file's size is unknown, the size of the tensors, which leaves out at most 16 MB of names.
  uint64_t download_bytes() const { return file_bytes > 0 ? file_bytes : weight_bytes; }
  // Bytes for the weights and a conversation of n_tokens in an f16 KV cache. Computation buffers add some MB.
  uint64_t memory_bytes(uint32_t n_tokens) const {
    const uint64_t kv_layers = n_kv_layers > 0 ? n_kv_layers : n_layers;
    return weight_bytes + state_bytes + uint64_t{2} * sizeof(uint16_t) * kv_layers * kv_width * n_tokens;
  }
};

// All published models, grouped by family, small ones first.
std::span<const PublishedModel> published_models();

// The model with this short name, ignoring case; null if there is none.
const PublishedModel* find_published_model(std::string_view name);

// The model of a file with these keys; null if there is none, or if several match and recommend different sampling.
const PublishedModel* find_published_file(std::string_view general_name, std::string_view architecture);

}  // namespace tern
