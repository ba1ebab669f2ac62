/** A storage of the browser, or null where it is switched off. @returns {Storage|null} */
export function browserStorage(name = 'localStorage') {
  try {
    return globalThis[name] ?? null;
  } catch {
    return null;
  }
}
