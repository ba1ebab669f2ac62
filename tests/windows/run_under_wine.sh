#!/usr/bin/env bash
# Runs the Windows program of build/windows under Wine as users do, and compares it with the Linux program of
# build/release. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
root=$PWD
export LC_ALL=C.UTF-8
readonly linux=$root/build/release/bin/tern windows=$root/tests/windows/tern model=$root/models/tern-stories.gguf
passed=0 failed=0
work=$(mktemp -d)
started=()
trap 'for pid in "${started[@]}"; do kill -9 "$pid" 2>/dev/null; done; rm -rf "$work"' EXIT

tern() { "$windows" "$@"; }

# start ARGUMENTS...: in the background, as the process `pid`. Output goes to out and err.
start() {
  "$windows" "$@" >"$work/out" 2>"$work/err" </dev/null &
  pid=$!
  started+=("$pid")
}

# wait_for TEXT FILE: at most 30 seconds.
wait_for() {
  local i
  for ((i = 0; i < 300; ++i)); do
    grep -qF -- "$1" "$2" && return 0
    sleep 0.1
  done
  return 1
}

# check NAME COMMAND...: counts whether the command succeeds.
check() {
  local name=$1
  shift
  if "$@"; then
    ((++passed))
  else
    ((++failed))
    printf 'FAILED: %s\n' "$name"
  fi
}

# same EXPECTED ACTUAL: shows both where they differ. Neither may be empty.
same() {
  [[ -n $1 && $1 == "$2" ]] && return
  printf 'expected: %q\n but was: %q\n' "$1" "$2"
  return 1
}

says_what_linux_says() {
  same "$("$linux" "$@" 2>/dev/null; echo "code $?")" "$(tern "$@" 2>/dev/null; echo "code $?")"
}

unicode_path() {
  mkdir -p "$work/ünï cödé 日本"
  cp "$model" "$work/ünï cödé 日本/mödel.gguf"
  same "$("$linux" run -p Mia --temp 0 -n 8 2>/dev/null)" \
    "$(tern run -m "$work/ünï cödé 日本/mödel.gguf" -p Mia --temp 0 -n 8 2>/dev/null)"
}

prompt_file_and_pipe() {
  printf 'Once upon a time' >"$work/prompt"
  local wanted
  wanted=$("$linux" run -f "$work/prompt" --temp 0 -n 8 2>/dev/null)
  same "$wanted" "$(tern run -f "$work/prompt" --temp 0 -n 8 2>/dev/null)" &&
    same "$wanted" "$(tern run -f - --temp 0 -n 8 2>/dev/null <"$work/prompt")"
}

long_path() {
  local folder=$work name
  name=$(printf 'n%.0s' {1..90})
  folder+=/$name/$name/$name/$name
  mkdir -p "$folder"
  cp "$model" "$folder/m.gguf"
  tern inspect "$folder/m.gguf" >"$work/long" 2>&1 && grep -q llama "$work/long" || { cat "$work/long"; return 1; }
}

missing_file() {
  local text
  text=$(tern run -m "$work/none.gguf" -p a 2>&1) && return 1
  [[ $text == *none.gguf* ]] || { printf '%s\n' "$text"; return 1; }
}

# The reader takes ten bytes and goes; the program may not go on for all of its 2,000 tokens.
closed_pipe() {
  local begin=$SECONDS
  tern run -p Once --temp 0 -n 2000 --ignore-eos 2>"$work/err" | head -c 10 >/dev/null
  ((SECONDS - begin < 20)) && ! grep -q 'cannot write' "$work/err" || { cat "$work/err"; return 1; }
}

ctrl_c() {
  start run -p Once --temp 0 -n 100000 --ignore-eos --ctx-shift
  sleep 3
  kill -INT "$pid"
  wait "$pid"
  local code=$?
  ((code == 130)) && [[ -s $work/out ]] || { printf 'code %s\n' "$code"; tail -n 3 "$work/err"; return 1; }
}

convert_and_validate() {
  local arguments=(convert "$model")
  "$linux" "${arguments[@]}" "$work/linux.gguf" --type tq1_0 >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
  tern "${arguments[@]}" "$work/windows.gguf" --type tq1_0 >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
  cmp "$work/linux.gguf" "$work/windows.gguf" && [[ -z $(find "$work" -name '*.partial') ]]
}

port=0 server=
serves() {
  start serve --port 0
  wait_for chat "$work/err" || { cat "$work/err"; return 1; }
  port=$(grep -ohE ':[0-9]+/' "$work/err" | head -n 1 | tr -dc 0-9)
  server=$pid
  local body='{"prompt": "Once upon a time", "max_tokens": 8, "temperature": 0}' text
  text=$(curl -sS --max-time 60 -d "$body" "http://127.0.0.1:$port/v1/completions") || return 1
  same "$("$linux" run -p 'Once upon a time' --temp 0 -n 8 2>/dev/null | head -c 20)" \
    "$(python3 -c 'import json, sys; print(("Once upon a time" + json.load(sys.stdin)["choices"][0]["text"])[:20])' <<<"$text")"
}

has_page() { grep -qi '<title>' <<<"$(curl -sS --max-time 20 "http://127.0.0.1:$port/")"; }

streams() {
  local body='{"messages": [{"role": "user", "content": "Tell a story"}], "max_tokens": 8, "stream": true}'
  grep -q 'data: \[DONE\]' <<<"$(curl -sSN --max-time 60 -d "$body" "http://127.0.0.1:$port/v1/chat/completions")"
}

# A name of Windows' own for a file that may not be served.
hides_files() {
  [[ $(curl -s -o /dev/null -w '%{http_code}' --path-as-is "http://127.0.0.1:$port/..%5c..%5cbin%5ctern.exe") == 404 ]]
}

second_server_is_refused() {
  local text
  text=$(timeout 30 "$windows" serve --port "$port" 2>&1) && return 1
  [[ $text == *"cannot listen"* ]] || { printf '%s\n' "$text"; return 1; }
}

server_ends() {
  kill -INT "$server"
  wait "$server"
  local code=$?
  ((code == 0 || code == 130)) || { printf 'code %s\n' "$code"; return 1; }
}

killed_batch_goes_on() {
  local i
  for ((i = 0; i < 40; ++i)); do
    # Replies of many lengths, so that they do not end together.
    printf '{"custom_id": "%d", "method": "POST", "url": "/v1/completions", "body": {"prompt": "Mia %d", "max_tokens": %d, "ignore_eos": true}}\n' "$i" "$i" "$((10 + 10 * i))"
  done >"$work/questions.jsonl"
  start batch "$work/questions.jsonl" "$work/answers.jsonl"
  for ((i = 0; i < 300; ++i)); do
    [[ $(wc -l 2>/dev/null <"$work/answers.jsonl") -lt 3 ]] || break
    sleep 0.02
  done
  kill -9 "$pid"
  wait "$pid" 2>/dev/null
  local before
  before=$(wc -l <"$work/answers.jsonl")
  ((before >= 3 && before < 40)) || { printf '%d answers when it was killed\n' "$before"; return 1; }
  tern batch "$work/questions.jsonl" "$work/answers.jsonl" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
  [[ $(grep -o '"custom_id":"[0-9]*"' "$work/answers.jsonl" | sort -u | wc -l) == 40 && $(wc -l <"$work/answers.jsonl") == 40 ]]
}

# A model that a program has open cannot be replaced. The error names it, and the model stays as it was.
file_in_use() {
  cp "$model" "$work/used.gguf"
  start chat -m "$work/used.gguf"
  started+=("$pid")
  (sleep 20 | "$windows" run -m "$work/used.gguf" -f - >/dev/null 2>&1) &
  sleep 3
  local text status=0
  text=$(tern convert "$model" "$work/used.gguf" --type tq1_0 2>&1) || status=$?
  kill %% 2>/dev/null
  [[ -z $(find "$work" -name '*.partial') ]] || { printf 'a partial file is left\n'; return 1; }
  ((status == 0)) || [[ $text == *used.gguf* ]] || { printf '%s\n' "$text"; return 1; }
}

if [[ ! -e build/windows/wine/system.reg ]]; then
  mkdir -p build/windows/wine
  tern --version >/dev/null 2>&1  # Wine makes its folders, which takes half a minute
fi
check 'the default model writes what it writes on Linux' says_what_linux_says run -p 'Once upon a time' --temp 0 -n 60
check 'one thread, too' says_what_linux_says run -p 'Once upon a time' --temp 0 -n 20 --threads 1
check 'a prompt beyond ASCII' says_what_linux_says tokenize -p 'Ünïcödé 日本'
check 'a path beyond ASCII' unicode_path
check 'prompts from a file and a pipe' prompt_file_and_pipe
check 'a path of more than 260 characters' long_path
check 'a missing file is named' missing_file
check 'models' says_what_linux_says models
check 'wrong usage' says_what_linux_says run --no-such-option
check 'a closed pipe ends it' closed_pipe
check 'Ctrl-C ends it' ctrl_c
check 'converted files are the same' convert_and_validate
check 'a server answers' serves
check 'it has the page' has_page
check 'it streams' streams
check 'it hides files by all their names' hides_files
check 'a second server on its port is refused' second_server_is_refused
check 'Ctrl-C ends the server' server_ends
check 'a batch that was killed goes on' killed_batch_goes_on
check 'a file in use' file_in_use
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
