#include "engine/kv/sequence_state.h"

#include "base/check.h"

namespace tern {

Result<void> SequenceState::take() {
  if (id_ < 0) {
    TRY(id_, pool_.take_state());
  }
  return {};
}

void SequenceState::release() {
  if (id_ >= 0) pool_.release_state(id_);
  id_ = -1;
  is_valid_ = is_running_ = is_marked_ = false;
  n_tokens_ = n_confirmed_ = 0;
  rolling_ = -1;
}

void SequenceState::has_taken_in(size_t n) {
  is_valid_ = true;
  is_running_ = is_marked_ = false;
  n_tokens_ = n;
  n_confirmed_ = 0;
}

void SequenceState::truncate(size_t n) {
  if (n == 0) return release();
  if (!is_valid_) return;
  if (n < n_tokens_) {
    is_valid_ = false;
  } else if (n < n_tokens_ + n_confirmed_) {
    n_confirmed_ = n - n_tokens_;
  }
}

bool SequenceState::copy_snapshot(KvBlockId block, size_t n) {
  if (!take() || !pool_.copy_snapshot(block, id_)) return false;
  has_taken_in(n);
  return true;
}

void SequenceState::keep_snapshot(KvBlockId block, bool rolls) {
  if (rolls && rolling_ >= 0) pool_.drop_snapshot(rolling_);
  if (rolls) rolling_ = block;
  pool_.keep_snapshot(block, id_);
}

Result<void> SequenceState::write(Bytes in, size_t n) {
  TRY_STATUS(take());
  TRY_STATUS(pool_.store().write_state(id_, in));
  has_taken_in(n);
  return {};
}

Result<void> SequenceState::begin_run(Slice& slice, bool is_check) {
  TRY_STATUS(take());
  const auto n = static_cast<size_t>(slice.first_pos);
  CHECK(is_valid_for(n));
  if (n == 0) n_tokens_ = n_confirmed_ = 0;
  KvStore& store = pool_.store();
  const bool is_marked = is_check && store.returns_states();
  if (is_marked) TRY_STATUS(store.mark_state(id_));
  is_marked_ = is_marked;
  n_run_ = slice.tokens.size();
  n_added_ = 0;
  is_check = is_check && !is_marked;
  slice.state = id_;
  slice.n_confirmed = static_cast<int>(n_confirmed_);
  slice.confirmed_set = confirmed_set_;
  slice.is_check = is_check;
  is_check_ = is_check;
  is_running_ = true;
  is_valid_ = false;
  return {};
}

Result<void> SequenceState::begin_stream(Slice& slice) {
  TRY_STATUS(begin_run(slice, /*is_check=*/false));
  CHECK(slice.n_confirmed == 0);  // devices leave no tokens pending
  has_taken_in(static_cast<size_t>(slice.first_pos));
  return {};
}

void SequenceState::settle() {
  if (!is_marked_) return;
  if (n_added_ != n_run_) pool_.store().return_state(id_);
  has_taken_in(n_tokens_ + (n_added_ == n_run_ ? n_run_ : 0));
}

void SequenceState::add(size_t n) {
  if (is_marked_) {
    n_added_ += n;
    return;
  }
  if (is_running_) {
    n_tokens_ += n_confirmed_;
    n_confirmed_ = 0;
    if (is_check_) confirmed_set_ = 1 - confirmed_set_;
    is_running_ = false;
    is_valid_ = true;
  }
  (is_check_ ? n_confirmed_ : n_tokens_) += n;
}

}  // namespace tern
