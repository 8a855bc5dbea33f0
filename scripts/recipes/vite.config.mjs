export default {
  build: { ssr: 'program.mjs', outDir: 'built', rollupOptions: { output: { entryFileNames: 'vite.mjs' } } },
  ssr: { external: ['resqlite'] },
}
