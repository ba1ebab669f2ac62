// Splits text into the words within which byte pairs merge, with the model family's regular expression.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "text/tokenizer/vocab.h"

namespace tern {

class WordSplitter {
 public:
  static Result<WordSplitter> make(PreTokenizer kind);
  WordSplitter(WordSplitter&&) noexcept;
  WordSplitter& operator=(WordSplitter&&) noexcept;
  ~WordSplitter();

  // One pass over one text. Threads may use cursors at the same time, each its own.
  class Cursor {
   public:
    // `text` must be valid UTF-8.
    Cursor(const WordSplitter& splitter, std::string_view text);
    ~Cursor();
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;

    // The next word; empty at the end. Together the words are the whole text, in order.
    std::string_view next();

   private:
    const WordSplitter& splitter_;
    std::string_view rest_;
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Impl;
  explicit WordSplitter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern
