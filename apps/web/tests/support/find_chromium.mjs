import fs from 'node:fs';
import path from 'node:path';

/** The Chromium to test with: $TERN_CHROMIUM, or the first on PATH; undefined where there is none. */
export function findChromium() {
  if (process.env.TERN_CHROMIUM) return process.env.TERN_CHROMIUM;
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => fs.existsSync(file));
}
