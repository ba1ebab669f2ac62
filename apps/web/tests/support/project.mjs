// Where things lie, the native program as a reference, and golden values.

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const kRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../..');
export const kSite = process.env.TERN_SITE ?? path.join(kRoot, 'build/web/site');
export const kGoldens = path.join(kRoot, 'tests/golden');
export const kDefaultModel = path.join(kRoot, 'models/tern-stories.gguf');
export const kProgram = process.env.TERN_PROGRAM ?? path.join(kRoot, 'build/release/bin/tern');

/** Stops a run whose site or program is missing, with what makes it. */
export function needSite() {
  if (!fs.existsSync(path.join(kSite, 'index.html'))) {
    throw new Error(`${kSite}: there is no site to test; make it with apps/web/make_site`);
  }
}

/** What the native program prints. @param {...string} args */
export function tern(...args) {
  if (!fs.existsSync(kProgram)) throw new Error(`${kProgram} is not built; ./check --quick does`);
  return execFileSync(kProgram, args, {encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'pipe']});
}

/**
 * What transformers computed for the default model (tests/golden/make_default_model_goldens.py): among it
 * `without_ties`, tokens that every backend chooses, and `surest_answer`, one that every backend gives.
 */
export const kDefaultGoldens = JSON.parse(fs.readFileSync(path.join(kGoldens, 'bitnet/tern_stories_greedy.json')));

/** NumPy's file of float32 in two dimensions. @returns {{rows: number, columns: number, data: Float32Array}} */
export function readNpy(file) {
  const bytes = fs.readFileSync(file);
  const headerBytes = bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, 10 + headerBytes);
  const [, rows, columns] = /'descr': '<f4'.*'shape': \((\d+), (\d+)\)/.exec(header).map(Number);
  const copy = bytes.buffer.slice(bytes.byteOffset + 10 + headerBytes, bytes.byteOffset + bytes.length);
  return {rows, columns, data: new Float32Array(copy)};
}

/** A golden model: its description in the folder's goldens.json. @param {string} folder @param {string} name */
export function golden(folder, name) {
  const {models} = JSON.parse(fs.readFileSync(path.join(kGoldens, folder, 'goldens.json'), 'utf8'));
  const found = models.find((model) => model.name === name);
  if (!found) throw new Error(`tests/golden/${folder}/goldens.json: no model ${name}`);
  const directory = path.join(kGoldens, folder, name);
  return {...found, directory, logits: readNpy(`${directory}.npy`)};
}

/** Mean squared error over the mean square of what is expected. */
export function nmse(actual, expected) {
  if (actual.length !== expected.length) throw new Error(`${actual.length} values instead of ${expected.length}`);
  let error = 0;
  let power = 0;
  for (let i = 0; i < expected.length; ++i) {
    error += (actual[i] - expected[i]) ** 2;
    power += expected[i] ** 2;
  }
  return error / power;
}

/** The model's bytes with one string replaced by another of the same length. */
export function patched(file, from, to) {
  if (from.length !== to.length) throw new Error('lengths differ');
  const bytes = fs.readFileSync(file);
  let at = bytes.indexOf(from);
  if (at < 0) throw new Error(`${file}: no ${from}`);
  for (; at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at, 'latin1');
  return bytes;
}
