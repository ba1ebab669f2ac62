// SHA-256 of pieces by the browser's own code, and of whole files in steps, which that cannot do.
// Source: FIPS 180-4.

import {toHex} from './text.js';

// The first 32 bits of the fractional parts of the cube roots (k) and square roots (h) of the first primes.
const K = new Int32Array(64);
const H = new Int32Array(8);
for (let n = 2, found = 0; found < 64; ++n) {
  let isPrime = true;
  for (let d = 2; d * d <= n; ++d) isPrime &&= n % d !== 0;
  if (!isPrime) continue;
  if (found < 8) H[found] = (Math.sqrt(n) % 1) * 2 ** 32;
  K[found++] = (Math.cbrt(n) % 1) * 2 ** 32;
}

/** The hash of data that comes in parts. */
export class Sha256 {
  #state = H.slice();
  #words = new Int32Array(64);
  #rest = new Uint8Array(64);
  #nRest = 0;
  #bytes = 0;

  /** @param {Uint8Array} data */
  update(data) {
    this.#bytes += data.length;
    let at = 0;
    if (this.#nRest > 0) {
      at = Math.min(64 - this.#nRest, data.length);
      this.#rest.set(data.subarray(0, at), this.#nRest);
      this.#nRest += at;
      if (this.#nRest < 64) return this;
      this.#block(this.#rest, 0);
    }
    for (; at + 64 <= data.length; at += 64) this.#block(data, at);
    this.#rest.set(data.subarray(at));
    this.#nRest = data.length - at;
    return this;
  }

  /** @returns {string} in hexadecimal; the object is used up */
  hex() {
    const bits = this.#bytes * 8;
    const padding = new Uint8Array(((this.#nRest < 56 ? 64 : 128) - this.#nRest));
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #block(data, at) {
    const w = this.#words;
    for (let i = 0; i < 16; ++i, at += 4) {
      w[i] = (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3];
    }
    for (let i = 16; i < 64; ++i) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    const s = this.#state;
    let a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (let i = 0; i < 64; ++i) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g, g = f, f = e, e = (d + t1) | 0, d = c, c = b, b = a, a = (t1 + t2) | 0;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
  }
}

/**
 * @param {{crypto?: Crypto}} env without crypto.subtle, as on plain http, it is computed here
 * @param {Uint8Array} bytes
 * @returns {Promise<string>} in hexadecimal
 */
export async function sha256Hex(env, bytes) {
  const subtle = env.crypto?.subtle;
  if (!subtle) return new Sha256().update(bytes).hex();
  return toHex(new Uint8Array(await subtle.digest('SHA-256', bytes)));
}
