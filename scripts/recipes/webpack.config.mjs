export default {
  target: 'node',
  mode: 'production',
  entry: './program.mjs',
  experiments: { outputModule: true },
  output: { path: `${import.meta.dirname}/built`, filename: 'webpack.mjs', module: true },
  externals: [
    ({ request }, done) => (/^resqlite(\/|$)/.test(request) ? done(null, `module ${request}`) : done()),
  ],
}
