// localStorage, as far as the page uses it.

export class TinyStorage {
  isFull = false;

  /** @param {Record<string, string>} [items] */
  constructor(items = {}) {
    this.items = new Map(Object.entries(items));
  }

  getItem(key) {
    return this.items.get(key) ?? null;
  }

  get length() {
    return this.items.size;
  }

  key(i) {
    return [...this.items.keys()][i] ?? null;
  }

  removeItem(key) {
    this.items.delete(key);
  }

  setItem(key, value) {
    if (this.isFull) throw new DOMException('full', 'QuotaExceededError');
    this.items.set(key, value);
  }
}
