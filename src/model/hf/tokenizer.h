// The tokenizer and the chat template of a Hugging Face directory.
#pragma once

#include <optional>
#include <string>

#include "base/folder.h"
#include "base/result.h"
#include "model/source.h"
#include "text/vocab.h"

namespace tern {

struct HfTokenizer {
  Vocab vocab;
  std::optional<std::string> chat_template;  // Jinja source
  std::string bos, eos;                      // what bos_token and eos_token stand for in it; empty where there is none
};

// From tokenizer.json, or where it is missing tokenizer.model; with tokenizer_config.json, generation_config.json (for
// the stop tokens; config.json where it is missing) and chat_template.jinja, as far as they are there. Stop tokens are
// all that these declare and those known to end a turn.
// Errors: kNotFound where there is neither tokenizer; those of the readers, naming the file.
Result<HfTokenizer> read_hf_tokenizer(const Folder& folder);
inline Result<HfTokenizer> read_hf_tokenizer(const std::string& directory) {
  return read_hf_tokenizer(DiskFolder(directory));
}

// The same as what every source gives; nullopt where the directory has no tokenizer.
Result<std::optional<SourceText>> read_directory_text(const Folder& folder);

}  // namespace tern
