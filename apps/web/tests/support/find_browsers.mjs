import fs from 'node:fs';
import path from 'node:path';

/** The first of these programs on PATH, unless the variable names one; undefined where there is none. */
export function findProgram(variable, names) {
  if (process.env[variable]) return process.env[variable];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => fs.existsSync(file));
}

export const findChromium = () => findProgram('TERN_CHROMIUM', ['chromium', 'chromium-browser', 'google-chrome']);
export const findFirefox = () => findProgram('TERN_FIREFOX', ['firefox-esr', 'firefox']);
export const findWebKit = () => findProgram('TERN_WEBKIT', ['WebKitWebDriver']);
