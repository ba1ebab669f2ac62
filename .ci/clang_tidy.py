#!/usr/bin/env python3
"""Runs clang-tidy over the project's sources, skipping files that passed before and have not changed.

A file is known by a hash over everything its result depends on: its text, the project headers that it includes, its
compile command, .clang-tidy and the version of clang-tidy. Passed files leave an empty marker named by that hash in
${XDG_CACHE_HOME:-~/.cache}/tern/clang-tidy, which all checkouts share. BUILD is only configured: in it every file is
compiled alone (TERN_UNITY=OFF), so that each has to include what it uses.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from user_cache import user_cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "apps", "tests")
# Tests are half of the run time and no user ever runs them: only what makes a test say the wrong thing, and names.
TEST_CHECKS = ("-*,bugprone-argument-comment,bugprone-unused-raii,bugprone-unused-return-value,bugprone-use-after-move,"
               "misc-redundant-expression,readability-identifier-naming")
NOT_FOR_CLANG = re.compile(r" -fno-tree-pre")  # what only GCC knows
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
NOISE = re.compile(r"^\d+ warnings? .*generated|^Suppressed |^Use -header-filter|^\s*$")


@functools.cache
def included(file, folders):
    """The project's headers that `file` names, as they are found from its folder or from `folders`."""
    found = []
    for name in INCLUDE.findall(file.read_text(errors="replace")):
        found += [path for folder in (file.parent, *folders) if (path := folder / name).is_file()][:1]
    return found


def headers_of(entry):
    """All project headers that a file is made from."""
    folders = tuple(pathlib.Path(name) for name in re.findall(rf"-I({ROOT}\S*)", entry["command"]))
    seen, queue = set(), [pathlib.Path(entry["file"])]
    while queue:
        for path in included(queue.pop(), folders):
            if path not in seen:
                seen.add(path)
                queue.append(path)
    return seen


def state_of(entry, common):
    digest = hashlib.sha256(common)
    digest.update(entry["command"].replace(str(ROOT), ".").encode())
    for path in sorted({pathlib.Path(entry["file"]), *headers_of(entry)}):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def newest_first(files):
    """Sorted by when they were last changed: not yet committed, then by commit."""
    run = lambda *git: subprocess.run(["git", "-C", ROOT, *git], capture_output=True, text=True, check=False).stdout
    names = run("diff", "--name-only", "HEAD") + run("log", "--format=", "--name-only", "-n", "500")
    place = {}
    for name in names.split():
        place.setdefault(str(ROOT / name), len(place))
    return sorted(files, key=lambda file: (place.get(file, len(place)), file))


def is_test(file):
    return file.endswith("_test.cc") or pathlib.Path(file).is_relative_to(ROOT / "tests")


def marker_folder():
    """Where the markers are; those that no run has met for three months are dropped."""
    folder = user_cache() / "clang-tidy"
    folder.mkdir(parents=True, exist_ok=True)
    for marker in folder.iterdir():
        if time.time() - marker.stat().st_mtime > 90 * 86400:
            marker.unlink(missing_ok=True)
    return folder


def check(tidy, build, file, deadline):
    """Returns clang-tidy's findings, empty if there are none; None if there was no time left."""
    if time.monotonic() > deadline:
        return None
    checks = [f"--checks={TEST_CHECKS}"] if is_test(file) else []
    run = subprocess.run([tidy, "-p", build, "--quiet", *checks, file], capture_output=True, text=True, check=False)
    lines = [line for line in (run.stdout + run.stderr).splitlines() if not NOISE.match(line)]
    return "\n".join(lines) or f"{file}: clang-tidy ended with {run.returncode}" if run.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/tidy", type=pathlib.Path, help="where to configure")
    parser.add_argument("--clang-tidy", default="clang-tidy-22")
    parser.add_argument("-j", "--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--minutes", type=float, default=float("inf"),
                        help="begin no file after so long: those changed last come first")
    parser.add_argument("--tests", action="store_true", help="tests too, which take as long as everything else")
    parser.add_argument("files", nargs="*", help="only files whose path contains one of these words")
    args = parser.parse_args()

    build = args.build.resolve()
    version = subprocess.run([args.clang_tidy, "--version"], capture_output=True, check=True).stdout
    settings = [ROOT / ".clang-tidy", *sorted(ROOT.glob("src/**/.clang-tidy"))]
    common = b"".join([version, TEST_CHECKS.encode(), *(path.read_bytes() for path in settings)])
    configured = subprocess.run(["cmake", "--preset", "release", "-B", build, "-DTERN_UNITY=OFF"], cwd=ROOT,
                                capture_output=True, text=True, check=False)
    if configured.returncode:
        print(f"clang-tidy: cmake failed\n{configured.stdout}{configured.stderr}")
        return 1
    commands = json.loads((build / "compile_commands.json").read_text())
    for entry in commands:
        entry["command"] = NOT_FOR_CLANG.sub("", entry["command"])
    entries = [e for e in commands
               if any(pathlib.Path(e["file"]).is_relative_to(ROOT / f) for f in FOLDERS)
               and (args.tests or args.files or not is_test(e["file"]))
               and (not args.files or any(word in e["file"] for word in args.files))]
    commands_for_clang = build / "clang-tidy"
    commands_for_clang.mkdir(exist_ok=True)
    (commands_for_clang / "compile_commands.json").write_text(json.dumps(commands))
    markers = marker_folder()
    pending = {e["file"]: markers / state_of(e, common) for e in entries}
    total = len(pending)
    for marker in pending.values():
        if marker.exists():
            marker.touch()
    pending = {file: marker for file, marker in pending.items() if not marker.exists()}

    failed, left = 0, 0
    deadline = time.monotonic() + 60 * args.minutes
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        jobs = {pool.submit(check, args.clang_tidy, str(commands_for_clang), file, deadline): file
                for file in newest_first(pending)}
        for job in concurrent.futures.as_completed(jobs):
            findings = job.result()
            if findings is None:
                left += 1
            elif findings:
                failed += 1
                print(findings.replace(f"{ROOT}/", ""), flush=True)
            else:
                pending[jobs[job]].touch()
    print(f"clang-tidy: {total} files, {total - len(pending)} unchanged since they passed, {failed} with findings"
          + (f", {left} not reached in {args.minutes:g} minutes" if left else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
