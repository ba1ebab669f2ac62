#!/usr/bin/env node
// usage: make_glue.mjs GLUE.js BROWSER.js NODE.js
//
// Emscripten writes one script for browsers and Node. Bundlers stop at what only Node has ('node:fs'), though no browser
// gets there, so this makes two of it: BROWSER.js without the branches of Node, and NODE.js, which is the whole under
// its own name.
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

const [glue, browser, node] = process.argv.slice(2);
if (!node) {
  console.error('usage: make_glue.mjs GLUE.js BROWSER.js NODE.js');
  process.exit(2);
}
const text = fs.readFileSync(glue, 'utf8');
const small = forBrowsers(text);
const left = /["'`]node:[^"'`]*["'`]|\brequire\(/.exec(small);
if (left) {
  console.error(`make_glue: ${glue}: ${left[0]} is left where browsers get to`);
  process.exit(1);
}
fs.writeFileSync(browser, small);
fs.writeFileSync(node, text.replaceAll('"tern.js"', JSON.stringify(path.basename(node))));
