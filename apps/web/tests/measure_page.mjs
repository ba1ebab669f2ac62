// What the start of the page costs, in milliseconds after the navigation began: until somebody can type and send, and
// until the first token of an answer that was asked for at once. Medians; models come from this machine.
//
//   node measure_page.mjs [RUNS]

import {launch, openPage, untilInPage} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kSite, needSite} from './support/project.mjs';

const kRuns = Number(process.argv[2] ?? 5);

/** One visit. @returns {Promise<{interactive: number, ready: number, firstToken: number}>} */
async function visit(context, url) {
  const page = await openPage(context);
  await page.addInitScript(() => {
    globalThis.times = {};
    const find = (id) => document.querySelector(`[data-testid=${id}]`);
    const replies = () => document.querySelectorAll('[data-testid=reply]');
    let before = 0;  // what the conversation of the visit before has
    const look = () => {
      const composer = find('composer');
      if (composer && !globalThis.times.interactive) {
        composer.value = 'Once upon a time';
        composer.dispatchEvent(new Event('input', {bubbles: true}));
        if (!find('send').disabled) {  // the page has noticed
          globalThis.times.interactive = performance.now();
          before = replies().length;
          find('send').click();
        }
      }
      const isThere = globalThis.times.interactive && replies().length > before && [...replies()].at(-1).textContent;
      if (isThere) globalThis.times.firstToken = performance.now();
      else setTimeout(look, 2);
    };
    look();
  });
  await page.goto(url);
  await untilInPage(page, () => globalThis.times.firstToken, undefined, {timeout: 120_000});
  const times = await page.evaluate(() => globalThis.times);
  await page.close();
  return times;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

needSite();
const server = await FixtureServer.start({root: kSite});
const browser = await launch();
try {
  for (const backend of ['cpu', 'webgpu']) {
    const url = `${server.url}?backend=${backend}`;
    const visits = {'first visit': [], 'second visit': []};
    for (let run = 0; run < kRuns; ++run) {
      const context = await browser.newContext();
      visits['first visit'].push(await visit(context, url));
      visits['second visit'].push(await visit(context, url));
      await context.close();
    }
    for (const [name, times] of Object.entries(visits)) {
      const [interactive, firstToken] = ['interactive', 'firstToken'].map((key) => median(times.map((t) => t[key])));
      console.log(`${backend.padEnd(6)} ${name.padEnd(12)} interactive ${interactive.toFixed(0).padStart(5)} ms, ` +
        `first token ${firstToken.toFixed(0).padStart(5)} ms`);
    }
  }
} finally {
  await browser.close();
  await server.down();
}
