// Playwright, which drives the browser: from node_modules here, or where $NODE_PATH and the system have their modules.

import {createRequire} from 'node:module';

/** @type {import('playwright-core')} */
const playwright = createRequire(import.meta.url)('playwright-core');
export const {chromium} = playwright;
