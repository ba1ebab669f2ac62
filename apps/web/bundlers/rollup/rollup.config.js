import {nodeResolve} from '@rollup/plugin-node-resolve';

export default {
  input: 'main_beside.js',
  output: {dir: 'dist', format: 'es'},
  plugins: [nodeResolve({browser: true})],
};
