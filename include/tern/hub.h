// Downloads models from Hugging Face, or a host with the same protocol, once, and finds them in the cache afterwards.
//
//   auto path = tern::hub_pull("microsoft/bitnet-b1.58-2B-4T-gguf").value();
//   auto engine = tern::Engine::load({.model_path = path}).value();
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"
#include "tern/file_preview.h"
#include "tern/options.h"

namespace tern {

// Empty members are taken from the environment variables of Hugging Face's own tools.
struct HubOptions {
  std::string endpoint = {};   // HF_ENDPOINT, else https://huggingface.co
  std::string token = {};      // HF_TOKEN, else the file named by HF_TOKEN_PATH, else HF_HOME/token; optional
  std::string cache_dir = {};  // HF_HUB_CACHE, else HF_HOME/hub, else $XDG_CACHE_HOME/huggingface/hub under ~/.cache
  bool offline = false;        // use the cache only; HF_HUB_OFFLINE=1 does the same
  bool prefer_cached = false;  // use the network only for uncached files; false: look for a newer version
  int connections = 8;         // at a time, for the parts of one file
  // Called before a model is downloaded (with a GGUF file, all parts of a split one, or the files of a directory).
  // hub_pull() returns its error, and then nothing more is downloaded. check_model_header() finds models that Tern will
  // refuse. If the host cannot send parts of files, the model is downloaded unchecked.
  std::function<Result<void>(std::span<const FilePreview> files)> check = {};
  OnProgress on_progress = {};
  std::function<void(std::string_view)> on_note = {};  // messages for the user: waiting, starting again
  std::stop_token stop = {};                           // stops with kInterrupted and keeps the downloaded part
};

// Downloads a model unless it is on this machine already, and returns its path: a file, or a directory if the
// repository has no GGUF file. `model` is
//   OWNER/NAME            the only GGUF file; of several, the one that suits Tern best: ternary and 1-bit ones first,
//                         then Q8_0, Q6_K, Q4_K_M, Q4_0, BF16, F16 and others that Tern runs; if there is none, the
//                         files of a safetensors or MLC model
//   OWNER/NAME:FILE       that file, or the one GGUF file whose name contains FILE (e.g. a quantization: Q2_0)
//   OWNER/NAME@REVISION   the same at a branch, tag or commit; REVISION may be followed by :FILE
// or the URL of its page. The other parts of a split GGUF file come with the first.
//
// The cache is the one of huggingface_hub, so each finds the other's downloads. An interrupted download resumes where
// it stopped. Several processes may pull at once. A file gets its final name only after its size and SHA-256 have been
// verified.
//
// Errors: kInvalidArgument: `model` has none of these forms. kNotFound: no such repository, revision or file; not in
// the cache while offline; or several files to choose from, which the message lists. kIo: the network, the disk (full,
// read-only), a missing or rejected token. kCorruption: the download differs from what the host announced.
// kInterrupted. kNotSupported: this Tern was built without libcurl. Any error that `check` returns.
Result<std::string> hub_pull(const std::string& model, const HubOptions& options = {});

struct HubFile {
  std::string path;               // within the repository
  std::optional<uint64_t> bytes;  // none if the host does not say
};

// The files of a repository, sorted by name; without a network, only those in the cache. `model` as above, but :FILE
// has no effect.
Result<std::vector<HubFile>> hub_list(const std::string& model, const HubOptions& options = {});

// A model on this machine: its name for hub_pull(), and the disk space that it uses.
struct CachedModel {
  std::string name;  // OWNER/NAME:FILE for a GGUF file, OWNER/NAME for a directory
  uint64_t bytes = 0;
  bool unfinished = false;  // the download was interrupted; hub_pull() resumes it
};

// The folder of the cache, which may not exist yet: HubOptions::cache_dir, or what the environment says. An absolute
// path. kInvalidArgument: there is no home directory for it, or the environment's other settings are wrong.
Result<std::string> hub_cache_dir(const HubOptions& options = {});

// All models in the cache, sorted by name, including those that other programs downloaded.
Result<std::vector<CachedModel>> hub_cached(const HubOptions& options = {});

// Removes a model from the cache and returns the number of bytes freed. `name` is a name from hub_cached(), or
// OWNER/NAME for everything in that repository. Files that another name still needs stay. kNotFound: it is not in the
// cache. kIo: it cannot be removed, or another process is downloading it.
Result<uint64_t> hub_remove(const std::string& name, const HubOptions& options = {});

}  // namespace tern
