// axe-core, which comes from npm, once, into build/.

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export const kAxe = 'axe-core@4.14.1';
const kFolder = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../../build/axe');

/** @returns {string} the script; '' where npm cannot get it */
export function axe() {
  const script = path.join(kFolder, 'package/axe.min.js');
  if (fs.existsSync(script)) return fs.readFileSync(script, 'utf8');
  try {
    fs.mkdirSync(kFolder, {recursive: true});
    const tarball = execFileSync('npm', ['pack', kAxe, '--silent'], {cwd: kFolder, encoding: 'utf8', timeout: 60_000});
    execFileSync('tar', ['-xzf', tarball.trim()], {cwd: kFolder});
    return fs.readFileSync(script, 'utf8');
  } catch {
    return '';
  }
}

/** @returns {Promise<string[]>} what is wrong with a page, into which the script was put, as it is */
export async function faults(page) {
  const {violations} = await page.evaluate(() => globalThis.axe.run({resultTypes: ['violations']}));
  const found = violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 160)}`);
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  if (isWide) found.push('the page scrolls sideways');
  return found;
}
