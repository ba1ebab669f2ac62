// Makes icons/*.png, which the manifest names, from tern.svg: node dev/make_icons.mjs. Needed when that has changed.

import fs from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {launch} from './browser.mjs';

const kPage = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const kPaper = '#f4f7f8';

/** name: [size, share of it that the bird takes, background]. Systems cut what is maskable to a circle of 80 %. */
const kIcons = {
  'tern-192': [192, 0.9, 'none'],
  'tern-512': [512, 0.9, 'none'],
  'maskable-512': [512, 0.6, kPaper],
  'apple-180': [180, 0.75, kPaper],  // iOS shows black behind what is transparent
};

const svg = await fs.readFile(path.join(kPage, 'tern.svg'), 'utf8');
const browser = await launch();
try {
  await fs.mkdir(path.join(kPage, 'icons'), {recursive: true});
  for (const [name, [size, share, background]] of Object.entries(kIcons)) {
    const page = await browser.newPage({viewport: {width: size, height: size}, colorScheme: 'light'});
    await page.setContent(`<style>
      body { margin: 0; display: grid; place-items: center; height: 100vh; background: ${background} }
      svg { width: ${share * 100}% }
    </style>${svg}`);
    await page.screenshot({path: path.join(kPage, 'icons', `${name}.png`), omitBackground: true});
    await page.close();
  }
} finally {
  await browser.close();
}
