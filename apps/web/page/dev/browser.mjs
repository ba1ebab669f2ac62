// Chromium for the scripts of this folder. Needs Chromium on PATH, and playwright-core where Node finds it or in the
// folder that the variable PLAYWRIGHT names.

import {createRequire} from 'node:module';
import path from 'node:path';
import {findChromium} from '../../tests/support/find_chromium.mjs';

/** @returns {Promise<import('playwright-core').Browser>} */
export function launch() {
  const require = createRequire(path.join(process.env.PLAYWRIGHT ?? process.cwd(), 'any.js'));
  const {chromium} = require('playwright-core');
  const args = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];
  return chromium.launch({executablePath: findChromium(), args});
}
