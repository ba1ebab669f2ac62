#!/usr/bin/env python3
"""Three `tern serve` behind HAProxy with packaging/haproxy.cfg, that very file: only the environment differs.

usage: haproxy_test.py TERN HAPROXY
"""

import csv
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
from tern_server import ROOT, TernServer, skip

CONFIG = ROOT / "packaging" / "haproxy.cfg"
TERN, HAPROXY = (sys.argv[1:3] + [""])[:2]
LONG = "The little red hen lived on a farm with a cat, a dog and a duck. " * 6  # more than a block of keys and values


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    """HAProxy with the configuration, in front of `servers`."""

    def __init__(self, servers, **settings):
        self.port, self.stats_port = free_port(), free_port()
        environment = {**os.environ, "TERN_BIND": f"127.0.0.1:{self.port}", "TERN_STATS": f"127.0.0.1:{self.stats_port}"}
        environment |= {f"TERN_REPLICA_{i}": f"127.0.0.1:{server.port}" for i, server in enumerate(servers, 1)}
        environment |= {name: str(value) for name, value in settings.items()}
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen([HAPROXY, "-db", "-f", CONFIG], env=environment, stdout=self.log,
                                        stderr=subprocess.STDOUT)
        wait_until(lambda: self.is_listening(), "HAProxy listens")

    def is_listening(self):
        if self.process.poll() is not None:
            self.log.seek(0)
            raise RuntimeError("haproxy did not start: " + self.log.read())
        try:
            socket.create_connection(("127.0.0.1", self.stats_port), timeout=5).close()
            return True
        except ConnectionRefusedError:
            return False

    def figures(self, name):
        """A row of HAProxy's statistics: of a server by its name, or BACKEND."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.stats_port}/;csv", timeout=10) as answer:
            rows = csv.DictReader(answer.read().decode().lstrip("# ").splitlines())
        return next(row for row in rows if row["pxname"] == "replicas" and row["svname"] == name)

    def ask(self, body, method="POST", path="/v1/completions", key="one", **headers):
        """The whole answer: status, headers, and the body as JSON where it is that."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body if isinstance(body, str) or body is None else json.dumps(body),
                               {"Authorization": f"Bearer {key}", **headers} if key else headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        is_json = answer.getheader("Content-Type", "").startswith("application/json")
        return answer.status, answer.headers, json.loads(text) if is_json else text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()


def wait_until(is_so, what):
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    raise TimeoutError(f"it does not come to pass that {what}")


def chat(system, user, **options):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return {"messages": messages, "max_tokens": 2, "temperature": 0, **options}


class Load:
    """Clients that ask again and again until told to stop; every other request is a stream."""

    def __init__(self, proxy, n_clients=8, prompts=tuple(f"{i} Once upon a time" for i in range(60))):
        self._proxy, self._prompts = proxy, prompts
        self._stopping = threading.Event()
        self.whole, self.streamed = [], []  # (status or error, has_begun, is_complete)
        self.n_served = {}
        self._threads = [threading.Thread(target=self._work, args=(i,)) for i in range(n_clients)]
        for thread in self._threads:
            thread.start()

    def _work(self, client):
        for i in range(1000):
            if self._stopping.is_set():
                return
            streams = (client + i) % 2 == 0
            prompt = self._prompts[(client * 7 + i) % len(self._prompts)]
            body = {"prompt": prompt, "max_tokens": 60, "ignore_eos": True, "stream": streams}
            (self.streamed if streams else self.whole).append(self._ask(body))

    def _ask(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", self._proxy.port, timeout=120)
        text, has_begun = b"", False
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), {"Authorization": "Bearer one"})
            answer = connection.getresponse()
            has_begun = True
            self.n_served[answer.getheader("X-Replica")] = self.n_served.get(answer.getheader("X-Replica"), 0) + 1
            while piece := answer.read1():
                text += piece
            is_complete = text.endswith(b"data: [DONE]\n\n") if body["stream"] else "choices" in json.loads(text)
            return answer.status, has_begun, is_complete
        except (OSError, http.client.HTTPException) as error:
            return repr(error), has_begun, False
        finally:
            connection.close()

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join()


class Replicas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = [TernServer(TERN, "--api-key", "one,two", "--max-waiting", "64") for _ in range(3)]
        # So much that no replica is passed by: a request may count a moment longer than its client sees.
        cls.proxy = Proxy(cls.servers, TERN_REQUESTS_PER_KEY=1_000_000, TERN_BALANCE_FACTOR=2000)
        wait_until(lambda: cls.proxy.figures("BACKEND")["act"] == "3", "three replicas are ready")

    @classmethod
    def tearDownClass(cls):
        with cls.proxy, cls.servers[0], cls.servers[1], cls.servers[2]:
            pass

    def restart(self, i):
        """Another server in the place of one that has ended."""
        self.servers[i].__exit__()
        self.servers[i] = TernServer(TERN, "--api-key", "one,two", "--max-waiting", "64", port=self.servers[i].port)
        wait_until(lambda: self.proxy.figures(f"r{i + 1}")["status"] == "UP", "the new replica is used")

    def test_conversations_that_share_a_system_prompt_share_a_replica(self):
        used = set()
        for kind in range(8):
            replicas, cached = set(), []
            for question in range(4):
                status, headers, answer = self.proxy.ask(chat(f"{kind} {LONG}", f"{question}?"), path="/v1/chat/completions")
                self.assertEqual(status, 200, answer)
                replicas.add(headers["X-Replica"])
                cached.append(answer["usage"]["prompt_tokens_details"]["cached_tokens"])
            self.assertEqual(len(replicas), 1)
            self.assertTrue(all(n >= 64 for n in cached[1:]), cached)
            used |= replicas
        self.assertGreater(len(used), 1)  # 8 prompts on one of three replicas: once in 2,187 hashes

    def test_prompts_of_every_route_are_hashed(self):
        def replica(path, **body):
            status, headers, answer = self.proxy.ask({"max_tokens": 1, "max_output_tokens": 16, **body}, path=path)
            self.assertEqual(status, 200, answer)
            return headers["X-Replica"]

        for i in range(6):
            text = f"{i} is a number"
            parts = [{"role": "user", "content": [{"type": "text", "text": text}]}]
            input_parts = [{"role": "user", "content": [{"type": "input_text", "text": text}]}]
            for path, body in [("/v1/completions", {"prompt": text}), ("/v1/chat/completions", {"messages": parts}),
                               ("/v1/responses", {"input": text}),
                               ("/v1/responses", {"input": [{"role": "user", "content": text}]}),
                               ("/v1/responses", {"input": input_parts}),
                               ("/v1/responses", {"instructions": text, "input": "a"})]:
                self.assertEqual(len({replica(path, **body) for _ in range(3)}), 1, (path, body))

    def test_a_prompt_in_fashion_does_not_wait_for_one_replica(self):
        with Proxy(self.servers, TERN_REQUESTS_PER_KEY=1_000_000) as proxy:
            wait_until(lambda: proxy.figures("BACKEND")["act"] == "3", "three replicas are ready")
            load = Load(proxy, prompts=["The same for all"])
            wait_until(lambda: len(load.whole) >= 24, "some are answered")
            load.stop()
            self.assertGreater(len(load.n_served), 1)

    def test_what_has_no_prompt_takes_turns(self):
        replicas = {self.proxy.ask("nonsense")[1]["X-Replica"] for _ in range(6)}
        self.assertEqual(replicas, {"r1", "r2", "r3"})
        self.assertEqual(self.proxy.ask("nonsense")[0], 400)

    def test_a_prompt_larger_than_the_buffer_is_answered(self):
        status, _, answer = self.proxy.ask({"prompt": "a " * 150_000, "max_tokens": 1})
        self.assertEqual(status, 400)  # by the replica: its context is 1,024 tokens
        self.assertIn("1024", answer["error"]["message"])

    def test_a_request_keeps_its_id(self):
        self.assertEqual(self.proxy.ask({"prompt": "a", "max_tokens": 1}, **{"X-Request-Id": "mine-1"})[1]["X-Request-Id"], "mine-1")
        new = self.proxy.ask({"prompt": "a", "max_tokens": 1})[1]["X-Request-Id"]
        self.assertRegex(new, "^req_[0-9a-f-]{36}$")
        wait_until(lambda: sum(new in line for server in self.servers for line in server.log) == 1, "a replica logs the id")

    def test_a_stream_comes_in_pieces(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=120)
        connection.request("POST", "/v1/completions", json.dumps({"prompt": "a", "max_tokens": 200, "stream": True, "ignore_eos": True}),
                           {"Authorization": "Bearer one"})
        answer, pieces = connection.getresponse(), 0
        while answer.read1():
            pieces += 1
        connection.close()
        self.assertGreater(pieces, 10)

    def test_status_of_the_proxy(self):
        self.assertEqual(self.proxy.ask(None, "GET", "/ready", key=None)[0], 200)
        self.assertEqual(self.proxy.ask(None, "GET", "/metrics")[0], 404)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.proxy.stats_port}/metrics", timeout=10) as answer:
            self.assertIn(b'haproxy_server_status{proxy="replicas",server="r3",state="UP"} 1', answer.read())

    def test_kill_loses_no_request_that_had_not_begun(self):
        load = Load(self.proxy)
        wait_until(lambda: int(self.proxy.figures("r2")["scur"]) >= 2, "the replica answers two")
        self.servers[1].kill()
        wait_until(lambda: self.proxy.figures("r2")["status"].startswith("DOWN"), "the death is noticed")
        n = len(load.whole)
        wait_until(lambda: len(load.whole) >= n + 8, "others are asked")
        load.stop()
        self.restart(1)
        self.assertEqual({status for status, _, is_complete in load.whole if not is_complete}, set())
        for status, has_begun, is_complete in load.streamed:
            self.assertTrue(is_complete or has_begun, status)
        self.assertEqual({status for status, _, _ in load.whole}, {200})
        self.assertGreater(int(self.proxy.figures("BACKEND")["wredis"]), 0)  # some were asked again

    def test_an_end_by_sigterm_loses_nothing(self):
        load = Load(self.proxy)
        wait_until(lambda: int(self.proxy.figures("r3")["scur"]) >= 2, "the replica answers two")
        self.servers[2].end()
        self.assertEqual(self.servers[2].wait(), 0)
        n = len(load.whole)
        wait_until(lambda: len(load.whole) >= n + 8, "others are asked")
        load.stop()
        self.restart(2)
        self.assertGreater(load.n_served["r3"], 0)
        everything = load.whole + load.streamed
        self.assertEqual([one for one in everything if one[0] != 200 or not one[2]], [])

    def test_without_any_replica_the_error_is_json(self):
        with Proxy([], TERN_REPLICA_1=f"127.0.0.1:{free_port()}", TERN_REPLICA_2=f"127.0.0.1:{free_port()}",
                   TERN_REPLICA_3=f"127.0.0.1:{free_port()}") as proxy:
            wait_until(lambda: proxy.figures("BACKEND")["status"] == "DOWN", "no replica is there")
            status, headers, answer = proxy.ask({"prompt": "a"})
            self.assertEqual((status, headers["Retry-After"], answer["error"]["type"]), (503, "5", "unavailable_error"))
            self.assertEqual(proxy.ask(None, "GET", "/ready")[0], 503)


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = TernServer(TERN, "--api-key", "one,two")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def proxy(self, **settings):
        proxy = Proxy([self.server] * 3, **settings)
        wait_until(lambda: proxy.figures("BACKEND")["act"] == "3", "the replicas are ready")
        return proxy

    def assert_too_many(self, got):
        status, headers, answer = got
        self.assertEqual((status, headers["Retry-After"]), (429, "60"))
        self.assertEqual(answer["error"]["type"], "rate_limit_error")
        self.assertEqual(set(answer["error"]), {"message", "type", "param", "code"})
        self.assertIn("X-Request-Id", headers)

    def test_requests_by_key(self):
        one = {"prompt": "a", "max_tokens": 1}
        with self.proxy(TERN_REQUESTS_PER_KEY=5) as proxy:
            self.assertEqual([proxy.ask(one)[0] for _ in range(5)], [200] * 5)
            self.assert_too_many(proxy.ask(one))
            self.assertEqual(proxy.ask(one, key="two")[0], 200)
            # The other header with a key is as good.
            self.assertEqual([proxy.ask(one, key=None, **{"X-Api-Key": "two"})[0] for _ in range(5)], [200] * 5)
            self.assert_too_many(proxy.ask(one, key=None, **{"X-Api-Key": "two"}))

    def test_requests_by_address_and_those_with_wrong_keys(self):
        with self.proxy(TERN_REQUESTS_PER_ADDRESS=3) as proxy:
            self.assertEqual([proxy.ask({}, key=None)[0] for _ in range(3)], [401] * 3)
            self.assert_too_many(proxy.ask({}, key=None))
        with self.proxy(TERN_ERRORS_PER_ADDRESS=4) as proxy:
            self.assertEqual([proxy.ask({}, key=f"guess {i}")[0] for i in range(5)], [401] * 5)
            self.assert_too_many(proxy.ask({}, key="guess 6"))

    def test_connections_by_address(self):
        with self.proxy(TERN_CONNECTIONS_PER_ADDRESS=3) as proxy:
            held = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(3)]
            # HAProxy accepts them one after the other; each has been when it answers.
            for connection in held:
                connection.sendall(b"GET /ready HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 200"))
            with self.assertRaises((ConnectionError, http.client.BadStatusLine)):
                proxy.ask(None, "GET", "/ready")
            for connection in held:
                connection.close()
            wait_until(lambda: self.is_answered(proxy), "there is room again")

    @staticmethod
    def is_answered(proxy):
        try:
            return proxy.ask(None, "GET", "/ready")[0] == 200
        except (ConnectionError, http.client.BadStatusLine):
            return False


class Configuration(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "haproxy.cfg"
            path.write_text(text)
            return subprocess.run([HAPROXY, "-c", "-dW", "-f", path], capture_output=True, timeout=60).returncode

    def test_a_wrong_file_does_not_pass(self):
        text = CONFIG.read_text()
        self.assertEqual(self.check(text), 0)  # without a warning
        for right, wrong in [("retry-on ", "retry-upon "), ("table by_key", "table by_kex"), ("balance hash", "balance hush"),
                             ("json_query", "json_quest"), ("default_backend replicas", "default_backend replica")]:
            self.assertIn(right, text)
            self.assertNotEqual(self.check(text.replace(right, wrong)), 0, wrong)

    def test_what_stands_there_to_be_switched_on(self):
        text = CONFIG.read_text()
        self.assertEqual(text.count("\n  #   http-request"), 2)
        self.assertEqual(self.check(text.replace("\n  #   http-request", "\n  http-request")), 0)


if __name__ == "__main__":
    if not HAPROXY:
        skip("there is no haproxy; ./setup --checks brings it")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
