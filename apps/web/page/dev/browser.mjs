// Chromium for the scripts of this folder. Needs Chromium on PATH, and playwright-core as the tests do.

import {findChromium} from '../../tests/support/find_browsers.mjs';
import {chromium} from '../../tests/support/playwright.mjs';

/** @returns {Promise<import('playwright-core').Browser>} */
export function launch() {
  const args = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];
  return chromium.launch({executablePath: findChromium(), args});
}
