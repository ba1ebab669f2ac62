/** The storage of the browser, or null where it is switched off. @returns {Storage|null} */
export function browserStorage() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}
