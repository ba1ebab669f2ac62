#!/usr/bin/env python3
"""Breaks blocks, reference counts, copies on write, rows and schedules one at a time, and expects the tests to notice.

A mutant is a line of the sources and what becomes of it. Each is put into a copy of the tree, whose tests are built and
run; so this takes half a minute a mutant and is no part of ./check. A line that is no longer found fails the gate: adapt
it to the sources as they are now.

Usage: sequences.py WORKTREE BUILD [--only PART_OF_NAME]
WORKTREE is a checkout that may be written to (git worktree add), BUILD its configured build directory.
Exit 0: all noticed.
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import time


@dataclasses.dataclass
class Mutant:
    name: str
    file: str
    find: str
    replace: str
    tests: str = "engine_test"  # programs that should notice, with a filter behind a colon


BLOCKS, SEQUENCE, GENERATION = "src/engine/kv/kv_blocks.cc", "src/engine/kv/sequence.cc", "src/engine/reply/generation.cc"
SPECULATION = "src/engine/reply/speculation.cc"
SCHEDULER, BINDER, ATTENTION = "src/engine/scheduler.cc", "src/backend/host_binder.cc", "src/backend/cpu/ops/attention.cc"
CONFORM = "conform_test:*ttention*:*KvAppend*"

MUTANTS = [
    Mutant("a block is given back while others have it", BLOCKS, "  if (--block.n_sequences > 0) return;", "  --block.n_sequences;"),
    Mutant("sharing does not count", BLOCKS, "  if (block.n_sequences++ > 0) return;", "  if (block.n_sequences > 0) return;\n  ++block.n_sequences;"),
    Mutant("a kept block stays in the list when it is used again", BLOCKS, "  kept_.erase(block.kept);\n", ""),
    Mutant("the most recently used makes room", BLOCKS, "  const KvBlockId oldest = kept_.front();\n  kept_.pop_front();", "  const KvBlockId oldest = kept_.back();\n  kept_.pop_back();"),
    Mutant("what made room can still be found", BLOCKS, "  ++stats_.dropped;\n  hide(oldest);", "  ++stats_.dropped;"),
    Mutant("a shared block is written to", BLOCKS, "  if (at(id).n_sequences == 1) {", "  if (at(id).n_sequences >= 1) {"),
    Mutant("a changed block can still be found", BLOCKS, "    if (at(id).prefix != 0) hide(id);\n    return id;", "    return id;"),
    Mutant("the copy is empty", BLOCKS, "  if (auto copied = store_->copy(id, copy); !copied) {", "  if (auto copied = Result<void>(); !copied) {"),
    Mutant("tokens are not compared", BLOCKS, "block.parent == parent && std::ranges::equal(block.tokens, tokens)", "block.parent == parent"),
    Mutant("what comes before is not compared", BLOCKS, "block.parent == parent && std::ranges::equal(block.tokens, tokens)", "std::ranges::equal(block.tokens, tokens)"),
    Mutant("the bound on blocks is not kept", BLOCKS, "  if (n_with_memory_ >= options_.max_blocks) {", "  if (n_with_memory_ > options_.max_blocks) {"),
    Mutant("two equal blocks are both kept", BLOCKS, "    if (other == id || in_use) return at(other).prefix;", "    return at(other).prefix;"),
    Mutant("all of a prompt may be reused", SEQUENCE, "  const auto known = prompt.first(prompt.size() - 1);", "  const auto known = prompt;"),
    Mutant("the first blocks are released first", SEQUENCE, "    pool_->release(blocks_.back());\n    blocks_.pop_back();", "    pool_->release(blocks_.front());\n    blocks_.erase(blocks_.begin());"),
    Mutant("no copy on write", SEQUENCE, "  if (first < blocks_.size() && tokens_.size() % n_per_block_ > 0) {", "  if (false) {"),
    Mutant("a block too few", "src/engine/kv/sequence.h", "(n_tokens + n_per_block_ - 1) / n_per_block_", "n_tokens / n_per_block_"),
    Mutant("the kind of sequence does not matter", SEQUENCE, "      root_(root),", "      root_(0 * root),"),
    Mutant("a reply is told past a wrong guess", GENERATION, "    if (i == drafting_.n_drafts() || running_[i + 1] != tokens_.back() || is_constrained()) break;", "    if (i == drafting_.n_drafts()) break;"),
    Mutant("a copy is not followed past a change", SPECULATION, "      follows_ = length_ >= kMany;", "      follows_ = false;"),
    Mutant("guesses that were not checked teach nothing", GENERATION, "  drafting_.add_chosen(std::span(tokens_).subspan(n_before));", "  if (drafting_.n_drafts() > 0) drafting_.add_chosen(std::span(tokens_).subspan(n_before));"),
    Mutant("a slower machine makes rows dearer", SPECULATION, "  one_ = one_ > 0 ? one_ + (one - one_) / kSmoothing : one;", "  if (one_ == 0) one_ = one;"),
    Mutant("guesses take the room of others", SCHEDULER, "  const int others = 1 + pass.n_decoding + std::min(pass.n_prefilling, 1);", "  const int others = 1;"),
    Mutant("others give way to guesses", SCHEDULER, "      if (std::exchange(guesses, false)) continue;", "      if (false) continue;"),
    Mutant("guesses beyond the end stay", GENERATION, "  if (n_unreported_ > 0) sequence_.truncate(tokens_.size() - n_unreported_ - 1);", "  if (false) return;"),
    Mutant("logits of another reply", SCHEDULER, "    at += n;\n", "    at += 0 * n;\n", "batch_test engine_test"),
    Mutant("a preempted reply keeps its place in the context", SCHEDULER, "    other.sequence->clear();\n", "    other.sequence->truncate(other.sequence->n_used() / 2);\n", "batch_test engine_test"),
    Mutant("one reply too many in a pass", SCHEDULER, "  return pass.n_tokens < most_tokens_ &&", "  return pass.n_tokens <= most_tokens_ &&", "batch_test engine_test"),
    Mutant("rows of the first sequence's blocks", BINDER, "  std::byte* const* const blocks = blocks_.data() + blocks_.size();", "  std::byte* const* const blocks = blocks_.data();", "batch_test"),
    Mutant("positions begin at the batch's first row", BINDER, "kv_rows_.push_back({blocks, slice.first_pos + i});", "kv_rows_.push_back({blocks, i});", "batch_test golden_test:*Greedy*"),
    Mutant("angles of the first slice for all", BINDER, "rope.fill(first, n, slice.first_pos, slice.n_ctx);", "rope.fill(first, n, first > 0 ? 0 : slice.first_pos, slice.n_ctx);", "batch_test"),
    Mutant("tiles reach into the next sequence", BINDER, "tiles_.push_back({first + i, std::min(ops::kTileRows, n - i)});", "tiles_.push_back({first + i, ops::kTileRows});", "batch_test"),
    Mutant("logits of the row before", BINDER, "logit_rows_.push_back(first + i);", "logit_rows_.push_back(std::max(0, first + i - 1));", "batch_test golden_test:*Greedy*"),
    Mutant("the next block's keys", ATTENTION, "      ReadBlock<T>(row.blocks[first / kKvBlock] + offset, layer, head, block);", "      ReadBlock<T>(row.blocks[first / kKvBlock + (first + kKvBlock < range.end ? 1 : 0)] + offset, layer, head, block);", CONFORM),
    Mutant("scores past a block's end", ATTENTION, "const size_t first = begin / kKvBlock * kKvBlock, end = std::min(range.end, first + kKvBlock);", "const size_t first = begin / kKvBlock * kKvBlock, end = std::min(range.end, first + kKvBlock - 1);", CONFORM),
    Mutant("a key's scale for its neighbor", ATTENTION, "block.scales + group * kKvBlock + pos", "block.scales + group * kKvBlock + (pos ^ lanes)", CONFORM),
]


def passes(build, tests):
    """Whether all the programs pass; a program that crashes or hangs does not."""
    for test in tests.split():
        program, _, names = test.partition(":")
        command = [build / "bin" / program] + ([f"--gtest_filter={names}"] if names else [])
        try:
            if subprocess.run(command, capture_output=True, timeout=240, check=False).returncode:
                return False
        except subprocess.TimeoutExpired:
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worktree", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    survived = 0
    chosen = [mutant for mutant in MUTANTS if args.only in mutant.name]
    for mutant in chosen:
        path = args.worktree / mutant.file
        text = path.read_text()
        start = time.monotonic()
        if text.count(mutant.find) != 1:
            survived += 1
            print(f"NOT FOUND  {mutant.name}: {mutant.file} has its line {text.count(mutant.find)} times", flush=True)
            continue
        targets = [test.partition(":")[0] for test in mutant.tests.split()]
        try:
            path.write_text(text.replace(mutant.find, mutant.replace))
            built = subprocess.run(["cmake", "--build", args.build, "--target", *targets], capture_output=True, check=False)
            noticed = built.returncode != 0 or not passes(args.build, mutant.tests)
        finally:
            path.write_text(text)
        what = "does not compile" if built.returncode else "noticed" if noticed else "SURVIVED"
        survived += what != "noticed"
        print(f"{what:10} {mutant.name} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(chosen)} mutants, {len(chosen) - survived} noticed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
