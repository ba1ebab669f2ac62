#!/usr/bin/env python3
"""Compares a stream of a server while 16 large JSON schemas are compiled with the same stream alone.

usage: measure_schemas.py URL [ROUNDS [PID]]

A round has three streams of the same tokens: alone, the control, which is alone, too, and beside the schemas. The last
two take turns in being the second. Compared are the tokens between the request for the first schema and the end of the
last compilation. What the control shows is the machine's own noise: other programs, and the host of a virtual one. The
process that asks has the lowest priority, as if it were on another machine.

PID is the server's, on Linux. Then a round also says for how long a thread that computes had to wait for a processor,
at most, between two tokens: what the schemas cost the stream, without what a virtual machine's host does.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

TOKENS = 400
FIRST = 20  # the token at which the schemas are sent
N_SCHEMAS = 16


def schema(seed):
    """An object with 400 properties: patterns, enumerations, ranges, lists and objects."""
    rng = random.Random(seed)

    def word(n):
        return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(n))

    def value(kind):
        if kind == 0:
            return {"type": "string",
                    "pattern": f"^[A-Z]{{2,{5 + rng.randrange(9)}}}-(\\d{{3,9}}|{word(6)}|{word(5)})[a-z_]*$"}
        if kind == 1:
            return {"enum": [word(rng.randint(4, 12)) for _ in range(24)]}
        if kind == 2:
            return {"type": "integer", "minimum": -rng.randint(1, 10**6), "maximum": rng.randint(1, 10**9)}
        if kind == 3:
            kinds = [{"type": "string", "maxLength": 80}, {"type": "number"}, {"const": word(9)}]
            return {"type": "array", "minItems": 1, "maxItems": 40, "items": {"anyOf": kinds}}
        return {"type": "object", "properties": {word(8): value(rng.randint(0, 3)) for _ in range(4)},
                "additionalProperties": {"type": "string"}}

    properties = {word(10): value(i % 5) for i in range(400)}
    return {"type": "object", "properties": properties, "required": list(properties)[::3],
            "additionalProperties": False}


def post(url, path, body):
    return urllib.request.urlopen(urllib.request.Request(url + path, body, {"Content-Type": "application/json"}))


class Waits:
    """How long threads of a process have waited for a processor, looked at from token to token."""

    def __init__(self, pid):
        self.folder = f"/proc/{pid}/task"
        self.before = {}
        self.longest = []

    def look(self):
        """Notes the longest wait since the last look, in ms, of the threads that ran for a quarter of the time."""
        now, at, waits = {}, time.perf_counter(), [0.0]
        for thread in os.listdir(self.folder):
            try:
                with open(f"{self.folder}/{thread}/schedstat", encoding="ascii") as file:
                    ran, waited = map(int, file.read().split()[:2])
            except OSError:
                continue  # it has ended
            now[thread] = (at, ran, waited)
            if thread in self.before:
                at_before, ran_before, waited_before = self.before[thread]
                if ran - ran_before > 0.25e9 * (at - at_before):
                    waits.append((waited - waited_before) / 1e6)
        if self.before:
            self.longest.append(max(waits))
        self.before = now


def stream(url, at_first=None, waits=None):
    """The times of the tokens. Calls at_first at token number FIRST."""
    body = {"prompt": "Once upon a time", "max_tokens": TOKENS, "ignore_eos": True, "temperature": 0, "stream": True}
    times = []
    with post(url, "/v1/completions", json.dumps(body).encode()) as answer:
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            times.append(time.perf_counter())
            if waits:
                waits.look()
            if at_first and len(times) == FIRST:
                at_first()
    return times


def ask_all(url, seed):
    """Makes the requests, waits for a line, sends all, and prints when the last was answered."""
    os.nice(19)
    bodies = []
    for i in range(N_SCHEMAS):
        form = {"type": "json_schema", "name": "s", "schema": schema(seed + i)}
        bodies.append(json.dumps({"input": "Hi", "text": {"format": form}}).encode())
    ask = lambda body: post(url, "/v1/responses/input_tokens", body).read()
    threads = [threading.Thread(target=ask, args=(body,)) for body in bodies]
    print(len(bodies[0]), flush=True)
    sys.stdin.readline()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(time.perf_counter(), flush=True)


def beside_schemas(url, seed, waits):
    """The times of the tokens, when the last schema was compiled, and the size of one."""
    child = subprocess.Popen([sys.executable, __file__, url, "ask", str(seed)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    n_bytes = int(child.stdout.readline())

    def begin():
        child.stdin.write("\n")
        child.stdin.flush()

    times = stream(url, begin, waits)
    end = float(child.stdout.readline())
    child.wait()
    return times, end, n_bytes


class Comparison:
    """Two streams with the same tokens: the second's gaps between tokens against the first's."""

    def __init__(self, alone, other):
        self.speed = sum(alone) / sum(other)
        self.long = 2 * statistics.median(alone)
        self.median = statistics.median(other)
        self.p99 = statistics.quantiles(other, n=100, method="inclusive")[98]
        self.most = max(other)
        self.n_long = sum(gap > self.long for gap in other)
        self.of_own = self.most / self.median


def print_comparisons(name, all_of_them):
    median = lambda field: statistics.median(getattr(one, field) for one in all_of_them)
    n_long = sum(one.n_long for one in all_of_them)
    print(f"  {name}: speed x{median('speed'):.2f}, gaps: median {median('median'):.1f}, 99 % {median('p99'):.1f}, "
          f"most {median('most'):.1f} ms; above {median('long'):.0f} ms: {n_long}; longest x"
          f"{max(one.of_own for one in all_of_them):.2f} of its own median", flush=True)


def measure(url, seed, control_first, pid):
    """The control's and the schemas' comparison."""
    waits = Waits(pid) if pid else None
    alone = stream(url)
    control = stream(url) if control_first else None
    beside, end, n_bytes = beside_schemas(url, seed, waits)
    control = control or stream(url)
    last = next((i for i, at in enumerate(beside) if at > end), len(beside) - 1)
    gaps = [[1e3 * (y - x) for x, y in zip(times[FIRST - 1:last], times[FIRST:last + 1])]
            for times in (alone, control, beside)]
    print(f"{N_SCHEMAS} schemas of {n_bytes} bytes in {end - beside[FIRST - 1]:.1f} s beside {len(gaps[0])} tokens")
    if waits:
        longest = sorted(waits.longest[FIRST - 1:last])
        print(f"  waits for a processor: median {statistics.median(longest):.1f}, most {longest[-1]:.1f} ms between two "
              f"tokens, {longest[-1] / statistics.median(gaps[0]):.2f} of the stream's median alone")
    return Comparison(gaps[0], gaps[1]), Comparison(gaps[0], gaps[2])


def main():
    url = sys.argv[1]
    if sys.argv[2:3] == ["ask"]:
        return ask_all(url, int(sys.argv[3]))
    stream(url)
    controls, others = [], []
    pid = sys.argv[3] if len(sys.argv) > 3 else None
    for i in range(int(sys.argv[2]) if len(sys.argv) > 2 else 5):
        control, other = measure(url, int(time.time()) * 100 + 20 * i, i % 2 == 0, pid)
        controls.append(control)
        others.append(other)
        print_comparisons("control", [control])
        print_comparisons("schemas", [other])
    print("medians of the rounds")
    print_comparisons("control", controls)
    print_comparisons("schemas", others)


if __name__ == "__main__":
    main()
