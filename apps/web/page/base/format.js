// Numbers as people read them.

/** @param {number} n bytes */
export function formatBytes(n) {
  if (!Number.isFinite(n) || n < 0) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (n >= 999.5 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit === 0 || n >= 99.95 ? Math.round(n) : n.toFixed(n >= 9.995 ? 1 : 2)} ${units[unit]}`;
}

/** @param {number} n any count; 34 M, 2.4 B */
export function formatCount(n) {
  if (!Number.isFinite(n)) return '–';
  if (n >= 999.5e6) return `${(n / 1e9).toPrecision(2)} B`;
  if (n >= 999.5e3) return `${Math.round(n / 1e6)} M`;
  return n.toLocaleString('en');
}

/** @param {number} n tokens a second and the like: three digits that matter */
export function formatRate(n) {
  if (!Number.isFinite(n) || n <= 0) return '–';
  if (n >= 99.5) return Math.round(n).toLocaleString('en');
  return n.toFixed(n >= 9.95 ? 1 : 2);
}

/** @param {number} ms */
export function formatDuration(ms) {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60000)} min ${Math.floor(ms % 60000 / 1000)} s`;
}
