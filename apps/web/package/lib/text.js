// Sizes and names for people, and what can be told from a file's name.

/** @returns {string} '812 B', '16.3 MB', '1.19 GB' (1 MB = 10^6 bytes) */
export function humanSize(bytes) {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`;
  if (bytes >= 1e5) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${bytes} B`;
}

/** The last part of a path or an address, without query. */
export function baseName(path) {
  return path.split(/[?#]/, 1)[0].replace(/\/+$/, '').split('/').pop();
}

/** @returns {{stem: string, part: number, parts: number}} of NAME-00002-of-00003.gguf; other names have one part */
export function splitName(path) {
  const found = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i.exec(path);
  if (!found) return {stem: path, part: 1, parts: 1};
  return {stem: found[1], part: Number(found[2]), parts: Number(found[3])};
}

/** The names of all parts of a split GGUF file, in order; just `path` for a file that is not split. */
export function splitParts(path) {
  const {stem, parts} = splitName(path);
  if (parts === 1 && stem === path) return [path];
  const number = (n) => String(n).padStart(5, '0');
  return Array.from({length: parts}, (_, i) => `${stem}-${number(i + 1)}-of-${number(parts)}.gguf`);
}

/** @returns {string} lower-case hexadecimal */
export function toHex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}
