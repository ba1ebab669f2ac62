export default {mode: 'production', entry: './main.js', performance: {hints: false}};
