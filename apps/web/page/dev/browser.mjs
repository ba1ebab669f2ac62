// Chromium for the scripts of this folder. Needs Chromium on PATH, and playwright-core as the tests do.

import {findChromium} from '../../tests/support/find_browsers.mjs';
import {chromium} from '../../tests/support/playwright.mjs';
import {serve} from './serve.mjs';

/**
 * Chromium and the page with the fake package, for the tests of a file.
 * @param {{before: Function, after: Function}} hooks of node:test
 * @returns {{browser?: import('playwright-core').Browser, site?: object}} there once the tests begin
 */
export function inBrowser({before, after}) {
  const here = {};
  before(async () => {
    here.browser = await launch();
    here.site = await serve();
  });
  after(async () => {
    await here.browser?.close();
    here.site?.server.close();
  });
  return here;
}

/** @returns {Promise<import('playwright-core').Browser>} */
export function launch() {
  const args = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'];
  return chromium.launch({executablePath: findChromium(), args});
}
