#!/usr/bin/env node
// usage: make_published.mjs >package/lib/published.js
//
// Writes what `tern models --json` says as a module of the package. $TERN_PROGRAM: the program.
import {published} from './tests/support/published.mjs';

process.stdout.write(published());
