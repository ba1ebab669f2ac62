#!/usr/bin/env python3
"""Writes prompts whose answers copy most of what they were given: code with a name changed, JSON with a value changed.

For bench_speculation --prompts. Each is an original, a request, and the first lines of the answer; then the rest of the
answer. The same output everywhere: nothing is drawn.

  === NAME | WORD THAT IS REPLACED | BY WHICH
  the prompt
  ---
  the rest of the answer

usage: make_copying_prompts.py > prompts.txt
"""
import json
import re

PYTHON = '''class Shelf:
    """Boxes on a shelf, in the order in which they came."""

    def __init__(self, width):
        self.width = width
        self.items = []

    def free_width(self):
        return self.width - sum(box.width for box in self.items)

    def add(self, box):
        if box.width > self.free_width():
            raise ValueError("no room for " + box.name)
        self.items.append(box)

    def find(self, name):
        for box in self.items:
            if box.name == name:
                return box
        return None

    def take(self, name):
        box = self.find(name)
        if box is None:
            raise KeyError(name)
        self.items.remove(box)
        return box

    def heaviest(self):
        return max(self.items, key=lambda box: box.weight, default=None)
'''

CPP = '''struct Node {
  int key = 0;
  Node* left = nullptr;
  Node* right = nullptr;
};

Node* insert(Node* root, int key) {
  if (!root) return new Node{key};
  if (key < root->key) {
    root->left = insert(root->left, key);
  } else if (key > root->key) {
    root->right = insert(root->right, key);
  }
  return root;
}

bool contains(const Node* root, int key) {
  while (root && root->key != key) {
    root = key < root->key ? root->left : root->right;
  }
  return root != nullptr;
}

int height(const Node* root) {
  if (!root) return 0;
  return 1 + std::max(height(root->left), height(root->right));
}

void print(const Node* root, int depth) {
  if (!root) return;
  print(root->right, depth + 1);
  std::cout << std::string(2 * depth, ' ') << root->key << '\\n';
  print(root->left, depth + 1);
}
'''

SQL = '''CREATE TABLE customer (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT UNIQUE,
  created_at TIMESTAMP NOT NULL
);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customer (id),
  total NUMERIC(10, 2) NOT NULL,
  placed_at TIMESTAMP NOT NULL
);

CREATE INDEX orders_by_date ON orders (placed_at);

SELECT name, email, COUNT(*) AS n_orders, SUM(total) AS spent
FROM customer JOIN orders ON orders.customer_id = customer.id
WHERE placed_at >= DATE '2026-01-01'
GROUP BY customer.id, name, email
HAVING SUM(total) > 1000
ORDER BY spent DESC
LIMIT 20;
'''

JAVASCRIPT = '''export async function loadUser(id, { retries = 3, signal } = {}) {
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(`/users/${id}`, { signal });
    if (answer.ok) return answer.json();
    if (answer.status === 404) return null;
    if (attempt >= retries) throw new Error(`no user ${id}: ${answer.status}`);
    await new Promise((done) => setTimeout(done, 100 * 2 ** attempt));
  }
}

export function showUser(user, place) {
  const row = document.createElement("li");
  row.className = user.active ? "user active" : "user";
  row.textContent = `${user.name} <${user.email}>`;
  row.addEventListener("click", () => place.dispatchEvent(new CustomEvent("choose", { detail: user })));
  place.append(row);
}

export async function showAll(ids, place) {
  place.replaceChildren();
  for (const id of ids) {
    const user = await loadUser(id);
    if (user) showUser(user, place);
  }
}
'''

PEOPLE = [
    {"id": 100 + 7 * i, "name": name, "city": city, "age": age, "langs": langs}
    for i, (name, city, age, langs) in enumerate([
        ("Ada", "Oslo", 41, ["C", "Ada"]),
        ("Bela", "Graz", 29, ["Rust"]),
        ("Chen", "Turin", 35, ["Go", "Lua"]),
        ("Dora", "Oslo", 52, ["Perl", "C"]),
        ("Emil", "Gent", 23, ["Zig"]),
        ("Fay", "Cork", 38, ["Java", "Dart"]),
    ])
]

SETTINGS = {
    "server": {"host": "0.0.0.0", "port": 8080, "tls": {"cert": "/etc/tls/cert.pem", "key": "/etc/tls/key.pem"}},
    "limits": {"requests": 120, "burst": 40, "body_bytes": 1048576, "timeout_s": 30},
    "log": {"level": "info", "format": "json", "to": ["stdout", "/var/log/app.log"]},
    "cache": {"kind": "redis", "url": "redis://cache:6379/0", "ttl_s": 600},
    "features": {"search": True, "export": False, "beta": ["inline-edit", "dark-mode"]},
}

ORDERS = [
    {
        "order": 5000 + i,
        "sku": f"{part}-{17 * i % 97:02d}",
        "count": 1 + i * 5 % 7,
        "price": 3.25 * (1 + i % 4),
        "state": state,
    }
    for i, (part, state) in enumerate([
        ("BOLT", "sent"), ("NUT", "open"), ("GEAR", "sent"), ("BELT", "open"), ("RING", "void"), ("CAP", "sent"),
        ("PIN", "open"), ("CLIP", "sent")])
]

SCHEMA = {
    "type": "object",
    "required": ["title", "year"],
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 200},
        "year": {"type": "integer", "minimum": 1450, "maximum": 2100},
        "pages": {"type": "integer", "minimum": 1},
        "authors": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "isbn": {"type": "string", "pattern": "^[0-9]{13}$"},
        "price": {"type": "number", "minimum": 0},
    },
}

PROMPTS = [
    ("python, a name", PYTHON, "box", "bag"),
    ("c++, a name", CPP, "key", "tag"),
    ("sql, a name", SQL, "total", "amount"),
    ("javascript, a name", JAVASCRIPT, "user", "guest"),
    ("json, people", json.dumps(PEOPLE, indent=2) + "\n", "Turin", "Milan"),
    ("json, settings", json.dumps(SETTINGS, indent=2) + "\n", "redis", "disk"),
    ("json, orders", json.dumps(ORDERS, indent=1) + "\n", "void", "held"),
    ("json, schema", json.dumps(SCHEMA, indent=2) + "\n", "isbn", "ean"),
]

N_BEGUN = 6  # lines of the answer that the prompt has


def main() -> None:
    for name, original, word, by in PROMPTS:
        edited = re.sub(rf"\b{word}\b", by, original)
        assert edited != original, name
        lines = edited.splitlines(keepends=True)
        at = len("".join(lines[:N_BEGUN]))
        while edited[at].isspace():  # what the next line is indented by
            at += 1
        print(f"=== {name} | {word} | {by}")
        print(f"{original}\nRename {word} => {by}!\n\n{edited[:at]}\n---\n{edited[at:]}", end="")


if __name__ == "__main__":
    main()
