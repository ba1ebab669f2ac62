#!/usr/bin/env node
// usage: make_glue.mjs GLUE.js FOLDER
//
// Emscripten writes one script for browsers, their threads and Node. Bundlers stop at what only Node has ('node:fs'),
// though no browser gets there, and some never end where a script starts itself as a worker. So this makes several:
//   NAME_glue.js    without the branches of Node, and without a way to start threads
//   NAME.js         the same, and starts them
//   NAME_thread.js  a thread
//   NAME_node.js    the whole
import fs from 'node:fs';
import path from 'node:path';
import {parse} from './acorn.mjs';

const kIsNode = ['ENVIRONMENT_IS_NODE', 'isNode'];

/** What an expression is where it is not Node: true, false, or undefined where it depends on more. */
function valueOf(expression) {
  if (expression.type === 'Identifier' && kIsNode.includes(expression.name)) return false;
  if (expression.type === 'UnaryExpression' && expression.operator === '!') {
    const value = valueOf(expression.argument);
    return value === undefined ? undefined : !value;
  }
  if (expression.type === 'LogicalExpression') {
    const sides = [valueOf(expression.left), valueOf(expression.right)];
    const decides = expression.operator === '||';
    if (sides.includes(decides)) return decides;
    return sides.every((side) => side === !decides) ? !decides : undefined;
  }
  return undefined;
}

/** @param {string} text of the glue @returns {string} without Node's branches */
export function forBrowsers(text) {
  const edits = [];
  const replace = (node, instead) => edits.push([node.start, node.end, instead]);
  const visit = (node) => {
    if (!node || typeof node.type !== 'string') return;
    if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
      const value = valueOf(node.test);
      if (value !== undefined) {
        const kept = value ? node.consequent : node.alternate;
        const empty = node.type === 'IfStatement' ? '{}' : 'undefined';
        return void replace(node, kept ? forBrowsersPart(text, kept) : empty);
      }
    }
    if (node.type === 'VariableDeclarator' && kIsNode.includes(node.id.name)) return void replace(node.init, 'false');
    for (const child of Object.values(node)) {
      for (const one of Array.isArray(child) ? child : [child]) visit(one);
    }
  };
  const forBrowsersPart = (whole, node) => {
    const before = edits.length;
    visit(node);
    return applied(whole, edits.splice(before), node.start, node.end);
  };
  visit(parse(text, {ecmaVersion: 'latest', sourceType: 'module'}));
  return applied(text, edits, 0, text.length);
}

function applied(text, edits, from, to) {
  let out = '';
  let at = from;
  for (const [start, end, instead] of edits.sort((a, b) => a[0] - b[0])) {
    out += text.slice(at, start) + instead;
    at = end;
  }
  return out + text.slice(at, to);
}

const kStart = /new Worker\(new URL\("tern(?:_gpu)?\.js",import\.meta\.url\),(\{[^{}]*\})\)/g;

/** @param {string} glue */
function write(glue, folder) {
  const name = path.basename(glue, '.js');
  // Bundlers name the files of workers as the workers are named, and read how they are started where they are started.
  const text = fs.readFileSync(glue, 'utf8').replaceAll('"em-pthread"', `"${name}-thread"`);
  const small = forBrowsers(text);
  const left = /["'`]node:[^"'`]*["'`]|\brequire\(/.exec(small);
  if (left) throw new Error(`${left[0]} is left where browsers get to`);
  const starts = [...small.matchAll(kStart)];
  if (starts.length !== 1) throw new Error('threads are not started at one place, as they were');
  const start = (file) => `new Worker(new URL("${file}",import.meta.url),${starts[0][1]})`;
  const put = (file, made) => fs.writeFileSync(path.join(folder, file), made);
  put(`${name}_glue.js`, small.replace(kStart, 'Module["startThread"]()'));
  put(`${name}.js`, `import createTern from "./${name}_glue.js";const startThread=()=>${start(`${name}_thread.js`)};
const create=(options={})=>createTern(Object.assign(options,{startThread:options.startThread??startThread}));
export default Object.assign(create,{startThread});
`);
  put(`${name}_thread.js`, `import "./${name}_glue.js";\n`);
  put(`${name}_node.js`, text.replace(kStart, start(`${name}_node.js`)));
}

const [glue, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: make_glue.mjs GLUE.js FOLDER');
  process.exit(2);
}
try {
  write(glue, folder);
} catch (error) {
  console.error(`make_glue: ${glue}: ${error.message}`);
  process.exit(1);
}
