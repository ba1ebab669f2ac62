#!/usr/bin/env bash
# check_errors.sh FILE WORDING COMPILER ARGS...: compiles FILE with its refused lines. Each must give its message, on its own
# line, and no other line may give one. WORDING is GCC or Clang: whose messages to expect.
set -uo pipefail
export LC_ALL=C
file=$1 wording=$2
shift 2
status=0
fail() { printf '%s\n' "$*"; status=1; }

output=$("$@" -DREFUSED "$file" 2>&1) && fail "$file compiles with its refused lines"
# "LINE MESSAGE" of each error that the compiler reports in this file.
errors=$(sed -nE "s|^[^ ]*${file##*/}:([0-9]+):[0-9]+: error: |\1 |p" <<<"$output")

number=0 cases=0 expected= known=' '
while IFS= read -r line; do
  ((++number))
  if [[ $line =~ ^\ *//\ (error|$wording):\ (.*)$ ]]; then
    expected=${BASH_REMATCH[2]}
  elif [[ $line =~ ^\ *//\ (GCC|Clang):\  ]]; then
    continue
  elif [[ -n $expected ]]; then
    ((++cases))
    known+="$number "
    grep -qE "^$number .*($expected)" <<<"$errors" ||
      fail "$file:$number: expected: $expected"$'\n'"  but got: $(grep "^$number " <<<"$errors" || echo nothing)"
    expected=
  fi
done <"$file"
((cases > 0)) || fail "$file has no refused lines"

while read -r number message; do
  [[ -z $number || $known == *" $number "* ]] || fail "$file:$number: an error that nobody expects: $message"
done <<<"$errors"
echo "$cases refused lines"
exit "$status"
