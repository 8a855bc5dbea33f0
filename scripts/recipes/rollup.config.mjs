export default {
  input: 'program.mjs',
  output: { file: 'built/rollup.mjs' },
  external: [/^resqlite(\/|$)/, /^node:/],
}
