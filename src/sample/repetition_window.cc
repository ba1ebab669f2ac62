#include "sample/repetition_window.h"

#include <algorithm>

namespace tern {

RepetitionWindow::RepetitionWindow(int n_vocab, int length) : counts_(static_cast<size_t>(n_vocab)) {
  if (length > 0) ring_.resize(static_cast<size_t>(length));
}

void RepetitionWindow::add(TokenId token) {
  if (counts_[token]++ == 0) ++n_seen_;
  if (ring_.empty()) return;
  if (n_used_ == ring_.size()) {
    if (--counts_[ring_[next_]] == 0) --n_seen_;
  } else {
    ++n_used_;
  }
  ring_[next_] = token;
  next_ = (next_ + 1) % ring_.size();
}

void RepetitionWindow::forget() {
  std::ranges::fill(counts_, 0);
  n_seen_ = 0;
  next_ = 0;
  n_used_ = 0;
}

}  // namespace tern
