// How smooth a long conversation is, with the fake package: node dev/measure_long.mjs [MESSAGES]
// 200 messages of formulas, tables and code are opened, scrolled through, and written to. Tells the longest tasks of
// the page's thread in CPU time, which does not depend on what else the machine does.

import {launch} from './browser.mjs';
import {serve} from './serve.mjs';

const kMessages = Number(process.argv[2] ?? 200);
const kFrame = 50;  // ms

const kReply = String.raw`## Part NUMBER

The roots of \(ax^2 + bx + c = 0\) are $x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$, **where** $a \ne 0$.

$$\sum_{n=0}^{\infty} \frac{f^{(n)}(0)}{n!} x^n = \begin{pmatrix} a & b \\ c & d \end{pmatrix}$$

| stage | leaves | length | ways |
|:--|:--|--:|--:|
| south | August | 35,000 km | $4!$ |
| north | April | 26,000 km | $\log_2 n$ |
| there | May | 1,000 km | \(n^2\) |

1. They follow the *wind*.
2. They sleep on the wing:
   - small fish
   - krill

~~~js
export async function far(years = 30) {
  // To the moon and back, three times.
  for (let i = 0; i < years; i++) await fly({km: 70_000, to: 'Antarctica'});
  return years * 70_000;
}
~~~

- [x] read
- [ ] understood, see [Wikipedia](https://en.wikipedia.org/wiki/Arctic_tern)`.replaceAll('~~~', '\`\`\`');

const messages = Array.from({length: kMessages}, (_, i) => (i % 2 === 0 ?
  {role: 'user', content: `Question ${i / 2 + 1}: how far do they fly?`} :
  {role: 'assistant', content: kReply.replace('NUMBER', String((i + 1) / 2)), note: 'measured'}));
const record = {version: 1, id: 'long', name: '', changed: 1, messages};

const {server, url} = await serve();
const browser = await launch();
const context = await browser.newContext({viewport: {width: 1280, height: 800}, serviceWorkers: 'block'});
const page = await context.newPage();

/** The longest tasks of the page while `act` runs, in ms of CPU time. @param {() => Promise<void>} act */
async function longest(act) {
  const session = await browser.newBrowserCDPSession();
  const events = [];
  session.on('Tracing.dataCollected', ({value}) => events.push(...value));
  await session.send('Tracing.start', {transferMode: 'ReportEvents',
    traceConfig: {includedCategories: ['toplevel', 'devtools.timeline', 'blink.user_timing', '__metadata']}});
  await act();
  const done = new Promise((resolve) => {
    session.once('Tracing.tracingComplete', resolve);
  });
  await session.send('Tracing.end');
  await done;
  const mains = new Set(events.filter(({name, args}) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({pid, tid}) => `${pid} ${tid}`));
  return events.filter(({ph, name, pid, tid}) => ph === 'X' && /RunTask$/.test(name) && mains.has(`${pid} ${tid}`))
      .map(({tdur = 0}) => tdur / 1000).sort((a, b) => b - a).slice(0, 5).map((ms) => Math.round(ms));
}

const frames = (n) => page.evaluate((count) => new Promise((resolve) => {
  const step = () => (count-- > 0 ? requestAnimationFrame(step) : resolve());
  step();
}), n);

await page.goto(`${url}?fake=formulas&fake-ms=4&fake-load-ms=50`);
await page.waitForSelector('[data-phase="ready"]');
await page.evaluate((text) => localStorage.setItem('tern.conversation.long', text), JSON.stringify(record));
const found = {};
found.open = await longest(async () => {
  await page.reload();
  await page.waitForSelector('[data-phase="ready"]');
  await page.waitForTimeout(1500);
});
const shown = await page.locator('.turn').count();
if (shown !== kMessages) throw new Error(`${shown} messages are shown, not ${kMessages}`);
found.scroll = await longest(() => page.evaluate(async () => {
  const log = document.querySelector('#log');
  for (const step of [-600, 900]) {
    for (let left = log.scrollHeight / Math.abs(step); left > 0; left--) {
      log.scrollTop += step;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }
}));
// From within the page: what a test's driver looks up takes time of the page's thread, too.
found.stream = await longest(() => page.evaluate(async () => {
  const html = document.documentElement;
  const becomes = (state) => new Promise((resolve) => {
    const observer = new MutationObserver(() => html.dataset.chat === state && resolve(observer.disconnect()));
    observer.observe(html, {attributes: true});
  });
  const field = document.querySelector('#composer');
  field.value = 'What are the roots?';
  field.dispatchEvent(new Event('input'));
  const begins = becomes('writing');
  setTimeout(() => document.querySelector('#send').click());
  await begins;
  await becomes('idle');
  for (let i = 0; i < 5; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
}));
await page.getByTestId('composer').focus();
found.type = await longest(async () => {
  await page.keyboard.type('A question of some words.');
  await frames(5);
});
await browser.close();
server.close();
for (const [what, tasks] of Object.entries(found)) console.log(`${what.padEnd(8)} ${tasks.join(', ')} ms`);
const isSmooth = ['scroll', 'stream', 'type'].every((what) => found[what][0] <= kFrame);
console.log(isSmooth ? `none over ${kFrame} ms` : `over ${kFrame} ms`);
process.exitCode = isSmooth ? 0 : 1;
