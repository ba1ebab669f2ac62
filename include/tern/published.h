// The published models that Tern is known to run, by short names: what `tern models` lists and `-m NAME` takes.
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
  std::string_view license;       // SPDX's name of it, or that of the model's page
  std::string_view general_name;  // general.name in the file, and
  std::string_view architecture;  // general.architecture: by these two a file is recognised
  uint64_t file_bytes;            // as published; 0: no source gives it
  uint64_t weight_bytes;          // of all tensors
  uint32_t n_layers;
  uint32_t kv_width;         // of the keys of one token in one layer: KV heads × head size
  SampleOptions sampling;    // what the makers recommend; used where the file itself says nothing
  std::string_view replica;  // the description of the file that the tests check these numbers against

  // Bytes to download: those of the tensors where the file's are not known, which leaves out at most 16 MB of names.
  uint64_t download_bytes() const { return file_bytes > 0 ? file_bytes : weight_bytes; }
  // Bytes that the weights and an f16 KV cache of so many tokens take. What is computed with comes on top: some MB.
  uint64_t memory_bytes(uint32_t n_tokens) const {
    return weight_bytes + uint64_t{2} * sizeof(uint16_t) * n_layers * kv_width * n_tokens;
  }
};

// All of them, a family at a time, the small ones first.
std::span<const PublishedModel> published_models();

// The one with this short name, whatever the case of its letters; null where there is none.
const PublishedModel* find_published_model(std::string_view name);

// The one that a file with these keys is; null where none, or several that recommend different sampling, have them.
const PublishedModel* find_published_file(std::string_view general_name, std::string_view architecture);

}  // namespace tern
