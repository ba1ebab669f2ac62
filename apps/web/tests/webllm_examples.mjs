#!/usr/bin/env node
// usage: webllm_examples.mjs FOLDER [EXAMPLE...] [--types | --run]
//
// FOLDER is a copy of WebLLM's repository (https://github.com/mlc-ai/web-llm). Its examples are compiled with this
// package's types, which may give no errors that WebLLM's own do not give. Then they run in Chromium with this
// package, where a small model stands for each of theirs. Prints a table; exit code 1: something is wrong. Packages
// that the examples and this want are fetched from npm and kept in build/webllm_examples.

import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {launch, openPage, until} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {changedGguf} from './support/gguf_template.mjs';
import {kDefaultModel, kRoot, kSite, needSite} from './support/project.mjs';

const kWork = path.join(kRoot, 'build/webllm_examples');
const kPackages = ['@mlc-ai/web-llm', 'typescript@5', '@types/chrome', '@types/react', '@types/react-dom',
  'langchain@0.2', '@langchain/core@0.2', '@sinclair/typebox@0.32', 'progressbar.js', 'loglevel', 'tslib'];
const kTimeLimit = 240_000;

// Hermes models write calls so.
const kTemplate = `{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}
{% endfor %}</tools>{% endif %}\
{% for m in messages %}{% if m.role == 'assistant' %}Once{% endif %}{{ m.content or '' }}\
{% for c in m.tool_calls or [] %}<tool_call>
{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}{% if add_generation_prompt %}Once{% endif %}`;

// What is changed in an example so that it can run by itself, and as a whole: a text, and what it becomes.
const kIds = [['"46510"', '"465"'], ['"7188"', '"718"'], ['"8421"', '"842"'], ['"51325"', '"513"']];  // of tokens
const kChanges = {
  'get-started': kIds,
  'subgroups-usage': kIds,
  'get-started-latency-breakdown': [['numTrials = 20', 'numTrials = 2']],
  // All that they show, and not one thing of it.
  'json-schema': [['// await ', 'await ']],
  'function-calling-manual': [['// hermes2_example();\nllama3_1_example();',
    'const all = () => hermes2_example().then(llama3_1_example);\nall();']],
  'multi-models': [['sequentialGeneration();\n// parallelGeneration();',
    'const all = () => sequentialGeneration().then(parallelGeneration);\nall();']],
  'embeddings': [['// webllmAPI();\n// langchainAPI();\nsimpleRAG();',
    'const all = () => webllmAPI().then(langchainAPI).then(simpleRAG);\nall();']],
  // Of a host that need not be there.
  'vision-model': [['await imageURLToBase64(proxyUrl + url_https_street)', '"data:image/png;base64,AAAA"']],
  // The small model seldom ends a text by itself.
  'structural-tag-tool-use': [
    ['type: "string", description: "City', 'type: "string", maxLength: 9, description: "City'],
    ['type: "string",\n          description: "IANA', 'type: "string", maxLength: 9,\n          description: "IANA']],
  'multi-round-chat': [['messages: messages,', 'messages: messages, max_tokens: 100,']],
};
// What they need that is not there.
const kNotRun = {
  'chrome-extension': 'is an extension', 'chrome-extension-webgpu-service-worker': 'is an extension',
  'next-simple-chat': 'is built by Next.js', 'simple-chat-ts': 'waits for a person',
  'simple-chat-js': 'waits for a person', 'simple-chat-upload': 'waits for a person',
};

function sh(folder, ...command) {
  return execFileSync(command[0], command.slice(1), {cwd: folder, encoding: 'utf8', maxBuffer: 64 << 20});
}

function install() {
  fs.mkdirSync(kWork, {recursive: true});
  const manifest = path.join(kWork, 'package.json');
  if (!fs.existsSync(manifest)) fs.writeFileSync(manifest, '{"private": true, "type": "module"}');
  if (fs.existsSync(path.join(kWork, 'node_modules/@mlc-ai'))) return;
  sh(kWork, 'npm', 'install', '--no-audit', '--no-fund', '--silent', '--ignore-scripts', '--legacy-peer-deps',
    ...kPackages);
}

/** Every example: its name, its folder, its TypeScript, its page. */
function examplesOf(folder) {
  const found = [];
  const visit = (name) => {
    const inside = path.join(folder, name);
    const entries = fs.readdirSync(inside, {withFileTypes: true});
    if (!entries.some((entry) => entry.name === 'package.json' || entry.name === 'index.html')) {
      for (const entry of entries) if (entry.isDirectory()) visit(path.join(name, entry.name));
      return;
    }
    const files = fs.readdirSync(inside, {recursive: true}).map(String)
      .filter((file) => !file.includes('node_modules'));
    found.push({
      name: path.basename(name), folder: inside, html: files.find((file) => file.endsWith('.html')),
      scripts: files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
        .map((file) => path.join(inside, file)),
    });
  };
  for (const entry of fs.readdirSync(folder, {withFileTypes: true})) if (entry.isDirectory()) visit(entry.name);
  return found;
}

/** Errors by file, where `@mlc-ai/web-llm` is this file of types. */
function errorsWith(types, scripts) {
  const project = path.join(kWork, 'tsconfig.json');
  const modules = path.join(kWork, 'node_modules');
  fs.writeFileSync(project, JSON.stringify({
    compilerOptions: {
      strict: true, noEmit: true, skipLibCheck: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler',
      jsx: 'preserve', esModuleInterop: true, resolveJsonModule: true, lib: ['es2023', 'dom', 'dom.iterable',
        'webworker'], typeRoots: [`${modules}/@types`], types: ['chrome'],
      paths: {'@mlc-ai/web-llm': [types], '*': [`${modules}/*`, `${modules}/@types/*`]},
    },
    files: scripts,
  }));
  let text = '';
  try {
    sh(kWork, 'node_modules/.bin/tsc', '-p', project, '--pretty', 'false');
  } catch (error) {
    text = error.stdout;
  }
  const errors = new Map();
  for (const [, file, what] of text.matchAll(/^(\S.*?)\(\d+,\d+\): error (.*)$/gm)) {
    const full = path.resolve(kWork, file);
    errors.set(full, [...errors.get(full) ?? [], what]);
  }
  return errors;
}

function checkTypes(examples) {
  const scripts = examples.flatMap((example) => example.scripts);
  const theirs = errorsWith(path.join(kWork, 'node_modules/@mlc-ai/web-llm/lib/index.d.ts'), scripts);
  const ours = errorsWith(path.join(kRoot, 'apps/web/package/webllm.d.ts'), scripts);
  const nGood = scripts.filter((file) => !theirs.has(file)).length;
  const more = (file) => (ours.get(file) ?? []).filter((what) => !theirs.get(file)?.includes(what));
  const worse = scripts.filter((file) => more(file).length > 0);
  console.log(`types: ${scripts.length} files, of which ${nGood} compile without errors with WebLLM's; ` +
    `${worse.length} have errors here that they have not there`);
  for (const file of worse) console.log(`  ${file}: ${more(file).join('; ')}`);
  return worse.length === 0;
}

/** The example's scripts as a browser takes them, with this package for WebLLM's. */
function bundle({name, folder, html}, out) {
  const source = path.join(folder, path.dirname(html));
  fs.cpSync(source, out, {recursive: true});
  for (const file of fs.readdirSync(out).filter((one) => /\.[tj]s$/.test(one))) {
    let text = fs.readFileSync(path.join(out, file), 'utf8');
    for (const [from, to] of kChanges[name] ?? []) text = text.replaceAll(from, to);
    text = text.replaceAll(/(["'])(?:\.\/)?(worker|sw)\.ts\1/g, '$1./$2.js$1')
      // The last call at the top, of which the test wants to know when it is over.
      .replace(/^(?:void )?(\w+)\(\);\n*(?![^]*^(?:void )?\w+\(\);)/m, 'globalThis.exampleIsOver = $1();\n');
    fs.writeFileSync(path.join(out, file), text);
  }
  const page = fs.readFileSync(path.join(folder, html), 'utf8');
  const [, entry] = /<script type="module" src="\.\/(.*?)">/.exec(page);
  const entries = [entry, 'worker.ts', 'sw.ts'].filter((file) => fs.existsSync(path.join(out, file)));
  sh(out, 'esbuild', ...entries, '--bundle', '--format=esm', '--outdir=.', '--allow-overwrite', '--log-level=error',
    '--alias:@mlc-ai/web-llm=/tern/webllm.js', '--external:/tern/webllm.js');
  const script = entry.replace(/\.ts$/, '.js');
  fs.writeFileSync(path.join(out, 'index.html'), page.replace(`./${entry}`, `./${script}`));
}

/** A site where every model of mlc-ai is the default model with a template that knows tools. */
async function openSite(examples) {
  const server = await FixtureServer.start({root: kSite});
  const model = {from: changedGguf(fs.readFileSync(kDefaultModel), {template: kTemplate, context: 8192})};
  const namedIn = (file) => (
    [...fs.readFileSync(file, 'utf8').matchAll(/["'`/]([\w.-]+-MLC)(?:-1k|-b\d+)?["'`]/g)].map(([, name]) => name));
  const sources = examples.flatMap(({folder}) => (
    fs.readdirSync(folder, {recursive: true}).map((file) => path.join(folder, String(file)))))
    .filter((file) => /src\/.*\.[tj]sx?$/.test(file));
  for (const name of new Set(sources.flatMap(namedIn))) {
    const listing = {siblings: [{rfilename: 'model.gguf', size: model.from.length}]};
    server.mount(`hub/api/models/mlc-ai/${name}/revision/main`, {from: Buffer.from(JSON.stringify(listing)),
      type: 'application/json'});
    server.mount(`hub/mlc-ai/${name}/resolve/main/model.gguf`, model);
  }
  const options = fs.readFileSync(path.join(kSite, 'tern/lib/options.js'), 'utf8');
  server.mount('tern/lib/options.js', {type: 'text/javascript',
    from: Buffer.from(options.replaceAll('https://huggingface.co', `${server.url}hub`))});
  return server;
}

/** @returns {Promise<string>} "works", "refused: why" or "wrong: what" */
async function runOne(context, server, example) {
  const out = path.join(kWork, 'pages', example.name);
  fs.rmSync(out, {recursive: true, force: true});
  bundle(example, out);
  for (const file of fs.readdirSync(out).filter((one) => /\.(js|html)$/.test(one))) {
    server.mount(`${example.name}/${file}`, {from: path.join(out, file),
      type: file.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'});
  }
  const page = await openPage(context);
  const refusals = [];
  page.on('console', (message) => {
    if (/NotSupportedError/.test(message.text())) refusals.push(message.text());
  });
  try {
    await page.goto(`${server.url}${example.name}/index.html`);
    const over = () => page.evaluate(() => globalThis.exampleIsOver?.then(() => 'over', (error) => (
      `${error?.name ?? 'Error'}: ${error?.message ?? error}`)) ?? 'it has no end');
    const end = await Promise.race([over(), new Promise((go) => setTimeout(go, kTimeLimit, 'not over in time'))]);
    // It unloads after five seconds.
    if (example.name === 'abort-reload') await new Promise((go) => setTimeout(go, 6000));
    const said = [end === 'over' ? '' : end, ...page.mistakes].filter(Boolean);
    const shown = await page.evaluate(() => document.body.innerText.match(/Error: .*/)?.[0] ?? '');
    const [first] = [...said, shown].filter(Boolean);
    if (!first) return 'works';
    const why = first.split('\n')[0];
    return /NotSupportedError/.test(first) || refusals.length > 0 ? `refused by name: ${why}` : `wrong: ${why}`;
  } finally {
    await page.close();
  }
}

async function runAll(examples) {
  needSite();
  const server = await openSite(examples);
  const browser = await launch();
  const rows = [];
  try {
    for (const example of examples) {
      const context = await browser.newContext();
      const why = kNotRun[example.name];
      const result = why ? `not run: ${why}` :
        await runOne(context, server, example).catch((error) => `wrong: ${error.message}`);
      rows.push([example.name, result]);
      console.log(`| ${example.name} | ${result} |`);
      await context.close();
    }
  } finally {
    await browser.close();
    await server.down();
  }
  return rows.every(([, result]) => !result.startsWith('wrong'));
}

const flags = process.argv.slice(2).filter((one) => one.startsWith('--'));
const [folder, ...names] = process.argv.slice(2).filter((one) => !one.startsWith('--'));
if (!folder || flags.some((flag) => flag !== '--types' && flag !== '--run')) {
  console.error('usage: webllm_examples.mjs FOLDER [EXAMPLE...] [--types | --run]');
  process.exit(2);
}
install();
const examples = examplesOf(path.resolve(folder, 'examples'))
  .filter(({name}) => names.length === 0 || names.includes(name));
const hasTypes = flags.includes('--run') || checkTypes(examples);
const runs = flags.includes('--types') || await runAll(examples);
process.exit(hasTypes && runs ? 0 : 1);
